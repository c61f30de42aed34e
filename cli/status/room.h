/* SPDX-License-Identifier: GPL-3.0-or-later */
/* room.h - how many jobs of which size would fit, by level of the fabric */
#ifndef WEFT_CLI_STATUS_ROOM_H
#define WEFT_CLI_STATUS_ROOM_H

#include "placement/capacity/occupancy.h"

#include <jansson.h>

#define CAPACITY_MAX_SIZES 23

/* A job of more GPUs than the largest node has takes whole nodes; a smaller one
 * stays inside of a node.  Levels are the fabric's, from its node_level on. */
struct room {
	const struct weft_fabric *f;
	uint32_t per_node; /* GPUs of the largest node */
	uint32_t n_sizes;
	uint32_t size[CAPACITY_MAX_SIZES]; /* 1, 2, 4, ... */
	/* jobs of that size that fit side by side, none over the border of a
	 * domain of that level */
	uint32_t fits[WEFT_MAX_LEVELS][CAPACITY_MAX_SIZES];
	uint32_t largest[WEFT_MAX_LEVELS];	  /* GPUs of one job */
	uint32_t largest_domain[WEFT_MAX_LEVELS]; /* or WEFT_NONE */
	uint32_t n_free, n_whole; /* GPUs; nodes free as a whole */
};

void room_find(const struct weft_occupancy *o, struct room *room);

/* GPUs of a domain that are free, and of the largest job that fits into it. */
void room_domain(const struct weft_occupancy *o, uint32_t domain,
		 uint32_t *n_free, uint32_t *largest);

/* The table of jobs that fit, for people: its head, and the row of a level;
 * without the end of the line. */
void room_print_head(const struct room *room);
void room_print_level(const struct room *room, uint32_t level);

/* The same row as {"SIZE": JOBS, ...}; new. */
json_t *room_json(const struct room *room, uint32_t level);

#endif
