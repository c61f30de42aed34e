/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turns.h - whose turn it is to choose a job's nodes, weft's or stock's: no
 * Slurm types
 *
 * What Slurm tests only after the choice of nodes (limits of a QOS or an
 * account on CPUs and nodes) may allow stock's nodes and not weft's.  A job
 * that did not begin on weft's nodes is stock's the next time.
 *
 * Components of a heterogeneous job take turns together: Slurm asks when each
 * component will run, and starts them once all can. Weft's nodes of one may
 * leave none for the next, where stock's would: the whole job is stock's for a
 * cycle of backfill then.  Components that took turns one by one would get out
 * of step.
 */
#ifndef WEFT_PLUGIN_BRIDGE_TURNS_H
#define WEFT_PLUGIN_BRIDGE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT_MAX_TURNS 256

/* Sets of components: bit k is that of offset k, of 64. */
struct weft_turn {
	uint32_t job_id; /* of the first component; 0: none */
	uint32_t cycle;
	bool stocks;
	uint64_t narrowed;  /* weft's nodes were answered */
	uint64_t startable; /* now, by whomever */
	uint64_t by_itself; /* not now, whatever nodes the others have */
};

/* Zero-initialise.  Of more jobs in a cycle the others are stock's in every
 * second one. */
struct weft_turns {
	uint32_t cycle; /* asked about last */
	struct weft_turn of[WEFT_MAX_TURNS];
};

/* Backfill asks about a component in this cycle; pending: components that have
 * not begun.  true: it is stock's turn. */
bool weft_turns_ask(struct weft_turns *turns, uint32_t job_id, uint32_t cycle,
		    uint64_t pending);
/* Whose turn it is, as of then. */
bool weft_turns_stocks(const struct weft_turns *turns, uint32_t job_id);

/* Whether weft's nodes of another component may be in the way. */
bool weft_turns_suspect(const struct weft_turns *turns, uint32_t job_id,
			uint32_t offset);

/* How the question about a component was answered. */
struct weft_turn_answer {
	bool narrowed, startable;
	bool by_itself; /* it cannot start now on others' nodes, either */
};
void weft_turns_answer(struct weft_turns *turns, uint32_t job_id,
		       uint32_t offset, const struct weft_turn_answer *answer);

/* Jobs of one component that have not begun on weft's nodes yet, direct-mapped
 * by job_id.  A job whose slot another job has is stock's, so that each is
 * stock's in every second turn at least.  Zero-initialise. */
#define WEFT_MAX_LAST_TURNS 1024

struct weft_last_turns {
	struct weft_last_turn {
		uint32_t job_id; /* 0: none */
		double at_s;	 /* monotonic clock */
	} of[WEFT_MAX_LAST_TURNS];
};

bool weft_last_turns_stocks_next(const struct weft_last_turns *turns,
				 uint32_t job_id, double now_s);
/* Stock has taken weft's nodes. */
void weft_last_turns_add(struct weft_last_turns *turns, uint32_t job_id,
			 double now_s);
/* Stock has had its turn, or the job has begun. */
void weft_last_turns_drop(struct weft_last_turns *turns, uint32_t job_id);

#endif
