/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute.c - the kernels of a layer, and the time of each
 *
 * Every product of the forward pass m*k by k*n has two in the backward pass:
 * the gradient of its input, m*n by n*k, and of its weights, n*m by m*k.
 * Between products, tensors of activations stream through memory.
 */
#include "costmodel/job/compute.h"

#include "costmodel/job/flops.h"

#include <math.h>
#include <string.h>

#define MAX_PRODUCTS 16

/* Activations are kept in 16 bits, whatever the products are done in. */
#define ACTIVATION_BYTES 2.0

/* Passes over the scores when they go through memory: written by the first
 * product, read and written by softmax and by dropout (whose mask has a byte),
 * read by the second product; about half as many again backward. */
#define SCORE_PASSES_FORWARD  6.5
#define SCORE_PASSES_BACKWARD 9.5

/* Beyond the softmax of one kernel, bytes per score of eager operations
 * (Hugging Face's eager_attention_forward): forward scaled and masked (4 each)
 * and converted to fp32 and back around the softmax (12, less the kernel's own
 * 4); backward converted (6), the softmax's gradient in fp32 (10, less 6) and
 * scaled (4).  And kernels more. */
#define EAGER_SCORES_FORWARD  16.0
#define EAGER_SCORES_BACKWARD 14.0
#define EAGER_SCORES_KERNELS  4

/* Backward passes of norms and activation functions read what the forward pass
 * read and the gradient, too. */
#define MEMORY_BACKWARD 1.6

/* A fused attention kernel recomputes the scores backward: five products for
 * the forward pass's two. */
#define FUSED_BACKWARD 2.5

/* Of a state-space mixer: operations per second of a multiprocessor in its
 * recurrence.  arXiv:2405.21060 figure 10 has it as fast as FlashAttention-2 of
 * half the width at 2,048 tokens on an A100: 7 * 64 operations a token and
 * element in the time of 2 * 2048 / 2 at 0.55 of 312 TFLOP/s, on 108
 * multiprocessors.  And how often what goes in is read or written around it. */
#define SSM_FLOPS_PER_S 0.35e12
#define SSM_PASSES	4.0

/* How often a token's copy for an expert is read or written forward, where
 * sorting, quantizing and activating are kernels of their own: copied, sorted
 * by expert, staged to be sent and received, and all of it back; inside the
 * expert weighted, beside the activation.  And where they are fused. */
#define COPY_PASSES	  11.0
#define INSIDE_PASSES	  2.0
#define COPY_PASSES_FUSED 4.0
/* A gate with limits, operation by operation: seven of them, each read and
 * written in fp32. */
#define CLAMPED_BYTES 56.0

/* To convert an element to 8 bits it is read in 16 and written in 8; backward
 * once more for each of the two products that use it. */
#define CONVERT_BYTES 3.0

/* Kernels between the products of a layer. */
#define MEMORY_KERNELS_FORWARD	7
#define MEMORY_KERNELS_BACKWARD 10
#define PLAIN_KERNELS_FORWARD	4
#define PLAIN_KERNELS_BACKWARD	8

/* Beyond a fused kernel's, bytes per element of eager operations forward: RMS
 * norm converts to fp32, squares, averages, scales and converts back (36 of
 * memory traffic, 4 fused); rotary positions negate, join, and multiply twice
 * (20, 4 fused); a gate is two kernels (10, 6 fused). */
#define EAGER_NORM_BYTES   32.0
#define EAGER_ROTARY_BYTES 16.0
#define EAGER_GATE_BYTES   4.0
/* And kernels more. */
#define EAGER_KERNELS 25

/* Adam with fp32 master weights, per parameter: weight, two moments read and
 * written in fp32, gradient read and cleared, 16-bit weight written. */
#define OPTIMIZER_BYTES 34.0

/* Cross entropy over the vocabulary, per logit: fp32 copies, maximum, sum,
 * gradient. */
#define LOSS_BYTES 20.0

/* `count` products of m*k by k*n that run side by side, in this share of the
 * layers. */
struct product {
	double m, n, k, count, share;
	bool wide; /* always 16 bits */
};

struct products {
	struct product product[MAX_PRODUCTS];
	uint32_t n;
	double share; /* of those added next */
};

/* The widths of a layer as one tensor-parallel rank sees them. */
struct widths {
	double tokens; /* of the micro-batch on one context-parallel rank */
	double h, t;
	double q, kv;	 /* heads' widths on this rank, all together */
	double ffn;	 /* dense or shared, on this rank */
	double pairs;	 /* of tokens and experts that it computes */
	double expert;	 /* width of one expert on this rank */
	double taken;	 /* width of a token that experts take */
	double matrices; /* of an MLP: 2, or 3 with a gate */
	double spread;	 /* ranks that share what sequence parallelism splits */
};

static struct widths widths_of(const struct weft_compute *c, uint32_t layer)
{
	const struct weft_model *m = c->model;
	const struct weft_spec *s = c->spec;
	uint32_t seq = s->seq ? s->seq : m->seq;
	double head =
		m->head_width ? m->head_width : (double)m->hidden / m->heads;
	uint32_t etp = s->etp ? s->etp : 1;
	struct widths w = {
		.tokens = (double)s->mbs * seq / s->cp,
		.h = m->hidden,
		.t = s->tp,
		.q = m->heads * head / s->tp,
		.kv = weft_model_kv_width(m, s->tp),
		.ffn = (double)m->ffn / s->tp,
		.matrices = m->gated_mlp ? 3 : 2,
		.spread = s->sequence_parallel ? s->tp : 1,
	};

	if (!weft_model_has_experts(m, layer))
		return w;
	/* Without expert parallelism the experts are split as the rest is. */
	if (s->ep <= 1)
		etp = s->tp;
	w.ffn = weft_model_shared_ffn(m) / s->tp;
	w.expert = (double)m->expert_ffn / etp;
	w.taken = weft_model_expert_width(m);
	w.pairs = w.tokens * m->top_k * etp / s->tp * weft_spec_fullest(s);
	return w;
}

static void product_add(struct products *p, double m, double n, double k,
			double count)
{
	if (m > 0 && n > 0 && k > 0 && count > 0)
		p->product[p->n++] =
			(struct product){m, n, k, count, p->share, false};
}

static void attention_products(const struct weft_compute *c,
			       const struct widths *w, struct products *p)
{
	const struct weft_model *m = c->model;

	if (!m->mla_kv_rank) {
		product_add(p, w->tokens, w->q + 2 * w->kv, w->h, 1);
		product_add(p, w->tokens, w->h, w->q, 1);
		return;
	}
	/* Latent attention: down to the ranks (held whole by every tensor
	 * rank), and up to this rank's heads. */
	if (m->mla_q_rank)
		product_add(p, w->tokens, m->mla_q_rank, w->h, 1);
	product_add(p, w->tokens, w->q + (double)m->heads * m->mla_rope / w->t,
		    m->mla_q_rank ? m->mla_q_rank : w->h, 1);
	product_add(p, w->tokens, (double)m->mla_kv_rank + m->mla_rope, w->h,
		    1);
	product_add(p, w->tokens, 2 * w->q, m->mla_kv_rank, 1);
	product_add(p, w->tokens, w->h, w->q, 1);
}

/* The tokens of each expert, and back; narrower in between where experts take
 * a compressed token. */
static void expert_products(const struct weft_compute *c,
			    const struct widths *w, struct products *p)
{
	const struct weft_model *m = c->model;
	double experts = (double)m->experts / c->spec->ep;
	double each = w->pairs / experts, own = w->tokens / w->spread;

	product_add(p, own, m->experts, w->h, 1);
	p->product[p->n - 1].wide = true; /* the router decides in full */
	product_add(p, own, m->expert_width, w->h, 1);
	product_add(p, own, w->h, m->expert_width, 1);
	product_add(p, each, w->expert * (w->matrices - 1), w->taken, experts);
	product_add(p, each, w->taken, w->expert, experts);
}

static struct products products_of(const struct weft_compute *c, uint32_t layer,
				   const struct widths *w)
{
	const struct weft_model *m = c->model;
	struct products p = {.share = weft_model_attention_share(m)};

	attention_products(c, w, &p);
	p.share = weft_model_ssm_share(m);
	product_add(&p, w->tokens, weft_model_ssm_input(m) / w->t, w->h,
		    p.share > 0);
	product_add(&p, w->tokens, w->h, m->ssm_inner / w->t, p.share > 0);
	p.share = 1;
	product_add(&p, w->tokens, w->ffn * (w->matrices - 1), w->h, 1);
	product_add(&p, w->tokens, w->h, w->ffn, 1);
	if (weft_model_has_experts(m, layer))
		expert_products(c, w, &p);
	return p;
}

static double product_s(const struct weft_compute *c,
			enum weft_precision precision, double m, double n,
			double k, double count)
{
	return weft_gpu_product_s(c->gpu, precision, m, n, k, count) / c->clock;
}

static void products_time(const struct weft_compute *c,
			  const struct products *p, double *forward,
			  double *backward)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct product *x = &p->product[i];
		enum weft_precision precision =
			x->wide ? WEFT_BITS_16 : c->precision;

		*forward += x->share *
			    product_s(c, precision, x->m, x->n, x->k, x->count);
		*backward +=
			x->share *
			(product_s(c, precision, x->m, x->k, x->n, x->count) +
			 product_s(c, precision, x->n, x->k, x->m, x->count));
	}
}

static bool stores_scores(enum weft_attention kernel)
{
	return kernel == WEFT_ATTENTION_PLAIN || kernel == WEFT_ATTENTION_EAGER;
}

/* The software's kernel, or the latest before it that the GPU has. */
static enum weft_attention attention_kernel(const struct weft_compute *c)
{
	enum weft_attention kernel = c->software.attention;

	while (!stores_scores(kernel) && kernel > WEFT_ATTENTION_PLAIN &&
	       !(c->gpu->attention[kernel] > 0))
		kernel--;
	return kernel;
}

/* Scores that go through memory. */
static void stored_scores_time(const struct weft_compute *c, double scores,
			       struct weft_layer_time *time)
{
	double forward = SCORE_PASSES_FORWARD * ACTIVATION_BYTES;
	double backward = SCORE_PASSES_BACKWARD * ACTIVATION_BYTES;
	double kernels = 0;

	if (c->software.attention == WEFT_ATTENTION_EAGER) {
		forward += EAGER_SCORES_FORWARD;
		backward += EAGER_SCORES_BACKWARD;
		kernels = EAGER_SCORES_KERNELS;
	}
	time->forward.attention_s += weft_gpu_memory_s(
		c->gpu, forward * scores, PLAIN_KERNELS_FORWARD + kernels);
	time->backward.attention_s += weft_gpu_memory_s(
		c->gpu, backward * scores, PLAIN_KERNELS_BACKWARD + kernels);
}

static void attention_time(const struct weft_compute *c, const struct widths *w,
			   struct weft_layer_time *time)
{
	uint32_t seq = c->spec->seq ? c->spec->seq : c->model->seq;
	double flops = weft_flops_attention(c->model, seq) * w->tokens / w->t;
	double peak = c->gpu->flops_per_s[WEFT_BITS_16] * c->clock;
	enum weft_attention kernel = attention_kernel(c);
	double core, ssm;

	ssm = weft_model_ssm_share(c->model) * WEFT_SSM_FLOPS *
	      c->model->ssm_inner * c->model->ssm_state * w->tokens / w->t /
	      (SSM_FLOPS_PER_S * c->gpu->n_sms);
	time->forward.attention_s = ssm;
	time->backward.attention_s = FUSED_BACKWARD * ssm;
	if (!stores_scores(kernel)) {
		/* A causal mask leaves half of the pairs to compute. */
		core = flops / 2 / (peak * c->gpu->attention[kernel]);
		time->forward.attention_s +=
			core + weft_gpu_memory_s(c->gpu, 0, 1);
		time->backward.attention_s +=
			FUSED_BACKWARD * core + weft_gpu_memory_s(c->gpu, 0, 2);
		return;
	}
	core = flops / (peak * c->gpu->attention[WEFT_ATTENTION_PLAIN]);
	stored_scores_time(c, c->model->heads / w->t * seq * w->tokens, time);
	time->forward.attention_s += core;
	time->backward.attention_s += 2 * core;
}

/* Elements of a layer that are converted to 8 bits: the inputs of its
 * products. */
static double converted(const struct widths *w)
{
	return w->tokens * (2 * w->h / w->spread + w->q + w->ffn) +
	       w->pairs * (w->taken + w->expert);
}

static bool fused_experts(const struct weft_compute *c)
{
	return c->software.expert_kernels == WEFT_EXPERTS_FUSED;
}

/* Elements of tokens' copies for experts that are read or written forward,
 * beside the activation. */
static double pair_elements(const struct weft_compute *c,
			    const struct widths *w)
{
	if (fused_experts(c))
		return w->pairs * COPY_PASSES_FUSED * w->taken;
	return w->pairs * (COPY_PASSES * w->taken + INSIDE_PASSES * w->expert);
}

static void memory_time(const struct weft_compute *c, const struct widths *w,
			struct weft_layer_time *time)
{
	/* Two norms (read, write) and two residual additions (read both,
	 * write). */
	double elements = 10 * w->tokens * w->h / w->spread;
	double forward, backward, kernels = 0;

	/* The activation function reads all but the last matrix's output. */
	elements += w->tokens * w->ffn * w->matrices +
		    w->pairs * w->expert * w->matrices;
	elements += pair_elements(c, w);
	/* A short convolution and a gated norm around the recurrence. */
	elements += SSM_PASSES * weft_model_ssm_share(c->model) * w->tokens *
		    weft_model_ssm_input(c->model) / w->t;
	if (!stores_scores(attention_kernel(c)))
		/* rotary positions of queries and keys */
		elements += 2 * w->tokens * (w->q + w->kv);
	else /* a dropout mask a residual */
		elements += w->tokens * w->h / w->spread;
	forward = elements * ACTIVATION_BYTES;
	/* Layer norm and GELU are kernels of PyTorch's own; the norms, gates
	 * and positions of models with gates are written out. */
	if (!c->software.fused && c->model->gated_mlp) {
		forward +=
			w->tokens * (2 * EAGER_NORM_BYTES * w->h / w->spread +
				     EAGER_GATE_BYTES * w->ffn +
				     EAGER_ROTARY_BYTES * (w->q + w->kv));
		kernels = EAGER_KERNELS;
	}
	if (c->model->clamped_gate && !fused_experts(c))
		forward += CLAMPED_BYTES *
			   (w->pairs * w->expert + w->tokens * w->ffn);
	backward = MEMORY_BACKWARD * forward;
	if (c->precision == WEFT_BITS_8 || c->precision == WEFT_BITS_4) {
		forward += CONVERT_BYTES * converted(w);
		backward += 2 * CONVERT_BYTES * converted(w);
	}
	time->forward.memory_s = weft_gpu_memory_s(
		c->gpu, forward, MEMORY_KERNELS_FORWARD + kernels);
	time->backward.memory_s = weft_gpu_memory_s(
		c->gpu, backward, MEMORY_KERNELS_BACKWARD + 2 * kernels);
}

void weft_compute_layer(const struct weft_compute *c, uint32_t layer,
			struct weft_layer_time *time)
{
	struct widths w = widths_of(c, layer);
	struct products p = products_of(c, layer, &w);

	memset(time, 0, sizeof(*time));
	products_time(c, &p, &time->forward.products_s,
		      &time->backward.products_s);
	attention_time(c, &w, time);
	memory_time(c, &w, time);
}

double weft_compute_logits_forward_s(const struct weft_compute *c)
{
	struct widths w = widths_of(c, 0);
	double vocab = (double)c->model->vocab / c->spec->tp;

	return product_s(c, WEFT_BITS_16, w.tokens, vocab, w.h, 1) +
	       weft_gpu_memory_s(c->gpu, w.tokens * vocab * LOSS_BYTES / 2, 0);
}

double weft_compute_logits_backward_s(const struct weft_compute *c)
{
	struct widths w = widths_of(c, 0);
	double vocab = (double)c->model->vocab / c->spec->tp;

	return product_s(c, WEFT_BITS_16, w.tokens, w.h, vocab, 1) +
	       product_s(c, WEFT_BITS_16, vocab, w.h, w.tokens, 1) +
	       weft_gpu_memory_s(c->gpu, w.tokens * vocab * LOSS_BYTES / 2, 0);
}

double weft_compute_optimizer_s(const struct weft_compute *c, double parameters)
{
	return weft_gpu_memory_s(c->gpu, OPTIMIZER_BYTES * parameters, 1);
}

double weft_compute_kept_bytes(const struct weft_compute *c, uint32_t layer)
{
	struct widths w = widths_of(c, layer);

	return ACTIVATION_BYTES *
	       (w.tokens * (w.q + 2 * w.kv + w.q + 2 * w.h / w.spread +
			    w.ffn * (w.matrices - 1)) +
		w.pairs * (w.taken + w.expert * (w.matrices - 1)));
}

double weft_compute_checkpoint_bytes(const struct weft_compute *c)
{
	struct widths w = widths_of(c, 0);

	return ACTIVATION_BYTES * w.tokens * w.h / w.spread;
}

int weft_compute_set_precision(struct weft_compute *c,
			       enum weft_precision precision,
			       struct weft_error *err)
{
	if (!(c->gpu->flops_per_s[precision] > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "%s has no matrix unit for %s numbers",
				 c->gpu->name, weft_precision_names[precision]);
	c->precision = precision;
	return 0;
}

enum weft_precision weft_compute_precision(enum weft_dtype dtype)
{
	static const enum weft_precision precision[WEFT_N_DTYPES] = {
		[WEFT_BF16] = WEFT_BITS_16, [WEFT_FP16] = WEFT_BITS_16,
		[WEFT_FP32] = WEFT_BITS_32, [WEFT_FP8] = WEFT_BITS_8,
		[WEFT_MXFP8] = WEFT_BITS_8, [WEFT_NVFP4] = WEFT_BITS_4,
	};

	return precision[dtype];
}

/* Under a cap the voltage falls with the clock, so that the power is as its
 * cube. */
static double clock_of(const struct weft_gpu *gpu, double cap_w)
{
	return cap_w > 0 && cap_w < gpu->power_w ? cbrt(cap_w / gpu->power_w)
						 : 1;
}

int weft_compute_start(const struct weft_gpu *gpu,
		       const struct weft_model *model,
		       const struct weft_spec *spec, struct weft_compute *c,
		       struct weft_error *err)
{
	*c = (struct weft_compute){
		.gpu = gpu,
		.model = model,
		.spec = spec,
		.software = weft_software(spec, gpu),
		.clock = clock_of(gpu, spec->power_cap_w),
	};
	return weft_compute_set_precision(
		c, weft_compute_precision(spec->dtype), err);
}
