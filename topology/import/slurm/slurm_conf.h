/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_conf.h - the language of Slurm's .conf files: lines of Key=Value, which
 * a backslash continues, "#" ends and "Include FILE" splits
 */
#ifndef WEFT_TOPOLOGY_IMPORT_SLURM_SLURM_CONF_H
#define WEFT_TOPOLOGY_IMPORT_SLURM_SLURM_CONF_H

#include "base/lines.h"
#include "topology/import/import.h"

/* Files inside files: how deep, and how many in all. */
#define WEFT_SLURM_INCLUDE_DEPTH 8
#define WEFT_SLURM_INCLUDE_FILES 256

/* A line with its continuations, without comment, line end and escapes. */
struct weft_slurm_line {
	struct weft_span text;
	struct weft_span comment; /* behind the first "#"; at NULL: none */
	const char *path;	  /* the file that it stands in */
	uint32_t source;
	int number; /* of its first physical line */
	bool exact; /* one physical line: a byte's place is its column */
};

typedef int (*weft_slurm_line_use)(void *state,
				   const struct weft_slurm_line *line,
				   struct weft_error *err);

/* Calls use for every line that has text or a comment, those of included files
 * in their place.  Stops at the first that is not 0 and returns it. */
int weft_slurm_conf_read(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 weft_slurm_line_use use, void *state,
			 struct weft_error *err);

/* Takes "Key=Value" off the front of *rest; blanks may stand around "=", and
 * quotes around the value.  A word without "=" is a key whose value->at is
 * NULL.  False when nothing is left. */
bool weft_slurm_pair(struct weft_span *rest, struct weft_span *key,
		     struct weft_span *value);

/* Case does not matter. */
bool weft_slurm_key_is(struct weft_span key, const char *name);

/* Column of a place in the line, or 0 where that is not known. */
int weft_slurm_column(const struct weft_slurm_line *line, const char *at);

#endif
