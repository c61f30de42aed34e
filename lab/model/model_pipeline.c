/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_pipeline.c - weft model pipeline: bubble, memory and link of stages */
#include "lab/model/model_part.h"
#include "lab/model/options.h"

#include <stdio.h>

struct question {
	struct model_options options;
	struct weft_pipeline_job job;
	uint32_t model_layers;
};

static void model_read(const struct argp_state *state, char *name, void *input)
{
	struct question *question = input;
	struct weft_model model = model_named(state, name);

	question->model_layers = model.layers;
	question->job.tokens = model.seq;
	question->job.hidden = model.hidden;
}

static void batch_read(const struct argp_state *state, char *text, void *input)
{
	struct question *question = input;

	question->job.sequences = option_count(state, text, 1u << 24);
}

#define QUESTION struct question

static const struct option_row options[] = {
	{"stages", 'p', "P", "pipeline stages", 1,
	 WHOLE(job.stages, 1, 1u << 24)},
	{"microbatches", 'm', "M", "per step", 1,
	 WHOLE(job.micro_batches, 1, 1u << 24)},
	{"interleave", 'v', "V", "chunks of layers per stage (default: 1)", 1,
	 WHOLE(job.interleave, 1, 1u << 24)},
	{"layers", 0, "N", "of one stage (default: 20)", 2,
	 WHOLE(job.layers_per_stage, 1, 1u << 24)},
	{"model", 0, "NAME", "layers, sequence and width of a built-in model",
	 2, READ(model_read)},
	{"batch", 0, "N", "sequences of a micro-batch (default: 1)", 2,
	 READ(batch_read)},
	{"seq", 0, "N", "tokens of a sequence (default: 4096)", 2,
	 COUNT(job.tokens)},
	{"hidden", 0, "N", "width (default: 8192)", 2, COUNT(job.hidden)},
	{"element-bytes", 0, "N", "of an activation (default: 2)", 2,
	 NUMBER(job.element_bytes, 0.125, 16)},
	{"tensor", 0, "T", "tensor ranks that each send a part (default: 1)", 2,
	 WHOLE(job.tensor, 1, 1u << 24)},
	{"forward", 0, "TIME",
	 "of a stage for one micro-batch; with --backward", 3,
	 DURATION(job.forward_s)},
	{"backward", 0, "TIME", "of a stage for one micro-batch", 3,
	 DURATION(job.backward_s)},
	{"compute", 0, "TIME", "of a stage for the whole step, instead of both",
	 3, DURATION(job.compute_s)},
	{"sync", 0, "TIME", "after the pipeline: gradients", 3,
	 TIME(job.sync_s)},
	{"layer-bytes", 0, "SIZE", "that a layer keeps of a micro-batch", 4,
	 BYTES(job.layer_bytes)},
	{"memory", 0, "SIZE", "of a GPU (default: 80GB)", 4,
	 BYTES(job.memory_bytes)},
	{"threshold", 0, "SHARE",
	 "efficiency below which to warn (default: 0.8)", 4,
	 NUMBER(job.threshold, 0, 0.999999)},
};

static void question_check(const struct argp_state *state, void *input)
{
	struct question *question = input;
	struct weft_pipeline_job *job = &question->job;

	if (!job->stages || !job->micro_batches)
		argp_error(state, "which pipeline? Give --stages P and "
				  "--microbatches M");
	if (!(job->forward_s > 0) != !(job->backward_s > 0))
		argp_error(state, "--forward and --backward go together");
	if (!question->model_layers || job->layers_per_stage)
		return;
	if (question->model_layers % job->stages)
		argp_error(state,
			   "%u layers do not divide into %u stages; say "
			   "--layers",
			   question->model_layers, job->stages);
	job->layers_per_stage = question->model_layers / job->stages;
}

#define RESULT struct weft_pipeline

static const struct model_figure figures[] = {
	FIGURE("min_link_bytes_per_s", "link that keeps up",
	       min_link_bytes_per_s, {1e9 / 8, 2, " Gbps"},
	       PRINTED("Inter-Stage Speed", {1e9 / 8, 2, "Gbps"}),
	       .difference = "seed_mib"),
	FIGURE("peak_activation_bytes", "boundary activations",
	       peak_activation_bytes, MB(1),
	       PRINTED("Peak Activation", {1e6, 1, "MB"}),
	       .difference = "seed_gpipe"),
	FIGURE("efficiency", "pipeline efficiency", efficiency, PERCENT(1),
	       PRINTED("Pipeline Efficiency", {0.01, 1, "%"}),
	       .difference = "bubble_of_total"),
	FIGURE("operations", "stages x micro-batches", operations, PLAIN(0),
	       .seed = {1, 0, " total operations"}),
	FIGURE("layers", "layers", layers, PLAIN(0)),
	FIGURE("activation_bytes", "of one micro-batch", activation_bytes,
	       MB(2), .seed = {1e6, 2, " MB/batch"}, .difference = "seed_mib"),
	FIGURE("in_flight", "micro-batches in flight", in_flight, PLAIN(0),
	       .difference = "seed_gpipe"),
	FIGURE("kept_bytes", "kept for backward", kept_bytes, GB(2),
	       .difference = "seed_gpipe"),
	FIGURE("kept_share", "of the GPU's memory", kept_share, PERCENT(1),
	       .difference = "seed_gpipe"),
	FIGURE("transfer_bytes", "sent per step", transfer_bytes, GB(4),
	       PRINTED("Transfer Per Step", GB(4)),
	       .difference = "seed_boundary"),
	FIGURE("boundary_bytes", "over one boundary", boundary_bytes, GB(4),
	       .difference = "seed_mib"),
	FIGURE("bubble_of_total", "bubble, of total time", bubble_of_total,
	       PERCENT(1), PRINTED("Bubble Ratio", {0.01, 1, "%"}),
	       .difference = "bubble_of_total"),
	FIGURE("bubble_of_ideal", "bubble, of ideal time", bubble_of_ideal,
	       PERCENT(1), .difference = "bubble_of_total"),
	FIGURE("compute_s", "computation of a stage", compute_s, MS(2),
	       PRINTED("Compute/Step", MS(2))),
	FIGURE("step_s", "step", step_s, MS(2), .difference = "pipe_seed"),
	FIGURE("advised_micro_batches", NULL, advised_micro_batches, {0},
	       .difference = "seed_advice"),
	FIGURE("advised_stages", NULL, advised_stages, {0},
	       .difference = "seed_advice"),
	FIGURE("inefficient", NULL, inefficient, {0}, .flag = true),
};

static void notes_add(const struct weft_pipeline_job *job,
		      const struct weft_pipeline *pipeline, bool seed,
		      struct model_report *report)
{
	double threshold =
		job->threshold > 0 ? job->threshold : WEFT_PIPELINE_EFFICIENCY;

	if (pipeline->inefficient && seed)
		model_note(report,
			   "Low Efficiency Warning: Pipeline efficiency below "
			   "%.0f%%. Consider increasing micro-batches from %u "
			   "to %.0f or reducing stages from %u to %.0f.",
			   100 * threshold, job->micro_batches,
			   pipeline->advised_micro_batches, job->stages,
			   pipeline->advised_stages);
	else if (pipeline->inefficient)
		model_note(report,
			   "efficiency below %.0f %%: from %.0f micro-batches "
			   "on, or with at most %.0f stages, it is not.",
			   100 * threshold, pipeline->advised_micro_batches,
			   pipeline->advised_stages);
	if (!seed && !(job->compute_s > 0) && !(job->forward_s > 0))
		model_note(report, "computation is assumed, 1 us per layer and "
				   "token: say what it really takes.");
	if (!seed && pipeline->kept_share > 1)
		model_note(report, "what layers keep for their backward pass "
				   "does not fit the GPU.");
}

int model_pipeline_part(const struct weft_pipeline_job *job,
			const struct model_options *model_options,
			struct model_pipeline_part *part,
			struct weft_error *err)
{
	bool seed = model_options->convention == WEFT_SEED;

	if (weft_pipeline(job, WEFT_RIGHT, &part->right, err) ||
	    weft_pipeline(job, WEFT_SEED, &part->seed, err))
		return -1;
	snprintf(part->title, sizeof(part->title),
		 "%u stages x %u micro-batches = %.0f total operations, %.0f "
		 "layers per stage",
		 job->stages, job->micro_batches, part->right.operations,
		 part->right.layers / job->stages);
	part->report = (struct model_report){
		.model = "pipeline",
		.options = model_options,
		.title = part->title,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &part->right,
		.seed = &part->seed,
	};
	notes_add(job, seed ? &part->seed : &part->right, seed, &part->report);
	return 0;
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct model_pipeline_part part;

	if (model_pipeline_part(&question->job, &question->options, &part, err))
		return -1;
	return model_print(&part.report, err);
}

const struct calculator model_pipeline = {
	.name = "pipeline",
	.help = "bubble, memory and link of pipeline stages",
	.line.doc = "What splitting layers into pipeline stages costs: the "
		    "bubble under both its names, activations, bytes between "
		    "stages, the link that keeps up.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
