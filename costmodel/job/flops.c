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

static double ssm_flops(const struct weft_model *m)
{
	double inner = m->ssm_inner;

	return 2 * m->hidden * (weft_model_ssm_input(m) + inner) +
	       WEFT_SSM_FLOPS * inner * m->ssm_state;
}

double weft_flops_layer(const struct weft_model *m, uint32_t layer)
{
	double matrices = m->gated_mlp ? 3 : 2, h = m->hidden;
	double mlp = matrices * h * m->ffn;

	if (weft_model_has_experts(m, layer))
		mlp = matrices * (weft_model_expert_width(m) * m->expert_ffn *
					  m->top_k +
				  h * weft_model_shared_ffn(m)) +
		      2 * h * m->expert_width + h * m->experts;
	return 2 * (weft_model_attention_share(m) * attention_weights(m) +
		    mlp) +
	       weft_model_ssm_share(m) * ssm_flops(m);
}

double weft_flops_attention(const struct weft_model *m, double seq)
{
	double head = head_width(m);
	double key = head + (m->mla_kv_rank ? m->mla_rope : 0);

	return weft_model_attention_share(m) * 2 * weft_model_span(m, seq) *
	       m->heads * (key + head);
}

struct weft_flops weft_flops(const struct weft_model *m, uint32_t seq)
{
	uint32_t experts = weft_model_expert_layers(m, 0, m->layers);
	double attention = weft_flops_attention(m, seq), h = m->hidden;
	struct weft_flops flops = {
		.attention = attention * (m->layers + m->mtp_layers) * seq,
		.logits = 2.0 * h * m->vocab * seq * (1.0 + m->mtp_layers),
	};

	if (m->layers > experts) {
		struct weft_model dense = *m;

		dense.experts = 0;
		flops.products +=
			(m->layers - experts) * weft_flops_layer(&dense, 0);
	}
	if (experts)
		flops.products +=
			experts *
			weft_flops_layer(m, weft_model_first_expert(m));
	/* And the product that joins the next token's embedding. */
	flops.products += m->mtp_layers *
			  (weft_flops_layer(m, m->layers - 1) + 4 * h * h);
	flops.products *= seq;
	return flops;
}

double weft_flops_model(const struct weft_flops *flops, uint32_t gbs,
			bool causal)
{
	double attention = flops->attention * (causal ? 0.5 : 1);

	return 3.0 * gbs * (flops->products + attention + flops->logits);
}

double weft_flops_hardware(const struct weft_flops *flops, uint32_t gbs,
			   enum weft_recompute recompute)
{
	const double again[WEFT_N_RECOMPUTES] = {
		[WEFT_RECOMPUTE_SELECTIVE] = flops->attention,
		[WEFT_RECOMPUTE_FULL] = flops->products + flops->attention,
	};

	return weft_flops_model(flops, gbs, false) + gbs * again[recompute];
}
