/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_cables.h - the switches, cables and uplinks of a fabric, reported */
#ifndef WEFT_CLI_FABRIC_FABRIC_CABLES_H
#define WEFT_CLI_FABRIC_FABRIC_CABLES_H

#include "topology/fabric.h"

#include <jansson.h>

/* Of the domains of a level: what the links above one carry, and how many times
 * as much those below it could send. */
struct fabric_uplinks {
	double rate[3];		    /* least, median, most; bytes per second */
	double oversubscription[3]; /* likewise */
};

/* level: at least f->node_level, and not the outermost.  -1 when out of
 * memory. */
int fabric_uplinks(const struct weft_fabric *f, uint32_t level,
		   struct fabric_uplinks *uplinks, struct weft_error *err);

/* Adds "kinds", and of a fabric that has them "switches", "cables" and
 * "uplinks". */
int fabric_cables_json(const struct weft_fabric *f, json_t *object,
		       struct weft_error *err);

/* The same for people, behind the table of levels; nothing where there is
 * nothing to say. */
int fabric_cables_text(const struct weft_fabric *f, struct weft_error *err);

#endif
