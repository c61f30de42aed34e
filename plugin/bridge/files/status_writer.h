/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status_writer.h - who writes weft's files, and watches those that change, so
 * that no decision has to
 *
 * It never looks at anything of Slurm's and never holds a lock that a decision
 * wants: it is a worker (worker.h) that reads records (seqlock.h) and hands
 * results over by atomic exchange.
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_STATUS_WRITER_H
#define WEFT_PLUGIN_BRIDGE_FILES_STATUS_WRITER_H

#include "costmodel/time/health.h"
#include "plugin/bridge/files/settings.h"
#include "plugin/bridge/files/status.h"

struct weft_status_writer_options {
	const char *status_path;  /* the snapshot's file; NULL: none */
	bool is_private;	  /* the snapshot is not for everybody */
	const char *health_path;  /* watched and read; NULL: none */
	const char *records_path; /* appended to; NULL: none */
	struct weft_status *shown;
	const struct weft_fabric *fabric; /* of its nodes; NULL: weft is off */
	struct weft_settings *settings;	  /* whose the fabric is, or NULL */
	const struct weft_counters *counters;
	double period_s; /* 0: a second */
	/* told of trouble with a file, once until it is over; called by the
	 * status writer's thread.  NULL: never */
	void (*complain)(const struct weft_error *err);
};

struct weft_status_writer;

/* Starts the thread.  What the options point to must never be freed: no one
 * knows when the thread ends; the settings are held.  NULL with err; end with
 * weft_status_writer_stop, which never waits. */
struct weft_status_writer *
weft_status_writer_start(const struct weft_status_writer_options *options,
			 struct weft_error *err);
void weft_status_writer_stop(struct weft_status_writer *writer);

/* Whom the snapshot is for may change meanwhile: the next round heeds it.  NULL
 * is none. */
void weft_status_writer_keep_private(struct weft_status_writer *writer,
				     bool is_private);

/* Somebody asked for a recount, by a file STATUS.verify beside the snapshot's;
 * true once for each time. */
bool weft_status_writer_wants_recount(struct weft_status_writer *writer);

/* What was read of the health file since the last call; NULL: nothing new.
 * Caller: weft_health_free and free.  Never waits. */
struct weft_health *
weft_status_writer_health(struct weft_status_writer *writer);

/* Whether a file has not answered for so long, ten seconds, that it is to be
 * told.  True once, with the file's name; true once more, with *again, when it
 * has answered.  status writer NULL: nothing to tell. */
bool weft_status_writer_hangs(struct weft_status_writer *writer,
			      const char **path, bool *again);

#endif
