/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c - how long one training step takes on a placement
 *
 * Each stage of the pipeline is timed on its own: its layers, and the calls of
 * the schedule that it makes, each of them on the links its groups cross.
 */
#include "costmodel/time/step.h"

#include "costmodel/job/flops.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of sends that run behind the next chunk, what is seen all the same: a
 * receiver polls, and copies compete with products for memory. */
#define SEND_CONTENTION 0.4

/* Kernels of collectives take multiprocessors from the computation that hides
 * them: 16 channels of some 130. */
#define REDUCE_CONTENTION 0.12
/* Once a step, whatever the job: the norm of the gradients is agreed on and
 * read by the host, which logs and fetches the next batch. */
#define HOST_S 0.03

/* Weights and gradients in 16 bits, master weights and two moments in fp32. */
#define STATE_BYTES 18.0
/* Share of the memory that a job fills. */
#define MEMORY_FILL 0.95
/* Of a layer that is recomputed for lack of memory, products that are: the most
 * expensive ones are kept first. */
#define PRODUCTS_REPEATED 0.5
/* Share of what a ZeRO-3 rank gathers and reduces that is seen, over the load
 * of its network: each waits for what is under way. */
#define GATHER_SEEN 1.5
/* To agree on 8-bit scales, per doubling of the nodes; with late ranks. */
#define SCALES_S 125e-6
/* The host's time for the kernels of a layer with experts, forward and
 * backward, where no graph launches them: what Qwen3-30B takes a layer and
 * micro-batch of 4,096 tokens on H100, whatever is computed (five releases: 9.4
 * to 9.7 ms). */
#define EXPERTS_HOST_S 9e-3
/* Chunks of tokens on the way to experts behind the products of others. */
#define EXPERT_CHUNKS 4
/* Layers whose gathered weights a ZeRO-3 rank holds at once. */
#define GATHERED_LAYERS 4

/* What one micro-batch costs a stage, seconds. */
struct stage {
	uint32_t layers, expert_layers;
	struct weft_pass forward, backward;
	double recompute, logits_forward, logits_backward;
	double exposed[WEFT_N_AXES];
	double host; /* that kernels wait for */
	/* once a step */
	double end[WEFT_N_AXES], optimizer;
	double parameters; /* of one rank */
};

struct build {
	const struct weft_spec *spec;
	const struct weft_model *model;
	const struct weft_schedule *schedule;
	const struct weft_step_options *options;
	struct weft_compute compute;
	struct weft_spans spans;
	struct stage *stages; /* [pp] */
	struct weft_layer_time dense, expert;
	double micro_batches, recomputed;
	bool overlaps_tp, overlaps_replicas; /* as in weft_software */
};

static bool habit(enum weft_habit habit, bool usual)
{
	return habit == WEFT_AS_USUAL ? usual : habit == WEFT_ALWAYS;
}

static double stage_forward_s(const struct stage *s)
{
	return weft_pass_s(&s->forward) + s->logits_forward;
}

static double stage_backward_s(const struct stage *s)
{
	return weft_pass_s(&s->backward) + s->recompute + s->logits_backward;
}

static double stage_s(const struct stage *s)
{
	double sum = stage_forward_s(s) + stage_backward_s(s) + s->host;

	for (int a = 0; a < WEFT_N_AXES; a++)
		sum += s->exposed[a];
	return sum;
}

/* ---- computation ---- */

static void pass_add(struct weft_pass *sum, const struct weft_pass *pass,
		     double times)
{
	sum->products_s += times * pass->products_s;
	sum->attention_s += times * pass->attention_s;
	sum->memory_s += times * pass->memory_s;
}

/* The layers of stage p, dealt to chunks as schedule.h says. */
static void stage_layers(const struct build *b, uint32_t p, struct stage *s)
{
	const struct weft_model *model = b->model;
	uint32_t chunks = b->spec->pp * b->spec->vpp;
	uint32_t each = model->layers / chunks, more = model->layers % chunks;
	double vocab = (double)model->vocab * model->hidden;

	for (uint32_t k = p; k < chunks; k += b->spec->pp) {
		uint32_t first = k * each + (k < more ? k : more);
		uint32_t n = each + (k < more);

		s->layers += n;
		s->expert_layers += weft_model_expert_layers(model, first, n);
		s->parameters += weft_model_layers_parameters(model, first, n);
	}
	if (p == b->spec->pp - 1 && model->mtp_layers) {
		bool experts = weft_model_has_experts(model, model->layers - 1);

		s->layers += model->mtp_layers;
		s->expert_layers += experts ? model->mtp_layers : 0;
		s->parameters += weft_model_mtp_parameters(model);
	}
	/* Experts of other ranks of the group are not held here. */
	if (b->spec->ep > 1)
		s->parameters -= s->expert_layers * (1 - 1.0 / b->spec->ep) *
				 weft_model_routed_parameters(model);
	s->parameters +=
		vocab * ((p == 0) + (p == b->spec->pp - 1 && b->spec->pp > 1));
	s->parameters /= b->spec->tp;
}

static double recompute_s(const struct build *b,
			  const struct weft_layer_time *layer)
{
	const double again[WEFT_N_RECOMPUTES] = {
		[WEFT_RECOMPUTE_NONE] =
			b->recomputed *
			(weft_pass_s(&layer->forward) -
			 (1 - PRODUCTS_REPEATED) * layer->forward.products_s),
		[WEFT_RECOMPUTE_SELECTIVE] = layer->forward.attention_s,
		[WEFT_RECOMPUTE_FULL] = weft_pass_s(&layer->forward),
	};

	return again[b->spec->recompute];
}

static void stage_compute(const struct build *b, uint32_t p, struct stage *s)
{
	double dense;

	stage_layers(b, p, s);
	dense = s->layers - s->expert_layers;
	pass_add(&s->forward, &b->dense.forward, dense);
	pass_add(&s->backward, &b->dense.backward, dense);
	pass_add(&s->forward, &b->expert.forward, s->expert_layers);
	pass_add(&s->backward, &b->expert.backward, s->expert_layers);
	s->recompute = dense * recompute_s(b, &b->dense) +
		       s->expert_layers * recompute_s(b, &b->expert);
	if (p != b->spec->pp - 1)
		return;
	s->logits_forward = (1 + b->model->mtp_layers) *
			    weft_compute_logits_forward_s(&b->compute);
	s->logits_backward = (1 + b->model->mtp_layers) *
			     weft_compute_logits_backward_s(&b->compute);
}

/* Share of layers that a ZeRO-3 job must recompute for its activations to fit:
 * the rest keeps what it needs. */
static double recomputed_share(const struct build *b)
{
	const struct weft_model *model = b->model;
	const struct weft_spec *spec = b->spec;
	uint32_t shard = spec->shard ? spec->shard : spec->dp * spec->cp;
	double parameters = weft_model_parameters(model) / spec->tp;
	double kept = weft_compute_kept_bytes(&b->compute, model->layers - 1);
	double least = weft_compute_checkpoint_bytes(&b->compute);
	double room = b->compute.gpu->memory_bytes * MEMORY_FILL;

	if (!b->options->fit_memory || spec->zero < 3 ||
	    spec->recompute != WEFT_RECOMPUTE_NONE)
		return 0;
	room -= parameters * STATE_BYTES / shard;
	room -= 2 * GATHERED_LAYERS * parameters / model->layers;
	/* logits, and their gradient in fp32 */
	room -= least / model->hidden * 3 * model->vocab / spec->tp;
	return fmin(1, fmax(0, (model->layers * kept - room) /
				       (model->layers * (kept - least))));
}

static int compute_prepare(struct build *b, struct weft_error *err)
{
	const struct weft_step_options *options = b->options;
	uint32_t last = b->model->layers - 1;

	if (b->model->experts)
		last = weft_model_first_expert(b->model);
	if (weft_compute_start(options->gpu, b->model, b->spec, &b->compute,
			       err) ||
	    (options->products_at &&
	     weft_compute_set_precision(&b->compute, options->precision, err)))
		return -1;
	b->overlaps_tp =
		habit(options->overlap, b->compute.software.overlaps_tp);
	b->overlaps_replicas =
		habit(options->overlap, b->compute.software.overlaps_replicas);
	b->recomputed = recomputed_share(b);
	weft_compute_layer(&b->compute, 0, &b->dense);
	weft_compute_layer(&b->compute, last, &b->expert);
	return 0;
}

/* ---- communication ---- */

/* All calls of one kind in a stage, in one micro-batch or at the step's end:
 * seconds, how many, and the size of their groups. */
struct traffic {
	double time_s, count;
	double latency_s; /* of time_s */
	uint32_t n;
};

/* Calls of a stage, by what may hide them. */
struct calls {
	struct traffic chunked[WEFT_N_PHASES]; /* tp, in chunks behind products
						*/
	struct traffic behind[WEFT_N_PHASES];  /* tp, behind one product */
	struct traffic attention[WEFT_N_PHASES];
	struct traffic gathered[WEFT_N_PHASES]; /* ZeRO-3, behind layers */
	struct traffic experts[WEFT_N_PHASES];	/* in chunks behind experts */
	struct traffic send;
	struct traffic buckets[WEFT_N_PHASES]; /* dp, behind a pass */
};

static void traffic_add(struct traffic *t, const struct weft_call *call,
			double count, double time_s, double latency_s)
{
	t->time_s += count * time_s;
	t->latency_s += count * latency_s;
	t->count += count;
	t->n = call->n;
}

static bool in_micro_batch(const struct weft_call *call)
{
	return call->phase == WEFT_FORWARD || call->phase == WEFT_BACKWARD ||
	       call->phase == WEFT_RECOMPUTE;
}

/* Where software overlaps, the halves of sequence parallelism run in chunks
 * behind their products, all-reduces behind the products of weights'
 * gradients.  Gathering an input once more always does. */
static struct traffic *tensor_traffic(const struct build *b,
				      const struct weft_call *call,
				      struct calls *calls)
{
	bool reduces = call->collective == WEFT_ALL_REDUCE;

	if (call->overlap == WEFT_BEHIND_MATMUL && (b->overlaps_tp || !reduces))
		return &calls->behind[call->phase];
	if (b->overlaps_tp && !reduces)
		return &calls->chunked[call->phase];
	return NULL;
}

/* What may hide the call; NULL: nothing. */
static struct traffic *hidden_in(const struct build *b,
				 const struct weft_call *call,
				 struct calls *calls)
{
	if (!in_micro_batch(call)) {
		if (call->axis == WEFT_AXIS_DP && b->overlaps_replicas &&
		    call->overlap != WEFT_EXPOSED)
			return &calls->buckets[call->phase];
		return NULL;
	}
	switch (call->axis) {
	case WEFT_AXIS_TP:
		return tensor_traffic(b, call, calls);
	case WEFT_AXIS_EP:
		return b->compute.software.expert_kernels == WEFT_EXPERTS_FUSED
			       ? &calls->experts[call->phase]
			       : NULL;
	case WEFT_AXIS_CP:
		return call->overlap == WEFT_BEHIND_ATTENTION
			       ? &calls->attention[call->phase]
			       : NULL;
	case WEFT_AXIS_PP:
		return b->overlaps_replicas &&
				       call->overlap == WEFT_BEHIND_PIPELINE
			       ? &calls->send
			       : NULL;
	case WEFT_AXIS_DP:
		return b->overlaps_replicas ? &calls->gathered[call->phase]
					    : NULL;
	default:
		return NULL;
	}
}

/* Seconds of call i.  Software that overlaps nothing gathers the weights of a
 * ZeRO-3 job tensor by tensor, in one ring. */
static double call_s(const struct build *b, uint32_t i, uint32_t p)
{
	const struct weft_call *call = &b->schedule->calls[i];

	if (call->axis == WEFT_AXIS_DP && in_micro_batch(call) &&
	    !b->overlaps_replicas)
		return weft_spans_one_ring_s(&b->spans, i, p);
	return weft_spans_call_s(&b->spans, i, p);
}

/* Of n ranks, or nodes, those that one at least of a token's k experts is on.
 */
static double distinct(double n, double k)
{
	return n * (1 - pow(1 - 1 / n, k));
}

/* Share of a token's copies that are sent: a rank, or a node where experts are
 * beyond one NVLink domain, is sent one, however many of the token's experts it
 * has (DeepEP, HybridEP; arXiv:2412.19437 section 3.2.2).  route_nodes and
 * capacity say it themselves. */
static double copies_share(const struct build *b, const struct weft_call *call)
{
	const struct weft_fabric *f = b->spans.flows.fabric;
	const struct weft_model *m = b->model;
	double inside = (double)f->n_gpus / f->levels[0].n_domains;
	double ranks = b->spec->ep, k = m->top_k, n, nodes;

	if (call->axis != WEFT_AXIS_EP || call->collective != WEFT_ALL_TO_ALL ||
	    b->spec->route_nodes || b->spec->capacity > 0)
		return 1;
	nodes = ranks * b->spec->etp / inside;
	if (nodes <= 1)
		return distinct(ranks, k) / k;
	n = distinct(nodes, k);
	if (m->token_groups)
		n = fmin(n,
			 fmax(1, nodes * m->token_groups / m->expert_groups));
	return n / k;
}

/* What the host is behind the GPU in a micro-batch. */
static double stage_host_s(const struct build *b, const struct stage *s)
{
	double launch_s = s->expert_layers * EXPERTS_HOST_S;

	if (!b->compute.software.eager)
		return 0;
	return fmax(0, launch_s - stage_s(s));
}

/* Deals the calls of stage p to what hides them; the others add to what is
 * exposed. */
static void calls_deal(const struct build *b, uint32_t p, struct stage *s,
		       struct calls *calls)
{
	for (uint32_t i = 0; i < b->schedule->n_calls; i++) {
		const struct weft_call *call = &b->schedule->calls[i];
		struct traffic *hidden;
		double time_s, count = call->count;

		if (p < call->first_stage ||
		    p - call->first_stage >= call->n_stages)
			continue;
		time_s = call_s(b, i, p) * copies_share(b, call);
		if (in_micro_batch(call))
			count /= b->micro_batches;
		hidden = hidden_in(b, call, calls);
		if (hidden)
			traffic_add(hidden, call, count, time_s,
				    weft_spans_call(&b->spans, i, p).latency_s);
		else if (in_micro_batch(call))
			s->exposed[call->axis] += count * time_s;
		else
			s->end[call->axis] += count * time_s;
	}
}

/* In n chunks behind a product of the same length, the first or last of which
 * has nothing to run behind. */
static double exposed_chunked(const struct traffic *t, double window_s)
{
	if (!(t->count > 0))
		return 0;
	return fmax(t->time_s - window_s, 0) + fmin(t->time_s, window_s) / t->n;
}

/* Pieces that become ready evenly over the window: the last one is ready at its
 * end. */
static double exposed_timeline(const struct traffic *t, double window_s,
			       double pieces)
{
	double exposed;

	if (!(t->count > 0))
		return 0;
	exposed = fmax(t->time_s / pieces,
		       t->time_s - window_s * (1 - 1 / pieces));
	return exposed + REDUCE_CONTENTION * (t->time_s - exposed);
}

/* The first chunk goes ahead of the products, the last one's results come after
 * them. */
static double exposed_experts(const struct traffic *t, double window_s)
{
	if (!(t->count > 0))
		return 0;
	return fmax(t->time_s - window_s, t->time_s / EXPERT_CHUNKS);
}

static double exposed_gathered(const struct traffic *t, double window_s,
			       double layers)
{
	/* Latencies of gathers that are asked for in time keep no link busy. */
	double sent_s = fmax(t->time_s - t->latency_s, 0);
	double busy = t->time_s > 0 ? sent_s / window_s : 0;

	return fmax(exposed_timeline(t, window_s, layers),
		    sent_s * fmin(1, GATHER_SEEN * busy));
}

static double exposed_ring(const struct traffic *t, double attention_s)
{
	if (!(t->count > 0))
		return 0;
	return fmax(0, t->time_s - attention_s * (t->n - 1) / t->n);
}

/* Interleaved stages send one chunk's results while they compute the next one's
 * except in warm-up and cool-down (arXiv:2104.04473 section 2.2). */
static double exposed_sends(const struct build *b, const struct traffic *t)
{
	double p = b->spec->pp, v = b->spec->vpp;
	double warm_up = ((v - 1) * p + 2 * (p - 1)) / (b->micro_batches * v);

	return t->time_s * (fmin(1, warm_up) + SEND_CONTENTION);
}

/* All ranks of a stage agree on the scales of 8-bit numbers after each pass of
 * a micro-batch through each of its chunks, and wait for it. */
static double scales_s(const struct build *b)
{
	const struct weft_fabric *f = b->spans.flows.fabric;
	double each = (double)f->n_gpus / f->n_nodes * b->spec->pp;

	if (b->compute.precision != WEFT_BITS_8 ||
	    !b->options->gpu->agrees_scales)
		return 0;
	return 2.0 * b->spec->vpp * SCALES_S *
	       log2(fmax(1, b->spec->gpus / each));
}

/* Exposed in each micro-batch. */
static void stage_exposed(const struct build *b, const struct calls *c,
			  struct stage *s)
{
	/* Half of the backward products give gradients of inputs, which the
	 * collectives wait for or feed; half those of weights. */
	double input_s = s->backward.products_s / 2, weight_s = input_s;
	double *exposed = s->exposed;

	exposed[WEFT_AXIS_TP] +=
		exposed_chunked(&c->chunked[WEFT_FORWARD],
				s->forward.products_s) +
		exposed_chunked(&c->chunked[WEFT_BACKWARD], input_s) +
		exposed_chunked(&c->chunked[WEFT_RECOMPUTE],
				s->forward.products_s) +
		fmax(0, c->behind[WEFT_BACKWARD].time_s - weight_s);
	exposed[WEFT_AXIS_CP] += exposed_ring(&c->attention[WEFT_FORWARD],
					      s->forward.attention_s) +
				 exposed_ring(&c->attention[WEFT_BACKWARD],
					      s->backward.attention_s) +
				 exposed_ring(&c->attention[WEFT_RECOMPUTE],
					      s->forward.attention_s);
	exposed[WEFT_AXIS_EP] += exposed_experts(&c->experts[WEFT_FORWARD],
						 s->forward.products_s) +
				 exposed_experts(&c->experts[WEFT_BACKWARD],
						 s->backward.products_s) +
				 exposed_experts(&c->experts[WEFT_RECOMPUTE],
						 s->forward.products_s);
	exposed[WEFT_AXIS_PP] += exposed_sends(b, &c->send);
	exposed[WEFT_AXIS_DP] +=
		exposed_gathered(&c->gathered[WEFT_FORWARD], stage_forward_s(s),
				 s->layers) +
		exposed_gathered(&c->gathered[WEFT_BACKWARD],
				 stage_backward_s(s), s->layers) +
		scales_s(b);
}

/* Exposed once a step.  The gradients of a chunk are ready when its last
 * micro-batch is through: of v chunks the last one at the very end, the others
 * p micro-batches of a chunk apart.  With one chunk they are ready layer by
 * layer.  Parameters are waited for in the same way, forward. */
static void stage_end(const struct build *b, const struct calls *c,
		      struct stage *s)
{
	double p = b->spec->pp, v = b->spec->vpp;
	double passes = b->spec->pp > 1 ? (p * (v - 1) + 1) / v : 1;
	double pieces = v > 1 ? v : fmax(1, s->layers);
	const struct weft_spec *spec = b->spec;
	uint32_t replicas = spec->dp * spec->cp;
	uint32_t shard = spec->shard ? spec->shard : replicas;

	s->end[WEFT_AXIS_DP] +=
		exposed_timeline(&c->buckets[WEFT_STEP_END],
				 stage_backward_s(s) * passes, pieces) +
		exposed_timeline(&c->buckets[WEFT_STEP_BEGIN],
				 stage_forward_s(s) * passes, pieces);
	s->optimizer = weft_compute_optimizer_s(
		&b->compute, s->parameters / (spec->zero ? shard : 1));
}

/* ---- the step ---- */

static uint32_t slowest_stage(const struct build *b)
{
	uint32_t slowest = 0;

	for (uint32_t p = 1; p < b->spec->pp; p++) {
		if (stage_s(&b->stages[p]) > stage_s(&b->stages[slowest]))
			slowest = p;
	}
	return slowest;
}

/* Parts of M passes through the slowest stage, then what fills and drains. */
static void step_sum(const struct build *b, struct weft_step *step)
{
	uint32_t pp = b->spec->pp, p = slowest_stage(b);
	const struct stage *s = &b->stages[p];
	double m = b->micro_batches, all_s = 0, end_s = 0;

	step->slowest_stage = p;
	step->products_s = m * (s->forward.products_s + s->backward.products_s);
	step->attention_s =
		m * (s->forward.attention_s + s->backward.attention_s);
	step->memory_s = m * (s->forward.memory_s + s->backward.memory_s);
	step->recompute_s = m * s->recompute;
	step->host_s = m * s->host;
	step->logits_s = m * (s->logits_forward + s->logits_backward);
	for (uint32_t i = 0; i < pp; i++)
		all_s += stage_s(&b->stages[i]);
	step->bubble_s = (pp - 1.0) / b->spec->vpp * all_s / pp;
	step->bubble_of_ideal = (pp - 1.0) / (b->spec->vpp * m);
	/* Stages end their step on their own, all wait for the last one. */
	for (uint32_t i = 0; i < pp; i++) {
		const struct stage *other = &b->stages[i];
		double sum = other->optimizer;

		for (int a = 0; a < WEFT_N_AXES; a++)
			sum += other->end[a];
		if (sum < end_s)
			continue;
		end_s = sum;
		step->optimizer_s = other->optimizer + HOST_S;
		for (int a = 0; a < WEFT_N_AXES; a++) {
			step->exposed_s[a] = other->end[a];
			step->exposed_stage[a] = i;
		}
	}
	for (int a = 0; a < WEFT_N_AXES; a++) {
		if (m * s->exposed[a] >= step->exposed_s[a])
			step->exposed_stage[a] = p;
		step->exposed_s[a] += m * s->exposed[a];
	}
	step->latency_s[WEFT_AXIS_DP] += m * scales_s(b);
}

/* Every time is a part of the step, so it is divided by the efficiency. */
static void step_scale(struct weft_step *step, double by)
{
	double *const parts[] = {
		&step->products_s,  &step->attention_s, &step->memory_s,
		&step->recompute_s, &step->logits_s,	&step->bubble_s,
		&step->optimizer_s, &step->host_s,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*parts[i] /= by;
	for (int a = 0; a < WEFT_N_AXES; a++) {
		step->exposed_s[a] /= by;
		step->communication_s[a] /= by;
		step->loss_s[a] /= by;
		step->latency_s[a] /= by;
	}
}

double weft_step_parts(const struct weft_step *step)
{
	double sum = step->products_s + step->attention_s + step->memory_s +
		     step->recompute_s + step->logits_s + step->bubble_s +
		     step->optimizer_s + step->straggler_s + step->host_s;

	for (int a = 0; a < WEFT_N_AXES; a++)
		sum += step->exposed_s[a];
	return sum;
}

static void step_rates(const struct build *b, struct weft_step *step)
{
	const struct weft_spec *spec = b->spec;
	uint32_t seq = spec->seq ? spec->seq : b->model->seq;
	struct weft_flops flops = weft_flops(b->model, seq);
	uint32_t gbs = spec->gbs;

	step->model_flops = weft_flops_model(&flops, gbs, false);
	step->model_flops_causal = weft_flops_model(&flops, gbs, true);
	step->hardware_flops =
		weft_flops_hardware(&flops, gbs, false, spec->recompute) +
		b->recomputed * gbs * (flops.products + flops.attention);
	step->flops_per_s = step->model_flops / spec->gpus / step->step_s;
	step->peak_flops_per_s =
		b->compute.gpu->flops_per_s[b->compute.precision];
	step->mfu = step->flops_per_s / step->peak_flops_per_s;
	step->hfu = step->mfu * step->hardware_flops / step->model_flops;
	step->recomputed =
		spec->recompute == WEFT_RECOMPUTE_FULL ? 1 : b->recomputed;
}

static void step_fill(const struct build *b, struct weft_step *step)
{
	const struct weft_step_options *options = b->options;
	double straggler = fmax(options->straggler, 1);

	step_sum(b, step);
	step_scale(step, options->efficiency > 0 ? options->efficiency : 1);
	step->straggler_s =
		(straggler - 1) *
		(step->products_s + step->attention_s + step->memory_s +
		 step->recompute_s + step->logits_s + step->bubble_s);
	step->step_s = weft_step_parts(step);
	step->bubble_of_total = step->bubble_s / step->step_s;
	step_rates(b, step);
}

static void axis_keep(struct weft_step *step, int axis, uint32_t stage,
		      const struct weft_call_time *time)
{
	if (!(time->transfer_s + time->loss_s + time->latency_s >
	      step->communication_s[axis] + step->loss_s[axis] +
		      step->latency_s[axis]))
		return;
	step->communication_s[axis] = time->transfer_s;
	step->loss_s[axis] = time->loss_s;
	step->latency_s[axis] = time->latency_s;
	step->communication_stage[axis] = stage;
}

/* Each axis in the stage that sends longest. */
static void communication_sum(const struct weft_spans *spans,
			      struct weft_step *step)
{
	const struct weft_schedule *s = spans->flows.schedule;

	for (uint32_t p = 0; p < spans->flows.n_stages; p++) {
		struct weft_call_time sum[WEFT_N_AXES] = {{0}};

		for (uint32_t i = 0; i < s->n_calls; i++) {
			const struct weft_call *call = &s->calls[i];
			struct weft_call_time one;

			if (p < call->first_stage ||
			    p - call->first_stage >= call->n_stages)
				continue;
			one = weft_spans_call(spans, i, p);
			sum[call->axis].transfer_s +=
				call->count * one.transfer_s;
			sum[call->axis].loss_s += call->count * one.loss_s;
			sum[call->axis].latency_s +=
				call->count * one.latency_s;
		}
		for (int a = 0; a < WEFT_N_AXES; a++)
			axis_keep(step, a, p, &sum[a]);
	}
	step->fullest = spans->fullest;
	step->congestion_s = spans->congestion_s;
	step->lost_gpu_s = spans->lost_gpu_s;
}

static int spans_measure(const struct weft_step_job *job,
			 const struct weft_schedule *schedule,
			 struct weft_spans *spans, struct weft_error *err)
{
	if (weft_spans_build(job->fabric, schedule, job->where,
			     job->spec->algorithm, job->load, spans, err))
		return -1;
	return job->exact_sharing ? weft_spans_share(spans, job->load, err) : 0;
}

/* All of a build but what the spans depend on other jobs for. */
static int build_start(const struct weft_step_job *job, struct build *b,
		       struct weft_error *err)
{
	b->spec = job->spec;
	b->model = job->model;
	b->schedule = job->schedule;
	b->micro_batches = weft_spec_micro_batches(job->spec);
	b->stages = weft_calloc(job->spec->pp, sizeof(*b->stages), err);
	if (!b->stages || compute_prepare(b, err) ||
	    spans_measure(job, b->schedule, &b->spans, err))
		return -1;
	for (uint32_t p = 0; p < b->spec->pp; p++)
		stage_compute(b, p, &b->stages[p]);
	return 0;
}

static void build_free(struct build *b)
{
	weft_spans_free(&b->spans);
	free(b->stages);
}

/* The step with the spans as they are. */
static void step_time(struct build *b, struct weft_step *step)
{
	for (uint32_t p = 0; p < b->spec->pp; p++) {
		struct stage *s = &b->stages[p];
		struct calls calls = {0};

		memset(s->exposed, 0, sizeof(s->exposed));
		memset(s->end, 0, sizeof(s->end));
		calls_deal(b, p, s, &calls);
		s->host = 0;
		stage_exposed(b, &calls, s);
		s->host = stage_host_s(b, s);
		stage_end(b, &calls, s);
	}
	step_fill(b, step);
}

/* The step with all hops between hosts those of a level. */
static double hop_time(struct build *b, uint32_t level, bool nearest)
{
	struct weft_step step = {0};

	weft_spans_hop(&b->spans, level, nearest);
	step_time(b, &step);
	return step.step_s;
}

/* Hosts that meet elsewhere have other hops, but as many. */
static void hop_range(struct build *b, struct weft_step *step)
{
	const struct weft_fabric *f = b->spans.flows.fabric;
	uint32_t near = f->node_level + 1, far = near;

	step->nearest_s = step->farthest_s = (double)NAN;
	if (b->spans.hops_differ || near >= f->n_levels || f->has_steps)
		return;
	for (uint32_t l = near; l < f->n_levels; l++) {
		double latency_s = f->levels[l].link.latency_s;

		if (f->levels[l].n_shares)
			return;
		if (latency_s < f->levels[near].link.latency_s)
			near = l;
		if (latency_s > f->levels[far].link.latency_s)
			far = l;
	}
	step->farthest_s = hop_time(b, far, false);
	step->nearest_s = hop_time(b, near, true);
}

static int stages_time(struct build *b, const struct weft_step_job *job,
		       struct weft_step *step, struct weft_error *err)
{
	if (build_start(job, b, err))
		return -1;
	communication_sum(&b->spans, step);
	step_time(b, step);
	if (b->options->hop_range && !job->parts)
		hop_range(b, step);
	if (!job->parts)
		return 0;
	return weft_spans_load(&b->spans,
			       job->step_s > 0 ? job->step_s : step->step_s,
			       b->spec->gpus, job->parts, err);
}

/* Seconds of the step that makes the load; 0: of none. */
static double load_step_s(const struct weft_step_job *job,
			  const struct weft_step *step)
{
	double sum_s = 0;

	if (job->step_s > 0 || !(job->communication_share > 0))
		return job->step_s;
	for (int a = 0; a < WEFT_N_AXES; a++)
		sum_s += step->communication_s[a] + step->loss_s[a] +
			 step->latency_s[a];
	return sum_s / job->communication_share;
}

int weft_step_communication(const struct weft_step_job *job,
			    struct weft_step *step, struct weft_error *err)
{
	struct weft_schedule own = {0};
	struct weft_spans spans = {0};
	double step_s;
	int rc = -1;

	memset(step, 0, sizeof(*step));
	if ((job->schedule ||
	     weft_schedule_build(job->spec, job->model, &own, err) == 0) &&
	    spans_measure(job, job->schedule ? job->schedule : &own, &spans,
			  err) == 0) {
		communication_sum(&spans, step);
		step_s = load_step_s(job, step);
		rc = 0;
		if (job->parts && step_s > 0)
			rc = weft_spans_load(&spans, step_s, job->spec->gpus,
					     job->parts, err);
	}
	weft_spans_free(&spans);
	weft_schedule_free(&own);
	return rc;
}

int weft_step(const struct weft_step_job *job,
	      const struct weft_step_options *options, struct weft_step *step,
	      struct weft_error *err)
{
	struct weft_step_job scheduled = *job;
	struct build b = {.options = options};
	struct weft_schedule own = {0};
	int rc = 0;

	memset(step, 0, sizeof(*step));
	if (!job->schedule) {
		scheduled.schedule = &own;
		rc = weft_schedule_build(job->spec, job->model, &own, err);
	}
	if (rc == 0)
		rc = stages_time(&b, &scheduled, step, err);
	weft_schedule_free(&own);
	build_free(&b);
	return rc;
}

struct weft_step_kept {
	struct weft_step_options options;
	struct build build;
	struct weft_span_links links;
};

struct weft_step_kept *weft_step_keep(const struct weft_step_job *job,
				      const struct weft_step_options *options,
				      struct weft_error *err)
{
	struct weft_step_kept *kept = weft_calloc(1, sizeof(*kept), err);

	if (!kept)
		return NULL;
	kept->options = *options;
	kept->build.options = &kept->options;
	if (build_start(job, &kept->build, err) == 0 &&
	    weft_spans_links(&kept->build.spans, &kept->links, err) == 0)
		return kept;
	weft_step_kept_free(kept);
	return NULL;
}

void weft_step_kept_free(struct weft_step_kept *kept)
{
	int saved = errno;

	if (kept) {
		build_free(&kept->build);
		weft_span_links_free(&kept->links);
	}
	free(kept);
	errno = saved;
}

double weft_step_again(struct weft_step_kept *kept,
		       const struct weft_load *load)
{
	struct weft_step step = {0};

	weft_spans_meet(&kept->build.spans, &kept->links, load);
	step_time(&kept->build, &step);
	return step.step_s;
}

int weft_step_load(const struct weft_step_kept *kept, double step_s,
		   struct weft_load_parts *parts, struct weft_error *err)
{
	return weft_span_links_load(&kept->build.spans, &kept->links, step_s,
				    kept->build.spec->gpus, parts, err);
}
