/* SPDX-License-Identifier: GPL-3.0-or-later */
/* again.h - a job with limits whose nodes stock has declined
 *
 * Why stock declines is its own business (cores of a socket, threads, other
 * gres, nodes in a row): what it declined is left out and planned again, and
 * its own choice is taken where that keeps to the limits.
 */
#ifndef WEFT_PLUGIN_LIMITS_AGAIN_H
#define WEFT_PLUGIN_LIMITS_AGAIN_H

#include "plugin/plan_request.h"

/* The question without the nodes that stock has declined. */
struct weft_again {
	struct weft_job_test test;
	bitstr_t *declined;
	double deadline_s;
	uint32_t n_tries;
};

/* What was declined within the last minute stays out from the start.  Close
 * with weft_again_close. */
void weft_again_open(const struct weft_job_test *test, double deadline_s,
		     struct weft_again *again);

/* Leaves out what stock has declined of the nodes planned: those that it would
 * not take alone; else those that it has not left; else all.  false: it is time
 * to stop. */
bool weft_again_decline(struct weft_again *again, bitstr_t *planned,
			bitstr_t *left);

/* useful: false when nothing suits the job without what is left out. */
void weft_again_close(struct weft_again *again, bool useful);

/* Nodes get other numbers. */
void weft_again_forget(void);

/* Stock's own choice, now and without preemption, among nodes of one domain
 * after the other; elsewhere: the domain that was taken last comes last.  true:
 * it keeps to the limits, and test->nodes are it. */
bool weft_again_by_stock(const struct weft_plan_request *query, bool elsewhere,
			 double deadline_s);

/* Whether stock would ever run the job in one domain of within=: it is asked
 * about the candidates of one after the other.  true also where it is not
 * known. */
bool weft_again_ever(const struct weft_plan_request *query, double deadline_s);

/* The same at the first time that stock has for any of the domains it was asked
 * about: *nodes (caller: bit_free) and *start.  *cut: some are left for the
 * job's next question, which asks about the domain of *start again.  false: for
 * none. */
bool weft_again_when(const struct weft_plan_request *query, double deadline_s,
		     bitstr_t **nodes, time_t *start, bool *cut);

/* Asks about the candidates of one domain after the other, from where the job's
 * last such question ran out of time. */
void weft_again_each(const struct weft_plan_request *query, double deadline_s,
		     void (*ask)(const struct weft_plan_request *query,
				 bitstr_t *region, void *arg),
		     void *arg);

/* Do these nodes keep to the limits of the job? */
bool weft_again_keeps(const struct weft_plan_request *query, bitstr_t *chosen);

#endif
