/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fragmentation.c - whose end would free whole domains */
#include "placement/capacity/fragmentation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct weft_occupancy *o;
	const struct weft_fabric *f;
	const struct weft_running_list *running;
	uint32_t *owner;  /* [n_gpus] running job, or WEFT_NONE */
	uint32_t *seen;	  /* [running->n] domain + 1 that saw it last */
	uint32_t *tenant; /* [running->n] jobs of the domain looked at */
	struct weft_error *err;
};

static int work_open(struct work *w)
{
	const struct weft_running_list *list = w->running;

	w->owner = weft_running_owners(list, w->f->n_gpus, w->err);
	w->seen = weft_calloc(list->n, sizeof(*w->seen), w->err);
	w->tenant = weft_calloc(list->n, sizeof(*w->tenant), w->err);
	return w->owner && w->seen && w->tenant ? 0 : -1;
}

/* Whether a job's end would free the GPU, or it is free. */
static bool gpu_can_be_free(const struct work *w, uint32_t gpu)
{
	uint32_t node = w->f->gpu_node[gpu];
	uint32_t k = gpu - w->f->nodes[node].first_gpu;

	if (weft_bitset_has(w->o->closed, node))
		return false;
	return w->owner[gpu] != WEFT_NONE || (w->o->free[node] >> k & 1);
}

/* The jobs in the domain, into tenant[]; false: it cannot be freed. */
static bool domain_look(struct work *w, uint32_t domain, uint32_t *n,
			uint32_t *n_gpus)
{
	const struct weft_domain *d = &w->f->domains[domain];

	*n = 0;
	*n_gpus = 0;
	for (uint32_t g = d->first_gpu; g < d->first_gpu + d->n_gpus; g++) {
		uint32_t job = w->owner[g];

		if (!gpu_can_be_free(w, g))
			return false;
		if (job == WEFT_NONE || w->seen[job] == domain + 1)
			continue;
		w->seen[job] = domain + 1;
		w->tenant[(*n)++] = job;
		*n_gpus += w->running->jobs[job].n_gpus;
	}
	return true;
}

static void jobs_sort(const struct work *w, uint32_t *job, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t moving = job[i], at = i;
		uint32_t size = w->running->jobs[moving].n_gpus;

		for (; at > 0 && w->running->jobs[job[at - 1]].n_gpus < size;
		     at--)
			job[at] = job[at - 1];
		job[at] = moving;
	}
}

static int fragment_keep(struct work *w, struct weft_fragment *x,
			 uint32_t domain, uint32_t n, uint32_t n_gpus)
{
	uint32_t *job = weft_realloc(x->job, n, sizeof(*job), w->err);

	if (!job)
		return -1;
	x->job = job;
	memcpy(job, w->tenant, n * sizeof(*job));
	jobs_sort(w, job, n);
	x->domain = domain;
	x->n_jobs = n;
	x->n_gpus = n_gpus;
	x->remaining_s = 0;
	for (uint32_t i = 0; i < n; i++)
		x->remaining_s = fmax(x->remaining_s,
				      w->running->jobs[job[i]].remaining_s);
	return 0;
}

static int level_find(struct work *w, uint32_t l, struct weft_fragment *x)
{
	const struct weft_level *level = &w->f->levels[l];

	x->n_domains = level->n_domains;
	x->domain = WEFT_NONE;
	for (uint32_t i = 0; i < level->n_domains; i++) {
		uint32_t d = level->first_domain + i, n, n_gpus;

		if (!domain_look(w, d, &n, &n_gpus))
			continue;
		if (n == 0) {
			x->n_whole++;
			continue;
		}
		if ((x->domain == WEFT_NONE || n_gpus < x->n_gpus) &&
		    fragment_keep(w, x, d, n, n_gpus))
			return -1;
	}
	return 0;
}

int weft_fragmentation_find(const struct weft_occupancy *o,
			    const struct weft_running_list *running,
			    struct weft_fragmentation *fragmentation,
			    struct weft_error *err)
{
	struct work w = {
		.o = o, .f = o->fabric, .running = running, .err = err};
	int rc;

	*fragmentation = (struct weft_fragmentation){.fabric = o->fabric};
	rc = work_open(&w);
	for (uint32_t l = w.f->node_level; l < w.f->n_levels && rc == 0; l++)
		rc = level_find(&w, l, &fragmentation->level[l]);
	free(w.owner);
	free(w.seen);
	free(w.tenant);
	return rc;
}

void weft_fragmentation_free(struct weft_fragmentation *fragmentation)
{
	for (uint32_t l = 0; l < WEFT_MAX_LEVELS; l++)
		free(fragmentation->level[l].job);
	*fragmentation = (struct weft_fragmentation){0};
}
