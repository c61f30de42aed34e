/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.h - what was decided on jobs that started, kept for weeks in a file:
 * weft-status-file(5), RECORDS; no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_RECORDS_H
#define WEFT_PLUGIN_BRIDGE_FILES_RECORDS_H

#include "plugin/bridge/files/status.h"

/* The file is set aside as PATH.1, in place of the one before, when it has so
 * many bytes: about 20,000 jobs. */
#define WEFT_RECORDS_BYTES (UINT64_C(16) << 20)

/* Appends to the file at path what was put up by weft_status_save since the
 * last time; what came too fast for the seqlock is lost, and counted there.
 * Touches files: the status writer's thread calls it.  -1 with err: nothing is
 * lost by it. */
int weft_records_write(struct weft_status *shown, const char *path,
		       uint64_t max_bytes, struct weft_error *err);

#endif
