/* SPDX-License-Identifier: GPL-3.0-or-later */
/* abi.h - libweft for languages that do not read C's headers: handles, numbers
 * and texts, no struct's layout
 *
 * Prototypes here stay as they are, and new ones are added, as long as the
 * library's name does (libweft.so.0); the structs behind the handles change.
 * A handle is freed by the function of its name, which takes NULL.  Texts are
 * the handle's and live as long as it.  Indices that do not exist give 0, NULL
 * or NAN.  A function that fails returns NULL or -1 and sets *err, of
 * weft_abi_error_build, whose first error stays until it is freed.
 *
 * Also of this kind: weft_fabric_load, weft_fabric_parse, weft_fabric_free,
 * weft_occupancy_busy and weft_occupancy_load.
 */
#ifndef WEFT_PLACEMENT_ABI_ABI_H
#define WEFT_PLACEMENT_ABI_ABI_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_fabric;
struct weft_job;
struct weft_occupancy;
struct weft_placement;
struct weft_step;

/* ---- errors ---- */

struct weft_error *weft_abi_error_build(void);
void weft_abi_error_free(struct weft_error *err);
int weft_abi_error_code(const struct weft_error *err); /* 0: none */
int weft_abi_error_line(const struct weft_error *err); /* 0: of no line */
int weft_abi_error_column(const struct weft_error *err);
const char *weft_abi_error_source(const struct weft_error *err);
const char *weft_abi_error_text(const struct weft_error *err);

/* ---- fabrics ---- */

/* Of a shape, as weft synth makes it: "leaf:2 node:4 gpu:8".  profile NULL: the
 * default. */
struct weft_fabric *weft_abi_fabric_synth(const char *shape,
					  const char *profile,
					  struct weft_error *err);
const char *weft_abi_fabric_name(const struct weft_fabric *f);
const char *weft_abi_fabric_profile(const struct weft_fabric *f);
uint32_t weft_abi_fabric_gpus(const struct weft_fabric *f);
uint32_t weft_abi_fabric_nodes(const struct weft_fabric *f);
uint32_t weft_abi_fabric_levels(const struct weft_fabric *f);
uint32_t weft_abi_fabric_rails(const struct weft_fabric *f);
const char *weft_abi_node_name(const struct weft_fabric *f, uint32_t node);
uint32_t weft_abi_node_first_gpu(const struct weft_fabric *f, uint32_t node);
uint32_t weft_abi_node_gpus(const struct weft_fabric *f, uint32_t node);
uint32_t weft_abi_gpu_node(const struct weft_fabric *f, uint32_t gpu);
/* What its node calls it. */
uint32_t weft_abi_gpu_number(const struct weft_fabric *f, uint32_t gpu);
const char *weft_abi_level_name(const struct weft_fabric *f, uint32_t level);
uint32_t weft_abi_level_domains(const struct weft_fabric *f, uint32_t level);
/* Per GPU and direction, bytes per second, before oversubscription. */
double weft_abi_level_rate(const struct weft_fabric *f, uint32_t level);
double weft_abi_level_latency_s(const struct weft_fabric *f, uint32_t level);
double weft_abi_level_oversubscription(const struct weft_fabric *f,
				       uint32_t level);
/* The domain of a level that a GPU is in; NULL: none. */
const char *weft_abi_gpu_domain(const struct weft_fabric *f, uint32_t gpu,
				uint32_t level);
/* Links crossed between two GPUs; UINT32_MAX: not connected. */
uint32_t weft_abi_hops(const struct weft_fabric *f, uint32_t a, uint32_t b);

/* ---- jobs ---- */

/* gpus 0: as the spec says.  f may be NULL where the spec names no level. */
struct weft_job *weft_abi_job_build(const struct weft_fabric *f,
				    const char *spec, uint32_t gpus,
				    struct weft_error *err);
void weft_abi_job_free(struct weft_job *job);
uint32_t weft_abi_job_gpus(const struct weft_job *job);
/* Size of an axis of the grid of ranks, "tp"; 0: it has none of that name. */
uint32_t weft_abi_job_axis(const struct weft_job *job, const char *axis);
/* Where a rank stands on such an axis, from 0. */
uint32_t weft_abi_job_index(const struct weft_job *job, uint32_t rank,
			    const char *axis);

/* ---- what is free ---- */

struct weft_occupancy *weft_abi_occupancy_build(const struct weft_fabric *f,
						struct weft_error *err);
void weft_abi_occupancy_free(struct weft_occupancy *o);
uint32_t weft_abi_occupancy_usable(const struct weft_occupancy *o);

/* ---- placements ---- */

/* As weft plan.  method NULL: the default; budget_s 0: none. */
struct weft_placement *weft_abi_plan(const struct weft_fabric *f,
				     const struct weft_job *job,
				     const struct weft_occupancy *o,
				     const char *method, uint64_t seed,
				     double budget_s, struct weft_error *err);
/* As weft score: where[n] is the GPU of each rank; n must be the job's. */
struct weft_placement *weft_abi_score(const struct weft_fabric *f,
				      const struct weft_job *job,
				      const struct weft_occupancy *o,
				      const uint32_t *where, uint32_t n,
				      struct weft_error *err);
void weft_abi_placement_free(struct weft_placement *p);
bool weft_abi_placement_placed(const struct weft_placement *p);
uint32_t weft_abi_placement_ranks(const struct weft_placement *p);
uint32_t weft_abi_placement_gpu(const struct weft_placement *p, uint32_t rank);
const char *weft_abi_placement_method(const struct weft_placement *p);
/* The metric that the job asks for, in whose unit cost and bound are. */
const char *weft_abi_placement_metric(const struct weft_placement *p);
double weft_abi_placement_cost(const struct weft_placement *p);
double weft_abi_placement_bound(const struct weft_placement *p);
double weft_abi_placement_gap(const struct weft_placement *p);
/* Sentences 0, 1, ... of why; NULL: there are no more. */
const char *weft_abi_placement_why(const struct weft_placement *p, uint32_t i);

/* ---- steps ---- */

/* The predicted training step of a placement that was found for f and job.
 * gpu NULL: of the fabric's profile. */
struct weft_step *weft_abi_step(const struct weft_fabric *f,
				const struct weft_job *job,
				const struct weft_placement *p, const char *gpu,
				struct weft_error *err);
void weft_abi_step_free(struct weft_step *step);
/* Name and value of part 0, 1, ...; a name NULL: there are no more.  The first
 * is "step_s"; names end in their unit. */
const char *weft_abi_step_name(uint32_t i);
double weft_abi_step_value(const struct weft_step *step, uint32_t i);

#endif
