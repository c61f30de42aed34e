/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_parts.h - what the files of refine.h share
 *
 * Private to them.
 */
#ifndef WEFT_PLACEMENT_REFINE_REFINE_PARTS_H
#define WEFT_PLACEMENT_REFINE_REFINE_PARTS_H

#include "placement/refine/refine.h"

/* Ways in which nodes give: multiples of some number of GPUs, or all the same.
 */
#define REFINE_RULES  12
#define REFINE_CHUNKS 4
/* What nodes give is kept by rule: those above, and of pieces. */
#define REFINE_GIVES (REFINE_RULES + 4)
/* Sets that have been looked at: a power of two. */
#define REFINE_KNOWN 8192

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

/* What each node and each cell gives by a rule. */
struct gives {
	struct rule rule;
	uint8_t *of_node; /* [n_nodes] */
	uint32_t *cap;	  /* [n_cells] */
};

/* Where ranks lie on a set of nodes is a number, a nesting: an order of
 * orders.h, plus ORDERS_MAX times the number of the node on which it begins,
 * plus REFINE_LISTED times a way in which the set's GPUs are listed. */
#define REFINE_LISTED (1u << 28)
enum listing {
	LIST_TREE,     /* in tree order */
	LIST_NEAR,     /* by refine_align, near */
	LIST_ANYWHERE, /* or not */
	LIST_COLUMNS2, /* by refine_columns, m = 2 */
	LIST_COLUMNS4,
	N_LISTINGS
};
/* Nodes that a group of ranks lies across. */
#define REFINE_COLUMNS 4

/* A set of nodes, and ranks on it. */
struct found {
	bool is_any;
	uint8_t *take; /* [n_nodes] */
	uint32_t nesting;
	struct comparison is;
};

struct refine {
	struct arranger *a;
	struct capacity *s;
	const struct weft_fabric *f;
	const struct weft_job *job;
	uint32_t level; /* of cells */
	uint32_t scope; /* the domain that the job does not leave */
	uint32_t n_rules, n_chunks, n_cells;
	struct rule rule[REFINE_RULES];
	uint32_t chunk[REFINE_CHUNKS];
	struct cell *cell; /* [n_cells] in tree order */
	uint32_t *order;   /* [n_cells] scratch */
	struct gives gives[REFINE_GIVES];
	uint32_t n_gives;
	const uint8_t *give; /* [n_nodes] by the rule of refine_cap */
	uint8_t *take;	     /* [n_nodes] GPUs of each: where the search is */
	uint8_t *now;	     /* [n_nodes] the same of a trial */
	struct node_set node_set; /* of the trial; room for n_gpus nodes */
	uint32_t *gpus, *trial, *where;
	uint32_t *aligned;    /* [n_gpus] gpus[] in another listing, */
	enum listing listing; /* this one; LIST_TREE: none yet */
	bool is_aligned;      /* it differs from gpus[] */
	uint32_t *scratch;    /* [n_gpus] */
	struct pairs *pairs;  /* refine_pairs.c's; NULL: not yet */
	struct comparison *best;
	/* of take[], with ranks in the order `nesting` */
	struct comparison current;
	uint32_t nesting;
	bool is_lost;	  /* whatever is tried next leads on */
	bool is_first;	  /* sets are the first ones, all orders are priced */
	bool is_thorough; /* there is effort for sets that are seldom the best
			   */
	bool is_broken;	  /* the answer before breaks tensor groups */
	/* with less left, not all orders of first sets are measured */
	uint64_t least_work;
	uint8_t *top; /* [n_nodes] take[] at the end of the best search */
	struct comparison
		peak; /* of top[], with ranks in the order peak_nesting */
	uint32_t peak_nesting;
	/* the best of the extra first sets and orders, from which a second
	 * search starts */
	bool is_extra, has_extra;
	uint8_t *extra; /* [n_nodes] */
	struct comparison extra_is;
	uint32_t extra_nesting;
	/* the best first set of each rule, and the rule at hand */
	struct found first[REFINE_RULES];
	uint32_t rule_now;
	/* the set that costs least, whatever the goal, and in which order */
	uint8_t *cheap; /* [n_nodes] */
	uint32_t cheap_nesting;
	double least;
	uint64_t known[REFINE_KNOWN]; /* hashes; 0: free */
	struct weft_error *err;
};

/* Looks at the set of nodes in x->now, in two orders of the ranks; *better: the
 * search goes on from it, and x->take is it. */
int refine_try(struct refine *x, bool *better);

/* Whether the search goes on from a, not b.  By the cost it does not look at
 * the room that is lost, so that it sees the same with any weight of that. */
bool refine_is_better(const struct refine *x, const struct comparison *a,
		      const struct comparison *b);

/* Takes `need` GPUs from the nodes of a cell anew, in x->now, by the rule of
 * refine_cap; false where they do not give so many. */
bool refine_fill(struct refine *x, const struct cell *cell,
		 const struct rule *rule, uint32_t need);

/* Nodes of a cell that give so much give it in x->now, as long as that is
 * needed: those in use, then the others.  Returns what is needed then. */
uint32_t refine_take_alike(struct refine *x, const struct weft_domain *d,
			   uint32_t give, uint32_t need);

/* Looks at the set that the cells' shares make. */
int refine_try_shares(struct refine *x, const struct rule *rule);

/* Whether a cell lies in the domain. */
bool refine_is_inside(const struct refine *x, uint32_t cell, uint32_t domain);

/* From now on nodes and cells give by this rule. */
void refine_cap(struct refine *x, const struct rule *rule);

/* Looks at sets that are made by each rule in each domain that holds the job;
 * the search goes on from the best. */
int refine_first(struct refine *x);

/* Looks at sets on which groups of ranks have nodes of their own. */
int refine_runs(struct refine *x, uint32_t scope);

/* Looks at sets on which no domain has but a few of a group of ranks. */
int refine_pieces(struct refine *x, uint32_t scope);

/* Looks at sets of the n cells order[], of which `least` would do, where nodes
 * that hold but a part of a tensor group make it up two by two. */
int refine_pairs(struct refine *x, uint32_t n, uint32_t least);

/* The same of all n cells, where no part of a tensor group is smaller than
 * `part`; *found: there are such pairs. */
int refine_pairs_of(struct refine *x, uint32_t n, uint32_t part, bool *found);

/* Whether smaller parts may do in the cells that have been looked at last. */
bool refine_may_pair(const struct refine *x);
void refine_pairs_free(struct refine *x);

/* Lists x->gpus in x->aligned so that tensor groups are broken as seldom as may
 * be; near: those that are broken lie in small domains.  *differs: it is
 * another list. */
int refine_align(struct refine *x, bool near, bool *differs);

/* Looks at sets of those cells where tuples of 2 and of 4 nodes give the same.
 */
int refine_tuples(struct refine *x, uint32_t n, uint32_t least);

/* Lists x->gpus in x->aligned so that each tensor group has an equal part on m
 * nodes, as far as nodes give the same.  *differs: it is another list. */
int refine_columns(struct refine *x, uint32_t m, bool *differs);

/* Looks at the sets that segment= would give. */
int refine_segments(struct refine *x);

/* From x->take, as long as something is better. */
int refine_local_search(struct refine *x);

/* Counts what each cell has of x->take. */
void refine_count(struct refine *x);

/* Ranks of x->take in all orders; *better: in one of them it is, and the search
 * goes on with that. */
int refine_orders(struct refine *x, bool *better);

/* Ranks of x->take change places one by one, for x->best alone; nothing where
 * less than `work` is left. */
int refine_polish(struct refine *x, uint64_t work);

/* Searches from x->take, then again and again from near the best of all. */
int refine_wander(struct refine *x);

#endif
