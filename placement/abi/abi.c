/* SPDX-License-Identifier: GPL-3.0-or-later */
/* abi.c - errors, fabrics, jobs and what is free, behind handles */
#include "placement/abi/abi.h"
#include "placement/capacity/occupancy.h"
#include "placement/job.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

struct weft_error *weft_abi_error_build(void)
{
	return calloc(1, sizeof(struct weft_error));
}

void weft_abi_error_free(struct weft_error *err)
{
	free(err);
}

int weft_abi_error_code(const struct weft_error *err)
{
	return err->code;
}

int weft_abi_error_line(const struct weft_error *err)
{
	return err->line;
}

int weft_abi_error_column(const struct weft_error *err)
{
	return err->column;
}

const char *weft_abi_error_source(const struct weft_error *err)
{
	return err->source;
}

const char *weft_abi_error_text(const struct weft_error *err)
{
	return err->text;
}

/* ---- fabrics ---- */

struct weft_fabric *weft_abi_fabric_synth(const char *shape,
					  const char *profile,
					  struct weft_error *err)
{
	const struct weft_synth_options options = {.profile = profile};
	char *text = weft_synth(shape, &options, err);
	struct weft_fabric *f = NULL;

	if (text)
		f = weft_fabric_parse(text, strlen(text), shape, err);
	free(text);
	return f;
}

const char *weft_abi_fabric_name(const struct weft_fabric *f)
{
	return f->name;
}

const char *weft_abi_fabric_profile(const struct weft_fabric *f)
{
	return f->profile;
}

uint32_t weft_abi_fabric_gpus(const struct weft_fabric *f)
{
	return f->n_gpus;
}

uint32_t weft_abi_fabric_nodes(const struct weft_fabric *f)
{
	return f->n_nodes;
}

uint32_t weft_abi_fabric_levels(const struct weft_fabric *f)
{
	return f->n_levels;
}

uint32_t weft_abi_fabric_rails(const struct weft_fabric *f)
{
	return f->n_rails;
}

const char *weft_abi_node_name(const struct weft_fabric *f, uint32_t node)
{
	return node < f->n_nodes ? f->nodes[node].name : NULL;
}

uint32_t weft_abi_node_first_gpu(const struct weft_fabric *f, uint32_t node)
{
	return node < f->n_nodes ? f->nodes[node].first_gpu : 0;
}

uint32_t weft_abi_node_gpus(const struct weft_fabric *f, uint32_t node)
{
	return node < f->n_nodes ? f->nodes[node].n_gpus : 0;
}

uint32_t weft_abi_gpu_number(const struct weft_fabric *f, uint32_t gpu)
{
	return gpu < f->n_gpus ? weft_fabric_number(f, gpu) : 0;
}

uint32_t weft_abi_gpu_node(const struct weft_fabric *f, uint32_t gpu)
{
	return gpu < f->n_gpus ? f->gpu_node[gpu] : 0;
}

const char *weft_abi_level_name(const struct weft_fabric *f, uint32_t level)
{
	return level < f->n_levels ? f->levels[level].name : NULL;
}

uint32_t weft_abi_level_domains(const struct weft_fabric *f, uint32_t level)
{
	return level < f->n_levels ? f->levels[level].n_domains : 0;
}

double weft_abi_level_rate(const struct weft_fabric *f, uint32_t level)
{
	return level < f->n_levels ? f->levels[level].link.rate_bytes_per_s
				   : (double)NAN;
}

double weft_abi_level_latency_s(const struct weft_fabric *f, uint32_t level)
{
	return level < f->n_levels ? f->levels[level].link.latency_s
				   : (double)NAN;
}

double weft_abi_level_oversubscription(const struct weft_fabric *f,
				       uint32_t level)
{
	return level < f->n_levels ? f->levels[level].link.oversubscription
				   : (double)NAN;
}

const char *weft_abi_gpu_domain(const struct weft_fabric *f, uint32_t gpu,
				uint32_t level)
{
	return level < f->n_levels && gpu < f->n_gpus
		       ? f->domains[f->gpu_domain[level][gpu]].name
		       : NULL;
}

uint32_t weft_abi_hops(const struct weft_fabric *f, uint32_t a, uint32_t b)
{
	return a < f->n_gpus && b < f->n_gpus
		       ? weft_fabric_distance(f, a, b).hops
		       : UINT32_MAX;
}

/* ---- jobs ---- */

struct weft_job *weft_abi_job_build(const struct weft_fabric *f,
				    const char *spec, uint32_t gpus,
				    struct weft_error *err)
{
	struct weft_job *job = weft_calloc(1, sizeof(*job), err);

	if (job && weft_job_build(spec, gpus, true, f, job, err) == 0)
		return job;
	weft_abi_job_free(job);
	return NULL;
}

void weft_abi_job_free(struct weft_job *job)
{
	if (job)
		weft_job_free(job);
	free(job);
}

uint32_t weft_abi_job_gpus(const struct weft_job *job)
{
	return job->n_gpus;
}

/* Experts' ranks are counted in a grid of their own. */
static const struct weft_grid *grid_of(const struct weft_job *job,
				       const char *axis)
{
	return strcmp(axis, "ep") == 0 && job->schedule.expert.n_ranks
		       ? &job->schedule.expert
		       : &job->grid;
}

uint32_t weft_abi_job_axis(const struct weft_job *job, const char *axis)
{
	const struct weft_grid *grid = grid_of(job, axis);
	uint32_t a = weft_grid_axis(grid, axis);

	return a < WEFT_MAX_AXES ? grid->size[a] : 0;
}

uint32_t weft_abi_job_index(const struct weft_job *job, uint32_t rank,
			    const char *axis)
{
	const struct weft_grid *grid = grid_of(job, axis);
	uint32_t a = weft_grid_axis(grid, axis);

	return a < WEFT_MAX_AXES && rank < grid->n_ranks
		       ? weft_grid_coordinate(grid, rank, a)
		       : 0;
}

/* ---- what is free ---- */

struct weft_occupancy *weft_abi_occupancy_build(const struct weft_fabric *f,
						struct weft_error *err)
{
	struct weft_occupancy *o = weft_calloc(1, sizeof(*o), err);

	if (o && weft_occupancy_build(f, o, err) == 0)
		return o;
	weft_abi_occupancy_free(o);
	return NULL;
}

void weft_abi_occupancy_free(struct weft_occupancy *o)
{
	if (o)
		weft_occupancy_free(o);
	free(o);
}

uint32_t weft_abi_occupancy_usable(const struct weft_occupancy *o)
{
	return weft_occupancy_usable(o);
}
