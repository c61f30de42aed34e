/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_memory.c - weft model memory: what a job keeps on each GPU */
#include "cli/cmd.h"
#include "cli/plan/request.h"
#include "costmodel/job/memory.h"
#include "lab/model/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct question {
	struct model_options options;
	const char *job_text;
	bool one_stage;
	uint32_t stage;
	double gpu_bytes;
	struct weft_memory_options memory;
};

static void gpu_read(const struct argp_state *state, char *name, void *input)
{
	struct question *question = input;

	question->gpu_bytes = option_gpu(state, name)->usable_bytes;
}

static void stage_read(const struct argp_state *state, char *text, void *input)
{
	struct question *question = input;

	question->stage = (uint32_t)option_uint(state, text, 1u << 20);
	question->one_stage = true;
}

static void attention_read(const struct argp_state *state, char *text,
			   void *input)
{
	struct question *question = input;

	question->memory.stored_attention = strcmp(text, "stored") == 0;
	if (!question->memory.stored_attention && strcmp(text, "fused") != 0)
		argp_error(state,
			   "--attention: \"%s\" is neither \"fused\" nor "
			   "\"stored\"",
			   text);
}

#define QUESTION struct question

static const struct option_row options[] = {
	{"job", 'j', "SPEC", "the job, weft-spec(7): model=llama3-8B,tp=8", 1,
	 TEXT(job_text)},
	{"stage", 0, "P",
	 "of the pipeline, from 0 (default: the one that needs most)", 1,
	 READ(stage_read)},
	{"memory", 0, "SIZE", "of a GPU: 80GB", 2, BYTES(gpu_bytes)},
	{"gpu", 0, "NAME", "whose memory it is: H100", 2, READ(gpu_read)},
	{"attention", 0, "fused|stored",
	 "whether its scores are kept for the backward pass (default: fused, "
	 "they are not)",
	 2, READ(attention_read)},
	{"optimizer-bytes", 0, "N",
	 "of a parameter (default: Adam's 8, and 4 for fp32 weights)", 2,
	 NUMBER(memory.optimizer_bytes, 0.125, 64)},
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct question *question = input;

	if (!question->job_text)
		argp_error(state, "which job? Give --job SPEC, e.g. "
				  "--job model=llama3-8B,tp=2,dp=4");
}

/* What model_print shows, all of it doubles. */
struct result {
	struct weft_memory memory;
	double stage, layers, gpu_bytes, share;
	bool fits;
};

#define RESULT struct result
#define PART(NAME, LABEL, PART)                                                \
	FIGURE(NAME "_bytes", LABEL, memory.part_bytes[PART], GB(2))

static const struct model_figure figures[] = {
	FIGURE("total_bytes", "memory of a GPU", memory.total_bytes, GB(2)),
	PART("weights", "weights", WEFT_MEMORY_WEIGHTS),
	PART("gradients", "gradients", WEFT_MEMORY_GRADIENTS),
	PART("optimizer", "optimizer", WEFT_MEMORY_OPTIMIZER),
	PART("activations", "activations", WEFT_MEMORY_ACTIVATIONS),
	PART("logits", "logits", WEFT_MEMORY_LOGITS),
	PART("context", "keys, values of others", WEFT_MEMORY_CONTEXT),
	PART("gathered", "layers gathered to use", WEFT_MEMORY_GATHERED),
	PART("framework", "framework, NCCL, gaps", WEFT_MEMORY_FRAMEWORK),
	FIGURE("gpu_bytes", "the GPU has", gpu_bytes, GB(2)),
	FIGURE("share", "share", share, PERCENT(1)),
	FIGURE("stage", "pipeline stage", stage, PLAIN(0)),
	FIGURE("layers", "layers of it", layers, PLAIN(0)),
	FIGURE("parameters", "parameters of a rank", memory.parameters,
	       {1e9, 3, " billion"}),
	FIGURE("in_flight", "micro-batches in flight", memory.in_flight,
	       PLAIN(2)),
	FIGURE("layer_bytes", "a layer keeps of one", memory.layer_bytes,
	       MB(1)),
	FIGURE("working_bytes", "while recomputing it", memory.working_bytes,
	       MB(1)),
	FIGURE("fits", NULL, fits, {0}, .flag = true),
};

static int memory_of(const struct question *question,
		     const struct weft_job *job, struct weft_memory *memory,
		     struct weft_error *err)
{
	if (question->one_stage)
		return weft_memory_stage(&job->spec, &job->model,
					 &question->memory, question->stage,
					 memory, err);
	return weft_memory_worst(&job->spec, &job->model, &question->memory,
				 memory, err);
}

/* ---- what would help ---- */

static void zero_to(struct weft_spec *spec, uint32_t zero)
{
	if (spec->zero == 0)
		spec->shard = spec->dp * spec->cp;
	if (spec->zero < zero)
		spec->zero = zero;
}

static void to_zero_1(struct weft_spec *spec)
{
	zero_to(spec, 1);
}

static void to_zero_3(struct weft_spec *spec)
{
	zero_to(spec, 3);
}

static void to_full_recompute(struct weft_spec *spec)
{
	spec->recompute = WEFT_RECOMPUTE_FULL;
}

static void to_sequence_parallel(struct weft_spec *spec)
{
	spec->sequence_parallel = spec->tp > 1;
}

static void to_narrow_gradients(struct weft_spec *spec)
{
	if (weft_dtype_bytes(spec->gradient_dtype) > 2)
		spec->gradient_dtype = WEFT_BF16;
}

static void to_small_micro_batches(struct weft_spec *spec)
{
	spec->mbs = 1;
}

static const struct remedy {
	const char *key;
	void (*apply)(struct weft_spec *spec);
} remedies[] = {
	{"zero=1", to_zero_1},
	{"sp=on", to_sequence_parallel},
	{"mbs=1", to_small_micro_batches},
	{"grad_dtype=bf16", to_narrow_gradients},
	{"recompute=full", to_full_recompute},
	{"zero=3", to_zero_3},
};

/* Each change alone, where it saves at least a tenth. */
static void remedies_note(const struct question *question,
			  const struct weft_job *job,
			  const struct weft_memory *memory,
			  struct model_report *report)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
		struct weft_job changed = *job;
		struct weft_memory less;

		remedies[i].apply(&changed.spec);
		if (memory_of(question, &changed, &less, NULL) ||
		    less.total_bytes > 0.9 * memory->total_bytes)
			continue;
		model_note(report, "with %s it would need %.1f GB",
			   remedies[i].key, less.total_bytes / 1e9);
	}
}

static void notes_add(const struct question *question,
		      const struct weft_job *job, const struct result *result,
		      struct model_report *report)
{
	char warning[200];

	if (weft_memory_warning(&result->memory, question->gpu_bytes, "it",
				warning, sizeof(warning))) {
		model_note(report, "%s", warning);
		remedies_note(question, job, &result->memory, report);
	}
	if (!weft_spec_given(&job->spec, "model"))
		model_note(report, "no model= given: this is %s",
			   job->model.name);
	model_note(report, "not counted: what the framework and its libraries "
			   "need, some GB, and fragmentation");
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct weft_job job = {0};
	struct result result = {0};
	struct model_report report = {
		.model = "memory",
		.options = &question->options,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &result,
		.seed = &result,
	};
	char title[200];
	int rc = -1;

	if (request_job_build(question->job_text, NULL, &job, err) ||
	    memory_of(question, &job, &result.memory, err))
		goto out;
	result.stage = result.memory.stage;
	result.layers = result.memory.layers;
	result.gpu_bytes = (double)NAN; /* not known, and not shown */
	if (question->gpu_bytes > 0)
		result.gpu_bytes = question->gpu_bytes;
	result.share = result.memory.total_bytes / result.gpu_bytes;
	result.fits = !(result.share > 1);
	snprintf(title, sizeof(title),
		 "%s on %u GPUs: tp=%u cp=%u pp=%u dp=%u zero=%u",
		 job.model.name, job.n_gpus, job.spec.tp, job.spec.cp,
		 job.spec.pp, job.spec.dp, job.spec.zero);
	report.title = title;
	notes_add(question, &job, &result, &report);
	rc = model_print(&report, err);
	/* Only where the GPU's memory is known and less. */
	if (rc == 0 && !result.fits)
		rc = EXIT_NEGATIVE;
out:
	weft_job_free(&job);
	return rc;
}

const struct calculator model_memory = {
	.name = "memory",
	.help = "what a job keeps on each GPU, and whether it fits",
	.line.doc = "What a training job keeps in the memory of one GPU, by "
		    "what it is for, and whether that fits.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
