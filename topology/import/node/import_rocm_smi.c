/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_rocm_smi.c - "rocm-smi --showtopo": how the AMD GPUs of a node are
 * joined
 *
 *	===== Link Type between two GPUs =====
 *	       GPU0         GPU1
 *	GPU0   0            XGMI
 *	GPU1   XGMI         0
 *	===== Numa Nodes =====
 *	GPU[0]		: (Topology) Numa Node: 0
 *
 * beside which are matrices of weights and hops.  A link is XGMI where the hops
 * of the pair are one; through another GPU it is none of the pair.
 */
#include "topology/import/import.h"
#include "topology/import/lines.h"
#include "topology/import/node/inside.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"
#define TYPES  "Link Type between two GPUs"
#define HOPS   "Hops between two GPUs"

enum section { OTHER, LINK_TYPES, LINK_HOPS };

struct reader {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_inside_draft *draft;
	enum section section;
	uint32_t column[WEFT_INSIDE_MAX]; /* GPU of each column */
	uint32_t n_columns;		  /* of the section's header */
	uint32_t n_types;		  /* of that of the types */
	bool is_far[WEFT_INSIDE_MAX][WEFT_INSIDE_MAX]; /* more than one hop */
	bool seen[WEFT_INSIDE_MAX];		       /* has a row of types */
};

/* "GPU3", "GPU[3]". */
static bool gpu_word(struct weft_span word, uint32_t *gpu)
{
	unsigned long n;

	if (!weft_span_starts(word, "GPU"))
		return false;
	word.at += 3;
	word.size -= 3;
	if (word.size > 2 && *word.at == '[' && word.at[word.size - 1] == ']') {
		word.at++;
		word.size -= 2;
	}
	if (!weft_span_uint(word, WEFT_INSIDE_MAX - 1, &n))
		return false;
	*gpu = (uint32_t)n;
	return true;
}

static int row_note(const struct reader *r, enum weft_finding_id id, int line,
		    const char *what)
{
	const struct weft_place where = {r->input->source, line};

	return weft_inventory_note(r->s, id, r->draft->place, where, r->err,
				   "%s", what);
}

static void header_read(struct reader *r, struct weft_span line)
{
	struct weft_span word;

	r->n_columns = 0;
	while (weft_span_word(&line, BLANKS, &word) &&
	       r->n_columns < WEFT_INSIDE_MAX &&
	       gpu_word(word, &r->column[r->n_columns]))
		r->n_columns++;
}

static void cell_take(struct reader *r, uint32_t a, uint32_t b,
		      struct weft_span word)
{
	if (a == b)
		return;
	if (r->section == LINK_HOPS)
		r->is_far[a][b] = !weft_span_is(word, "1");
	else
		r->draft->links[a][b] = weft_span_is(word, "XGMI");
}

static int row_read(struct reader *r, uint32_t gpu, struct weft_span rest,
		    int line)
{
	struct weft_span word;
	uint32_t n = 0;

	while (n < r->n_columns && weft_span_word(&rest, BLANKS, &word))
		cell_take(r, gpu, r->column[n++], word);
	if (r->section == LINK_TYPES)
		r->seen[gpu] = true;
	if (n == r->n_columns)
		return 0;
	return row_note(r, WEFT_FINDING_INPUT_TRUNCATED, line,
			"the row has fewer cells than the header has GPUs");
}

/* "GPU[0] : (Topology) Numa Node: 0"; "GPU 0 : ..." of older ones. */
static void numa_read(struct reader *r, uint32_t gpu, struct weft_span line)
{
	const char *at = weft_span_find(line, "Numa Node:");
	struct weft_span word, rest;
	unsigned long numa;

	if (!at)
		return;
	rest = (struct weft_span){at + 10,
				  (size_t)(weft_span_end(line) - at) - 10};
	if (weft_span_word(&rest, BLANKS, &word) &&
	    weft_span_uint(word, 65535, &numa))
		r->draft->inside.gpus[gpu].numa = (int)numa;
}

static int line_read(struct reader *r, struct weft_span line, int number)
{
	struct weft_span rest = line, word, second;
	uint32_t gpu;

	if (weft_span_starts(weft_span_trim(line), "==")) {
		r->section = weft_span_find(line, TYPES)  ? LINK_TYPES
			     : weft_span_find(line, HOPS) ? LINK_HOPS
							  : OTHER;
		r->n_columns = 0;
		if (r->section == LINK_TYPES)
			r->draft->where.line = number;
		return 0;
	}
	if (!weft_span_word(&rest, BLANKS, &word) || !gpu_word(word, &gpu))
		return 0;
	if (r->section == OTHER) {
		numa_read(r, gpu, rest);
		return 0;
	}
	second = rest;
	if (!r->n_columns) {
		header_read(r, line);
		if (r->section == LINK_TYPES)
			r->n_types = r->n_columns;
		return 0;
	}
	return weft_span_word(&second, BLANKS, &word)
		       ? row_read(r, gpu, rest, number)
		       : 0;
}

/* GPUs are numbered from 0; each has a row. */
static int gpus_add(struct reader *r)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < WEFT_INSIDE_MAX; g++)
		n = r->seen[g] ? g + 1 : n;
	if (!n)
		return weft_fail_at(r->err, WEFT_EINVAL, r->input->path, 0, 0,
				    "no table \"" TYPES "\"; expected the "
				    "output of \"rocm-smi --showtopo\"");
	if (n < r->n_types &&
	    row_note(r, WEFT_FINDING_INPUT_TRUNCATED, r->draft->where.line,
		     "the table has fewer rows than columns"))
		return -1;
	for (uint32_t g = 0; g < n; g++) {
		int numa = r->draft->inside.gpus[g].numa;

		weft_inside_add_gpu(r->draft);
		r->draft->inside.gpus[g].numa = numa;
		if (!r->seen[g] && row_note(r, WEFT_FINDING_INPUT_TRUNCATED,
					    r->draft->where.line,
					    "a GPU has no row of its own"))
			return -1;
	}
	return 0;
}

static int table_use(struct reader *r)
{
	if (gpus_add(r))
		return -1;
	for (uint32_t a = 0; a < WEFT_INSIDE_MAX; a++)
		for (uint32_t b = 0; b < WEFT_INSIDE_MAX; b++)
			if (r->is_far[a][b])
				r->draft->links[a][b] = 0;
	r->draft->nvlink_known = true;
	return weft_inside_finish(r->s, r->draft, r->err);
}

int weft_import_rocm_smi(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_error *err)
{
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct reader *r = weft_calloc(1, sizeof(*r), err);
	struct weft_span line;
	int rc = -1;

	if (!r)
		return -1;
	r->draft = weft_inside_start(err);
	if (r->draft) {
		r->s = s;
		r->input = input;
		r->err = err;
		r->draft->place = r->draft->hosts = input->hosts;
		r->draft->where.source = input->source;
		for (uint32_t g = 0; g < WEFT_INSIDE_MAX; g++)
			r->draft->inside.gpus[g].numa = -1;
		rc = 0;
	}
	while (rc == 0 && weft_lines_next(&lines, &line))
		rc = line_read(r, line, lines.number);
	if (rc == 0)
		rc = table_use(r);
	free(r->draft);
	free(r);
	return rc;
}

bool weft_looks_rocm_smi(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	return weft_span_find(span, "= " TYPES) != NULL;
}
