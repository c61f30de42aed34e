/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.c - floating point operations of a model's training step
 *
 * For a GPT of two MLP matrices this is 72 B s l h^2 (1 + s/6h + V/12hl) of
 * arXiv:2205.05198 appendix A; with full recomputation of the layers it is
 * 96 B s l h^2 (1 + s/6h + V/16lh) of arXiv:2104.04473 equation 3.
 */
#include "costmodel/job/flops.h"

static double head_width(const struct weft_model *m)
{
	return m->head_width ? m->head_width : (double)m->hidden / m->heads;
}

/* Weights that a token meets in the attention of a layer. */
static double attention_weights(const struct weft_model *m)
{
	double h = m->hidden, heads = m->heads, head = head_width(m);

	if (m->mla_kv_rank) {
		double q = m->mla_q_rank ? m->mla_q_rank : h;
		double compress = m->mla_q_rank ? h * q : 0;

		return compress + q * heads * (head + m->mla_rope) +
		       h * (m->mla_kv_rank + m->mla_rope) +
		       m->mla_kv_rank * heads * 2 * head + heads * head * h;
	}
	return 2 * h * heads * head + 2 * h * m->kv_heads * head;
}

double weft_flops_layer(const struct weft_model *m, uint32_t layer)
{
	double matrices = m->gated_mlp ? 3 : 2, h = m->hidden;
	double mlp = matrices * h * m->ffn;

	if (m->experts && layer >= m->dense_layers)
		mlp = matrices * h * m->expert_ffn *
			      (m->top_k + m->shared_experts) +
		      h * m->experts;
	return 2 * (attention_weights(m) + mlp);
}

double weft_flops_attention(const struct weft_model *m, double seq)
{
	double head = head_width(m);
	double key = head + (m->mla_kv_rank ? m->mla_rope : 0);

	return 2 * seq * m->heads * (key + head);
}

struct weft_flops weft_flops(const struct weft_model *m, uint32_t seq)
{
	struct weft_flops flops = {
		.attention = weft_flops_attention(m, seq) * m->layers * seq,
		.logits = 2.0 * m->hidden * m->vocab * seq,
	};

	uint32_t dense = m->experts ? m->dense_layers : 0;

	if (dense > m->layers)
		dense = m->layers;
	/* The first ones are alike, and so are the others. */
	flops.products = seq * (dense * weft_flops_layer(m, 0) +
				(m->layers - dense) *
					weft_flops_layer(m, m->layers - 1));
	return flops;
}

double weft_flops_model(const struct weft_flops *flops, uint32_t gbs,
			bool causal)
{
	double attention = flops->attention * (causal ? 0.5 : 1);

	return 3.0 * gbs * (flops->products + attention + flops->logits);
}

double weft_flops_hardware(const struct weft_flops *flops, uint32_t gbs,
			   bool causal, enum weft_recompute recompute)
{
	double attention = flops->attention * (causal ? 0.5 : 1);
	const double again[WEFT_N_RECOMPUTES] = {
		[WEFT_RECOMPUTE_SELECTIVE] = attention,
		[WEFT_RECOMPUTE_FULL] = flops->products + attention,
	};

	return weft_flops_model(flops, gbs, causal) + gbs * again[recompute];
}
