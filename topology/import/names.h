/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - what the things that a source knows by an id are called: the text
 * of weft_import_options.names
 */
#ifndef WEFT_TOPOLOGY_IMPORT_NAMES_H
#define WEFT_TOPOLOGY_IMPORT_NAMES_H

#include "base/arena.h"

#include <stdint.h>

struct weft_name_pair {
	const char *id; /* first: weft_compare_texts looks at nothing else */
	const char *name;
};

/* Sorted by id. */
struct weft_names {
	struct weft_name_pair *pairs;
	uint32_t n, room;
	struct weft_arena arena;
};

/* Lines "ID NAME"; "#" begins a comment.  text NULL: none.  -1 with err (its
 * line counts in text) where a line is something else. */
int weft_names_read(struct weft_names *names, const char *text,
		    struct weft_error *err);

/* Its name, or NULL. */
const char *weft_names_find(const struct weft_names *names, const char *id);
void weft_names_free(struct weft_names *names);

#endif
