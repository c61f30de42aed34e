/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_step.c - weft model step: how long a training step takes, and why */
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/plan/fit.h"
#include "cli/report.h"
#include "costmodel/time/health.h"
#include "costmodel/time/range.h"
#include "costmodel/time/straggler.h"
#include "lab/model/options.h"
#include "lab/step/step_run.h"
#include "lab/step/step_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 30

struct question {
	struct model_options shared;
	const char *job, *fabric, *gpu, *table, *baseline, *calibrate, *health;
	double jitter;
	struct weft_step_options options;
	bool leave_out;
	struct step_constants constants;
};

static void habit_read(const struct argp_state *state, char *text, void *input)
{
	struct question *q = input;

	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		argp_error(state, "\"%s\": expected yes or no", text);
	q->options.overlap = *text == 'y' ? WEFT_ALWAYS : WEFT_NEVER;
}

static void efficiency_read(const struct argp_state *state, char *text,
			    void *input)
{
	struct question *q = input;
	char *equals = strchr(text, '=');
	struct weft_error err = {0};
	const struct weft_gpu *gpu;
	double value;

	if (!equals) {
		argp_error(state, "\"%s\": expected GPU=F, e.g. H100=0.95",
			   text);
		return;
	}
	*equals = '\0';
	gpu = weft_gpu_find(text, &err);
	value = option_number(state, equals + 1, 0.01, 100);
	if (!gpu || step_constant_set(&q->constants, gpu, value, 0, &err))
		argp_error(state, "%s", err.text);
}

static void gpus_print(void)
{
	puts("GPU     16-bit    8-bit    4-bit  TFLOP/s   memory");
	for (uint32_t i = 0; i < weft_n_gpus; i++) {
		const struct weft_gpu *g = &weft_gpus[i];

		printf("%-6s %7.0f  %7.0f  %7.0f  %12.0f GB %.2f TB/s\n",
		       g->name, g->flops_per_s[WEFT_BITS_16] / 1e12,
		       g->flops_per_s[WEFT_BITS_8] / 1e12,
		       g->flops_per_s[WEFT_BITS_4] / 1e12,
		       g->memory_bytes / 1e9, g->memory_bytes_per_s / 1e12);
	}
}

static void models_print(void)
{
	puts("model                layers   hidden  parameters");
	for (uint32_t i = 0; i < weft_n_models; i++) {
		const struct weft_model *m = &weft_models[i];

		printf("%-20s %6u %8u %9.1f B\n", m->name, m->layers, m->hidden,
		       weft_model_parameters(m) / 1e9);
	}
	puts("or a file: model=FILE.yaml, model=PATH/config.json; "
	     "weft-spec(7)");
}

#define QUESTION struct question

static const struct option_row known_options[] = {
	{"job", 'j', "SPEC", "the job, weft-spec(7): gpus=64,tp=8,pp=2", 0,
	 TEXT(job)},
	{"fabric", 'f', "FILE",
	 "place it on this cluster, empty (default: a usual one of the GPU)", 0,
	 TEXT(fabric)},
	{"gpu", 0, "NAME",
	 "kind of GPU (default: of the fabric's profile, or H100); of a "
	 "table's rows that do not say",
	 0, TEXT(gpu)},
	{"gpus", 0, NULL, "list the kinds of GPU and exit", 0,
	 LIST(gpus_print)},
	{"models", 0, NULL, "list the built-in models and exit", 0,
	 LIST(models_print)},
	{"table", 0, "CSV", "predict each run of a table, and say how far off",
	 0, TEXT(table)},
	{"baseline", 0, "CSV", "show these errors of other models below", 0,
	 TEXT(baseline)},
	{"calibrate", 0, "CSV",
	 "find one constant per GPU from measured runs, and use it", 0,
	 TEXT(calibrate)},
	{"efficiency", 0, "GPU=F",
	 "steps of this GPU take 1/F of what its profile says", 0,
	 READ(efficiency_read)},
	{"leave-out", 0, NULL,
	 "of a table: errors of each publisher's runs, with constants from "
	 "those of all others",
	 0, FLAG(leave_out)},
	{"overlap", 0, "yes|no",
	 "collectives run behind computation (default: from Hopper on)", 0,
	 READ(habit_read)},
	{"straggler", 0, "F",
	 "computation takes F times as long: all wait for the slowest", 0,
	 NUMBER(options.straggler, 1, 1000)},
	{"jitter", 0, "SIGMA",
	 "the computing time of a rank varies by this share, and all wait for "
	 "the slowest",
	 0, NUMBER(jitter, 0, 10)},
	{"health", 0, "FILE",
	 "nodes of the fabric that compute slower, weft-model(1)", 0,
	 TEXT(health)},
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct question *q = input;

	if (!q->job && !q->table && !q->calibrate)
		argp_error(state, "of what? Give --job SPEC or --table CSV");
	if (q->job && q->table)
		argp_error(state, "--job and --table are two questions");
	if (!q->job && (q->fabric || q->jitter > 0))
		argp_error(state, "--fabric and --jitter are of a --job; rows "
				  "of a table name their own cluster");
	if (q->leave_out && !q->table)
		argp_error(state, "--leave-out is of the publishers of a "
				  "--table");
	if (q->baseline && !q->table)
		argp_error(state, "--baseline is shown below a --table");
	if (q->health && (!q->fabric || !q->job))
		argp_error(state, "--health is of the nodes of a --fabric that "
				  "a --job runs on");
}

/* ---- one job ---- */

static const struct {
	const char *key, *label;
	size_t offset;
} parts[] = {
	{"products_s", "matrix products",
	 offsetof(struct weft_step, products_s)},
	{"attention_s", "attention", offsetof(struct weft_step, attention_s)},
	{"memory_s", "norms, activations",
	 offsetof(struct weft_step, memory_s)},
	{"recompute_s", "recomputation",
	 offsetof(struct weft_step, recompute_s)},
	{"logits_s", "output layer", offsetof(struct weft_step, logits_s)},
	{"bubble_s", "pipeline bubble", offsetof(struct weft_step, bubble_s)},
	{"exposed_tp_s", "tp communication",
	 offsetof(struct weft_step, exposed_s[WEFT_AXIS_TP])},
	{"exposed_cp_s", "cp communication",
	 offsetof(struct weft_step, exposed_s[WEFT_AXIS_CP])},
	{"exposed_ep_s", "ep communication",
	 offsetof(struct weft_step, exposed_s[WEFT_AXIS_EP])},
	{"exposed_pp_s", "pp communication",
	 offsetof(struct weft_step, exposed_s[WEFT_AXIS_PP])},
	{"exposed_dp_s", "dp communication",
	 offsetof(struct weft_step, exposed_s[WEFT_AXIS_DP])},
	{"optimizer_s", "optimizer", offsetof(struct weft_step, optimizer_s)},
	{"host_s", "waiting for the host", offsetof(struct weft_step, host_s)},
	{"straggler_s", "waiting for stragglers",
	 offsetof(struct weft_step, straggler_s)},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static double part_s(const struct weft_step *step, size_t i)
{
	return *(const double *)(const void *)((const char *)step +
					       parts[i].offset);
}

/* How near the step is known. */
struct known {
	const char *software; /* whose habits the step has */
	bool assumed; /* as most jobs on the GPU, not as the spec says */
	double low_s, high_s;
	char unseen[WEFT_UNSEEN_SIZE]; /* "": runs like it were published */
};

static struct known known_find(const struct weft_gpu *gpu,
			       const struct weft_fabric *f,
			       const struct weft_job *job, double step_s)
{
	const struct weft_range *range =
		&weft_ranges[weft_run_kind(&job->spec, &job->model)];
	const struct weft_seen run =
		weft_run_of(gpu, &job->spec, &job->model, f);
	bool usual = job->spec.software == WEFT_FRAMEWORK_USUAL;
	struct known known = {
		.software = weft_framework_names[usual ? gpu->framework
						       : job->spec.software],
		.assumed = usual,
		.low_s = range->low * step_s,
		.high_s = range->high * step_s,
	};

	weft_unseen(&run, known.unseen, sizeof(known.unseen));
	return known;
}

static int job_json(const struct weft_gpu *gpu, const struct weft_step *step,
		    const struct known *known, const struct fit *fit,
		    struct weft_error *err)
{
	json_t *object = model_json("step"), *list = json_object();
	json_t *all = json_object();

	for (size_t i = 0; i < N_PARTS; i++)
		JSON_PUT(list, parts[i].key, part_s(step, i));
	for (int a = 0; a < WEFT_N_AXES; a++)
		JSON_PUT(all, weft_axis_names[a], step->communication_s[a]);
	JSON_PUT(object, "gpu", gpu->name);
	JSON_PUT(object, "software", known->software);
	JSON_PUT(object, "step_s", step->step_s);
	JSON_PUT(object, "low_s", known->low_s);
	JSON_PUT(object, "high_s", known->high_s);
	JSON_PUT(object, "unseen", json_text_or_null(known->unseen));
	JSON_PUT(object, "parts", list);
	JSON_PUT(object, "communication_s", all);
	json_object_update_new(
		object,
		json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}",
			  "bubble_of_ideal", step->bubble_of_ideal,
			  "bubble_of_total", step->bubble_of_total,
			  "model_flops", step->model_flops,
			  "model_flops_causal", step->model_flops_causal,
			  "hardware_flops", step->hardware_flops,
			  "flops_per_s_per_gpu", step->flops_per_s,
			  "peak_flops_per_s", step->peak_flops_per_s, "mfu",
			  step->mfu, "hfu", step->hfu, "slowest_stage",
			  (json_int_t)step->slowest_stage));
	JSON_PUT(object, "memory_bytes_per_gpu", fit_json(fit));
	JSON_PUT(object, "warning", json_text_or_null(fit->warning));
	return report_print(object, err);
}

static void job_text(const struct weft_gpu *gpu, const struct weft_step *step,
		     const struct known *known, const struct fit *fit)
{
	printf("step on %s  %s (%s to %s)\n", gpu->name,
	       IN_UNIT(step->step_s, "s"), IN_UNIT(known->low_s, "s"),
	       IN_UNIT(known->high_s, "s"));
	if (known->assumed)
		printf("  assumed: software=%s, as most jobs on it\n",
		       known->software);
	if (known->unseen[0])
		printf("  %s: the range may not hold\n", known->unseen);
	for (size_t i = 0; i < N_PARTS; i++) {
		double share = part_s(step, i) / step->step_s;
		int width = (int)(share * BAR_WIDTH + 0.5);

		if (part_s(step, i) > 0)
			printf("  %-22s %10s %5.1f %%  %.*s\n", parts[i].label,
			       IN_UNIT(part_s(step, i), "s"), 100 * share,
			       width, "##############################");
	}
	printf("  %.1f TFLOP/s per GPU: MFU %.1f %%, HFU %.1f %% of %.0f\n",
	       step->flops_per_s / 1e12, 100 * step->mfu, 100 * step->hfu,
	       step->peak_flops_per_s / 1e12);
	if (step->bubble_s > 0)
		printf("  bubble %.1f %% of the ideal time, %.1f %% of the "
		       "step\n",
		       100 * step->bubble_of_ideal,
		       100 * step->bubble_of_total);
	fit_print(fit);
	if (fit->warning[0])
		printf("  %s\n", fit->warning);
}

static const struct weft_gpu *gpu_choose(const struct question *q,
					 const struct weft_fabric *f,
					 struct weft_error *err)
{
	const struct weft_gpu *gpu = NULL;

	if (q->gpu || !f)
		return weft_gpu_find(q->gpu ? q->gpu : "H100", err);
	gpu = weft_gpu_of_profile(f->profile);
	if (!gpu)
		weft_fail(err, WEFT_EINVAL,
			  "the fabric does not say which GPUs it has; give "
			  "--gpu NAME");
	return gpu;
}

/* Multiplies *factor by what slow nodes do to the step. */
static int health_apply(const struct question *q, const struct weft_fabric *f,
			const struct weft_job *job, const uint32_t *where,
			double *factor, struct weft_error *err)
{
	struct weft_health health = {0};
	struct weft_slowdown slowdown;
	int rc = 0;

	if (!q->health)
		return 0;
	if (weft_health_load(q->health, f, &health, err) ||
	    weft_health_slowdown(&health, f, &job->spec, &job->grid, where,
				 &slowdown, err))
		rc = -1;
	else
		*factor *= slowdown.factor;
	weft_health_free(&health);
	return rc;
}

/* Where the ranks go: on a given fabric as weft plan would, else in order. */
static int job_step(const struct question *q, const struct weft_fabric *f,
		    const struct weft_job *job,
		    struct weft_step_options *options, struct weft_step *step,
		    struct weft_error *err)
{
	struct weft_step_job placed = {
		.fabric = f,
		.spec = &job->spec,
		.model = &job->model,
		.exact_sharing = true,
	};
	uint32_t *where;
	int rc = -1;

	options->straggler = fmax(options->straggler, 1) *
			     weft_straggler_expected_max(job->n_gpus, q->jitter,
							 WEFT_JITTER_NORMAL);
	if (!q->fabric)
		return step_run(f, &job->spec, &job->model, options, step, err);
	where = weft_calloc(job->n_gpus, sizeof(*where), err);
	placed.where = where;
	if (where && step_place(f, job, where, err) == 0 &&
	    health_apply(q, f, job, where, &options->straggler, err) == 0)
		rc = weft_step(&placed, options, step, err);
	free(where);
	return rc;
}

static int answer_job(const struct question *q, struct weft_error *err)
{
	struct weft_step_options mine = q->options;
	struct weft_fabric *f = NULL;
	struct weft_job job = {0};
	struct weft_step step;
	struct known known;
	struct fit fit;
	int rc = -1;

	if (q->fabric) {
		f = weft_fabric_load(q->fabric, err);
		if (!f)
			return -1;
	}
	mine.gpu = gpu_choose(q, f, err);
	if (!mine.gpu || weft_job_build(q->job, 0, true, f, &job, err))
		goto out;
	if (!f)
		f = step_fabric(mine.gpu, job.n_gpus, 0, "", "", err);
	mine.efficiency = step_constant(&q->constants, mine.gpu);
	if (!f || job_step(q, f, &job, &mine, &step, err))
		goto out;
	fit = fit_find(&job, mine.gpu);
	known = known_find(mine.gpu, f, &job, step.step_s);
	if (q->shared.json)
		rc = job_json(mine.gpu, &step, &known, &fit, err);
	else
		job_text(mine.gpu, &step, &known, &fit);
	rc = q->shared.json ? rc : 0;
out:
	weft_job_free(&job);
	weft_fabric_free(f);
	return rc;
}

/* ---- tables ---- */

static int calibrate(struct question *q, struct weft_error *err)
{
	struct step_table table = {0};
	struct step_constants none = {0};
	int rc = step_table_load(q->calibrate, &q->options, &none, &table, err);

	if (rc == 0)
		rc = step_table_constants(&table, &q->constants, err);
	step_table_free(&table);
	return rc;
}

static int answer_table(struct question *q, struct weft_error *err)
{
	struct step_table table = {0};
	struct csv others = {0};
	int rc = -1;

	if ((q->table && step_table_load(q->table, &q->options, &q->constants,
					 &table, err)) ||
	    (q->baseline && csv_load(q->baseline, &others, err)))
		goto out;
	rc = 0;
	if (q->leave_out)
		rc = step_table_print_left_out(&table, q->shared.json, err);
	else if (q->shared.json)
		rc = step_table_json(&table, &q->constants, &others, err);
	else
		step_table_text(&table, &q->constants, &others);
out:
	csv_free(&others);
	step_table_free(&table);
	return rc;
}

static int answer(void *input, struct weft_error *err)
{
	struct question *q = input;
	/* Of rows that do not name theirs. */
	if (q->gpu) {
		q->options.gpu = weft_gpu_find(q->gpu, err);
		if (!q->options.gpu)
			return -1;
	}
	if (q->calibrate && calibrate(q, err))
		return -1;
	return q->job ? answer_job(q, err) : answer_table(q, err);
}

const struct calculator model_step = {
	.name = "step",
	.help = "how long a training step takes, and why",
	.line.doc =
		"How long one training step takes and what it is made of; or "
		"the same for each run of a table, beside what was measured.",
	LINE_ROWS(known_options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
