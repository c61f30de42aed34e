/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c - ways to lay a request on nodes, and what a node can add */
#include "plugin/bridge/request.h"

#include "base/bitset.h"
#include "base/divisor.h"
#include "plugin/bridge/launch/spec_text.h"
#include "topology/fabric.h"

#include <string.h>

/* ---- what the spec fixes ---- */

static bool spec_fixes_gpus(const struct weft_spec *spec)
{
	return weft_spec_given(spec, "gpus") || weft_spec_given(spec, "dp") ||
	       (spec->gpus_per_node &&
		(spec->n_split ||
		 (spec->nodes && spec->nodes == spec->nodes_max)));
}

/* Nodes that the spec leaves open, 0 and 0: any. */
static void frame_nodes(const struct weft_spec *spec, struct weft_frame *frame)
{
	uint64_t sum = 0;

	frame->nodes = spec->nodes;
	frame->nodes_max = spec->nodes_max;
	for (uint32_t i = 0; i < spec->n_split; i++)
		sum += spec->split[i];
	if (sum && sum <= WEFT_MAX_GPUS)
		frame->nodes = frame->nodes_max = (uint32_t)sum;
}

/* What the GPUs of any job with these axes are a multiple of, dense and expert
 * layers alike; 0: more than there can be. */
static uint32_t axes_multiple(const struct weft_spec *spec)
{
	uint64_t pp = spec->pp ? spec->pp : 1;
	uint64_t dense =
		(uint64_t)(spec->tp ? spec->tp : 1) * (spec->cp ? spec->cp : 1);
	uint64_t expert = (uint64_t)(spec->etp ? spec->etp : 1) *
			  (spec->ep ? spec->ep : 1);

	/* An axis has 2^20 ranks at most: two fit a product, three may not. */
	if (dense > WEFT_MAX_GPUS || expert > WEFT_MAX_GPUS)
		return 0;
	dense *= expert / weft_divisor(dense, expert);
	if (dense > WEFT_MAX_GPUS || dense * pp > WEFT_MAX_GPUS)
		return 0;
	return (uint32_t)(dense * pp);
}

/* What must hold wherever the job starts, and how long it may take. */
static void frame_limits(const struct weft_spec *spec, struct weft_frame *frame)
{
	frame->segment = spec->segment;
	frame->n_parts = spec->n_split;
	for (uint32_t i = 0; i < spec->n_split; i++)
		if (spec->split[i] > frame->segment)
			frame->segment = spec->split[i];
	memcpy(frame->within, spec->within, sizeof(frame->within));
	frame->hard = spec->within[0] || spec->segment > 1 || spec->n_split;
	frame->wait_s = spec->wait_s;
}

int weft_frame_read(const char *text, struct weft_frame *frame,
		    struct weft_error *err)
{
	struct weft_spec spec;
	uint32_t multiple;

	memset(frame, 0, sizeof(*frame));
	frame->multiple = 1;
	if (weft_spec_text_parse(text, &spec, err) < 0)
		return -1;
	frame_nodes(&spec, frame);
	frame_limits(&spec, frame);
	frame->gpus_per_node = spec.gpus_per_node;
	if (spec_fixes_gpus(&spec)) {
		if (weft_spec_resolve(&spec, 0, err) < 0)
			return -1;
		frame->gpus = spec.gpus;
		return 0;
	}
	/* Without a size the axes tell what it is a multiple of. */
	multiple = axes_multiple(&spec);
	if (!multiple)
		return weft_fail(err, WEFT_EINVAL,
				 "tp*cp*pp and etp*ep*pp come out even at more "
				 "than the %u GPUs supported only",
				 WEFT_MAX_GPUS);
	frame->multiple = multiple;
	frame->replica = (spec.tp ? spec.tp : 1) * (spec.cp ? spec.cp : 1) *
			 (spec.pp ? spec.pp : 1);
	if (spec.gbs && spec.gbs % (spec.mbs ? spec.mbs : 1) == 0)
		frame->batch = spec.gbs / (spec.mbs ? spec.mbs : 1);
	return 0;
}

/* ---- shapes ---- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Node counts that both the request and the spec allow. */
struct range {
	uint32_t min, max;
};

static int node_range(const struct weft_request *request,
		      const struct weft_frame *frame, struct range *range,
		      struct weft_error *err)
{
	range->min = larger(request->min_nodes, 1);
	range->max = request->max_nodes ? request->max_nodes : UINT32_MAX;
	/* As Slurm has it: a task on each node, unless more nodes are asked
	 * for. */
	if (request->n_tasks && range->max > request->n_tasks)
		range->max = larger(request->n_tasks, range->min);
	if (!frame->nodes)
		return 0;
	if (frame->nodes_max < range->min || frame->nodes > range->max)
		return weft_fail(err, WEFT_EINVAL,
				 "the spec says nodes=%u%s, the job asks for "
				 "%u to %u nodes",
				 frame->nodes,
				 frame->nodes_max > frame->nodes ? " or more"
								 : "",
				 range->min, range->max);
	range->min = larger(range->min, frame->nodes);
	range->max = smaller(range->max, frame->nodes_max);
	return 0;
}

/* The total that request and spec agree on; 0: open. */
static int total_gpus(const struct weft_request *request,
		      const struct weft_frame *frame, uint32_t *total,
		      struct weft_error *err)
{
	*total = larger(request->gpus_per_job, frame->gpus);
	if (request->gpus_per_job && frame->gpus &&
	    request->gpus_per_job != frame->gpus)
		return weft_fail(err, WEFT_EINVAL,
				 "the spec says %u GPUs, the job asks for %u",
				 frame->gpus, request->gpus_per_job);
	if (*total % frame->multiple)
		return weft_fail(err, WEFT_EINVAL,
				 "%u GPUs are not a multiple of the spec's %u "
				 "(tp*cp*pp, etp*ep*pp)",
				 *total, frame->multiple);
	return 0;
}

static uint32_t one_shape(struct weft_shape *shape, uint32_t n_gpus,
			  uint32_t gpus_per_node, uint32_t n_nodes)
{
	shape->n_gpus = n_gpus;
	shape->gpus_per_node = gpus_per_node;
	shape->min_nodes = shape->max_nodes = n_nodes;
	return 1;
}

/* The total and the GPUs of each node are given, hence the number of nodes. */
static uint32_t shape_of_total(uint32_t total, uint32_t gpus_per_node,
			       const struct range *range,
			       struct weft_shape *shape, struct weft_error *err)
{
	uint32_t n_nodes = total / gpus_per_node;

	if (total % gpus_per_node || n_nodes < range->min ||
	    n_nodes > range->max) {
		weft_fail(err, WEFT_EINVAL,
			  "%u GPUs, %u on each node, do not come out at %u to "
			  "%u nodes",
			  total, gpus_per_node, range->min, range->max);
		return 0;
	}
	return one_shape(shape, total, gpus_per_node, n_nodes);
}

/* Whole nodes that a spec allows, most first. */
struct counts {
	const struct range *range;
	uint32_t n, most[WEFT_MAX_SHAPES];
};

static void counts_add(struct counts *counts, uint64_t n_nodes)
{
	uint32_t i = counts->n;

	if (n_nodes < counts->range->min || n_nodes > counts->range->max ||
	    (i == WEFT_MAX_SHAPES && n_nodes < counts->most[i - 1]))
		return;
	if (i == WEFT_MAX_SHAPES)
		i--;
	else
		counts->n++;
	for (; i && counts->most[i - 1] < n_nodes; i--)
		counts->most[i] = counts->most[i - 1];
	counts->most[i] = (uint32_t)n_nodes;
}

/* A batch is shared evenly by as many replicas as divide it.  A user writes the
 * range of nodes: it is not walked through. */
static void counts_of_batch(const struct weft_frame *frame, uint32_t per_node,
			    struct counts *counts)
{
	for (uint32_t k = 1; (uint64_t)k * k <= frame->batch; k++) {
		const uint32_t replicas[] = {k, frame->batch / k};

		if (frame->batch % k)
			continue;
		for (int i = 0; i < 2 - (replicas[1] == k); i++) {
			uint64_t n_gpus =
				(uint64_t)replicas[i] * frame->replica;

			if (n_gpus % frame->multiple == 0 &&
			    n_gpus % per_node == 0)
				counts_add(counts, n_gpus / per_node);
		}
	}
}

static void counts_find(const struct weft_frame *frame, uint32_t per_node,
			struct counts *counts)
{
	uint64_t step =
		frame->multiple / weft_divisor(frame->multiple, per_node);
	uint64_t most = counts->range->max - counts->range->max % step;

	if (frame->batch) {
		counts_of_batch(frame, per_node, counts);
		return;
	}
	for (uint32_t i = 0; i < WEFT_MAX_SHAPES && most; i++, most -= step)
		counts_add(counts, most);
}

/* The GPUs of each node are given, the number of nodes is open within limits:
 * the wanted number, or as many as there are, then fewer. */
static uint32_t shapes_per_node(const struct weft_request *request,
				const struct weft_frame *frame,
				const struct range *range, uint32_t n_able,
				struct weft_shape shapes[WEFT_MAX_SHAPES],
				struct weft_error *err)
{
	uint32_t per_node = request->gpus_per_node;
	uint32_t want = larger(request->want_nodes, range->min);
	struct range open = {
		.min = range->min,
		.max = smaller(smaller(want, range->max), n_able),
	};
	struct counts counts = {.range = &open};

	/* more GPUs than there can be */
	open.max = smaller(open.max, larger(WEFT_MAX_GPUS / per_node, 1));
	counts_find(frame, per_node, &counts);
	for (uint32_t i = 0; i < counts.n; i++)
		one_shape(&shapes[i], counts.most[i] * per_node, per_node,
			  counts.most[i]);
	if (!counts.n && open.max >= open.min)
		weft_fail(err, WEFT_EINVAL,
			  "no number of nodes from %u to %u with %u GPUs each "
			  "comes out even with the spec's axes and batch",
			  range->min, open.max, per_node);
	return counts.n;
}

/* GPUs of each node where only the job's total was asked for; 0: any. */
static uint32_t implied_per_node(const struct weft_request *request,
				 const struct weft_frame *frame,
				 const struct range *range, uint32_t total)
{
	uint32_t per_node = 0;

	if (frame->gpus_per_node)
		return frame->gpus_per_node;
	if (!request->gpus_per_task)
		return 0;
	if (request->tasks_per_node)
		per_node = request->tasks_per_node * request->gpus_per_task;
	else if (range->min == range->max && total % range->min == 0)
		per_node = total / range->min;
	if (!per_node || per_node % request->gpus_per_task || total % per_node)
		return 0;
	return per_node;
}

uint32_t weft_request_shapes(const struct weft_request *request,
			     const struct weft_frame *frame, uint32_t n_able,
			     struct weft_shape shapes[WEFT_MAX_SHAPES],
			     struct weft_error *err)
{
	struct range range;
	uint32_t total, per_node;

	if (node_range(request, frame, &range, err) < 0 ||
	    total_gpus(request, frame, &total, err) < 0)
		return 0;
	if (request->gpus_per_node && frame->gpus_per_node &&
	    request->gpus_per_node != frame->gpus_per_node) {
		weft_fail(err, WEFT_EINVAL,
			  "the spec says gpus_per_node=%u, the job asks for %u",
			  frame->gpus_per_node, request->gpus_per_node);
		return 0;
	}
	if (request->gpus_per_node && total)
		return shape_of_total(total, request->gpus_per_node, &range,
				      shapes, err);
	if (request->gpus_per_node)
		return shapes_per_node(request, frame, &range, n_able, shapes,
				       err);
	if (!request->gpus_per_job) {
		weft_fail(err, WEFT_ENOSYS,
			  "neither GPUs per node nor per job are asked for");
		return 0;
	}
	per_node = implied_per_node(request, frame, &range, total);
	if (per_node)
		return shape_of_total(total, per_node, &range, shapes, err);
	shapes[0].n_gpus = total;
	shapes[0].gpus_per_node = 0;
	shapes[0].min_nodes = range.min;
	shapes[0].max_nodes = smaller(range.max, total);
	return 1;
}

/* ---- what a node can add ---- */

static uint32_t tasks_on_node(const struct weft_request *request,
			      const struct weft_shape *shape, uint32_t n_gpus)
{
	if (request->tasks_per_node)
		return request->tasks_per_node;
	if (request->tasks_per_gpu)
		return request->tasks_per_gpu * n_gpus;
	if (request->gpus_per_task)
		return larger(n_gpus / request->gpus_per_task, 1);
	if (request->n_tasks && shape->min_nodes == shape->max_nodes)
		return (request->n_tasks + shape->min_nodes - 1) /
		       shape->min_nodes;
	return 1;
}

static bool node_fits(const struct weft_request *request,
		      const struct weft_shape *shape,
		      const struct weft_capacity *capacity, uint32_t n_gpus)
{
	uint64_t tasks = tasks_on_node(request, shape, n_gpus);
	uint64_t per_task = larger(request->cpus_per_task, 1);
	uint64_t core = larger(capacity->cpus_per_core, 1);
	uint64_t cpus = request->overcommit ? 1 : tasks * per_task;
	uint64_t by_gpu = (uint64_t)request->cpus_per_gpu * n_gpus;
	uint64_t memory_mb = request->memory_per_node_mb;

	if (cpus < request->cpus_per_node)
		cpus = request->cpus_per_node;
	if (cpus < by_gpu)
		cpus = by_gpu;
	cpus = (cpus + core - 1) / core * core;
	if (cpus > capacity->cpus)
		return false;
	if (!request->memory_counts)
		return true;
	if (request->memory_all)
		return !capacity->memory_touched;
	if (request->memory_per_gpu_mb)
		memory_mb = request->memory_per_gpu_mb * n_gpus;
	else if (request->memory_per_cpu_mb)
		memory_mb = request->memory_per_cpu_mb * cpus;
	return memory_mb <= capacity->memory_mb;
}

uint32_t weft_request_usable(const struct weft_request *request,
			     const struct weft_shape *shape,
			     const struct weft_capacity *capacity)
{
	uint32_t n_gpus = weft_mask_count(capacity->gpus);

	if (request->whole_nodes && !capacity->idle)
		return 0;
	if (shape->gpus_per_node)
		n_gpus = n_gpus < shape->gpus_per_node ? 0
						       : shape->gpus_per_node;
	while (n_gpus && !node_fits(request, shape, capacity, n_gpus))
		n_gpus = shape->gpus_per_node ? 0 : n_gpus - 1;
	if (request->gpus_per_task && !shape->gpus_per_node)
		n_gpus -= n_gpus % request->gpus_per_task;
	return n_gpus;
}
