/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_calls.c - the calls of a step, with the GPUs of each group */
#include "cli/fabric/job_calls.h"

#include <stdlib.h>
#include <string.h>

struct writer {
	const struct job_calls *job;
	FILE *out;
	struct weft_flows flows; /* for the choice of algorithms */
	uint32_t pp;		 /* axis of the dense grid, or WEFT_MAX_AXES */
	uint32_t *ranks, *number;
};

/* Calls that differ in their stages and sizes only are made at once. */
static bool at_once(const struct weft_call *a, const struct weft_call *b)
{
	return a->axis == b->axis && a->phase == b->phase &&
	       a->collective == b->collective &&
	       a->expert_grid == b->expert_grid && a->n == b->n &&
	       a->what == b->what && strcmp(a->group, b->group) == 0;
}

static bool disjoint(const struct weft_call *a, const struct weft_call *b)
{
	return a->first_stage + a->n_stages <= b->first_stage ||
	       b->first_stage + b->n_stages <= a->first_stage;
}

/* Numbers the calls: those made at once have one number, that of the first.  In
 * a stage there is but one of them. */
static void calls_number(const struct weft_schedule *s, uint32_t *number)
{
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];
		bool free = false;

		for (uint32_t k = 0; k <= i && !free; k++) {
			free = number[k] == k || k == i;
			free = free && at_once(&s->calls[k], call);
			for (uint32_t m = k; m < i && free; m++)
				free = number[m] != k ||
				       disjoint(&s->calls[m], call);
			number[i] = k;
		}
	}
}

static uint32_t stage_of(const struct writer *w, uint32_t rank)
{
	const struct weft_grid *dense = &w->job->schedule->dense;

	return w->pp == WEFT_MAX_AXES
		       ? 0
		       : weft_grid_coordinate(dense, rank, w->pp);
}

static const char *algorithm_of(const struct writer *w, uint32_t call)
{
	switch (w->flows.kinds[w->flows.kind_of[call]].way) {
	case WEFT_WAY_TREES:
		return "tree";
	case WEFT_WAY_HIERARCHY:
		return "hierarchical";
	case WEFT_WAY_RING:
	case WEFT_WAY_ENDS:
		break;
	default:
		return "direct";
	}
	if (w->job->algorithm == WEFT_BY_SWITCH)
		return "in-network";
	return w->job->algorithm == WEFT_BY_HALVING_DOUBLING
		       ? "halving-doubling"
		       : "ring";
}

static void row_write(const struct writer *w, uint32_t index, uint32_t stage,
		      uint32_t n)
{
	const struct weft_call *call = &w->job->schedule->calls[index];
	const struct weft_fabric *f = w->job->fabric;

	fprintf(w->out, "%u,%s,%s,%s,%s,\"%s\",%u,%.12g,%.12g,",
		w->number[index], weft_axis_names[call->axis],
		weft_phase_names[call->phase],
		weft_collective_names[call->collective], algorithm_of(w, index),
		call->what, stage, call->count, call->size_bytes);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t gpu = w->job->where[w->ranks[i]];
		const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];

		fprintf(w->out, "%s%s:%u", i ? " " : "", node->name,
			weft_fabric_number(f, gpu));
	}
	fputc('\n', w->out);
}

/* A group over the stages of a pipeline has a row for each stage. */
static int group_write(const struct writer *w, uint32_t index, uint32_t group,
		       uint32_t *size, struct weft_error *err)
{
	const struct weft_schedule *s = w->job->schedule;
	const struct weft_call *call = &s->calls[index];
	uint32_t last = call->first_stage + call->n_stages - 1, n, first;

	n = weft_grid_group(call->expert_grid ? &s->expert : &s->dense,
			    call->group, group, w->ranks, err);
	*size = n;
	if (n == 0)
		return -1;
	first = stage_of(w, w->ranks[0]);
	if (stage_of(w, w->ranks[n - 1]) == first) {
		if (first >= call->first_stage && first <= last)
			row_write(w, index, first, n);
		return 0;
	}
	/* the ends of a pipeline, where they alone are meant */
	if (call->n < n) {
		w->ranks[1] = w->ranks[n - 1];
		n = 2;
	}
	for (uint32_t stage = call->first_stage; stage <= last; stage++)
		row_write(w, index, stage, n);
	return 0;
}

int job_calls_write(const struct job_calls *job, FILE *out,
		    struct weft_error *err)
{
	const struct weft_schedule *s = job->schedule;
	struct writer w = {.job = job, .out = out};
	uint32_t size = 0;
	int rc;

	w.pp = weft_grid_axis(&s->dense, "pp");
	w.ranks = weft_calloc(s->dense.n_ranks, sizeof(*w.ranks), err);
	w.number = weft_calloc(s->n_calls + (size_t)1, sizeof(*w.number), err);
	rc = weft_flows_build(job->fabric, s, job->where, job->algorithm,
			      &w.flows, err);
	if (!w.ranks || !w.number)
		rc = -1;
	if (rc == 0)
		calls_number(s, w.number);
	fputs("call,axis,phase,collective,algorithm,what,stage,count,bytes,"
	      "gpus\n",
	      out);
	for (uint32_t i = 0; i < s->n_calls && rc == 0; i++) {
		rc = group_write(&w, i, 0, &size, err);
		for (uint32_t k = 1; rc == 0 && k < s->dense.n_ranks / size;
		     k++)
			rc = group_write(&w, i, k, &size, err);
	}
	weft_flows_free(&w.flows);
	free(w.ranks);
	free(w.number);
	return rc;
}
