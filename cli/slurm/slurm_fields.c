/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_fields.c - fields of scontrol's one-line records */
#include "config.h" /* strptime is of the X/Open system interfaces */

#include "cli/slurm/slurm_fields.h"

#include "base/bitset.h"
#include "topology/fabric.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *slurm_field(const char *record, const char *key)
{
	size_t length = strlen(key);
	const char *at = record;

	while ((at = strstr(at, key)) != NULL) {
		if ((at == record || at[-1] == ' ') && at[length] == '=')
			return at + length + 1;
		at += length;
	}
	return NULL;
}

bool slurm_time(const char *text, time_t *at)
{
	struct tm tm = {.tm_isdst = -1};

	if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
		return false;
	*at = mktime(&tm);
	return *at != (time_t)-1;
}

uint64_t slurm_indices(const char *text)
{
	uint64_t mask = 0;

	while (isdigit((unsigned char)*text)) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last >= WEFT_MAX_GPUS_PER_NODE)
			return 0;
		for (; first <= last; first++)
			mask |= UINT64_C(1) << first;
		text = *end == ',' ? end + 1 : end;
	}
	return mask;
}

/* One element of GresUsed that starts at `text`: "gpu:4(IDX:0-3)",
 * "gpu:h100:2(IDX:N/A)".  Without indices the lowest GPUs are assumed. */
static uint64_t gres_gpus(const char *text, size_t length)
{
	char element[256];
	const char *index;
	char *count;
	uint64_t mask = 0;

	snprintf(element, sizeof(element), "%.*s", (int)length, text);
	if (strncmp(element, "gpu:", 4) != 0 && strcmp(element, "gpu") != 0)
		return 0;
	index = strstr(element, "IDX:");
	if (index)
		mask = slurm_indices(index + 4);
	if (mask)
		return mask;
	element[strcspn(element, "(")] = '\0';
	count = strrchr(element, ':');
	return count ? weft_mask_first((uint32_t)strtoul(count + 1, NULL, 10))
		     : 0;
}

/* Commas inside parentheses belong to an index list. */
static size_t gres_length(const char *text)
{
	int depth = 0;
	size_t i;

	for (i = 0; text[i] && !isspace((unsigned char)text[i]); i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (text[i] == ',' && depth == 0)
			break;
	}
	return i;
}

uint64_t slurm_gres_gpus(const char *text)
{
	uint64_t mask = 0;

	while (text && *text && !isspace((unsigned char)*text)) {
		size_t length = gres_length(text);

		mask |= gres_gpus(text, length);
		text += length;
		text += *text == ',';
	}
	return mask;
}
