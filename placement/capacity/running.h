/* SPDX-License-Identifier: GPL-3.0-or-later */
/* running.h - the jobs that run already: where, what, and for how long yet */
#ifndef WEFT_PLACEMENT_CAPACITY_RUNNING_H
#define WEFT_PLACEMENT_CAPACITY_RUNNING_H

#include "costmodel/job/gpu.h"
#include "costmodel/time/load.h"
#include "placement/capacity/occupancy.h"
#include "placement/job.h"

/* One job of "jobs:" in a state file, weft-state(5). */
struct weft_running {
	char *id;	    /* of one job only */
	uint32_t n_gpus;    /* > 0 */
	uint32_t *gpu;	    /* [n_gpus] rank r runs on gpu[r], in the order
			     * written; no other job has it */
	double remaining_s; /* until it ends; INFINITY: not said */
	double step_s;	    /* measured seconds of a step; 0: not said */
	bool known;	    /* job is what it computes, of n_gpus ranks */
	struct weft_job job;
};

struct weft_running_list {
	uint32_t n;
	struct weft_running *jobs; /* [n] in the order written */
};

/* Reads a state file: marks in o what is taken, also by its jobs, and fills
 * *list with them; NULL: only o, and what the jobs compute is not looked at.
 * Free with weft_running_free in either case. */
int weft_running_load(struct weft_occupancy *o, const char *path,
		      struct weft_running_list *list, struct weft_error *err);
/* The same from text; source names it in messages. */
int weft_running_parse(struct weft_occupancy *o, const char *text, size_t size,
		       const char *source, struct weft_running_list *list,
		       struct weft_error *err);
/* The job of each GPU, by number in the list, or WEFT_NONE; the caller frees
 * it.  NULL with err when out of memory. */
uint32_t *weft_running_owners(const struct weft_running_list *list,
			      uint32_t n_gpus, struct weft_error *err);
/* Frees a running job's GPUs in o. */
void weft_running_release(const struct weft_running *job,
			  struct weft_occupancy *o);
/* What a job on where[] sends over links above domains, in steps of step_s
 * seconds; 0: as predicted for the kind of GPU (NULL: of the fabric's profile),
 * or where no step can be predicted of communication for WEFT_ASSUMED_SHARE of
 * it.  Traffic that was measured needs step_s.  Appends to parts, freed by the
 * caller in either case. */
int weft_running_parts(const struct weft_fabric *f, const struct weft_job *job,
		       const uint32_t *where, const struct weft_gpu *gpu,
		       double step_s, struct weft_load_parts *parts,
		       struct weft_error *err);
/* Adds to load what the jobs send, each as weft_running_parts says; a job that
 * does not say what it computes as one data-parallel group, where its nodes
 * are connected.  except: GPUs,
 * a bitset; jobs that have one of them are left out (NULL: none is).
 * *n_silent: jobs that do not say what they compute, of the others. */
int weft_running_traffic(const struct weft_running_list *list,
			 const struct weft_gpu *gpu, const uint64_t *except,
			 struct weft_load *load, uint32_t *n_silent,
			 struct weft_error *err);
void weft_running_free(struct weft_running_list *list);

#endif
