/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proof.h - proving with blocks of ranks that no placement costs less
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_PROOF_H
#define WEFT_PLACEMENT_EXACT_PROOF_H

#include "placement/exact/aggregate.h"
#include "placement/exact/blocks.h"
#include "placement/mapping/effort.h"

/* The work on one way to take ranks together. */
struct proof {
	const struct capacity *s; /* of single GPUs */
	struct effort effort;
	/* called now and then with the state; NULL: never */
	void (*progress)(void *listener, const char *text);
	void *listener;
	double known; /* cost of the best placement at hand; look for less */
	const uint32_t *start;	/* it, or NULL */
	bool wants_certificate; /* also where enumeration has the answer */
	bool only_enumerates;	/* no programs, whose work has no measure but
				 * time */
	/* what came of it */
	double bound;	   /* no placement costs less; 0 if unknown */
	bool found;	   /* where[] has one that may cost less than known */
	uint32_t *where;   /* [n_gpus] given by the caller */
	char *certificate; /* a program that proves certified; malloc'ed */
	double certified;
	struct blocks blocks;
	double *least; /* boundary_least of its graph */
	double parted; /* what placements cost at least that part a block */
};

/* Blocks from group[r] < n.  Fills parted: where it is not below known, blocks
 * can be taken as whole.  Free with proof_free in either case. */
int proof_start(struct proof *proof, const uint32_t *group, uint32_t n,
		struct weft_error *err);
int proof_run(struct proof *proof, struct weft_error *err);
void proof_free(struct proof *proof);

/* No placement in which the ranks of some block of b are in several NVLink
 * domains costs less than *bound; 0 where nothing can be said.  least:
 * boundary_least of b->g.  known: the cost beyond which it does not matter.
 * effort: its time only. */
int parting_bound(const struct blocks *b, const double *least, double known,
		  const struct effort *effort, double *bound,
		  struct weft_error *err);

#endif
