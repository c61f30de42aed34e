/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_resolve.c - defaults of a job spec, and whether its numbers agree */
#include "costmodel/job/spec.h"

#include "costmodel/job/model.h"
#include "topology/fabric.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* The bucket of PyTorch's DistributedDataParallel; and, in elements, that of
 * Megatron-LM's distributed optimizer, and what each of its ranks keeps of one
 * at least (megatron/core/distributed/distributed_data_parallel.py). */
#define REPLICAS_BUCKET_BYTES (25 * 1048576.0)
#define SHARDS_BUCKET	      40e6
#define SHARD_OF_BUCKET	      1e6

static int fail(struct weft_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct weft_error *err, int code, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return weft_fail_at(err, code, "job spec", 0, 0, "%s", text);
}

static void default_to(uint32_t *field, uint32_t value)
{
	if (*field == 0)
		*field = value;
}

/* The parts of a split say how many nodes there are. */
static int resolve_split(struct weft_spec *spec, struct weft_error *err)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < spec->n_split; i++)
		sum += spec->split[i];
	if (!sum)
		return 0;
	if (spec->segment > 1 || spec->spread == WEFT_FAILURE_DOMAIN)
		return fail(err, WEFT_EINVAL,
			    "split and %s: each says which nodes stay "
			    "together; give one of them",
			    spec->segment > 1 ? "segment"
					      : "spread=failure-domain");
	if (sum > WEFT_MAX_GPUS)
		return fail(err, WEFT_EINVAL,
			    "split has %" PRIu64
			    " nodes, more than the %u supported",
			    sum, WEFT_MAX_GPUS);
	if (spec->nodes && (sum < spec->nodes || sum > spec->nodes_max))
		return fail(err, WEFT_EINVAL,
			    "split has %" PRIu64 " nodes, but nodes = %u%s",
			    sum,
			    sum < spec->nodes ? spec->nodes : spec->nodes_max,
			    spec->nodes == spec->nodes_max ? ""
			    : sum < spec->nodes		   ? " at least"
							   : " at most");
	spec->nodes = spec->nodes_max = (uint32_t)sum;
	return 0;
}

/* gpus from what the spec says of its size and from what the job asks for. */
static int resolve_gpus(struct weft_spec *spec, uint32_t gpus,
			struct weft_error *err)
{
	bool exact = spec->nodes == spec->nodes_max;
	uint64_t product =
		exact ? (uint64_t)spec->nodes * spec->gpus_per_node : 0;

	if (product > WEFT_MAX_GPUS)
		return fail(err, WEFT_EINVAL,
			    "nodes*gpus_per_node = %u*%u = %" PRIu64
			    ", more than the %u GPUs supported",
			    spec->nodes, spec->gpus_per_node, product,
			    WEFT_MAX_GPUS);
	if (gpus && spec->gpus && gpus != spec->gpus)
		return fail(err, WEFT_EINVAL,
			    "gpus = %u, but the job gets %u GPUs", spec->gpus,
			    gpus);
	default_to(&spec->gpus, gpus);
	if (product && spec->gpus && product != spec->gpus)
		return fail(err, WEFT_EINVAL,
			    "nodes*gpus_per_node = %u*%u = %" PRIu64
			    ", but %s %u%s",
			    spec->nodes, spec->gpus_per_node, product,
			    gpus ? "the job gets" : "gpus =", spec->gpus,
			    gpus ? " GPUs" : "");
	default_to(&spec->gpus, (uint32_t)product);
	return 0;
}

/* The multiple of n nearest to value, at least n; 0 < n. */
static uint64_t nearest_multiple(uint64_t value, uint64_t n)
{
	uint64_t times = (value + n / 2) / n;

	return times ? times * n : n;
}

static int resolve_axes(struct weft_spec *spec, struct weft_error *err)
{
	uint64_t shard;

	default_to(&spec->tp, 1);
	default_to(&spec->cp, 1);
	default_to(&spec->ep, 1);
	default_to(&spec->pp, 1);
	default_to(&spec->vpp, 1);
	shard = (uint64_t)spec->tp * spec->cp * spec->pp;
	if (shard > WEFT_MAX_GPUS)
		return fail(err, WEFT_EINVAL,
			    "tp*cp*pp = %u*%u*%u = %" PRIu64
			    ", more than the %u GPUs supported",
			    spec->tp, spec->cp, spec->pp, shard, WEFT_MAX_GPUS);
	if (!spec->dp && spec->gpus % shard)
		return fail(err, WEFT_EINVAL,
			    "gpus = %u is not a multiple of tp*cp*pp = "
			    "%u*%u*%u = %" PRIu64 "; the nearest is %" PRIu64,
			    spec->gpus, spec->tp, spec->cp, spec->pp, shard,
			    nearest_multiple(spec->gpus, shard));
	default_to(&spec->dp, (uint32_t)(spec->gpus / shard));
	default_to(&spec->dp, 1);
	return 0;
}

static int resolve_product(struct weft_spec *spec, struct weft_error *err)
{
	uint64_t shard = (uint64_t)spec->tp * spec->cp * spec->pp;
	uint64_t product = shard * spec->dp;

	bool dp_helps = spec->gpus && spec->gpus % shard == 0;

	if (spec->gpus && product != spec->gpus)
		return fail(err, WEFT_EINVAL,
			    "tp*cp*pp*dp = %u*%u*%u*%u = %" PRIu64
			    ", but gpus = %u; %s = %" PRIu64 " fits",
			    spec->tp, spec->cp, spec->pp, spec->dp, product,
			    spec->gpus, dp_helps ? "dp" : "gpus",
			    dp_helps ? spec->gpus / shard : product);
	if (product > WEFT_MAX_GPUS)
		return fail(err, WEFT_EINVAL,
			    "tp*cp*pp*dp = %u*%u*%u*%u = %" PRIu64
			    ", more than the %u GPUs supported",
			    spec->tp, spec->cp, spec->pp, spec->dp, product,
			    WEFT_MAX_GPUS);
	spec->gpus = (uint32_t)product;
	return 0;
}

static int resolve_nodes(struct weft_spec *spec, struct weft_error *err)
{
	uint32_t nodes;

	if (spec->gpus == 1 && !weft_spec_given(spec, "gpus") &&
	    (spec->nodes > 1 || spec->gpus_per_node > 1))
		return fail(err, WEFT_EINVAL,
			    "how many GPUs? Give gpus=, or nodes= and "
			    "gpus_per_node=");
	if (spec->nodes > spec->gpus)
		return fail(err, WEFT_EINVAL,
			    "nodes = %u, but gpus = %u: a node without a GPU "
			    "has no rank",
			    spec->nodes, spec->gpus);
	if (!spec->gpus_per_node)
		return 0;
	if (spec->gpus % spec->gpus_per_node)
		return fail(err, WEFT_EINVAL,
			    "gpus = %u is not a multiple of gpus_per_node = %u",
			    spec->gpus, spec->gpus_per_node);
	nodes = spec->gpus / spec->gpus_per_node;
	if (spec->nodes && spec->nodes == spec->nodes_max &&
	    spec->nodes != nodes)
		return fail(err, WEFT_EINVAL,
			    "nodes*gpus_per_node = %u*%u = %" PRIu64
			    ", but gpus = %u",
			    spec->nodes, spec->gpus_per_node,
			    (uint64_t)spec->nodes * spec->gpus_per_node,
			    spec->gpus);
	if (spec->nodes && (nodes < spec->nodes || nodes > spec->nodes_max))
		return fail(err, WEFT_EINVAL,
			    "gpus/gpus_per_node = %u/%u = %u, but nodes = "
			    "%u-%u",
			    spec->gpus, spec->gpus_per_node, nodes, spec->nodes,
			    spec->nodes_max);
	spec->nodes = spec->nodes_max = nodes;
	return 0;
}

/* Each stage of a pipeline has a part of its own, with a layer for each of its
 * chunks. */
static int resolve_stages(const struct weft_spec *spec, struct weft_error *err)
{
	if (spec->n_stages && spec->n_stages != spec->pp)
		return fail(err, WEFT_EINVAL,
			    "stages has %u parts, but pp = %u", spec->n_stages,
			    spec->pp);
	for (uint32_t p = 0; p < spec->n_stages; p++) {
		if (spec->stages[p] < spec->vpp)
			return fail(err, WEFT_EINVAL,
				    "stage %u has %u layers, but vpp = %u "
				    "chunks",
				    p, spec->stages[p], spec->vpp);
	}
	if (spec->pipeline == WEFT_ZERO_BUBBLE && spec->pp == 1)
		return fail(err, WEFT_EINVAL,
			    "pipeline = zero-bubble, but pp = 1: there is no "
			    "bubble");
	return 0;
}

static int resolve_batch(struct weft_spec *spec, struct weft_error *err)
{
	uint64_t replica, batch;

	default_to(&spec->mbs, 1);
	replica = (uint64_t)spec->mbs * spec->dp;
	batch = replica * 4 * spec->pp;
	if (!spec->gbs && batch > WEFT_MAX_GBS)
		return fail(err, WEFT_EINVAL,
			    "the default gbs = 4*mbs*dp*pp = 4*%u*%u*%u is "
			    "more than %u sequences; give gbs",
			    spec->mbs, spec->dp, spec->pp, WEFT_MAX_GBS);
	default_to(&spec->gbs, (uint32_t)batch);
	if (spec->gbs % replica)
		return fail(err, WEFT_EINVAL,
			    "gbs = %u is not a multiple of mbs*dp = %u*%u = "
			    "%" PRIu64,
			    spec->gbs, spec->mbs, spec->dp, replica);
	if (spec->vpp > 1 && spec->pp == 1)
		return fail(err, WEFT_EINVAL,
			    "vpp = %u, but pp = 1: only a pipeline can be "
			    "interleaved",
			    spec->vpp);
	return resolve_stages(spec, err);
}

/* How many replicas of the parameters share what zero shards. */
static int resolve_shard(struct weft_spec *spec, struct weft_error *err)
{
	if (!weft_spec_given(spec, "shard")) {
		spec->shard = spec->zero ? spec->dp * spec->cp : 1;
		return 0;
	}
	if (!weft_spec_given(spec, "zero"))
		spec->zero = 3;
	if (spec->zero == 0 && spec->shard > 1)
		return fail(err, WEFT_EINVAL,
			    "shard = %u, but zero = 0: nothing is sharded",
			    spec->shard);
	return 0;
}

/* A shard group is made of neighbours in the ring over cp and dp. */
static int shard_check(const struct weft_spec *spec,
		       const struct weft_grid *grid, struct weft_error *err)
{
	uint32_t cp = weft_grid_axis(grid, "cp"),
		 dp = weft_grid_axis(grid, "dp");
	uint32_t replicas = spec->dp * spec->cp, fast = spec->dp;

	if (replicas % spec->shard)
		return fail(err, WEFT_EINVAL,
			    "shard = %u does not divide dp*cp = %u*%u = %u",
			    spec->shard, spec->dp, spec->cp, replicas);
	if (spec->cp > 1 && spec->dp > 1 && grid->stride[cp] < grid->stride[dp])
		fast = spec->cp;
	else if (spec->dp == 1)
		fast = spec->cp;
	if (spec->shard % fast && fast % spec->shard)
		return fail(err, WEFT_EINVAL,
			    "shard = %u: expected a multiple or a divisor of "
			    "the faster of dp and cp, which is %u",
			    spec->shard, fast);
	return 0;
}

static double default_bucket_bytes(const struct weft_spec *spec)
{
	double shards = SHARD_OF_BUCKET * spec->dp * spec->cp;

	if (spec->zero == 0)
		return REPLICAS_BUCKET_BYTES;
	return weft_dtype_bytes(spec->gradient_dtype) *
	       (shards > SHARDS_BUCKET ? shards : SHARDS_BUCKET);
}

/* What moves how often and in which type. */
static int resolve_exchange(struct weft_spec *spec, struct weft_error *err)
{
	const struct {
		const char *key;
		enum weft_dtype *field, value;
	} types[] = {
		{"grad_dtype", &spec->gradient_dtype, WEFT_FP32},
		{"param_dtype", &spec->parameter_dtype,
		 spec->dtype >= WEFT_FP8 ? WEFT_BF16 : spec->dtype},
		/* Four bits are for products; what is sent has more. */
		{"dispatch_dtype", &spec->dispatch_dtype,
		 spec->dtype == WEFT_NVFP4 ? WEFT_BF16 : spec->dtype},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!weft_spec_given(spec, types[i].key))
			*types[i].field = types[i].value;
	}
	if (!weft_spec_given(spec, "sp"))
		spec->sequence_parallel = true;
	spec->sequence_parallel = spec->sequence_parallel && spec->tp > 1;
	if (!weft_spec_given(spec, "scatter"))
		spec->scatter = true;
	if (!weft_spec_given(spec, "bucket"))
		spec->bucket_bytes = default_bucket_bytes(spec);
	if (!weft_spec_given(spec, "compress"))
		spec->compress = 1;
	default_to(&spec->sync_every, 1);
	default_to(&spec->channels, 1);
	if (spec->sync_every > 1 && (spec->zero > 0 || spec->ep > 1))
		return fail(err, WEFT_EINVAL,
			    "sync_every = %u, but %s: replicas that share "
			    "state cannot run apart",
			    spec->sync_every,
			    spec->ep > 1 ? "ep > 1" : "zero > 0");
	if (spec->zero_by == WEFT_ZERO_BY_TENSORS && spec->zero != 1)
		return fail(err, WEFT_EINVAL,
			    "zero_by = tensors, but zero = %u: whole tensors "
			    "are dealt out with zero = 1",
			    spec->zero);
	if (spec->compress > 8 * weft_dtype_bytes(spec->gradient_dtype) &&
	    spec->zero > 0)
		return fail(err, WEFT_EINVAL,
			    "compress = %g leaves less than a bit of each "
			    "gradient: sparse gradients need zero = 0",
			    spec->compress);
	return 0;
}

/* What expert parallelism asks of the other axes. */
static int experts_check(const struct weft_spec *spec, struct weft_error *err)
{
	if (spec->tp > 1 && !spec->sequence_parallel)
		return fail(err, WEFT_EINVAL,
			    "ep = %u and tp = %u, but sp = off: experts take "
			    "tokens that are split over tp",
			    spec->ep, spec->tp);
	if (weft_spec_given(spec, "shard") && spec->zero > 0 &&
	    (uint64_t)spec->shard * spec->tp %
			    ((uint64_t)spec->etp * spec->ep) !=
		    0)
		return fail(err, WEFT_EINVAL,
			    "shard*tp = %u*%u is not a multiple of etp*ep = "
			    "%u*%u: a shard group holds whole sets of experts",
			    spec->shard, spec->tp, spec->etp, spec->ep);
	return 0;
}

/* Experts have a grid of their own on the same ranks. */
static int resolve_experts(struct weft_spec *spec, struct weft_error *err)
{
	uint64_t shard;

	if (spec->ep == 1) {
		if (spec->etp > 1)
			return fail(err, WEFT_EINVAL,
				    "etp = %u, but ep = 1: there are no "
				    "expert ranks to split",
				    spec->etp);
		return 0;
	}
	default_to(&spec->etp, 1);
	shard = (uint64_t)spec->etp * spec->ep * spec->pp;
	if (spec->gpus % shard)
		return fail(err, WEFT_EINVAL,
			    "etp*ep*pp = %u*%u*%u = %" PRIu64
			    " does not divide gpus = %u",
			    spec->etp, spec->ep, spec->pp, shard, spec->gpus);
	return experts_check(spec, err);
}

/* The stages of a pipeline must be the same ranks in both grids. */
static int resolve_expert_order(const struct weft_spec *spec,
				struct weft_error *err)
{
	struct weft_grid dense, expert;
	uint32_t a, b;

	if (spec->ep == 1)
		return 0;
	if (weft_spec_grid(spec, &dense, err) ||
	    weft_spec_expert_grid(spec, &expert, err))
		return -1;
	a = weft_grid_axis(&dense, "pp");
	b = weft_grid_axis(&expert, "pp");
	if (spec->pp > 1 && dense.stride[a] != expert.stride[b])
		return fail(err, WEFT_EINVAL,
			    "order = %s gives dense and expert layers of a "
			    "rank different stages: pp must vary slowest",
			    spec->order);
	return 0;
}

static int resolve_model(struct weft_spec *spec, struct weft_error *err)
{
	struct weft_model model;
	struct weft_grid grid;

	if (!spec->model[0])
		snprintf(spec->model, sizeof(spec->model), "%s",
			 WEFT_MODEL_DEFAULT);
	if (!weft_spec_given(spec, "model") && !weft_spec_has_shape(spec) &&
	    (spec->shape.layers || spec->shape.hidden || spec->shape.heads))
		return fail(err, WEFT_EINVAL,
			    "a shape needs layers=, hidden= and heads=; give "
			    "all three, or model=");
	if (!weft_spec_given(spec, "model") && weft_spec_has_shape(spec)) {
		if (weft_spec_shape(spec, &model, err))
			return -1;
		snprintf(spec->model, sizeof(spec->model), "%s", model.name);
		default_to(&spec->seq, model.seq);
	} else if (weft_model_find(spec->model, &model, NULL) == 0) {
		default_to(&spec->seq, model.seq);
	}
	if (!spec->order[0])
		snprintf(spec->order, sizeof(spec->order), "%s",
			 WEFT_ORDER_DEFAULT);
	if (weft_spec_grid(spec, &grid, err) || shard_check(spec, &grid, err))
		return -1;
	return resolve_expert_order(spec, err);
}

/* Keys that no engine honours, alone or together. */
static int refuse_unsupported(const struct weft_spec *spec,
			      struct weft_error *err)
{
	if (spec->segment > 1 && spec->spread == WEFT_FAILURE_DOMAIN)
		return fail(err, WEFT_EINVAL,
			    "segment and spread=failure-domain: each says "
			    "which nodes stay together; give one of them");
	return 0;
}

int weft_spec_resolve(struct weft_spec *spec, uint32_t gpus,
		      struct weft_error *err)
{
	if (resolve_split(spec, err) || resolve_gpus(spec, gpus, err) ||
	    resolve_axes(spec, err) || resolve_product(spec, err) ||
	    resolve_nodes(spec, err) || resolve_batch(spec, err) ||
	    resolve_shard(spec, err) || resolve_exchange(spec, err) ||
	    resolve_experts(spec, err) || resolve_model(spec, err))
		return -1;
	return refuse_unsupported(spec, err);
}

int weft_spec_grid(const struct weft_spec *spec, struct weft_grid *grid,
		   struct weft_error *err)
{
	const struct weft_axis_size sizes[] = {
		{"tp", spec->tp}, {"cp", spec->cp}, {"ep", 1},
		{"dp", spec->dp}, {"pp", spec->pp},
	};

	return weft_grid_build(spec->order, sizes,
			       sizeof(sizes) / sizeof(sizes[0]), grid, err);
}

int weft_spec_expert_grid(const struct weft_spec *spec, struct weft_grid *grid,
			  struct weft_error *err)
{
	const struct weft_axis_size sizes[] = {
		{"tp", spec->etp},
		{"cp", 1},
		{"ep", spec->ep},
		{"dp", spec->gpus / (spec->etp * spec->ep * spec->pp)},
		{"pp", spec->pp},
	};

	return weft_grid_build(spec->order, sizes,
			       sizeof(sizes) / sizeof(sizes[0]), grid, err);
}

uint32_t weft_spec_micro_batches(const struct weft_spec *spec)
{
	return spec->gbs / (spec->mbs * spec->dp);
}

double weft_spec_fullest(const struct weft_spec *spec)
{
	double most = spec->ep;

	if (spec->capacity > 0)
		most = fmin(most, spec->capacity);
	return fmax(1, fmin(spec->imbalance, most));
}
