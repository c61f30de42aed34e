/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turns.h - whose nodes the components of a heterogeneous job get: no Slurm
 * types
 *
 * Slurm asks when each component will run, and starts them once all can. Weft's
 * nodes of one may leave none for the next, where stock's would: the whole job
 * is stock's for a cycle of backfill then.  Components that took turns one by
 * one would get out of step.
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

#endif
