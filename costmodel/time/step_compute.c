/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_compute.c - what the stages of a step compute */
#include "costmodel/time/step_parts.h"

#include <math.h>

/* Weights and gradients in 16 bits, master weights and two moments in fp32. */
#define STATE_BYTES 18.0
/* Of a gradient as its product writes it. */
#define GRADIENT_BYTES 2.0
/* Share of the memory that a job fills. */
#define MEMORY_FILL 0.95
/* Of a layer that is recomputed for lack of memory, products that are: the most
 * expensive ones are kept first. */
#define PRODUCTS_REPEATED 0.5
/* Layers whose gathered weights a ZeRO-3 rank holds at once. */
#define GATHERED_LAYERS 4

static bool habit(enum weft_habit habit, bool usual)
{
	return habit == WEFT_AS_USUAL ? usual : habit == WEFT_ALWAYS;
}

double stage_forward_s(const struct step_stage *s)
{
	return weft_pass_s(&s->forward) + s->logits_forward;
}

double stage_backward_s(const struct step_stage *s)
{
	return weft_pass_s(&s->backward) + s->recompute + s->logits_backward;
}

double stage_s(const struct step_stage *s)
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

/* The layers of stage p. */
static void stage_layers(const struct step_build *b, uint32_t p,
			 struct step_stage *s)
{
	const struct weft_model *model = b->model;
	uint32_t chunks = b->spec->pp * b->spec->vpp;
	double vocab = (double)model->vocab * model->hidden;

	for (uint32_t k = p; k < chunks; k += b->spec->pp) {
		struct weft_chunk c =
			weft_spec_chunk(b->spec, model->layers, k);

		s->layers += c.n;
		s->expert_layers +=
			weft_model_expert_layers(model, c.first, c.n);
		s->parameters +=
			weft_model_layers_parameters(model, c.first, c.n);
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

static double recompute_s(const struct step_build *b,
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

/* Adding a micro-batch's gradients to those of the ones before: the former are
 * read, the latter read and written. */
static double adding_s(const struct step_build *b, const struct step_stage *s)
{
	double kept = weft_dtype_bytes(b->spec->gradient_dtype);

	if (!b->compute.software.adds_apart || b->spec->zero > 2 ||
	    b->micro_batches < 2)
		return 0;
	return weft_gpu_memory_s(b->compute.gpu,
				 s->parameters * (GRADIENT_BYTES + 2 * kept),
				 s->layers);
}

void stage_compute(const struct step_build *b, uint32_t p, struct step_stage *s)
{
	double dense;

	stage_layers(b, p, s);
	dense = s->layers - s->expert_layers;
	pass_add(&s->forward, &b->dense.forward, dense);
	pass_add(&s->backward, &b->dense.backward, dense);
	pass_add(&s->forward, &b->expert.forward, s->expert_layers);
	pass_add(&s->backward, &b->expert.backward, s->expert_layers);
	s->backward.memory_s += adding_s(b, s);
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
static double recomputed_share(const struct step_build *b)
{
	const struct weft_model *model = b->model;
	const struct weft_spec *spec = b->spec;
	uint32_t shard = spec->shard ? spec->shard : spec->dp * spec->cp;
	double parameters = weft_model_parameters(model) / spec->tp;
	double kept = weft_compute_kept_bytes(&b->compute, model->layers - 1);
	double least = weft_compute_checkpoint_bytes(&b->compute);
	double room = b->compute.gpu->usable_bytes * MEMORY_FILL;

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

int stage_compute_prepare(struct step_build *b, struct weft_error *err)
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
