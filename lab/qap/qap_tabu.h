/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_tabu.h - the best swap, again and again, without going back
 *
 * Robust tabu search (Taillard 1991): after each swap neither piece may return
 * for a random while to the spot that it left, unless that gives the best
 * solution of the run.  What every swap would change is kept in a table and
 * updated in constant time per entry.  Private to lab/qap/.
 */
#ifndef WEFT_LAB_QAP_QAP_TABU_H
#define WEFT_LAB_QAP_QAP_TABU_H

#include "lab/qap/qap_form.h"

struct tabu_run {
	uint32_t *at;	   /* [n] where to start; then the best found */
	int64_t cost;	   /* of that best: qap_form_cost */
	uint64_t patience; /* iterations without a new best of this run */
	uint32_t shortest, longest; /* iterations that a return is forbidden */
	bool either; /* forbid a swap if either piece would return, not both */
};

/* One width of numbers. */
struct tabu_kind {
	double reach; /* takes forms up to this */
	struct tabu *(*make)(const struct qap_form *f, struct weft_error *err);
	void (*free)(struct tabu *t);
	void (*run)(struct tabu *t, struct tabu_run *run,
		    struct effort *effort);
};

extern const struct tabu_kind qap_tabu_narrow, qap_tabu_wide;

#endif
