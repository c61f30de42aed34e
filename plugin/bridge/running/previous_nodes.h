/* SPDX-License-Identifier: GPL-3.0-or-later */
/* previous_nodes.h - where jobs ran that may be asked about again: no Slurm
 * types */
#ifndef WEFT_PLUGIN_BRIDGE_RUNNING_PREVIOUS_NODES_H
#define WEFT_PLUGIN_BRIDGE_RUNNING_PREVIOUS_NODES_H

#include <stdint.h>

#define WEFT_MAX_PAST	    1024
#define WEFT_MAX_PAST_NODES (1u << 18) /* of all jobs together: 1 MB */

struct weft_previous_nodes_job {
	uint32_t job_id;	  /* 0: unused */
	uint32_t n_nodes, *nodes; /* in the fabric's numbers; malloc'ed */
};

/* Direct-mapped by job_id: of jobs that clash the last is known.
 * Zero-initialise. */
struct weft_previous_nodes {
	struct weft_previous_nodes_job jobs[WEFT_MAX_PAST];
	uint32_t n_nodes; /* of all */
};

/* Copies nodes[n]; those of others are dropped where there is no room. */
void weft_previous_nodes_keep(struct weft_previous_nodes *previous,
			      uint32_t job_id, const uint32_t *nodes,
			      uint32_t n);

/* NULL: not known. */
const struct weft_previous_nodes_job *
weft_previous_nodes_find(const struct weft_previous_nodes *previous,
			 uint32_t job_id);
void weft_previous_nodes_clear(struct weft_previous_nodes *previous);

#endif
