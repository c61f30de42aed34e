/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_shape.c - what each stage holds, and which ranks form groups */
#include "costmodel/traffic/schedule_parts.h"

#include <string.h>

/* Ranks of a node, where the spec does not say. */
#define GPUS_PER_NODE 8

/* Weights as PyTorch's modules have them, one for each of queries, keys, values
 * and outputs, and, as GPT has them, as many biases. */
static void tensors_count(const struct builder *b, struct run *run)
{
	const struct weft_model *model = b->model;
	double matrices = model->gated_mlp ? 3 : 2;
	double each = model->learned_positions ? 2 : 1;
	double attention = 4 + 2; /* and two norms */
	double dense = run->layers - run->expert_layers;
	double experts = (double)model->experts / b->spec->ep;

	run->tensors =
		each * (run->layers * attention + dense * matrices) +
		run->expert_layers * (1 + model->shared_experts * matrices);
	run->expert_tensors = run->expert_layers * experts * matrices;
	if (b->spec->ep == 1)
		run->tensors += run->expert_tensors;
	if (run->first_stage)
		run->tensors += each;
	if (run->last_stage)
		run->tensors += each + (model->tied_embedding ? 0 : 1);
}

/* Layers that predict tokens further on follow the last one; their parameters.
 */
static double further_layers(const struct weft_model *model, struct run *run)
{
	uint32_t n = model->mtp_layers;

	run->layers += n;
	if (weft_model_has_experts(model, model->layers - 1))
		run->expert_layers += n;
	return weft_model_mtp_parameters(model);
}

/* A tied embedding in a pipeline is held twice. */
static void stage_fill(const struct builder *b, uint32_t stage, struct run *run)
{
	const struct weft_spec *spec = b->spec;
	const struct weft_model *model = b->model;
	uint32_t chunks = spec->pp * spec->vpp;
	double output = (double)model->vocab * model->hidden;
	double experts = weft_model_routed_parameters(model);
	double sum = 0;

	memset(run, 0, sizeof(*run));
	run->first = stage;
	run->n = 1;
	run->first_stage = stage == 0;
	run->last_stage = stage == spec->pp - 1;
	for (uint32_t k = stage; k < chunks; k += spec->pp) {
		struct weft_chunk c = weft_spec_chunk(spec, model->layers, k);

		sum += weft_model_layers_parameters(model, c.first, c.n);
		run->layers += c.n;
		run->expert_layers +=
			weft_model_expert_layers(model, c.first, c.n);
	}
	if (run->last_stage)
		sum += further_layers(model, run);
	if (spec->ep > 1) {
		experts *= run->expert_layers;
		sum -= experts;
		run->expert_parameters = experts / spec->ep / spec->etp;
	}
	if (run->first_stage)
		sum += weft_model_embedding_parameters(model) -
		       (model->tied_embedding ? 0 : output);
	if (run->last_stage && (!model->tied_embedding || spec->pp > 1))
		sum += output;
	run->parameters = sum / spec->tp;
	tensors_count(b, run);
}

static bool same(const struct run *a, const struct run *b)
{
	return a->layers == b->layers && a->expert_layers == b->expert_layers &&
	       a->parameters == b->parameters &&
	       a->expert_parameters == b->expert_parameters &&
	       a->first_stage == b->first_stage &&
	       a->last_stage == b->last_stage;
}

int schedule_runs(struct builder *b)
{
	b->runs = weft_calloc(b->spec->pp, sizeof(*b->runs), b->err);
	if (!b->runs)
		return -1;
	for (uint32_t p = 0; p < b->spec->pp; p++) {
		struct run *run = &b->runs[b->n_runs];

		stage_fill(b, p, run);
		if (b->n_runs && same(run - 1, run))
			run[-1].n++;
		else
			b->n_runs++;
	}
	return 0;
}

/* Cuts an axis in two: `inner`, whose `size` values vary faster, and `outer`.
 */
static void axis_split(struct weft_grid *grid, const char *axis, uint32_t size,
		       const char *inner, const char *outer)
{
	uint32_t a = weft_grid_axis(grid, axis), n = grid->n_axes;
	bool first_fastest = grid->stride[0] <= grid->stride[n - 1];
	uint32_t in, out;

	/* The caller's grids have at most six axes of eight. */
	if (a == WEFT_MAX_AXES || n == WEFT_MAX_AXES)
		return;
	for (uint32_t k = n; k > a; k--) {
		memcpy(grid->name[k], grid->name[k - 1], WEFT_AXIS_NAME_SIZE);
		grid->size[k] = grid->size[k - 1];
		grid->stride[k] = grid->stride[k - 1];
	}
	grid->n_axes++;
	in = first_fastest ? a : a + 1;
	out = first_fastest ? a + 1 : a;
	grid->size[out] /= size;
	grid->stride[out] *= size;
	grid->size[in] = size;
	strncpy(grid->name[in], inner, WEFT_AXIS_NAME_SIZE - 1);
	strncpy(grid->name[out], outer, WEFT_AXIS_NAME_SIZE - 1);
}

/* The group over those of three axes that the grid has and that are larger than
 * one. */
static struct group group_over(const struct weft_grid *grid, bool expert,
			       const char *const axes[3])
{
	struct group group = {.expert = expert, .n = 1};
	size_t used = 0;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t a =
			axes[i] ? weft_grid_axis(grid, axes[i]) : WEFT_MAX_AXES;
		size_t length;

		if (a == WEFT_MAX_AXES || grid->size[a] == 1)
			continue;
		length = strlen(axes[i]);
		if (used + length + 2 > sizeof(group.token))
			continue;
		if (used)
			group.token[used++] = '-';
		memcpy(group.token + used, axes[i], length + 1);
		used += length;
		group.n *= grid->size[a];
	}
	return group;
}

#define OVER(GRID, EXPERT, ...)                                                \
	group_over((GRID), (EXPERT), (const char *const[3]){__VA_ARGS__})

/* Ranks with equal parameters form a ring over cp and dp in rank order, the
 * faster axis first; a shard group is `shard` neighbours of it. */
static void group_replicas(struct builder *b)
{
	struct weft_grid *grid = &b->schedule->dense;
	struct schedule_groups *g = &b->groups;
	uint32_t cp = weft_grid_axis(grid, "cp"),
		 dp = weft_grid_axis(grid, "dp");
	uint32_t shard = b->spec->shard, replicas = b->spec->cp * b->spec->dp;
	bool cp_fast = b->spec->dp == 1 ||
		       (b->spec->cp > 1 && grid->stride[cp] < grid->stride[dp]);
	uint32_t fast = cp_fast ? b->spec->cp : b->spec->dp;

	g->dp = OVER(grid, false, "dp");
	g->replicas = OVER(grid, false, "cp", "dp");
	if (b->spec->zero == 0 || shard == replicas || shard == 1) {
		g->shard = g->replicas;
		if (b->spec->zero > 0 && shard == 1) {
			g->across = g->shard;
			g->shard.n = 1;
		}
	} else if (shard % fast) {
		axis_split(grid, cp_fast ? "cp" : "dp", shard,
			   cp_fast ? "cp_shard" : "dp_shard",
			   cp_fast ? "cp_rep" : "dp_rep");
		g->shard = OVER(grid, false, "cp_shard", "dp_shard");
		g->across = OVER(grid, false, "cp_rep", "dp_rep",
				 cp_fast ? "dp" : "cp");
		g->replicas = OVER(
			grid, false, cp_fast ? "cp_shard" : "dp_shard",
			cp_fast ? "cp_rep" : "dp_rep", cp_fast ? "dp" : "cp");
	} else {
		axis_split(grid, cp_fast ? "dp" : "cp", shard / fast,
			   cp_fast ? "dp_shard" : "cp_shard",
			   cp_fast ? "dp_rep" : "cp_rep");
		g->shard = OVER(grid, false, "cp_shard", "dp_shard",
				cp_fast ? "cp" : "dp");
		g->across = OVER(grid, false, "cp_rep", "dp_rep");
		g->replicas = OVER(
			grid, false, cp_fast ? "dp_shard" : "cp_shard",
			cp_fast ? "dp_rep" : "cp_rep", cp_fast ? "cp" : "dp");
	}
	g->cp = OVER(grid, false, "cp", "cp_shard", "cp_rep");
}

/* Ranks of an expert-parallel group on one node, if ranks fill nodes in order:
 * the largest part that divides the group. */
static uint32_t experts_on_node(const struct builder *b)
{
	const struct weft_grid *grid = &b->schedule->expert;
	uint32_t stride = grid->stride[weft_grid_axis(grid, "ep")];
	uint32_t node =
		b->spec->gpus_per_node ? b->spec->gpus_per_node : GPUS_PER_NODE;
	uint32_t n = node / stride;

	while (n > 1 && b->spec->ep % n)
		n--;
	return n > 1 ? n : 1;
}

static int group_experts(struct builder *b)
{
	const struct weft_spec *spec = b->spec;
	struct weft_grid *grid = &b->schedule->expert;
	struct schedule_groups *g = &b->groups;
	uint32_t shard;

	if (spec->ep == 1)
		return 0;
	if (weft_spec_expert_grid(spec, grid, b->err))
		return -1;
	if (spec->route_nodes)
		axis_split(grid, "ep", experts_on_node(b), "ep_node", "ep_net");
	g->ep = OVER(grid, true, "ep", "ep_node", "ep_net");
	g->ep_node = OVER(grid, true, "ep_node");
	g->ep_net = OVER(grid, true, "ep_net");
	g->etp = OVER(grid, true, "tp");
	if (spec->zero > 0 && spec->shard < spec->cp * spec->dp) {
		shard = (uint32_t)((uint64_t)spec->shard * spec->tp /
				   ((uint64_t)spec->etp * spec->ep));
		axis_split(grid, "dp", shard, "dp_shard", "dp_rep");
		g->expert_shard = OVER(grid, true, "dp_shard");
		g->expert_across = OVER(grid, true, "dp_rep");
		g->expert_replicas = OVER(grid, true, "dp_shard", "dp_rep");
	} else {
		g->expert_shard = OVER(grid, true, "dp");
		g->expert_replicas = g->expert_shard;
	}
	return 0;
}

int schedule_group(struct builder *b)
{
	struct weft_grid *grid = &b->schedule->dense;

	if (weft_spec_grid(b->spec, grid, b->err))
		return -1;
	b->groups.tp = OVER(grid, false, "tp");
	b->groups.pp = OVER(grid, false, "pp");
	group_replicas(b);
	return group_experts(b);
}
