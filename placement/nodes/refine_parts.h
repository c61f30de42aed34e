/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_parts.h - what the files of refine.h share
 *
 * Private to them.
 */
#ifndef WEFT_PLACEMENT_NODES_REFINE_PARTS_H
#define WEFT_PLACEMENT_NODES_REFINE_PARTS_H

#include "placement/nodes/refine.h"

/* Ways in which nodes give: multiples of some number of GPUs, or all the same.
 */
#define REFINE_RULES  8
#define REFINE_CHUNKS 4
/* Sets that have been looked at. */
#define REFINE_KNOWN 4096

struct rule {
	uint32_t unit; /* a node gives a multiple of this, */
	bool same;     /* or exactly this */
};

/* A domain whose nodes are as good as one another: a leaf, or an NVLink domain
 * of several nodes. */
struct cell {
	uint32_t domain;
	uint32_t cap;	/* GPUs by the rule at hand */
	uint32_t share; /* of the job */
};

struct refine {
	struct arranger *a;
	struct supply *s;
	const struct weft_fabric *f;
	const struct weft_job *job;
	uint32_t level; /* of cells */
	uint32_t scope; /* the domain that the job does not leave */
	uint32_t n_rules, n_chunks, n_cells;
	struct rule rule[REFINE_RULES];
	uint32_t chunk[REFINE_CHUNKS];
	struct cell *cell;    /* [n_cells] in tree order */
	uint32_t *order;      /* [n_cells] scratch */
	uint32_t *take;	      /* [n_nodes] GPUs of each: where the search is */
	uint32_t *now;	      /* [n_nodes] the same of a trial */
	struct choice choice; /* of the trial; room for n_gpus nodes */
	uint32_t *gpus, *trial, *where;
	struct ranking *best;
	double lead; /* least cost of sets seen here */
	uint32_t n_known;
	uint64_t known[REFINE_KNOWN];
	struct weft_error *err;
};

/* Looks at the set of nodes in x->now, with the order that costs least and the
 * ranks' own; *better: the search goes on from it, and x->take is it. */
int refine_try(struct refine *x, bool *better);

/* Takes `need` GPUs from the nodes of a cell anew, in x->now; false where they
 * do not give so many. */
bool refine_fill(struct refine *x, const struct cell *cell,
		 const struct rule *rule, uint32_t need);

/* What each cell gives by a rule. */
void refine_cap(struct refine *x, const struct rule *rule);

/* From x->take, as long as something is better. */
int refine_climb(struct refine *x);

#endif
