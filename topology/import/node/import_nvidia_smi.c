/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_nvidia_smi.c - "nvidia-smi topo -m": how each pair of GPUs and NICs is
 * joined
 *
 * A header of GPUs and NICs, then a row for each: X, NV<links>, PIX, PXB, PHB,
 * NODE, SYS.  Columns are parted by tabs as printed, by blanks as copied from a
 * terminal; no cell of the matrix has blanks inside, so words do for both.
 * Older drivers name NICs in the header ("mlx5_0"), newer ones in a legend
 * behind ("NIC0: mlx5_0").
 */
#include "base/lines.h"
#include "topology/import/import.h"
#include "topology/import/node/inside.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS	    " \t"
#define MAX_NVLINKS 18
#define MAX_COLUMNS (2 * WEFT_INSIDE_MAX)

struct column {
	char name[32];
	bool is_gpu, has_row;
	uint32_t index; /* in the draft */
};

struct matrix {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_inside_draft *draft;
	struct column columns[MAX_COLUMNS];
	uint32_t n_columns, n_rows;
	bool has_numa; /* "NUMA Affinity" follows "CPU Affinity" */
	char told[MAX_COLUMNS][MAX_COLUMNS][8];
};

static const struct {
	const char *word;
	uint32_t distance;
} relations[] = {
	{"X", 0},
	{"PIX", 1},
	{"PXB", 2},
	{"PHB", WEFT_INSIDE_SAME_CPU},
	{"NODE", WEFT_INSIDE_SAME_CPU + 1},
	{"SYS", WEFT_INSIDE_OTHER_CPU},
	/* Of drivers before 2018. */
	{"SOC", WEFT_INSIDE_OTHER_CPU},
};

/* Number of NVLinks of "NV12"; false where it is no such word. */
static bool nvlinks(struct weft_span word, unsigned long *n)
{
	if (!weft_span_starts(word, "NV"))
		return false;
	word.at += 2;
	word.size -= 2;
	return weft_span_uint(word, 1024, n);
}

static bool relation(struct weft_span word, uint32_t *distance)
{
	unsigned long n;

	if (nvlinks(word, &n)) {
		*distance = 0;
		return true;
	}
	for (size_t i = 0; i < WEFT_N_OF(relations); i++)
		if (weft_span_is(word, relations[i].word)) {
			*distance = relations[i].distance;
			return true;
		}
	return false;
}

static bool starts_numbered(struct weft_span word, const char *prefix)
{
	size_t size = strlen(prefix);

	return weft_span_starts(word, prefix) && word.size > size &&
	       isdigit((unsigned char)word.at[size]);
}

/* The header begins with GPUs that are not followed by a relation, as they are
 * in a row. */
static bool is_header(struct weft_span line)
{
	struct weft_span word;
	uint32_t distance;

	if (!weft_span_word(&line, BLANKS, &word) ||
	    !starts_numbered(word, "GPU"))
		return false;
	return !weft_span_word(&line, BLANKS, &word) ||
	       !relation(word, &distance);
}

static int fail(const struct matrix *m, int line, const char *what)
{
	return weft_fail_at(m->err, WEFT_EINVAL, m->input->path, line, 0, "%s",
			    what);
}

static int note(const struct matrix *m, enum weft_finding_id id, int line,
		const char *what)
{
	struct weft_place where = {m->input->source, line};

	return weft_inventory_note(m->s, id, m->draft->place, where, m->err,
				   "%s", what);
}

static int column_add(struct matrix *m, struct weft_span word, int line)
{
	struct column *c = &m->columns[m->n_columns];
	bool is_gpu = starts_numbered(word, "GPU");

	if (m->n_columns == MAX_COLUMNS)
		return fail(m, line,
			    "more columns than a node can have GPUs "
			    "and NICs");
	*c = (struct column){.is_gpu = is_gpu};
	weft_span_copy(word, c->name, sizeof(c->name));
	c->index = is_gpu ? weft_inside_add_gpu(m->draft)
			  : weft_inside_add_nic(m->draft);
	if (c->index == WEFT_NONE)
		return fail(m, line, "more GPUs or NICs than weft can hold");
	if (!is_gpu)
		snprintf(m->draft->inside.nics[c->index].name,
			 sizeof(m->draft->inside.nics[c->index].name), "%s",
			 c->name);
	m->n_columns++;
	return 0;
}

static int header_read(struct matrix *m, struct weft_span line, int number)
{
	struct weft_span word;

	while (weft_span_word(&line, BLANKS, &word)) {
		/* "CPU Affinity", "NUMA Affinity", "GPU NUMA ID" */
		if (weft_span_is(word, "CPU") || weft_span_is(word, "NUMA")) {
			m->has_numa = weft_span_is(word, "NUMA") ||
				      weft_span_find(line, "NUMA Affinity");
			return 0;
		}
		if (column_add(m, word, number))
			return -1;
	}
	return 0;
}

static struct column *column_find(struct matrix *m, struct weft_span name)
{
	for (uint32_t i = 0; i < m->n_columns; i++)
		if (weft_span_is(name, m->columns[i].name))
			return &m->columns[i];
	return NULL;
}

/* ---- rows ---- */

static void cell_take(struct matrix *m, const struct column *row,
		      const struct column *column, struct weft_span word)
{
	struct weft_inside_draft *d = m->draft;
	unsigned long links = 0;
	uint32_t distance = 0;

	(void)relation(word, &distance);
	if (row->is_gpu && column->is_gpu) {
		if (nvlinks(word, &links))
			d->links[row->index][column->index] = (uint32_t)links;
	} else if (row->is_gpu) {
		d->distance[column->index][row->index] = distance;
	} else if (column->is_gpu) {
		d->distance[row->index][column->index] = distance;
	}
}

/* Behind the matrix: CPUs, then the NUMA node where the header has it. */
static void numa_take(struct matrix *m, const struct column *row,
		      struct weft_span rest)
{
	struct weft_span word;
	unsigned long numa;

	if (!row->is_gpu || !m->has_numa ||
	    !weft_span_word(&rest, BLANKS, &word) ||
	    !weft_span_word(&rest, BLANKS, &word) ||
	    !weft_span_uint(word, 65535, &numa))
		return;
	m->draft->inside.gpus[row->index].numa = (int)numa;
}

static int row_read(struct matrix *m, struct column *row, struct weft_span rest,
		    int line)
{
	uint32_t at = (uint32_t)(row - m->columns), n = 0, distance;
	struct weft_span word;

	if (row->has_row)
		return note(m, WEFT_FINDING_LINE_IGNORED, line,
			    "a second row of that name; a file holds the "
			    "matrix of one node");
	row->has_row = true;
	m->n_rows++;
	for (; n < m->n_columns && weft_span_word(&rest, BLANKS, &word); n++) {
		if (!relation(word, &distance))
			break;
		cell_take(m, row, &m->columns[n], word);
		weft_span_copy(word, m->told[at][n], sizeof(m->told[at][n]));
	}
	if (n < m->n_columns)
		return note(m, WEFT_FINDING_INPUT_TRUNCATED, line,
			    "the row has fewer cells than the header has "
			    "columns, or a word that is none of X, NV#, PIX, "
			    "PXB, PHB, NODE, SYS");
	numa_take(m, row, rest);
	return 0;
}

/* "  NIC0: mlx5_0" */
static void legend_take(struct matrix *m, struct weft_span line)
{
	struct weft_span word;
	struct column *column;

	if (!weft_span_word(&line, BLANKS, &word) || word.size < 2 ||
	    word.at[word.size - 1] != ':')
		return;
	word.size--;
	column = column_find(m, word);
	if (!column || column->is_gpu || !weft_span_word(&line, BLANKS, &word))
		return;
	weft_span_copy(word, m->draft->inside.nics[column->index].name,
		       sizeof(m->draft->inside.nics[column->index].name));
}

static int line_take(struct matrix *m, struct weft_span line, int number)
{
	struct weft_span rest = line, word;
	struct column *row;

	if (m->n_columns == 0) {
		if (!is_header(line))
			return 0;
		m->draft->where.line = number;
		return header_read(m, line, number);
	}
	if (!weft_span_word(&rest, BLANKS, &word))
		return 0;
	row = column_find(m, word);
	if (row)
		return row_read(m, row, rest, number);
	legend_take(m, line);
	return 0;
}

/* ---- the whole ---- */

/* Both rows describe a pair; they agree, unless the text was edited. */
static int symmetry_note(const struct matrix *m)
{
	char text[160];

	for (uint32_t a = 0; a < m->n_columns; a++)
		for (uint32_t b = 0; b < a; b++) {
			if (!m->told[a][b][0] || !m->told[b][a][0] ||
			    strcmp(m->told[a][b], m->told[b][a]) == 0)
				continue;
			snprintf(text, sizeof(text),
				 "%s and %s are joined by %s in one row and by "
				 "%s in the other",
				 m->columns[b].name, m->columns[a].name,
				 m->told[b][a], m->told[a][b]);
			if (note(m, WEFT_FINDING_CONFLICT, m->draft->where.line,
				 text))
				return -1;
		}
	return 0;
}

static int missing_note(const struct matrix *m)
{
	char text[120];

	for (uint32_t i = 0; i < m->n_columns; i++) {
		if (m->columns[i].has_row)
			continue;
		snprintf(text, sizeof(text),
			 "the header names %s, but it has no row",
			 m->columns[i].name);
		if (note(m, WEFT_FINDING_INPUT_TRUNCATED, m->draft->where.line,
			 text))
			return -1;
	}
	return 0;
}

/* Switches join exactly those GPUs that say so of each other. */
static void switches_number(struct weft_inside_draft *d,
			    const bool (*joined)[WEFT_INSIDE_MAX])
{
	uint32_t n = d->inside.n_gpus;

	for (uint32_t g = 0; g < n; g++)
		d->switches[g] = g;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				if (joined[a][b] &&
				    d->switches[b] < d->switches[a]) {
					d->switches[a] = d->switches[b];
					changed = true;
				}
	}
}

/* No GPU has more NVLinks than this; a row that adds up to more tells of links
 * to switches, in each cell again. */
static void switches_see(struct weft_inside_draft *d)
{
	bool joined[WEFT_INSIDE_MAX][WEFT_INSIDE_MAX];

	for (uint32_t a = 0; a < d->inside.n_gpus; a++)
		for (uint32_t b = 0; b < d->inside.n_gpus; b++)
			joined[a][b] = d->links[a][b] || d->links[b][a];
	switches_number(d, (const bool(*)[WEFT_INSIDE_MAX])joined);
	for (uint32_t a = 0; a < d->inside.n_gpus; a++) {
		uint32_t sum = 0, most = 0;

		for (uint32_t b = 0; b < d->inside.n_gpus; b++) {
			sum += d->links[a][b];
			most = d->links[a][b] > most ? d->links[a][b] : most;
		}
		if (sum <= MAX_NVLINKS)
			continue;
		d->switched[a] = most;
		memset(d->links[a], 0, sizeof(d->links[a]));
	}
}

static int matrix_use(struct matrix *m)
{
	if (weft_looks_rocm_smi(m->input->text, m->input->size))
		return fail(m, 0, "the output of rocm-smi: --from rocm-smi");
	if (m->n_columns == 0)
		return fail(m, 0,
			    "no header of GPUs; expected the output of "
			    "\"nvidia-smi topo -m\"");
	if (m->n_rows == 0)
		return fail(m, m->draft->where.line,
			    "no row follows the header");
	if (missing_note(m) || symmetry_note(m))
		return -1;
	switches_see(m->draft);
	m->draft->nvlink_known = true;
	return weft_inside_finish(m->s, m->draft, m->err);
}

bool weft_looks_nvidia_smi(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line, word;
	bool found = false;

	while (!found && weft_lines_next(&lines, &line)) {
		struct weft_span rest = line;

		found = is_header(line) &&
			weft_span_word(&rest, BLANKS, &word) &&
			weft_span_is(word, "GPU0");
	}
	return found;
}

int weft_import_nvidia_smi(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err)
{
	struct matrix *m = weft_calloc(1, sizeof(*m), err);
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct weft_span line;
	int rc = -1;

	if (m)
		m->draft = weft_inside_start(err);
	if (!m || !m->draft)
		goto out;
	m->s = s;
	m->input = input;
	m->err = err;
	m->draft->place = m->draft->hosts = input->hosts;
	m->draft->where.source = input->source;
	rc = 0;
	while (rc == 0 && weft_lines_next(&lines, &line))
		rc = line_take(m, line, lines.number);
	if (rc == 0)
		rc = matrix_use(m);
out:
	if (m)
		free(m->draft);
	free(m);
	return rc;
}
