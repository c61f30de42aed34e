/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_columns.c - the columns that a table of training runs may have */
#include "lab/step/step_columns.h"

#include "base/suggest.h"
#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_KNOWN 160

/* Columns that are no key of a spec and no member of a model. */
static const char *const own[] = {
	"row_id",  "source",  "params_B",	"gpu",	   "node_size",
	"fabric",  "network", "precision",	"dp_kind", "overlap",
	"metric",  "value",   "unit",		"step_s",  "tflops_gpu",
	"mfu_pct", "status",  "mfu_convention", "note",	   "job",
};

/* Keys whose columns have rules of their own, or no meaning in a table. */
static const char *const ruled[] = {
	"gpus",	   "nodes",   "gpus_per_node", "tp",
	"cp",	   "pp",      "vpp",	       "ep",
	"dp",	   "mbs",     "gbs",	       "seq",
	"dtype",   "model",   "recompute",     "zero",
	"shard",   "traffic", "metric",	       "wait",
	"within",  "split",   "env",	       "ranks",
	"segment", "prefer",  "spread",
};

static uint32_t known_columns(const char *known[MAX_KNOWN])
{
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		known[n++] = own[i];
	for (uint32_t k = 0; weft_spec_key(k) && n < MAX_KNOWN; k++)
		known[n++] = weft_spec_key(k);
	for (uint32_t k = 0; weft_model_key(k) && n < MAX_KNOWN; k++)
		known[n++] = weft_model_key(k);
	return n;
}

int step_columns_check(const struct csv *csv, const char *path,
		       struct weft_error *err)
{
	const char *known[MAX_KNOWN];
	uint32_t n = known_columns(known);

	for (uint32_t c = 0; c < csv->n_columns; c++) {
		const char *name = csv->name[c];
		uint32_t k = 0;

		while (k < n && strcasecmp(known[k], name) != 0)
			k++;
		if (k == n && *name)
			return weft_fail_at(err, WEFT_EINVAL, path, 1, 0,
					    "unknown column \"%.40s\"; the "
					    "nearest is \"%s\"; weft-model(1), "
					    "TABLES, has all",
					    name, weft_suggest(name, known, n));
	}
	return 0;
}

/* "key=" at the begin of a word of the note. */
static const char *in_note(const char *note, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = note; (at = strstr(at, key)); at += length) {
		bool begins = at == note || strchr(" ;,", at[-1]);

		if (begins && at[length] == '=')
			return at + length + 1;
	}
	return NULL;
}

static const char *as_switch(const char *key, const char *value)
{
	static const char *const on[] = {"1", "yes", "true", "on"};
	static const char *const off[] = {"0", "no", "false", "off"};

	if (strcmp(key, "sp") != 0 && strcmp(key, "fused") != 0 &&
	    strcmp(key, "scatter") != 0)
		return value;
	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		if (strcasecmp(value, on[i]) == 0)
			return "on";
		if (strcasecmp(value, off[i]) == 0)
			return "off";
	}
	return value;
}

/* What a row says of a key of the spec: in its column, else in its note as
 * "key=value".  "" where it says nothing; 1, yes and true are "on". */
static const char *key_of(const struct csv *csv, uint32_t row, const char *key,
			  char *value, size_t size)
{
	const char *cell = csv_cell(csv, row, key), *note;

	snprintf(value, size, "%s", cell);
	if (!*cell) {
		note = in_note(csv_cell(csv, row, "note"), key);
		if (note)
			snprintf(value, size, "%.*s", (int)strcspn(note, " ;,"),
				 note);
	}
	return as_switch(key, value);
}

static bool has_key(const struct step_keys *keys, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = keys->text; (at = strstr(at, key)); at++) {
		if ((at == keys->text || at[-1] == ',') && at[length] == '=')
			return true;
	}
	return false;
}

void step_keys_put(struct step_keys *keys, const struct csv *csv, uint32_t row,
		   const char *key, const char *value)
{
	char said[128];
	const char *own_value = key_of(csv, row, key, said, sizeof(said));
	size_t left = sizeof(keys->text) - keys->used;
	int n = snprintf(keys->text + keys->used, left, "%s%s=%s",
			 keys->used ? "," : "", key,
			 *own_value ? own_value : value);

	keys->used += (size_t)n < left ? (size_t)n : left - 1;
}

/* A spec may give its model's shape; a row has read its own. */
static bool is_member(const char *key)
{
	uint32_t k = 0;

	while (weft_model_key(k) && strcmp(weft_model_key(k), key) != 0)
		k++;
	return weft_model_key(k) != NULL;
}

void step_keys_rest(struct step_keys *keys, const struct csv *csv, uint32_t row)
{
	for (uint32_t k = 0; weft_spec_key(k); k++) {
		const char *key = weft_spec_key(k);
		char value[128];
		size_t i = 0, n = sizeof(ruled) / sizeof(ruled[0]);

		while (i < n && strcmp(ruled[i], key) != 0)
			i++;
		if (i == n && !is_member(key) && !has_key(keys, key) &&
		    *key_of(csv, row, key, value, sizeof(value)))
			step_keys_put(keys, csv, row, key, value);
	}
}
