/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_exposed.c - the communication of a stage that nothing hides */
#include "costmodel/time/step_parts.h"

#include <math.h>

/* Of sends that run behind the next chunk, what is seen all the same: a
 * receiver polls, and copies compete with products for memory. */
#define SEND_CONTENTION 0.4
/* Kernels of collectives take multiprocessors from the computation that hides
 * them: 16 channels of some 130. */
#define REDUCE_CONTENTION 0.12
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

static void traffic_add(struct step_traffic *t, const struct weft_call *call,
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
static struct step_traffic *tensor_traffic(const struct step_build *b,
					   const struct weft_call *call,
					   struct step_calls *calls)
{
	bool reduces = call->collective == WEFT_ALL_REDUCE;

	if (call->overlap == WEFT_BEHIND_MATMUL && (b->overlaps_tp || !reduces))
		return &calls->behind[call->phase];
	if (b->overlaps_tp && !reduces)
		return &calls->chunked[call->phase];
	return NULL;
}

/* What may hide the call; NULL: nothing. */
static struct step_traffic *hidden_in(const struct step_build *b,
				      const struct weft_call *call,
				      struct step_calls *calls)
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
static double call_s(const struct step_build *b, uint32_t i, uint32_t p)
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
static double copies_share(const struct step_build *b,
			   const struct weft_call *call)
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

/* Bytes of the fullest rank's experts over the mean; padded slots are
 * sent whatever is in them. */
static double fullest_share(const struct step_build *b,
			    const struct weft_call *call)
{
	if (call->axis != WEFT_AXIS_EP || call->collective != WEFT_ALL_TO_ALL ||
	    b->spec->capacity > 0)
		return 1;
	return weft_spec_fullest(b->spec);
}

/* To copy what is offloaded of a micro-batch to the host; as long to copy it
 * back. */
static double stage_offloaded_s(const struct step_build *b,
				const struct step_stage *s)
{
	const struct weft_memory_options kept =
		weft_software_memory(b->spec, b->compute.gpu);
	double dense = s->layers - s->expert_layers, bytes;

	if (!(b->spec->offload > 0))
		return 0;
	bytes = dense * weft_memory_layer(b->spec, b->model, &kept, 0) +
		s->expert_layers * weft_memory_layer(b->spec, b->model, &kept,
						     b->model->layers - 1);
	return b->spec->offload * bytes / b->compute.gpu->host_bytes_per_s;
}

/* What the host is behind the GPU in a micro-batch.  It runs ahead of products,
 * but waits for the exchange with experts, whose sizes it must know.  Copies of
 * activations run behind the pass. */
double stage_host_s(const struct step_build *b, const struct step_stage *s)
{
	double launch_s = s->expert_layers * EXPERTS_HOST_S;
	double copied_s = stage_offloaded_s(b, s);
	double wait_s = fmax(0, copied_s - stage_forward_s(s)) +
			fmax(0, copied_s - stage_backward_s(s));

	if (!b->compute.software.eager)
		return wait_s;
	return wait_s +
	       fmax(0, launch_s - (stage_s(s) - s->exposed[WEFT_AXIS_EP]));
}

/* Deals the calls of stage p to what hides them; the others add to what is
 * exposed. */
void stage_calls(const struct step_build *b, uint32_t p, struct step_stage *s,
		 struct step_calls *calls)
{
	for (uint32_t i = 0; i < b->schedule->n_calls; i++) {
		const struct weft_call *call = &b->schedule->calls[i];
		struct step_traffic *hidden;
		double time_s, count = call->count;

		if (p < call->first_stage ||
		    p - call->first_stage >= call->n_stages)
			continue;
		time_s = call_s(b, i, p) * copies_share(b, call) *
			 fullest_share(b, call);
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
static double exposed_chunked(const struct step_traffic *t, double window_s)
{
	if (!(t->count > 0))
		return 0;
	return fmax(t->time_s - window_s, 0) + fmin(t->time_s, window_s) / t->n;
}

/* Seconds of data-parallel calls in which links are busy. */
static double sent_s(const struct step_traffic *t)
{
	return fmax(t->time_s - t->latency_s, 0);
}

/* Pieces that become ready evenly over the window: the last one is ready at its
 * end.  Only transfers hide: hops are waited for, scaling.h. */
static double exposed_timeline(const struct step_traffic *t, double window_s,
			       double pieces)
{
	double sent = sent_s(t), exposed;

	if (!(t->count > 0))
		return 0;
	exposed = fmax(sent / pieces, sent - window_s * (1 - 1 / pieces));
	return t->latency_s + exposed + REDUCE_CONTENTION * (sent - exposed);
}

/* The first chunk goes ahead of the products, the last one's results come after
 * them. */
static double exposed_experts(const struct step_traffic *t, double window_s)
{
	if (!(t->count > 0))
		return 0;
	return fmax(t->time_s - window_s, t->time_s / EXPERT_CHUNKS);
}

static double exposed_gathered(const struct step_traffic *t, double window_s,
			       double layers)
{
	double sent = sent_s(t);
	double busy = sent > 0 ? sent / window_s : 0;

	return fmax(exposed_timeline(t, window_s, layers),
		    t->latency_s + sent * fmin(1, GATHER_SEEN * busy));
}

static double exposed_ring(const struct step_traffic *t, double attention_s)
{
	if (!(t->count > 0))
		return 0;
	return fmax(0, t->time_s - attention_s * (t->n - 1) / t->n);
}

/* Interleaved stages send one chunk's results while they compute the next one's
 * except in warm-up and cool-down (arXiv:2104.04473 section 2.2). */
static double exposed_sends(const struct step_build *b,
			    const struct step_traffic *t)
{
	double p = b->spec->pp, v = b->spec->vpp;
	double warm_up = ((v - 1) * p + 2 * (p - 1)) / (b->micro_batches * v);

	return t->time_s * (fmin(1, warm_up) + SEND_CONTENTION);
}

/* All ranks of a stage agree on the scales of 8-bit numbers after each pass of
 * a micro-batch through each of its chunks, and wait for it. */
double stage_scales_s(const struct step_build *b)
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
void stage_exposed(const struct step_build *b, const struct step_calls *c,
		   struct step_stage *s)
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
		stage_scales_s(b);
}

/* Exposed once a step.  The gradients of a chunk are ready when its last
 * micro-batch is through: of v chunks the last one at the very end, the others
 * p micro-batches of a chunk apart.  With one chunk they are ready layer by
 * layer.  Parameters are waited for in the same way, forward. */
void stage_end(const struct step_build *b, const struct step_calls *c,
	       struct step_stage *s)
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
