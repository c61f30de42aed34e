/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_rocm_smi.c - how the AMD GPUs of a node are joined, as "rocm-smi
 * --showtopo" or "amd-smi topology" tells
 *
 *	===== Link Type between two GPUs =====
 *	       GPU0         GPU1
 *	GPU0   0            XGMI
 *	GPU1   XGMI         0
 *	===== Numa Nodes =====
 *	GPU[0]		: (Topology) Numa Node: 0
 *
 * beside which are matrices of weights and hops.  A link is XGMI where the hops
 * of the pair are one; through another GPU it is none of the pair.  amd-smi's
 * matrices are called by their PCI addresses:
 *
 *	LINK TYPE TABLE:
 *	             0000:0c:00.0 0000:22:00.0
 *	0000:0c:00.0 SELF         XGMI
 *
 * and with --json there is an object for each GPU, with "links" to all.
 */
#include "base/lines.h"
#include "topology/import/import.h"
#include "topology/import/json_source.h"
#include "topology/import/node/inside.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"
#define TYPES  "Link Type between two GPUs"
#define HOPS   "Hops between two GPUs"
/* of amd-smi */
#define AMD_TYPES "LINK TYPE TABLE:"
#define AMD_HOPS  "HOPS TABLE:"

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
	struct weft_span address[WEFT_INSIDE_MAX];     /* of amd-smi's GPUs */
	uint32_t n_addresses;
};

static bool is_address(struct weft_span word)
{
	return word.size >= 12 && word.at[4] == ':' && word.at[7] == ':' &&
	       word.at[10] == '.';
}

/* GPUs count in the order in which amd-smi first names them. */
static bool address_word(struct reader *r, struct weft_span word, uint32_t *gpu)
{
	uint32_t k = 0;

	while (k < r->n_addresses &&
	       (r->address[k].size != word.size ||
		memcmp(r->address[k].at, word.at, word.size) != 0))
		k++;
	if (k == WEFT_INSIDE_MAX)
		return false;
	if (k == r->n_addresses)
		r->address[r->n_addresses++] = word;
	*gpu = k;
	return true;
}

/* "GPU3", "GPU[3]", "0000:0c:00.0". */
static bool gpu_word(struct reader *r, struct weft_span word, uint32_t *gpu)
{
	unsigned long n;

	if (is_address(word))
		return address_word(r, word, gpu);
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
	       gpu_word(r, word, &r->column[r->n_columns]))
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

static bool is_title(struct weft_span line)
{
	static const char end[] = "TABLE:";
	size_t size = sizeof(end) - 1;

	return weft_span_starts(line, "==") ||
	       (line.size >= size &&
		memcmp(line.at + line.size - size, end, size) == 0);
}

static enum section section_of(struct weft_span line)
{
	if (weft_span_is(line, AMD_TYPES) || weft_span_find(line, TYPES))
		return LINK_TYPES;
	return weft_span_is(line, AMD_HOPS) || weft_span_find(line, HOPS)
		       ? LINK_HOPS
		       : OTHER;
}

static int line_read(struct reader *r, struct weft_span line, int number)
{
	struct weft_span rest = line, word, second;
	uint32_t gpu;

	if (is_title(weft_span_trim(line))) {
		r->section = section_of(weft_span_trim(line));
		r->n_columns = 0;
		if (r->section == LINK_TYPES)
			r->draft->where.line = number;
		return 0;
	}
	if (!weft_span_word(&rest, BLANKS, &word) || !gpu_word(r, word, &gpu))
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
				    "output of \"rocm-smi --showtopo\" or "
				    "\"amd-smi topology\"");
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

/* ---- amd-smi topology --json ---- */

static bool gpu_number(const json_t *object, uint32_t *gpu)
{
	const json_t *number = json_object_get(object, "gpu");
	json_int_t n = json_integer_value(number);

	*gpu = (uint32_t)n;
	return json_is_integer(number) && n >= 0 && n < WEFT_INSIDE_MAX;
}

static int gpu_links_read(struct reader *r, const json_t *object)
{
	const json_t *links = json_object_get(object, "links");
	uint32_t a, b;

	if (!gpu_number(object, &a) || !json_is_array(links))
		return weft_fail_at(
			r->err, WEFT_EINVAL, r->input->path, 0, 0,
			"expected a list of {\"gpu\", \"links\"}, as "
			"amd-smi topology --json prints");
	for (size_t i = 0; i < json_array_size(links); i++) {
		const json_t *link = json_array_get(links, i);
		const json_t *hops = json_object_get(link, "num_hops");
		const char *type = weft_json_text(link, "link_type");

		if (!gpu_number(link, &b) || !type)
			continue;
		r->seen[a] = true;
		if (a == b)
			continue;
		r->draft->links[a][b] = strcmp(type, "XGMI") == 0;
		r->is_far[a][b] =
			json_is_integer(hops) && json_integer_value(hops) > 1;
	}
	return 0;
}

static int json_read(struct reader *r)
{
	json_t *root = weft_json_source(r->input, r->err);
	int rc = root ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < json_array_size(root); i++)
		rc = gpu_links_read(r, json_array_get(root, i));
	json_decref(root);
	return rc;
}

static bool is_json(const char *text, size_t size)
{
	struct weft_span span = {text, size};

	while (span.size && strchr(" \t\r\n", *span.at)) {
		span.at++;
		span.size--;
	}
	return span.size && *span.at == '[';
}

static int text_read(struct reader *r)
{
	struct weft_lines lines =
		weft_lines_start(r->input->text, r->input->size);
	struct weft_span line;

	while (weft_lines_next(&lines, &line))
		if (line_read(r, line, lines.number))
			return -1;
	return 0;
}

int weft_import_rocm_smi(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_error *err)
{
	struct reader *r = weft_calloc(1, sizeof(*r), err);
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
		rc = is_json(input->text, input->size) ? json_read(r)
						       : text_read(r);
	}
	if (rc == 0)
		rc = table_use(r);
	free(r->draft);
	free(r);
	return rc;
}

bool weft_looks_rocm_smi(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	return weft_span_find(span, "= " TYPES) ||
	       weft_span_find(span, AMD_TYPES) ||
	       (is_json(text, size) && weft_span_find(span, "\"links\"") &&
		weft_span_find(span, "\"link_type\""));
}
