/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.h - what weft knows, as JSON: weft-status-file(5) */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_SNAPSHOT_H
#define WEFT_PLUGIN_BRIDGE_FILES_SNAPSHOT_H

#include "plugin/bridge/files/status.h"
#include "plugin/bridge/files/worker.h"

#include <stdio.h>

/* Writes one object to file; now_s: seconds since the epoch; f: what the nodes'
 * numbers mean, NULL where weft is off.  -1: the file could not be written. */
int weft_snapshot_write(const struct weft_status *shown,
			const struct weft_fabric *f,
			const struct weft_counters *counters, double now_s,
			FILE *file);

/* One job's object, as among "jobs"; of one that has ended its number and times
 * alone. */
void weft_snapshot_job(const struct weft_status_job *job, FILE *file);

/* Writes it all; a stream would be waited for when the process ends. */
int weft_write_all(int fd, const char *text, size_t size);

struct weft_snapshot_place {
	const char *path;
	bool is_private; /* readable by this process's user and root alone */
	/* whose round this is: nothing is put in place for one that has been
	 * left; NULL: no one's */
	const struct weft_worker *worker;
};

/* The same into a file, in one step for whoever reads it: at any time there is
 * the old one or the new, whole.  Refuses a folder in which others could put
 * something else in its place (trusted.h). */
int weft_snapshot_save(const struct weft_status *shown,
		       const struct weft_fabric *f,
		       const struct weft_counters *counters, double now_s,
		       const struct weft_snapshot_place *place,
		       struct weft_error *err);

#endif
