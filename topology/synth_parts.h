/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synth_parts.h - the description of a synthetic fabric, as its writers share
 * it
 *
 * Private to synth.c (names, levels) and synth_cables.c (switches, cables).
 */
#ifndef WEFT_TOPOLOGY_SYNTH_PARTS_H
#define WEFT_TOPOLOGY_SYNTH_PARTS_H

#include "topology/fabric.h"
#include "topology/synth.h"

#include <stdio.h>

/* One word LEVEL:COUNT of the spec.  Domain k is written base, separator, k
 * in `width` digits, tail; those not in `alive` have lost every node. */
struct part {
	char name[WEFT_NAME_SIZE];
	const char *base, *separator;
	char tail[32];
	int column;
	uint32_t count; /* in each domain above */
	uint32_t total;
	int width;
	uint64_t *alive;
};

struct synth {
	const struct weft_synth_options *options;
	const char *prefix, *profile;
	struct part parts[WEFT_MAX_LEVELS]; /* outermost first, nodes last */
	uint32_t n_parts, n_gpus;	    /* n_gpus: of a node */
	struct weft_error *err;
};

/* Network levels, outermost first, are parts 0..n-1. */
uint32_t synth_n_network(const struct synth *s);

/* First living domain of first..end-1, or end. */
uint32_t synth_next_alive(const struct part *part, uint32_t first,
			  uint32_t end);

/* Writes the living of domains first..end-1, of which there is one, as a
 * hostlist of at most max_runs ranges, with `tail` behind each name.  Returns
 * the next living one, or end. */
uint32_t synth_set_write(FILE *out, const struct part *part, uint32_t first,
			 uint32_t end, uint32_t max_runs, const char *tail);

/* The sections switches and cables. */
void synth_cables_write(FILE *out, const struct synth *s);

#endif
