/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_shape.c - a model's shape out of the spec itself */
#include "costmodel/job/spec.h"

#include <inttypes.h>
#include <stdio.h>

/* What a shape of the spec's own has where the spec is silent. */
#define DEFAULT_VOCAB 128256
#define DEFAULT_SEQ   4096

/* Of n that are dealt to `parts` as evenly as possible, the first ones one
 * more: those of the parts before k. */
static uint32_t dealt_before(uint32_t n, uint32_t parts, uint32_t k)
{
	uint32_t more = n % parts;

	return k * (n / parts) + (k < more ? k : more);
}

struct weft_chunk weft_spec_chunk(const struct weft_spec *spec, uint32_t layers,
				  uint32_t k)
{
	uint32_t chunks = spec->pp * spec->vpp, round = k / spec->pp;
	struct weft_chunk chunk = {0};

	if (!spec->n_stages) {
		chunk.first = dealt_before(layers, chunks, k);
		chunk.n = dealt_before(layers, chunks, k + 1) - chunk.first;
		return chunk;
	}
	for (uint32_t p = 0; p < spec->pp; p++) {
		uint32_t before =
			dealt_before(spec->stages[p], spec->vpp, round);
		uint32_t n =
			dealt_before(spec->stages[p], spec->vpp, round + 1) -
			before;

		chunk.first += before;
		if (p < k % spec->pp)
			chunk.first += n;
		else if (p == k % spec->pp)
			chunk.n = n;
	}
	return chunk;
}

int weft_spec_deal_check(const struct weft_spec *spec,
			 const struct weft_model *model, struct weft_error *err)
{
	uint64_t sum = 0;

	if ((uint64_t)spec->pp * spec->vpp > model->layers)
		return weft_fail(err, WEFT_EINVAL,
				 "job spec: pp*vpp = %u*%u parts, but model %s "
				 "has only %u layers",
				 spec->pp, spec->vpp, model->name,
				 model->layers);
	for (uint32_t p = 0; p < spec->n_stages; p++)
		sum += spec->stages[p];
	if (spec->n_stages && sum != model->layers)
		return weft_fail(err, WEFT_EINVAL,
				 "job spec: stages have %" PRIu64
				 " layers, but model %s has %u",
				 sum, model->name, model->layers);
	return 0;
}

bool weft_spec_has_shape(const struct weft_spec *spec)
{
	return spec->shape.layers && spec->shape.hidden && spec->shape.heads;
}

bool weft_spec_names_model(const struct weft_spec *spec)
{
	return weft_spec_given(spec, "model") || weft_spec_has_shape(spec) ||
	       spec->traffic[0];
}

static int fail(struct weft_error *err, const char *key, const char *text)
{
	return weft_fail_at(err, WEFT_EINVAL, "job spec", 0, 0, "%s %s", key,
			    text);
}

static void overlay(uint32_t *member, uint32_t given)
{
	if (given)
		*member = given;
}

static int shape_check(const struct weft_model *m, struct weft_error *err)
{
	if (!m->heads || m->heads % m->kv_heads)
		return fail(err, "kv_heads", "must divide heads");
	if (!m->head_width && m->hidden % m->heads)
		return fail(err, "heads", "must divide hidden");
	if (m->experts && !m->top_k)
		return fail(err, "experts",
			    "needs top_k, the experts that each token visits");
	if (m->top_k > m->experts)
		return fail(err, "top_k", "is more than experts");
	return 0;
}

/* Members that follow from others where no one gives them. */
static void shape_complete(struct weft_model *m)
{
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (!m->ffn)
		m->ffn = 4 * m->hidden;
	if (!m->vocab)
		m->vocab = DEFAULT_VOCAB;
	if (!m->seq)
		m->seq = DEFAULT_SEQ;
	if (m->experts && !m->expert_ffn)
		m->expert_ffn = m->ffn;
}

int weft_spec_shape(const struct weft_spec *spec, struct weft_model *model,
		    struct weft_error *err)
{
	const struct weft_model *s = &spec->shape;
	bool named = weft_spec_given(spec, "model");

	if (!named && weft_spec_has_shape(spec)) {
		*model = (struct weft_model){.seq = spec->seq};
		snprintf(model->name, sizeof(model->name), "%ux%u", s->layers,
			 s->hidden);
	}
	/* Other heads and widths of a known model are another model's. */
	if (s->hidden || s->heads)
		model->head_width = 0;
	overlay(&model->layers, s->layers);
	overlay(&model->hidden, s->hidden);
	overlay(&model->ffn, s->ffn);
	overlay(&model->heads, s->heads);
	overlay(&model->kv_heads, s->kv_heads);
	overlay(&model->vocab, s->vocab);
	overlay(&model->experts, s->experts);
	overlay(&model->top_k, s->top_k);
	overlay(&model->expert_ffn, s->expert_ffn);
	if (weft_spec_given(spec, "gated_mlp"))
		model->gated_mlp = s->gated_mlp;
	shape_complete(model);
	return shape_check(model, err);
}
