/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job.h - a job ready to be placed: spec, grid of ranks, traffic, shape */
#ifndef WEFT_PLACEMENT_JOB_H
#define WEFT_PLACEMENT_JOB_H

#include "costmodel/traffic/schedule.h"
#include "costmodel/traffic/traffic.h"
#include "topology/fabric.h"

struct weft_job {
	struct weft_spec spec; /* resolved */
	struct weft_model model;
	struct weft_grid grid;
	struct weft_schedule schedule; /* no calls where the traffic was
					* measured */
	struct weft_traffic traffic;
	uint32_t n_gpus;
	uint32_t gpus_per_node;	       /* exactly this many on each node it
					* uses; 0: any number */
	uint32_t min_nodes, max_nodes; /* 0: no limit */
	uint32_t within_level;	       /* WEFT_NONE: anywhere */
	uint32_t prefer_level;	       /* WEFT_NONE: no preference */
};

/* Parses and resolves `text` and builds everything from it.  f (may be NULL)
 * is asked for level names; gpus as for weft_spec_resolve.  allow_files: false
 * refuses model= and traffic= that are not built-in names (slurmctld).
 * Free with weft_job_free in either case. */
int weft_job_build(const char *text, uint32_t gpus, bool allow_files,
		   const struct weft_fabric *f, struct weft_job *job,
		   struct weft_error *err);
/* The same for a model that is at hand, whatever model= says (NULL: the spec's,
 * built in) and with less traffic; reads no file. */
int weft_job_build_model(const char *text, uint32_t gpus,
			 const struct weft_model *model,
			 enum weft_detail detail, const struct weft_fabric *f,
			 struct weft_job *job, struct weft_error *err);
void weft_job_free(struct weft_job *job);

/* The level that a key of the spec names, WEFT_NONE when it is not given or f
 * is NULL; -1: f has no such level. */
int weft_job_level(const struct weft_fabric *f, const char *key,
		   const char *name, uint32_t *level, struct weft_error *err);

#endif
