/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.h - what weft knows, as JSON: weft-status-file(5) */
#ifndef WEFT_PLUGIN_BRIDGE_SNAPSHOT_H
#define WEFT_PLUGIN_BRIDGE_SNAPSHOT_H

#include "plugin/bridge/shown.h"

#include <stdio.h>

/* Writes one object to file; now_s: seconds since the epoch.  -1: the file
 * could not be written. */
int weft_snapshot_write(const struct weft_shown *shown,
			const struct weft_counters *counters, double now_s,
			FILE *file);

/* The same into path, in one step for whoever reads it: at any time there is
 * the old one or the new, whole.  Readable for everybody. */
int weft_snapshot_save(const struct weft_shown *shown,
		       const struct weft_counters *counters, double now_s,
		       const char *path, struct weft_error *err);

#endif
