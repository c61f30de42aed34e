/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.h - traffic as an undirected graph, of ranks or of groups of ranks
 *
 * Distances are symmetric, so what counts is M(i,j) + M(j,i), all axes summed.
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_GRAPH_H
#define WEFT_PLACEMENT_MAPPING_GRAPH_H

#include "costmodel/traffic/traffic.h"

/* Every edge is in the rows of both its ends; no loops, no parallels. */
struct graph {
	uint32_t n, n_edges; /* n_edges: entries, twice the edges */
	uint32_t *row;	     /* [n + 1] */
	uint32_t *peer;	     /* [n_edges] */
	double *weight;	     /* [n_edges] bytes, both directions */
	double inside;	     /* bytes that contraction hid inside groups */
};

struct graph_row {
	uint32_t n;
	const uint32_t *peer;
	const double *weight;
};

/* Both: free with graph_free in either case. */
int graph_build(const struct weft_traffic *t, struct graph *g,
		struct weft_error *err);
/* One vertex per group; group[v] < n_groups is the group of v. */
int graph_contract(const struct graph *g, const uint32_t *group,
		   uint32_t n_groups, struct graph *out,
		   struct weft_error *err);
void graph_free(struct graph *g);

/* Leaves each edge in the row of its lower end alone; n_edges counts as many.
 * -1 with err: out of time or memory, only to be freed. */
int graph_halve(struct graph *g, struct weft_error *err);
/* The same of g when vertex v is called name[v].  Free with graph_free in
 * either case. */
int graph_rename_half(const struct graph *g, const uint32_t *name,
		      struct graph *out, struct weft_error *err);

/* A graph of n vertices whose rows are made when they are read: `of` sets the
 * *n entries of row v, which stay until the next one. */
struct graph_rows {
	uint32_t n, n_edges; /* entries of all rows */
	void (*of)(void *data, uint32_t v, struct graph_row *row);
	void *data;
};
/* Those of a graph that has them. */
struct graph_rows graph_rows_of(struct graph *g);
/* graph_contract of such a one. */
int graph_contract_rows(const struct graph_rows *rows, const uint32_t *group,
			uint32_t n_groups, struct graph *out,
			struct weft_error *err);

/* The same whose rows are made when they are first read, too.  Zero-initialise;
 * keeps *rows and group.  Free with graph_lazy_free in either case. */
struct graph_lazy {
	const struct graph_rows *rows;
	const uint32_t *group;
	struct graph_members {
		uint32_t *first;  /* [n_groups + 1] of a group in vertex[] */
		uint32_t *vertex; /* [n] ascending in each */
		uint32_t *seen;	  /* [n_groups] behind where a group is in the
				   * last row that has it */
		uint32_t *memory;
	} members;
	struct graph made;     /* in the order in which rows were read */
	struct graph_row *row; /* [made.n]; peer NULL: not made yet */
};

int graph_lazy_build(const struct graph_rows *rows, const uint32_t *group,
		     uint32_t n_groups, struct graph_lazy *lazy,
		     struct weft_error *err);
/* Row v, which stays. */
struct graph_row graph_lazy_row(struct graph_lazy *lazy, uint32_t v);
void graph_lazy_free(struct graph_lazy *lazy);

/* Empty rows of n vertices with room for that many entries, to be filled one
 * after the other: graph_add, then row[v + 1] = n_edges.  Free with graph_free
 * in either case. */
int graph_start(struct graph *g, uint32_t n, size_t room,
		struct weft_error *err);
void graph_add(struct graph *g, uint32_t peer, double weight);

/* Fills weight[g->n_edges] with the weights of each row, heaviest first. */
void graph_heaviest(const struct graph *g, double *weight);

/* Sum of n weights and of n_alike more that are alike but for the `most`
 * heaviest.  scratch: [n]. */
double graph_beyond(const double *weight, uint32_t n, double alike,
		    uint32_t n_alike, uint32_t most, double *scratch);

#endif
