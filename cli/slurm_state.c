/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_state.c - occupancy from scontrol's one-line node records
 *
 * Fields used, as Slurm 22.05 to 26.05 print them:
 *   NodeName=n07 ... GresUsed=gpu:h100:4(IDX:0,2-4),shard:0 ... State=MIXED+...
 */
#include "cli/slurm_state.h"
#include "topology/bitset.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Value of " KEY=" in a record, or NULL; ends at a blank. */
static const char *field(const char *record, const char *key)
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

/* "0,2-4" up to ')' -> mask; 0 on anything else. */
static uint64_t indices_parse(const char *text)
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
		mask = indices_parse(index + 4);
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

static uint64_t gpus_in_use(const char *record)
{
	const char *text = field(record, "GresUsed");
	uint64_t mask = 0;

	while (text && *text && !isspace((unsigned char)*text)) {
		size_t length = gres_length(text);

		mask |= gres_gpus(text, length);
		text += length;
		text += *text == ',';
	}
	return mask;
}

/* A node takes new jobs when its base state is one of these, nothing about it
 * hinders, and its daemon answers (no '*' suffix). */
static bool node_takes_jobs(const char *record)
{
	static const char *const good[] = {"IDLE", "MIXED", "ALLOCATED"};
	static const char *const bad[] = {
		"DRAIN",      "DOWN",  "FAIL",	  "MAINT",    "REBOOT",
		"COMPLETING", "POWER", "UNKNOWN", "RESERVED",
	};
	const char *state = field(record, "State");
	char text[128];
	bool base = false;

	if (!state)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(state, " \n"), state);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		base |= strncmp(text, good[i], strlen(good[i])) == 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		base &= strstr(text, bad[i]) == NULL;
	return base && !strchr(text, '*');
}

static void record_apply(struct weft_occupancy *o, const char *record,
			 uint64_t *seen)
{
	const char *value = field(record, "NodeName");
	char name[WEFT_NAME_SIZE];
	uint32_t node;
	uint64_t all;

	if (!value)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, " \n"), value);
	node = weft_fabric_node(o->fabric, name);
	if (node == WEFT_NONE)
		return;
	all = weft_mask_first(o->fabric->nodes[node].n_gpus);
	weft_bitset_add(seen, node);
	weft_occupancy_take(o, node,
			    node_takes_jobs(record) ? gpus_in_use(record) & all
						    : all);
}

int slurm_state_parse(struct weft_occupancy *o, FILE *in, const char *source,
		      struct weft_error *err)
{
	const struct weft_fabric *f = o->fabric;
	uint64_t *seen =
		weft_calloc(weft_bitset_words(f->n_nodes), sizeof(*seen), err);
	char *line = NULL;
	size_t size = 0;
	int result = -1;

	if (!seen)
		return -1;
	while (getline(&line, &size, in) >= 0)
		record_apply(o, line, seen);
	if (ferror(in)) {
		weft_fail_at(err, WEFT_EIO, source, 0, 0, "%s",
			     strerror(errno));
		goto out;
	}
	if (weft_bitset_count(seen, f->n_nodes) == 0) {
		weft_fail_at(err, WEFT_EIO, source, 0, 0,
			     "names none of the fabric's %u nodes; expected "
			     "records \"NodeName=... State=...\"",
			     f->n_nodes);
		goto out;
	}
	for (uint32_t node = 0; node < f->n_nodes; node++) {
		if (!weft_bitset_has(seen, node))
			weft_occupancy_take(
				o, node,
				weft_mask_first(f->nodes[node].n_gpus));
	}
	result = 0;
out:
	free(line);
	free(seen);
	return result;
}

int slurm_state_read(struct weft_occupancy *o, struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner --details show node";
	FILE *in = popen(command, "r");
	struct weft_error why = {0};
	int result, status;

	if (!in)
		return weft_fail(err, WEFT_EIO, "%s: %s", command,
				 strerror(errno));
	result = slurm_state_parse(o, in, command, &why);
	status = pclose(in);
	if (status != 0)
		return weft_fail(err, WEFT_EIO,
				 "\"%s\" failed; is Slurm running, and "
				 "SLURM_CONF right?",
				 command);
	if (result)
		return weft_fail_at(err, why.code, why.source, 0, 0, "%s",
				    why.text);
	return 0;
}
