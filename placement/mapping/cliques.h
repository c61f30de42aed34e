/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cliques.h - a job's traffic as cliques and loose edges
 *
 * Private to placement/.  All members of a clique send each other as much, so
 * that how many of them are in a domain tells what they send there: no edge of
 * them is looked at.
 */
#ifndef WEFT_PLACEMENT_MAPPING_CLIQUES_H
#define WEFT_PLACEMENT_MAPPING_CLIQUES_H

#include "placement/mapping/graph.h"
#include "placement/mapping/sites.h"

#include <stdbool.h>

/* Levels that are looked at together. */
#define CLIQUES_LEVELS 3

/* A clique whose members are met, run by run. */
struct clique_met {
	double n[CLIQUES_LEVELS]; /* in its domain of each level so far */
	uint32_t last;		  /* run that had one, + 1; 0: none yet */
};

/* Cliques of the job's traffic by rank: first[r] .. first[r + 1] - 1 of of[].
 */
struct cliques {
	uint32_t n; /* 0: the traffic has none that count */
	/* a copy; where a plan cache outlasts the job, whoever takes this out
	 * of it puts in that of the job at hand, which is alike */
	struct weft_traffic t;
	uint32_t *first, *of; /* [n_ranks + 1], [members] */
	double pairs;	      /* bytes between all members */
	uint64_t *met; /* [n] scratch: members met in a domain, by its number */
	struct clique_met *runs_met; /* [n] scratch */
	struct graph loose;	     /* the traffic but for them */
	uint32_t n_edges;	     /* entries of the whole traffic's graph */
	bool disjoint;		     /* no rank is in two of them */
	struct graph whole;	     /* of all pairs; n == 0: not built yet */
};

/* Whose members an order's runs of ranks hold, but for cliques that lie in one
 * of them: first[i] .. first[i + 1] - 1 of entry[].  Cliques that have as many
 * members in each run and send as much, mostly several, are there once. */
struct clique_runs {
	uint32_t n;
	uint32_t *first;
	struct clique_entry {
		uint32_t clique;
		uint32_t n_members; /* in the run */
		double bytes;	    /* of these to a member elsewhere, one way,
				     * of all cliques that this stands for */
	} * entry;
	double inside; /* bytes between members in a run */
};

/* n == 0 where t has no cliques: all of it is loose.  Free with cliques_free in
 * either case. */
int cliques_build(const struct weft_traffic *t, struct cliques *c,
		  struct weft_error *err);
void cliques_free(struct cliques *c);

/* The graph of all pairs of ranks, made when it is first asked for: many where
 * there are large cliques.  NULL with err. */
const struct graph *cliques_whole(struct cliques *c, struct weft_error *err);

/* The rows of that graph, which is not made for them where the cliques are
 * disjoint.  Free with cliques_rows_free in either case. */
int cliques_rows(struct cliques *c, struct graph_rows *rows,
		 struct weft_error *err);
void cliques_rows_free(struct graph_rows *rows);
/* graph_contract of that graph, which is not made for it where the cliques are
 * disjoint. */
int cliques_contract(struct cliques *c, const uint32_t *group,
		     uint32_t n_groups, struct graph *out,
		     struct weft_error *err);

/* Bytes between two ranks, both directions. */
double cliques_weight(const struct cliques *c, uint32_t a, uint32_t b);

/* The one that rank v is in, where they are disjoint; c->n: none. */
static inline uint32_t cliques_of(const struct cliques *c, uint32_t v)
{
	return c->n && c->first[v] < c->first[v + 1] ? c->of[c->first[v]]
						     : c->n;
}

/* *bytes: what all ranks exchange but for each one's `most` heaviest peers,
 * counted at both ends. */
int cliques_beyond(struct cliques *c, uint32_t most, double *bytes,
		   struct weft_error *err);

/* Bytes of cliques between these ranks. */
double cliques_inside(const struct cliques *c, const uint32_t *rank,
		      uint32_t n);

/* Of `rank`, an order of all ranks, in runs of `block`.  Free with
 * clique_runs_free in either case. */
int clique_runs_build(const struct cliques *c, const uint32_t *rank,
		      uint32_t block, struct clique_runs *runs,
		      struct weft_error *err);
/* The same when run i is called name[i].  Free with clique_runs_free in either
 * case. */
int clique_runs_rename(const struct clique_runs *from, const uint32_t *name,
		       struct clique_runs *runs, struct weft_error *err);
void clique_runs_free(struct clique_runs *runs);

/* What they cost when run i sits on site i. */
double clique_runs_cost(const struct cliques *c, const struct clique_runs *runs,
			const struct sites *s);

/* *n: entries of the whole traffic's graph when the ranks, in their own order,
 * are cut into runs of `block`; loose: that of the other traffic, with edges to
 * later runs alone. */
int cliques_count_edges(const struct cliques *c, const struct clique_runs *runs,
			const struct graph *loose, uint32_t block, uint32_t *n,
			struct weft_error *err);

#endif
