/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_whatif.c - weft model whatif: what single terms change about a step */
#include "base/size.h"
#include "base/suggest.h"
#include "cli/in_unit.h"
#include "cli/report.h"
#include "lab/calculators/whatif.h"
#include "lab/model/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TERMS 32

struct question {
	struct model_options options;
	struct weft_whatif_job job;
	const struct weft_whatif_term *term[MAX_TERMS];
	uint32_t n_terms;
};

static double *term_value(struct weft_whatif_terms *terms,
			  const struct weft_whatif_term *term)
{
	return (double *)(void *)((char *)terms + term->offset);
}

static void terms_print(void)
{
	for (uint32_t i = 0; i < weft_n_whatif_rows; i++) {
		const struct weft_whatif_term *t = &weft_whatif_rows[i];

		printf("%-16s %s, %s\n", t->name, t->unit, t->help);
		if (t->seed_high > 0)
			printf("%-16s   popular claims: %g to %g\n", "",
			       t->seed_low, t->seed_high);
		printf("%-16s   %s\n", "",
		       *t->source ? t->source
				  : "no source known: measure before use");
	}
}

static const struct weft_whatif_term *term_find(const struct argp_state *state,
						const char *name)
{
	const struct weft_whatif_term *term = weft_whatif_find(name);
	char hint[WEFT_SUGGEST_TEXT];

	if (!term)
		argp_error(state,
			   "there is no term \"%s\"; %s (--terms lists all)",
			   name,
			   WEFT_ROW_HINT(name, weft_whatif_rows,
					 weft_n_whatif_rows, hint));
	return term;
}

/* "TERM=VALUE"; times take their unit. */
static void term_set(const struct argp_state *state, char *arg, void *input)
{
	struct question *question = input;
	char *equals = strchr(arg, '=');
	const struct weft_whatif_term *term;
	double value;

	if (!equals) {
		argp_error(state, "\"%s\" is not TERM=VALUE", arg);
		return;
	}
	*equals = '\0';
	term = term_find(state, arg);
	if (!term)
		return;
	if (strcmp(term->unit, "s") == 0)
		value = quantity_time(state, equals + 1);
	else
		value = option_number(state, equals + 1, term->min, term->max);
	*term_value(&question->job.terms, term) = value;
	for (uint32_t i = 0; i < question->n_terms; i++) {
		if (question->term[i] == term)
			argp_error(state, "%s is set twice", arg);
	}
	question->term[question->n_terms++] = term;
}

#define QUESTION struct question

static const struct option_row options[] = {
	{"compute", 0, "TIME", "of one micro-batch", 1,
	 DURATION(job.compute_s)},
	{"comm", 0, "TIME", "of one sync", 1, DURATION(job.comm_s)},
	{"latency", 0, "TIME",
	 "part of --comm that does not shrink with bytes (default: 0)", 1,
	 TIME(job.latency_s)},
	{"overlap", 0, "SHARE",
	 "of the shorter of computing and sync that is hidden (default: 0)", 1,
	 NUMBER(job.overlap, 0, 1)},
	{"gpus", 'g', "N", "that wait (default: 1)", 1,
	 WHOLE(job.n_gpus, 1, 1u << 22)},
	{"collectives", 0, "N", "per sync (default: 1)", 1,
	 WHOLE(job.collectives, 1, 1u << 20)},
	{"chunks", 0, "N", "per collective (default: 1)", 1,
	 WHOLE(job.chunks, 1, 1u << 20)},
	{"steps", 0, "N", "of the run (default: 1)", 1, COUNT(job.steps)},
	{"set", 0, "TERM=VALUE", "turn a term on; may be given several times",
	 2, READ(term_set)},
	{"terms", 0, NULL, "list the terms and exit", 2, LIST(terms_print)},
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct question *question = input;

	if (!(question->job.compute_s > 0) || !(question->job.comm_s > 0))
		argp_error(state, "which step? Give --compute TIME and --comm "
				  "TIME");
}

#define RESULT struct weft_whatif

static const struct model_figure figures[] = {
	FIGURE("base_s", "step as it is", base_s, MS(3)),
	FIGURE("step_s", "step then", step_s, MS(3), .seed = MS(3)),
	FIGURE("comm_s", "communication then", comm_s, MS(3), .seed = MS(3)),
	FIGURE("overlap_s", "hidden of it", overlap_s, MS(3)),
	FIGURE("exposed_s", "exposed of it", exposed_s, MS(3)),
	FIGURE("ratio", "communication / compute", ratio, PLAIN(3),
	       .seed = PLAIN(3)),
	FIGURE("overhead", "overhead", overhead, PERCENT(1),
	       .seed = {0.01, 1, "%"}),
	FIGURE("speedup", "speedup", speedup, PLAIN(3), .seed = PLAIN(3)),
	FIGURE("drop", "throughput lost", drop, PERCENT(1),
	       .seed = {0.01, 1, "%"}),
	FIGURE("launch_gap_s", "launch gaps", launch_gap_s, MS(4),
	       .seed = MS(4), .difference = "launch_gap_seed"),
	FIGURE("lost_gpu_s", "GPU time lost", lost_gpu_s, {3600, 4, " h"},
	       .seed = {3600, 4, " h"}),
};

/* Each term by itself, and whether it has been measured. */
static int notes_add(const struct question *question,
		     struct model_report *report, struct weft_error *err)
{
	for (uint32_t i = 0; i < question->n_terms; i++) {
		const struct weft_whatif_term *term = question->term[i];
		struct weft_whatif_job job = question->job;
		struct weft_whatif alone;
		double value = *term_value(&job.terms, term);

		job.terms = weft_whatif_off;
		*term_value(&job.terms, term) = value;
		if (weft_whatif(&job, question->options.convention, &alone,
				err))
			return -1;
		model_note(report, "%s %g alone: %s%s; %s", term->name, value,
			   alone.step_s <= alone.base_s ? "saves " : "costs ",
			   IN_UNIT(fabs(alone.step_s - alone.base_s), "s"),
			   *term->source ? term->source
					 : "no source known, measure it");
	}
	return 0;
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	const struct weft_whatif_job *job = &question->job;
	struct weft_whatif right, seed;
	struct model_report report = {
		.model = "whatif",
		.options = &question->options,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &right,
		.seed = &seed,
	};
	char title[128];

	if (weft_whatif(job, WEFT_RIGHT, &right, err) ||
	    weft_whatif(job, WEFT_SEED, &seed, err) ||
	    notes_add(question, &report, err))
		return -1;
	snprintf(title, sizeof(title), "%s of computation, %s of communication",
		 IN_UNIT(job->compute_s, "s"), IN_UNIT(job->comm_s, "s"));
	report.title = title;
	return model_print(&report, err);
}

const struct calculator model_whatif = {
	.name = "whatif",
	.help = "what single terms change about a step",
	.line.doc = "What single terms would change about a step: compression, "
		    "accumulation, oversubscription, RDMA, launch gaps, "
		    "contention, stragglers.  All are off until set.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.question = &(const struct question){.job = {.terms = WEFT_WHATIF_OFF}},
	.answer = answer,
};
