/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading.h - reading weft.yaml and what it names, and keeping copies, by
 * workers: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_READING_H
#define WEFT_PLUGIN_BRIDGE_FILES_READING_H

#include "plugin/bridge/files/settings.h"

struct weft_reading;

/* Where settings are, and their copies (config_cache.h). */
struct weft_reading_from {
	const char *path; /* of weft.yaml; NULL: the copies alone are read */
	const char *kept; /* where weft.yaml cannot be read, unless the admin
			   * took it away; NULL: no copies */
	const char *base; /* names in copies are seen from this file's folder */
	bool compare;	  /* what was read before is wanted in any case */
};

struct weft_reading_answer {
	struct weft_settings *settings; /* the caller's; NULL: none */
	bool kept;			/* they are those of the copies */
	struct weft_settings *before;	/* the copies', to compare; or NULL */
	struct weft_error err;		/* why the files could not be read */
};

/* Begins to read.  NULL with err; end with weft_reading_leave, or with an
 * answer. */
struct weft_reading *weft_reading_start(const struct weft_reading_from *from,
					struct weft_error *err);

/* Gets the answer; waits for it limit_s at most.  false: it is not there yet.
 */
bool weft_reading_take(struct weft_reading *reading, double limit_s,
		       struct weft_reading_answer *answer);

/* Its answer is not wanted any more; never waits.  NULL is none. */
void weft_reading_leave(struct weft_reading *reading);

/* Keeps copies of the settings' files, at some time; `complain` is called by
 * another thread. */
void weft_reading_keep(struct weft_settings *settings, const char *kept,
		       void (*complain)(const struct weft_error *err));

#endif
