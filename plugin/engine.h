/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.h - everything weft keeps inside slurmctld
 *
 * Used only under Slurm's job and node locks, held for writing by whoever calls
 * into the select plugin about jobs: hence no lock of its own.
 */
#ifndef WEFT_PLUGIN_ENGINE_H
#define WEFT_PLUGIN_ENGINE_H

#include "plugin/bridge/answers.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files/status_writer.h"
#include "plugin/bridge/running/link_load.h"
#include "plugin/bridge/running/previous_nodes.h"
#include "plugin/slurm/nodes.h"

struct weft_engine {
	struct weft_settings *settings; /* NULL or WEFT_MODE_OFF: weft is off */
	struct weft_bridge bridge;
	struct weft_nodes nodes;
	struct weft_answers answers;
	struct weft_previous_nodes previous;
	struct weft_status_writer
		*writer; /* of the status; NULL: none is kept */
	struct weft_status_writer *watcher;  /* of health; NULL: none */
	struct weft_status_writer *recorder; /* of the records; NULL: off */
	struct weft_link_load loads; /* no fabric: links are not looked at */
	bool loads_stale;	    /* running jobs are still to be looked at */
	struct weft_health *health; /* NULL: all is well */
	double granted_s; /* of the budget, to the question that was last */
};

extern struct weft_engine weft_engine;

/* Bitmaps of nodes have a bit for each of Slurm's node table: were that ever to
 * change unseen, weft is off. */
bool weft_engine_on(void);

/* All that is done about a question of uid's job, from the first look at the
 * spec, has one deadline: the budget, or less where the user or long questions
 * have used up their share of the time. */
void weft_engine_enter(uint32_t uid);
void weft_engine_leave(uint32_t uid);

/* What is done when uid's job starts has taken spent_s, under Slurm's locks. */
void weft_engine_started(uint32_t uid, double spent_s);

/* Whether more than half of what was granted is gone: a search may have been
 * cut short, and has proved nothing. */
bool weft_engine_hurried(void);

/* A question is about to be planned: false when the watchdog wants none. */
bool weft_engine_begin(void);
/* It has been planned: the watchdog looks how long that took. */
void weft_engine_end(void);

/* Something has become of the job's resources. */
void weft_engine_follow(const job_record_t *job, enum weft_hold hold);

/* A recount, if one was asked for: where a job starts, is suspended or resumed,
 * not where it ends or loses nodes (weft_nodes_verify). */
void weft_engine_verify(const job_record_t *job, enum weft_hold hold);

/* Reads weft.yaml beside slurm.conf and pairs the nodes; at a mistake what was
 * read before stays, or weft stays off.  Says in the log how it went.  Files
 * that do not answer within half a second are taken over when they do. */
void weft_engine_load(void);

/* Sees whether files that did not answer have done so, and tells of those that
 * do not.  True: another fabric is in force from now on. */
bool weft_engine_look(void);

/* Pairs the nodes anew: Slurm has changed its table. */
void weft_engine_pair(void);

/* Slurm's nodes and jobs are all there and no decision is being made: what
 * takes long is done now. */
void weft_engine_settle(void);
void weft_engine_unload(void);

#endif
