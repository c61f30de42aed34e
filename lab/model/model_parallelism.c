/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_parallelism.c - weft model parallelism: all axes of a job beside each
 * other
 */
#include "lab/calculators/tensor.h"
#include "lab/model/model_part.h"
#include "lab/model/options.h"

#include <stdio.h>

/* What is assumed of a job that does not say: the seeds' example. */
#define TOKENS		 4096
#define HIDDEN		 8192
#define LINK_BYTES_PER_S (400e9 / 8)

struct question {
	struct model_options options;
	uint32_t tp, pp, micro_batches, interleave, cp, dp, layers;
	double batch, tokens, hidden, kv_width, parameters;
	double link, intra, flops;
	bool full_recompute, shape_assumed, link_assumed;
};

static void model_read(const struct argp_state *state, char *name, void *input)
{
	struct question *question = input;
	struct weft_model model = model_named(state, name);

	question->layers = model.layers;
	question->tokens = model.seq;
	question->hidden = model.hidden;
	question->kv_width = weft_model_kv_width(&model, 1);
	question->parameters = weft_model_parameters(&model);
}

#define MAX_COUNT (1u << 22)

#define QUESTION struct question

static const struct option_row options[] = {
	{"tp", 't', "N", "ways of tensor parallelism (default: 1)", 1,
	 WHOLE(tp, 1, MAX_COUNT)},
	{"pp", 'p', "P", "pipeline stages (default: 1)", 1,
	 WHOLE(pp, 1, MAX_COUNT)},
	{"stages", 0, NULL, NULL, 1, ALIAS},
	{"microbatches", 'm', "M", "per step (default: 1)", 1,
	 WHOLE(micro_batches, 1, MAX_COUNT)},
	{"interleave", 'v', "V", "chunks of layers per stage (default: 1)", 1,
	 WHOLE(interleave, 1, MAX_COUNT)},
	{"cp", 0, "N", "ways of context parallelism (default: 1)", 1,
	 WHOLE(cp, 1, MAX_COUNT)},
	{"dp", 0, "N", "replicas (default: 1)", 1, WHOLE(dp, 1, MAX_COUNT)},
	{"model", 0, "NAME",
	 "layers, widths, tokens and parameters of a built-in model (else 20 "
	 "layers a stage, 4096 tokens, width 8192)",
	 2, READ(model_read)},
	{"layers", 0, "N", "of the whole model", 2,
	 WHOLE(layers, 1, MAX_COUNT)},
	{"params", 0, "N", "of the whole model", 2, COUNT(parameters)},
	{"batch", 0, "N", "sequences of a micro-batch (default: 1)", 2,
	 COUNT(batch)},
	{"seq", 0, "N", "tokens of a sequence", 2, COUNT(tokens)},
	{"hidden", 0, "N", "width", 2, COUNT(hidden)},
	{"kv-width", 0, "N", "of keys (default: the width)", 2,
	 COUNT(kv_width)},
	{"full-recompute", 0, NULL,
	 "the forward pass is repeated before the backward pass", 2,
	 FLAG(full_recompute)},
	{"link", 0, "RATE", "between nodes, of each GPU (default: 400Gbps)", 3,
	 RATE(link)},
	{"intra", 0, "RATE",
	 "inside nodes, for tensor parallelism (default: the link's)", 3,
	 RATE(intra)},
	{"flops", 0, "RATE", "that a GPU sustains: 400TFLOPS", 3, FLOPS(flops)},
};

static void question_check(const struct argp_state *state, void *input)
{
	struct question *question = input;

	question->shape_assumed = !question->layers;
	if (!question->layers)
		question->layers = WEFT_PIPELINE_LAYERS * question->pp;
	if (!(question->tokens > 0))
		question->tokens = TOKENS;
	if (!(question->hidden > 0))
		question->hidden = HIDDEN;
	question->link_assumed = !(question->link > 0);
	if (question->link_assumed)
		question->link = LINK_BYTES_PER_S;
	if (question->layers % question->pp)
		argp_error(state, "%u layers do not divide into %u stages",
			   question->layers, question->pp);
	if (!(question->kv_width > 0))
		question->kv_width = question->hidden;
	if (!(question->intra > 0))
		question->intra = question->link;
}

/* ---- the tensor-parallel part and the total ---- */

struct result {
	struct weft_tensor tensor;
	double gpus;
};

#define RESULT struct result

static const struct model_figure figures[] = {
	FIGURE("gpus", "GPUs", gpus, PLAIN(0),
	       PRINTED("Total GPU count", PLAIN(0))),
	FIGURE("tp_all_reduces", "tp all-reduces per layer", tensor.all_reduces,
	       PLAIN(0), .seed = PLAIN(0), .difference = "seed_tp_count"),
	FIGURE("tp_all_reduce_bytes", "of one", tensor.all_reduce_bytes, MB(2)),
	FIGURE("tp_layer_bytes", "sent per layer", tensor.layer_bytes, MB(2),
	       PRINTED("TP All-Reduce Volume", MB(2)), .difference = "tp_seed"),
	FIGURE("tp_all_reduce_s", "time of one", tensor.all_reduce_s, MS(3)),
	FIGURE("tp_step_s", "of a stage's step", tensor.step_s, MS(1),
	       .seed = MS(1), .difference = "seed_tp_count"),
	FIGURE("tp_ratio", "forward, over compute", tensor.ratio, PLAIN(2)),
};

static int tensor_fill(const struct question *question,
		       enum weft_convention convention, struct result *result,
		       struct weft_error *err)
{
	struct weft_tensor_job job = {
		.ways = question->tp,
		.tokens = question->tokens * question->batch / question->cp,
		.hidden = question->hidden,
		.link_bytes_per_s = question->intra,
		.sequence = question->tokens,
		.flops = question->flops,
		.layers = question->layers / question->pp,
		.micro_batches = question->micro_batches,
		.full_recompute = question->full_recompute,
	};

	result->gpus = (double)question->tp * question->pp * question->cp *
		       question->dp;
	return weft_tensor(&job, convention, &result->tensor, err);
}

/* ---- the other parts ---- */

/* Forward time of one stage and micro-batch; 0 when its speed is unknown. */
static double forward_s(const struct question *question,
			const struct weft_tensor *tensor)
{
	if (!(question->flops > 0))
		return 0;
	return tensor->forward_compute_s * question->layers / question->pp;
}

static struct weft_pipeline_job pipeline_job(const struct question *question,
					     const struct weft_tensor *tensor)
{
	return (struct weft_pipeline_job){
		.stages = question->pp,
		.micro_batches = question->micro_batches,
		.interleave = question->interleave,
		.layers_per_stage = question->layers / question->pp,
		.sequences = question->batch,
		.tokens = question->tokens / question->cp,
		.hidden = question->hidden,
		.tensor = question->tp,
		.forward_s = forward_s(question, tensor),
		.backward_s = 2 * forward_s(question, tensor),
	};
}

static struct weft_sequence_job sequence_job(const struct question *question)
{
	return (struct weft_sequence_job){
		.ways = question->cp,
		.tokens = question->tokens,
		.hidden = question->kv_width / question->tp,
		.query_width = question->hidden / question->tp,
		.link_bytes_per_s = question->link,
		.flops = question->flops,
	};
}

/* Every GPU's share of the gradients, in 16 bits. */
static struct weft_chunks_job chunks_job(const struct question *question,
					 const struct weft_tensor *tensor)
{
	return (struct weft_chunks_job){
		.gradient_bytes =
			2 * question->parameters / question->tp / question->pp,
		.link_bytes_per_s = question->link,
		.n_gpus = question->dp,
		.backward_s = 2 * forward_s(question, tensor),
	};
}

struct answer {
	struct result right, seed;
	struct model_pipeline_part pipeline;
	struct model_sequence_part sequence;
	struct model_chunks_part chunks;
	char title[128];
};

/* Chains the parts that the job has behind the pipeline's. */
static int parts_fill(const struct question *question, struct answer *a,
		      struct weft_error *err)
{
	struct weft_pipeline_job pipeline =
		pipeline_job(question, &a->right.tensor);
	struct weft_sequence_job sequence = sequence_job(question);
	struct weft_chunks_job chunks = chunks_job(question, &a->right.tensor);
	const struct model_report **next = &a->pipeline.report.more;

	if (model_pipeline_part(&pipeline, &question->options, &a->pipeline,
				err))
		return -1;
	if (question->cp > 1) {
		if (model_sequence_part(&sequence, &question->options,
					&a->sequence, err))
			return -1;
		*next = &a->sequence.report;
		next = &a->sequence.report.more;
	}
	if (question->dp > 1 && question->parameters > 0) {
		if (model_chunks_part(&chunks, &question->options, &a->chunks,
				      err))
			return -1;
		*next = &a->chunks.report;
	}
	return 0;
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct answer a;
	struct model_report report = {
		.model = "parallelism",
		.options = &question->options,
		.title = a.title,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &a.right,
		.seed = &a.seed,
		.more = &a.pipeline.report,
	};

	if (tensor_fill(question, WEFT_RIGHT, &a.right, err) ||
	    tensor_fill(question, WEFT_SEED, &a.seed, err) ||
	    parts_fill(question, &a, err))
		return -1;
	snprintf(a.title, sizeof(a.title), "tp %u x pp %u x cp %u x dp %u",
		 question->tp, question->pp, question->cp, question->dp);
	if (question->shape_assumed)
		model_note(
			&report,
			"the shape is assumed: %u layers, %.0f tokens, width "
			"%.0f; give --model.",
			question->layers, question->tokens, question->hidden);
	if (question->link_assumed)
		model_note(&report, "the link is assumed: 400 Gbps; give "
				    "--link.");
	return model_print(&report, err);
}

const struct calculator model_parallelism = {
	.name = "parallelism",
	.help = "all axes of a job beside each other",
	.line.doc = "All axes of a job beside each other: all-reduces of "
		    "tensor parallelism, the pipeline, the ring of context "
		    "parallelism, chunks of the gradient sync.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.question = &(const struct question){.tp = 1,
					     .pp = 1,
					     .micro_batches = 1,
					     .interleave = 1,
					     .cp = 1,
					     .dp = 1,
					     .batch = 1},
	.answer = answer,
};
