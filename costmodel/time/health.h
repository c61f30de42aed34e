/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.h - nodes that compute slower than others, and what that costs a job
 */
#ifndef WEFT_COSTMODEL_TIME_HEALTH_H
#define WEFT_COSTMODEL_TIME_HEALTH_H

#include "costmodel/job/parallelism.h"
#include "costmodel/job/spec.h"
#include "topology/fabric.h"

/* factor[node]: computing time over that of a healthy node; link[domain]: time
 * for a byte on the link above the domain over that of a healthy one (NULL: all
 * are).  1 is healthy. */
struct weft_health {
	uint32_t n_nodes, n_domains;
	double *factor;
	double *link;
};

/* Reads a health file of f's nodes: YAML
 *     weft: health/1
 *     nodes:
 *       n[03-05]: 1.15
 *     links:
 *       leaf[2-3]: 2
 * or, where the name ends in ".csv", lines "node,factor" with that header;
 * hostlists are allowed in both, empty lines and # comments, too.  Nodes and
 * links that are not named are healthy.  -1 with line and column when a node or
 * domain is unknown or named twice, or a factor is not in 0.1 ... 1000 (of a
 * link: 1 ... 1000).  Free in either case. */
int weft_health_load(const char *path, const struct weft_fabric *f,
		     struct weft_health *health, struct weft_error *err);
/* The same from memory; source names it and decides the format. */
int weft_health_parse(const char *text, size_t size, const char *source,
		      const struct weft_fabric *f, struct weft_health *health,
		      struct weft_error *err);
void weft_health_free(struct weft_health *health);

/* What slow nodes do to one step's computing. */
struct weft_slowdown {
	double factor; /* over a step on healthy nodes; 1: none is slower */
	uint32_t rank; /* a rank that all wait for; WEFT_NONE: none */
	uint32_t node; /* where it runs; WEFT_NONE likewise */
};

/* Slowdown when rank r of a resolved spec runs on GPU where[r] of f.  The
 * tensor, context and expert ranks of a stage wait for each other in every
 * layer, so a stage is as slow as its slowest rank; a pipeline then takes
 * weft_straggler_pipeline; at the end of the step all pipelines wait for the
 * slowest.  health NULL: all are healthy. */
int weft_health_slowdown(const struct weft_health *health,
			 const struct weft_fabric *f,
			 const struct weft_spec *spec,
			 const struct weft_grid *grid, const uint32_t *where,
			 struct weft_slowdown *slowdown,
			 struct weft_error *err);

#endif
