/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metis.c - graphs in the format of METIS */
#include "lab/map/metis.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WEIGHTS 64 /* of a vertex */

struct reader {
	struct scan *s;
	const char *begin; /* of the text, for offsets */
	struct graph *g;
	uint64_t n_listed; /* entries in the file, those of weight 0 too */
	uint64_t n_said;   /* what the header says that to be */
	bool sizes, weights, edge_weights;
	uint32_t n_weights;
	double weight[MAX_WEIGHTS]; /* of the first vertex */
	uint32_t *offset;	    /* of each entry in the text */
	uint32_t *mark;		    /* per vertex, for the check */
};

/* To the next line that is no comment; false at the end of the text. */
static bool line_begin(struct scan *s)
{
	while (*s->at == '%')
		scan_line(s);
	if (scan_at_end(s))
		return false;
	scan_blanks(s);
	return true;
}

/* The three digits of fmt, as one number that may lack the first ones. */
static int format_read(struct reader *r)
{
	struct scan *s = r->s;
	uint64_t digits = 0, n = 1;
	struct scan before;

	scan_blanks(s);
	before = *s;
	if (!scan_at_line_end(s) &&
	    scan_count(s, 0, 111, "a format such as 1, 10 or 011", &digits))
		return -1;
	if (digits % 10 > 1 || digits / 10 % 10 > 1)
		return scan_fail(&before,
				 "expected a format of the digits 0 and 1");
	r->sizes = digits >= 100;
	r->weights = digits / 10 % 10 == 1;
	r->edge_weights = digits % 10 == 1;
	scan_blanks(s);
	if (!scan_at_line_end(s) &&
	    scan_count(s, 0, MAX_WEIGHTS, "a number of weights per vertex", &n))
		return -1;
	r->n_weights = r->weights ? (uint32_t)n : 0;
	return 0;
}

/* A vertex takes a line and an entry a digit and a blank: a header cannot make
 * us allocate much more than the file is large. */
static int size_read(struct scan *s, uint64_t min, const char *what,
		     uint64_t *n)
{
	const struct scan before = *s;

	if (scan_count(s, min, UINT32_MAX / 2 - 1, what, n))
		return -1;
	if (*n > (uint64_t)(s->end - s->at))
		return scan_fail(&before,
				 "expected %s: %llu are more than the file has",
				 what, (unsigned long long)*n);
	return 0;
}

static int header_read(struct reader *r)
{
	struct scan *s = r->s;
	uint64_t n, m;

	if (!line_begin(s))
		return scan_fail(s, "expected a line \"n m [fmt [ncon]]\"");
	if (size_read(s, 1, "a number of vertices", &n))
		return -1;
	scan_blanks(s);
	if (size_read(s, 0, "a number of edges", &m) || format_read(r))
		return -1;
	scan_blanks(s);
	if (!scan_at_line_end(s))
		return scan_fail(s, "expected the end of the line after "
				    "\"n m [fmt [ncon]]\"");
	scan_line(s);
	r->n_said = 2 * m;
	r->g->n = (uint32_t)n;
	return 0;
}

static int arrays_allocate(struct reader *r)
{
	struct graph *g = r->g;
	struct weft_error *err = r->s->err;

	g->row = weft_calloc((size_t)g->n + 1, sizeof(*g->row), err);
	g->peer = weft_calloc(r->n_said, sizeof(*g->peer), err);
	g->weight = weft_calloc(r->n_said, sizeof(*g->weight), err);
	r->offset = weft_calloc(r->n_said, sizeof(*r->offset), err);
	r->mark = weft_calloc(g->n, sizeof(*r->mark), err);
	return g->row && g->peer && g->weight && r->offset && r->mark ? 0 : -1;
}

/* Size and weights of vertex v, which come before its neighbours. */
static int vertex_read(struct reader *r, uint32_t v)
{
	struct scan *s = r->s;
	double size;

	if (r->sizes) {
		if (scan_number(s, "the vertex' size", &size))
			return -1;
		scan_blanks(s);
	}
	for (uint32_t k = 0; k < r->n_weights; k++) {
		const struct scan before = *s;
		double weight;

		if (scan_number(s, "the vertex' weight", &weight))
			return -1;
		if (v == 0)
			r->weight[k] = weight;
		else if (weight != r->weight[k])
			return scan_fail(&before,
					 "vertices of different weights: each "
					 "takes one place, so they must weigh "
					 "the same");
		scan_blanks(s);
	}
	return 0;
}

static int edge_read(struct reader *r, uint32_t v)
{
	const struct scan before = *r->s;
	struct graph *g = r->g;
	double weight = 1;
	uint64_t peer;

	if (scan_count(r->s, 1, g->n,
		       "a neighbour, 1 to the number of vertices", &peer))
		return -1;
	if (peer == (uint64_t)v + 1)
		return scan_fail(&before, "vertex %u is its own neighbour",
				 v + 1);
	scan_blanks(r->s);
	if (r->edge_weights) {
		if (scan_number(r->s, "the edge's weight, 0 or above", &weight))
			return -1;
		scan_blanks(r->s);
	}
	if (r->n_listed++ == r->n_said)
		return scan_fail(&before,
				 "more neighbours than the header says: %llu "
				 "edges are listed twice each, %llu times",
				 (unsigned long long)r->n_said / 2,
				 (unsigned long long)r->n_said);
	if (weight > 0) {
		r->offset[g->n_edges] = (uint32_t)(before.at - r->begin);
		g->peer[g->n_edges] = (uint32_t)peer - 1;
		g->weight[g->n_edges++] = weight;
	}
	return 0;
}

static int rows_read(struct reader *r)
{
	struct scan *s = r->s;
	struct graph *g = r->g;

	for (uint32_t v = 0; v < g->n; v++) {
		/* the last line may lack its end, even where it is empty */
		if (!line_begin(s) &&
		    (v + 1 < g->n || r->sizes || r->n_weights))
			return scan_fail(s,
					 "expected a line for each of %u "
					 "vertices, found %u",
					 g->n, v);
		g->row[v] = g->n_edges;
		if (vertex_read(r, v))
			return -1;
		while (!scan_at_line_end(s)) {
			if (edge_read(r, v))
				return -1;
		}
		scan_line(s);
	}
	g->row[g->n] = g->n_edges;
	while (line_begin(s) && *s->at == '\n')
		scan_line(s);
	if (!scan_at_end(s))
		return scan_fail(s,
				 "expected the end of the file after %u "
				 "vertices",
				 g->n);
	if (r->n_listed < r->n_said)
		return scan_fail(s,
				 "expected %llu neighbours, two for each of "
				 "%llu edges, found %llu",
				 (unsigned long long)r->n_said,
				 (unsigned long long)r->n_said / 2,
				 (unsigned long long)r->n_listed);
	return 0;
}

static int edge_wrong(const struct reader *r, uint32_t k, const char *what)
{
	return scan_fail_at(r->s, r->begin, r->offset[k], "neighbour %u %s",
			    r->g->peer[k] + 1, what);
}

/* Who names whom: for each vertex the entries that name it, in the order of the
 * vertices whose entries they are. */
struct columns {
	uint32_t *end;	  /* [n + 1] of each vertex' part */
	uint32_t *entry;  /* [n_edges] */
	uint32_t *source; /* [n_edges] whose entry it is */
};

static void columns_fill(const struct graph *g, struct columns *c)
{
	for (uint32_t k = 0; k < g->n_edges; k++)
		c->end[g->peer[k] + 1]++;
	for (uint32_t v = 0; v < g->n; v++)
		c->end[v + 1] += c->end[v];
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t k = g->row[v]; k < g->row[v + 1]; k++) {
			uint32_t at = c->end[g->peer[k]]++;

			c->entry[at] = k;
			c->source[at] = v;
		}
	}
}

/* Marks where in v's row each neighbour is, from 1; marks of other rows lie
 * outside this one's. */
static int row_mark(const struct reader *r, uint32_t v)
{
	const struct graph *g = r->g;

	for (uint32_t k = g->row[v]; k < g->row[v + 1]; k++) {
		if (r->mark[g->peer[k]] > g->row[v])
			return edge_wrong(r, k, "is listed twice");
		r->mark[g->peer[k]] = k + 1;
	}
	return 0;
}

static int check_both_ways(const struct reader *r, const struct columns *c)
{
	const struct graph *g = r->g;

	for (uint32_t v = 0, at = 0; v < g->n; v++) {
		if (row_mark(r, v))
			return -1;
		for (; at < c->end[v]; at++) {
			uint32_t k = c->entry[at];
			uint32_t back = r->mark[c->source[at]];

			if (back <= g->row[v])
				return edge_wrong(r, k,
						  "does not list this vertex");
			if (g->weight[back - 1] != g->weight[k])
				return edge_wrong(r, k,
						  "lists this vertex with "
						  "another weight");
		}
	}
	return 0;
}

static int check(const struct reader *r)
{
	const struct graph *g = r->g;
	struct weft_error *err = r->s->err;
	struct columns c = {
		weft_calloc((size_t)g->n + 1, sizeof(*c.end), err),
		weft_calloc(g->n_edges, sizeof(*c.entry), err),
		weft_calloc(g->n_edges, sizeof(*c.source), err),
	};
	int rc = -1;

	if (c.end && c.entry && c.source) {
		columns_fill(g, &c);
		rc = check_both_ways(r, &c);
	}
	free(c.end);
	free(c.entry);
	free(c.source);
	return rc;
}

int metis_read(struct scan *s, struct graph *g)
{
	struct reader r = {.s = s, .begin = s->at, .g = g};
	int rc = -1;

	memset(g, 0, sizeof(*g));
	if (header_read(&r) == 0 && arrays_allocate(&r) == 0 &&
	    rows_read(&r) == 0)
		rc = check(&r);
	free(r.offset);
	free(r.mark);
	return rc;
}
