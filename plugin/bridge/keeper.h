/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeper.h - the one thread that weft has inside slurmctld: it touches files,
 * so that no decision has to
 *
 * It never looks at anything of Slurm's and never holds a lock that a decision
 * wants: it reads boards (board.h) and hands results over by atomic exchange.
 */
#ifndef WEFT_PLUGIN_BRIDGE_KEEPER_H
#define WEFT_PLUGIN_BRIDGE_KEEPER_H

#include "costmodel/health.h"
#include "plugin/bridge/shown.h"

struct weft_keeper_options {
	const char *status_path;	/* the snapshot's file; NULL: none */
	const char *health_path;	/* watched and read; NULL: none */
	const struct weft_shown *shown; /* and its fabric */
	const struct weft_counters *counters;
	double period_s; /* 0: a second */
	/* told of trouble with a file, once until it is over; called by the
	 * keeper's thread.  NULL: nobody */
	void (*complain)(const struct weft_error *err);
};

struct weft_keeper;

/* Starts the thread; what the options point to outlives it.  NULL with err;
 * free with weft_keeper_stop, which waits until the thread has ended: for a
 * file that is being written at most. */
struct weft_keeper *weft_keeper_start(const struct weft_keeper_options *options,
				      struct weft_error *err);
void weft_keeper_stop(struct weft_keeper *keeper);

/* Somebody asked for a recount, by a file STATUS.verify beside the snapshot's;
 * true once for each time. */
bool weft_keeper_wants_recount(struct weft_keeper *keeper);

/* What was read of the health file since the last call; NULL: nothing new.
 * Caller: weft_health_free and free.  Never waits. */
struct weft_health *weft_keeper_health(struct weft_keeper *keeper);

#endif
