/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_csv.c - a table of nodes and where they are, as sites keep one
 *
 *	node,leaf,spine,rack,gpus,gpu_type
 *	n[001-016],l01,s01,r01,8,h100
 *
 * The first line names the columns, in any order; between commas,
 * semicolons, tabs or bars.  One names nodes, others what they have, and all
 *that are kinds of switches or places are levels: innermost first, or last, as
 *their kinds say.
 */
#include "base/hostlist.h"
#include "base/lines.h"
#include "topology/import/chain.h"
#include "topology/import/import.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64
#define CELL_SIZE   1024

enum column { OTHER, NODE, LEVEL, NVLINK, RACK, GPUS, KIND };

/* rank: of a level, how far out such things usually are. */
static const struct {
	const char *name;
	enum column column;
	int rank;
} columns[] = {
	{"node", NODE, 0},	    {"nodename", NODE, 0},
	{"node_name", NODE, 0},	    {"host", NODE, 0},
	{"hostname", NODE, 0},	    {"nodelist", NODE, 0},
	{"nodes", NODE, 0},	    {"instance", NODE, 0},
	{"instance_id", NODE, 0},   {"server", NODE, 0},
	{"machine", NODE, 0},	    {"compute_node", NODE, 0},
	{"nvlink", NVLINK, 0},	    {"nvlink_domain", NVLINK, 0},
	{"nvl_domain", NVLINK, 0},  {"clique", NVLINK, 0},
	{"accelerator", NVLINK, 0}, {"rack", RACK, 0},
	{"rack_id", RACK, 0},	    {"cabinet", RACK, 0},
	{"gpus", GPUS, 0},	    {"gpu_count", GPUS, 0},
	{"n_gpus", GPUS, 0},	    {"gpu", KIND, 0},
	{"gpu_type", KIND, 0},	    {"gpu_kind", KIND, 0},
	{"gpu_model", KIND, 0},	    {"leaf", LEVEL, 1},
	{"leaf_switch", LEVEL, 1},  {"tor", LEVEL, 1},
	{"tor_switch", LEVEL, 1},   {"spine_name", LEVEL, 2},
	{"switch", LEVEL, 1},	    {"subblock", LEVEL, 1},
	{"leafgroup", LEVEL, 1},    {"su", LEVEL, 2},
	{"block", LEVEL, 2},	    {"spine", LEVEL, 2},
	{"spine_switch", LEVEL, 2}, {"agg", LEVEL, 2},
	{"aggregation", LEVEL, 2},  {"group", LEVEL, 2},
	{"pod", LEVEL, 3},	    {"superpod", LEVEL, 3},
	{"core", LEVEL, 3},	    {"core_switch", LEVEL, 3},
	{"superspine", LEVEL, 3},   {"fabric", LEVEL, 4},
	{"cluster", LEVEL, 4},	    {"hall", LEVEL, 4},
	{"zone", LEVEL, 5},	    {"datacenter", LEVEL, 5},
	{"dc", LEVEL, 5},	    {"region", LEVEL, 6},
};

struct table {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	char separator;
	uint32_t n_columns;
	size_t of[MAX_COLUMNS]; /* index into columns, or WEFT_NONE */
	char unknown[64];	/* the first column that is none of them */
	bool outermost_first;
	bool has_header;
	uint32_t n_rows;
};

static size_t column_find(struct weft_span name)
{
	for (size_t i = 0; i < WEFT_N_OF(columns); i++) {
		size_t k = 0;

		/* "Leaf Switch", "leaf-switch" and "leaf_switch" are one */
		for (; k < name.size && columns[i].name[k]; k++) {
			char c = (char)tolower((unsigned char)name.at[k]);

			if ((c == ' ' || c == '-' ? '_' : c) !=
			    columns[i].name[k])
				break;
		}
		if (k == name.size && !columns[i].name[k])
			return i;
	}
	return WEFT_NONE;
}

static char separator_of(struct weft_span line)
{
	static const char kinds[] = ",;\t|";

	for (const char *c = kinds; *c; c++)
		if (line.size && memchr(line.at, *c, line.size))
			return *c;
	return '\0';
}

/* Names a column of nodes and one of something else that is known. */
static bool header_read(struct table *t, struct weft_span line)
{
	bool seen[KIND + 1] = {false};
	int first = 0, last = 0;
	struct weft_span name;

	t->n_columns = 0;
	t->separator = separator_of(line);
	while (t->separator && t->n_columns < MAX_COLUMNS &&
	       weft_span_csv(&line, t->separator, &name)) {
		size_t c = column_find(name);

		t->of[t->n_columns++] = c;
		if (c == WEFT_NONE) {
			if (!t->unknown[0] && name.size)
				weft_span_copy(name, t->unknown,
					       sizeof(t->unknown));
			continue;
		}
		if (columns[c].column == NODE && seen[NODE])
			return false;
		seen[columns[c].column] = true;
		if (columns[c].column != LEVEL)
			continue;
		first = first ? first : columns[c].rank;
		last = columns[c].rank;
	}
	t->outermost_first = first > last;
	return seen[NODE] && (seen[LEVEL] || seen[NVLINK] || seen[RACK]);
}

static int row_ignore(const struct table *t, struct weft_place where,
		      const char *why)
{
	return weft_inventory_note(t->s, WEFT_FINDING_LINE_IGNORED, NULL, where,
				   t->err, "%s", why);
}

/* cell[]: texts of the columns. */
static void row_locate(const struct table *t, char (*cell)[CELL_SIZE],
		       struct weft_located *l, const char **nodes)
{
	*l = (struct weft_located){0};
	for (uint32_t i = 0; i < t->n_columns; i++) {
		/* levels innermost first */
		uint32_t k = t->outermost_first ? t->n_columns - 1 - i : i;
		size_t c = t->of[k];
		enum column column = c == WEFT_NONE ? OTHER : columns[c].column;

		if (column == NODE)
			*nodes = cell[k];
		else if (column == NVLINK)
			l->nvlink = cell[k];
		else if (column == RACK)
			l->rack = cell[k];
		else if (column == KIND)
			l->gpu_kind = cell[k];
		else if (column == GPUS) {
			l->gpus = (uint32_t)strtoul(cell[k], NULL, 10);
			l->gpus_told = isdigit((unsigned char)cell[k][0]);
		} else if (column == LEVEL && l->n < WEFT_MAX_LEVELS) {
			l->level[l->n] = cell[k];
			l->label[l->n++] = columns[c].name;
		}
	}
}

static int nodes_add(struct table *t, struct weft_located *l, const char *nodes,
		     struct weft_place where)
{
	struct weft_hostlist list = {0};
	struct weft_error why = {0};
	int rc = 0;

	if (weft_hostlist_decode(nodes, WEFT_INVENTORY_MAX_HOSTS, &list, &why))
		return row_ignore(t, where, why.text);
	for (uint32_t i = 0; rc == 0 && i < list.n; i++) {
		l->host = list.names[i];
		rc = weft_located_add(t->s, l, where, t->err);
		t->n_rows++;
	}
	weft_hostlist_free(&list);
	return rc;
}

static int row_read(struct table *t, struct weft_span line, int number)
{
	const struct weft_place where = {t->input->source, number};
	char(*cell)[CELL_SIZE] =
		weft_calloc(MAX_COLUMNS, sizeof(*cell), t->err);
	struct weft_span field;
	struct weft_located l;
	const char *nodes = "";
	uint32_t n = 0;
	int rc = -1;

	if (!cell)
		return -1;
	while (n < t->n_columns && weft_span_csv(&line, t->separator, &field))
		weft_span_copy(field, cell[n++], CELL_SIZE);
	row_locate(t, cell, &l, &nodes);
	if (n < t->n_columns || line.at)
		rc = row_ignore(t, where, "not as many cells as columns");
	else if (!*nodes)
		rc = row_ignore(t, where, "no node is named");
	else if (l.gpus_told && l.gpus > WEFT_MAX_GPUS_PER_NODE)
		rc = row_ignore(t, where, "more GPUs than a node can have");
	else
		rc = nodes_add(t, &l, nodes, where);
	free(cell);
	return rc;
}

static int table_read(struct table *t)
{
	struct weft_lines lines =
		weft_lines_start(t->input->text, t->input->size);
	struct weft_span line;

	while (weft_lines_next(&lines, &line)) {
		if (!weft_span_trim(line).size || *line.at == '#')
			continue;
		if (t->has_header) {
			if (row_read(t, line, lines.number))
				return -1;
			continue;
		}
		t->has_header = header_read(t, line);
		if (!t->has_header)
			return weft_fail_at(
				t->err, WEFT_EINVAL, t->input->path,
				lines.number, 0,
				"expected names of columns, one of them node, "
				"others such as leaf, spine, rack, gpus");
		if (t->unknown[0] &&
		    weft_inventory_note(
			    t->s, WEFT_FINDING_INPUT_PARTIAL, NULL,
			    (struct weft_place){t->input->source, lines.number},
			    t->err,
			    "column \"%s\" and others without a known "
			    "name are left out",
			    t->unknown))
			return -1;
	}
	return t->n_rows ? 0
			 : weft_fail_at(t->err, WEFT_EINVAL, t->input->path, 0,
					0, "no row with a node");
}

int weft_import_csv(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err)
{
	struct table t = {.s = s, .input = input, .err = err};

	return table_read(&t);
}

bool weft_looks_csv(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line;
	struct table t = {0};

	while (weft_lines_next(&lines, &line))
		if (weft_span_trim(line).size && *line.at != '#')
			return header_read(&t, line);
	return false;
}
