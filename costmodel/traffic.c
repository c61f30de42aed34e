/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.c - who sends how much to whom in one training step */
#include "costmodel/traffic.h"

#include "costmodel/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gradients are reduced in fp32, as Megatron does by default. */
#define GRADIENT_BYTES 4.0

/* Most a rank sends to: next in tp, cp and dp rings, both pipeline sides. */
#define MAX_PEERS 5

const char *const weft_axis_names[WEFT_N_AXES] = {"tp", "cp", "ep", "pp", "dp"};

/* Bytes that each rank of a pipeline stage sends in one step. */
struct stage {
	double tp, cp, dp; /* to the next of its ring */
	double next, previous;
};

/* One axis of the grid; an axis that the order leaves out has size 1. */
struct axis {
	uint32_t size, stride;
};

/* What the build needs to know of the job. */
struct build {
	const struct weft_spec *spec;
	const struct weft_model *model;
	struct axis tp, cp, dp, pp;
	struct axis shard[2]; /* cp and dp, faster one first */
	struct stage *stages; /* [pp] */
	double b, s, h, e;    /* as in volume.h; s: tokens of one cp rank */
	uint32_t micro_batches;
};

static struct axis grid_axis(const struct weft_grid *grid, const char *name)
{
	uint32_t a = weft_grid_axis(grid, name);
	struct axis axis = {1, 1};

	if (a != WEFT_MAX_AXES) {
		axis.size = grid->size[a];
		axis.stride = grid->stride[a];
	}
	return axis;
}

static uint32_t coordinate(struct axis axis, uint32_t rank)
{
	return rank / axis.stride % axis.size;
}

/* The rank whose coordinate on `axis` is one further, wrapping around. */
static uint32_t step(struct axis axis, uint32_t rank)
{
	if (coordinate(axis, rank) + 1 < axis.size)
		return rank + axis.stride;
	return rank - (axis.size - 1) * axis.stride;
}

/* Parameters of stage p held by one of its tensor ranks.  Layers are dealt to
 * the pp*vpp chunks as evenly as possible, the first chunks get one more; chunk
 * k is on stage k % pp.  A tied embedding in a pipeline is held twice. */
static double stage_parameters(const struct build *build, uint32_t p,
			       uint32_t *layers)
{
	const struct weft_spec *spec = build->spec;
	const struct weft_model *model = build->model;
	uint32_t chunks = spec->pp * spec->vpp;
	uint32_t each = model->layers / chunks, more = model->layers % chunks;
	double output = (double)model->vocab * model->hidden;
	double sum = 0;

	*layers = 0;
	for (uint32_t k = p; k < chunks; k += spec->pp) {
		uint32_t first = k * each + (k < more ? k : more);
		uint32_t n = each + (k < more);

		sum += weft_model_layers_parameters(model, first, n);
		*layers += n;
	}
	if (p == 0)
		sum += weft_model_embedding_parameters(model) -
		       (model->tied_embedding ? 0 : output);
	if (p == spec->pp - 1 && (!model->tied_embedding || spec->pp > 1))
		sum += output;
	return sum / spec->tp;
}

/* Sends of stage p to the next and the previous stage.  A chunk's output goes
 * to the next chunk in the forward pass, its gradient back in the backward
 * pass; with vpp > 1 that wraps around from the last stage to the first. */
static void stage_pipeline(const struct build *build, uint32_t p,
			   struct stage *stage)
{
	const struct weft_spec *spec = build->spec;
	bool first = p == 0, last = p == spec->pp - 1;
	double send = weft_volume_pp_send(spec->tp, build->b, build->s,
					  build->h, build->e) *
		      build->micro_batches;
	double tied = 0;

	if (spec->pp == 1)
		return;
	stage->next = (last ? spec->vpp - 1 : spec->vpp) * send;
	stage->previous = (first ? spec->vpp - 1 : spec->vpp) * send;
	/* The two copies of a tied embedding are reduced between first and
	 * last stage: to each other they are previous and next. */
	if (build->model->tied_embedding)
		tied = weft_volume_all_reduce(2, (double)build->model->vocab *
							 build->h / spec->tp *
							 GRADIENT_BYTES);
	if (first)
		stage->previous += tied;
	if (last)
		stage->next += tied;
}

static void stage_fill(const struct build *build, uint32_t p,
		       struct stage *stage)
{
	const struct weft_spec *spec = build->spec;
	const struct weft_model *model = build->model;
	double kv = weft_model_kv_width(model, spec->tp);
	double size = build->b * build->s * build->h * build->e;
	uint32_t layers;
	double parameters = stage_parameters(build, p, &layers);
	double micro_batches = build->micro_batches;

	stage->tp = layers * weft_volume_tp_layer(spec->tp, build->b, build->s,
						  build->h, build->e);
	/* Forward of the embedding, backward of the output layer: one
	 * all-reduce of an activation each (Megatron-LM, layers.py). */
	stage->tp += ((p == 0) + (p == spec->pp - 1)) *
		     weft_volume_all_reduce(spec->tp, size);
	stage->tp *= micro_batches;
	stage->cp = layers * micro_batches *
		    weft_volume_cp_layer(spec->cp, build->b,
					 build->s * spec->cp, kv, build->e);
	stage->dp =
		weft_volume_dp_step(spec->cp * spec->dp, parameters, spec->zero,
				    build->micro_batches, GRADIENT_BYTES,
				    weft_dtype_bytes(spec->dtype));
	stage_pipeline(build, p, stage);
}

/* The next rank of the ring over cp and dp in rank order. */
static uint32_t shard_next(const struct build *build, uint32_t rank)
{
	struct axis fast = build->shard[0];
	uint32_t next = step(fast, rank);

	if (coordinate(fast, rank) + 1 == fast.size)
		next = step(build->shard[1], next);
	return next;
}

/* Adds to the row that starts at `first`, by ascending peer and axis; equal
 * ones are summed. */
static void row_add(struct weft_traffic *t, uint32_t first, uint32_t peer,
		    enum weft_axis axis, double bytes)
{
	uint32_t i = t->n_edges;

	if (!(bytes > 0))
		return;
	for (uint32_t k = first; k < t->n_edges; k++) {
		if (t->peer[k] == peer && t->axis[k] == axis) {
			t->bytes[k] += bytes;
			return;
		}
	}
	for (; i > first && (t->peer[i - 1] > peer ||
			     (t->peer[i - 1] == peer && t->axis[i - 1] > axis));
	     i--) {
		t->peer[i] = t->peer[i - 1];
		t->axis[i] = t->axis[i - 1];
		t->bytes[i] = t->bytes[i - 1];
	}
	t->peer[i] = peer;
	t->axis[i] = (uint8_t)axis;
	t->bytes[i] = bytes;
	t->n_edges++;
}

static void rank_fill(const struct build *build, uint32_t rank,
		      struct weft_traffic *t)
{
	uint32_t p = coordinate(build->pp, rank);
	const struct stage *stage = &build->stages[p];
	uint32_t first = t->n_edges;
	uint32_t previous = p ? rank - build->pp.stride
			      : rank + (build->pp.size - 1) * build->pp.stride;

	t->row[rank] = first;
	row_add(t, first, step(build->tp, rank), WEFT_AXIS_TP, stage->tp);
	row_add(t, first, step(build->cp, rank), WEFT_AXIS_CP, stage->cp);
	row_add(t, first, step(build->pp, rank), WEFT_AXIS_PP, stage->next);
	row_add(t, first, previous, WEFT_AXIS_PP, stage->previous);
	row_add(t, first, shard_next(build, rank), WEFT_AXIS_DP, stage->dp);
}

static int traffic_alloc(struct weft_traffic *t, uint32_t n_ranks,
			 size_t n_edges, struct weft_error *err)
{
	t->n_ranks = n_ranks;
	t->row = weft_calloc((size_t)n_ranks + 1, sizeof(*t->row), err);
	t->peer = weft_calloc(n_edges, sizeof(*t->peer), err);
	t->axis = weft_calloc(n_edges, sizeof(*t->axis), err);
	t->bytes = weft_calloc(n_edges, sizeof(*t->bytes), err);
	return t->row && t->peer && t->axis && t->bytes ? 0 : -1;
}

static int build_check(const struct build *build, const struct weft_grid *grid,
		       struct weft_error *err)
{
	const struct weft_spec *spec = build->spec;
	uint64_t chunks = (uint64_t)spec->pp * spec->vpp;

	if (chunks > build->model->layers)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0, 0,
				    "pp*vpp = %u*%u parts, but model %s has "
				    "only %u layers",
				    spec->pp, spec->vpp, build->model->name,
				    build->model->layers);
	if (build->tp.size != spec->tp || build->cp.size != spec->cp ||
	    build->dp.size != spec->dp || build->pp.size != spec->pp ||
	    grid->n_ranks != spec->gpus)
		return weft_fail(err, WEFT_EINVAL,
				 "the grid of %u ranks is not the spec's",
				 grid->n_ranks);
	if (spec->ep > 1)
		return weft_fail(err, WEFT_ENOSYS,
				 "job spec: ep > 1 (expert parallelism): not "
				 "supported yet");
	return 0;
}

int weft_traffic_build(const struct weft_spec *spec,
		       const struct weft_model *model,
		       const struct weft_grid *grid,
		       struct weft_traffic *traffic, struct weft_error *err)
{
	struct axis cp = grid_axis(grid, "cp"), dp = grid_axis(grid, "dp");
	bool cp_faster = cp.stride <= dp.stride;
	uint32_t seq = spec->seq ? spec->seq : model->seq;
	struct build build = {
		.spec = spec,
		.model = model,
		.tp = grid_axis(grid, "tp"),
		.cp = cp,
		.dp = dp,
		.pp = grid_axis(grid, "pp"),
		.shard = {cp_faster ? cp : dp, cp_faster ? dp : cp},
		.b = spec->mbs,
		.s = (double)seq / spec->cp,
		.h = model->hidden,
		.e = weft_dtype_bytes(spec->dtype),
		.micro_batches = weft_spec_micro_batches(spec),
	};

	memset(traffic, 0, sizeof(*traffic));
	if (build_check(&build, grid, err))
		return -1;
	build.stages = weft_calloc(spec->pp, sizeof(*build.stages), err);
	if (!build.stages ||
	    traffic_alloc(traffic, grid->n_ranks,
			  (size_t)MAX_PEERS * grid->n_ranks, err)) {
		free(build.stages);
		return -1;
	}
	for (uint32_t p = 0; p < spec->pp; p++)
		stage_fill(&build, p, &build.stages[p]);
	for (uint32_t rank = 0; rank < grid->n_ranks; rank++)
		rank_fill(&build, rank, traffic);
	traffic->row[grid->n_ranks] = traffic->n_edges;
	free(build.stages);
	return 0;
}

void weft_traffic_free(struct weft_traffic *traffic)
{
	if (!traffic)
		return;
	free(traffic->row);
	free(traffic->peer);
	free(traffic->axis);
	free(traffic->bytes);
	memset(traffic, 0, sizeof(*traffic));
}

static int flow_compare(const void *left, const void *right)
{
	const struct weft_flow *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->axis > b->axis) - (a->axis < b->axis);
}

static int flow_check(uint32_t n_ranks, const struct weft_flow *flow,
		      uint32_t i, struct weft_error *err)
{
	if (flow->from >= n_ranks || flow->to >= n_ranks)
		return weft_fail(err, WEFT_EINVAL,
				 "flow %u: from %u to %u, but there are %u "
				 "ranks",
				 i, flow->from, flow->to, n_ranks);
	if (flow->from == flow->to)
		return weft_fail(err, WEFT_EINVAL,
				 "flow %u: rank %u sends to itself", i,
				 flow->from);
	if ((unsigned)flow->axis >= WEFT_N_AXES)
		return weft_fail(err, WEFT_EINVAL, "flow %u: unknown axis %d",
				 i, (int)flow->axis);
	if (!(flow->bytes >= 0 && isfinite(flow->bytes)))
		return weft_fail(err, WEFT_EINVAL,
				 "flow %u: expected a number of bytes >= 0", i);
	return 0;
}

int weft_traffic_from_flows(uint32_t n_ranks, struct weft_flow *flows,
			    uint32_t n_flows, struct weft_traffic *traffic,
			    struct weft_error *err)
{
	uint32_t i = 0;

	memset(traffic, 0, sizeof(*traffic));
	for (uint32_t k = 0; k < n_flows; k++) {
		if (flow_check(n_ranks, &flows[k], k, err))
			return -1;
	}
	if (traffic_alloc(traffic, n_ranks, n_flows, err))
		return -1;
	if (n_flows)
		qsort(flows, n_flows, sizeof(*flows), flow_compare);
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		traffic->row[rank] = traffic->n_edges;
		while (i < n_flows && flows[i].from == rank) {
			const struct weft_flow *flow = &flows[i];
			double bytes = 0;

			for (;
			     i < n_flows && flow_compare(&flows[i], flow) == 0;
			     i++)
				bytes += flows[i].bytes;
			if (!(bytes > 0))
				continue;
			traffic->peer[traffic->n_edges] = flow->to;
			traffic->axis[traffic->n_edges] = (uint8_t)flow->axis;
			traffic->bytes[traffic->n_edges++] = bytes;
		}
	}
	traffic->row[n_ranks] = traffic->n_edges;
	return 0;
}

double weft_traffic_bytes(const struct weft_traffic *traffic)
{
	double sum = 0;

	for (uint32_t k = 0; k < traffic->n_edges; k++)
		sum += traffic->bytes[k];
	return sum;
}
