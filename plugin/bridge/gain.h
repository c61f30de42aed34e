/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.h - what weft's nodes bring a job: compared with stock's while it
 * starts, within a bound; no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_GAIN_H
#define WEFT_PLUGIN_BRIDGE_GAIN_H

#include "placement/objective/baseline.h"
#include "placement/objective/evaluation.h"
#include "plugin/bridge/bridge.h"

/* A comparison with stock's nodes may take so long, under Slurm's locks. */
#define WEFT_COMPARE_S 1e-3

/* All of them, over any long while, WEFT_COMPARE_SHARE of the time, and
 * WEFT_COMPARE_AT_ONCE_S at once: a burst of starting jobs does not wait for
 * each.  Whether one may be made now. */
#define WEFT_COMPARE_SHARE     0.01
#define WEFT_COMPARE_AT_ONCE_S 5e-3
bool weft_gain_may(const struct weft_bridge *bridge);

/* Where else a request, laid out as `shape`, could have gone on o.  Free with
 * weft_baselines_free in either case.  -1: no memory, or no such job. */
int weft_gain_baselines(struct weft_bridge *bridge, const char *spec,
			const struct weft_shape *shape,
			const struct weft_occupancy *o,
			struct weft_baselines *baselines);

/* Fills account->gain, and account->compared where that could be done; nothing
 * is begun that would take longer than account->compare_s in all.
 * e: of account->where; measuring it took took_s. */
void weft_gain_compare(struct weft_bridge *bridge, const struct weft_job *job,
		       const struct weft_evaluation *e, double took_s,
		       struct weft_account *account);

/* " stock=2.62s gain=8.0% least=2.05s" for the user; "" where there is nothing
 * to say. */
#define WEFT_GAIN_TEXT_SIZE 96
void weft_gain_text(const struct weft_account *account,
		    char text[WEFT_GAIN_TEXT_SIZE]);

#endif
