/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_feature.h - nodes for a job with numbers of nodes by feature that keep to
 * its limits: no Slurm types
 *
 * Slurm asks for the nodes of one feature after the other, and a part of a job
 * says nothing about the limits of the whole: all of its nodes are found first.
 */
#ifndef WEFT_PLUGIN_BRIDGE_BY_FEATURE_H
#define WEFT_PLUGIN_BRIDGE_BY_FEATURE_H

#include "topology/fabric.h"

#define WEFT_MAX_FEATURES 6

/* A node that was not chosen. */
#define WEFT_NOT_CHOSEN UINT8_MAX

struct weft_by_feature {
	const struct weft_fabric *fabric;
	const char *spec; /* within=, segment=, split= */
	uint32_t n_nodes; /* of the whole job */
	uint32_t n_features;
	uint32_t count[WEFT_MAX_FEATURES]; /* nodes of each; a node counts for
					    * one of them */
	const uint8_t *having;	  /* [fabric->n_nodes] bit k: feature k */
	const uint64_t *able;	  /* bitset of nodes that the job could have */
	const uint64_t *required; /* of these, those it must have; NULL: none */
	const uint32_t *weight;	  /* [fabric->n_nodes] lighter ones first in a
				   * domain; NULL: all alike */
	double deadline_s;	  /* by weft_clock_s */
};

enum weft_by_feature_found {
	WEFT_FOUND_NODES,
	WEFT_FOUND_NONE,    /* there are none */
	WEFT_FOUND_NOT_YET, /* in the time there was, or for want of memory */
};

/* for_what[fabric->n_nodes]: the feature that a node was chosen for, n_features
 * for one that was chosen for none, or WEFT_NOT_CHOSEN. */
enum weft_by_feature_found
weft_by_feature_find(const struct weft_by_feature *question, uint8_t *for_what);

#endif
