/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_allreduce.c - weft model allreduce: the gradient sync of a step */
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "costmodel/job/model.h"
#include "lab/calculators/gradsync.h"
#include "lab/model/model.h"
#include "lab/model/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	KEY_PARAMS = 256,
	KEY_MODEL,
	KEY_BYTES,
	KEY_LINK,
	KEY_LATENCY,
	KEY_COMPUTE,
	KEY_PER_BILLION,
	KEY_TOKENS,
	KEY_FLOPS,
	KEY_OVERLAP,
	KEY_COMPRESSION,
	KEY_ACCUMULATION,
	KEY_PER_NODE,
	KEY_INTRA,
	KEY_ALGORITHM,
	KEY_WALL,
};

static const struct argp_option options[] = {
	{"params", KEY_PARAMS, "N", 0, "parameters: 7e9, 7B", 1},
	{"model", KEY_MODEL, "NAME", 0, "those of a built-in model", 1},
	{"bytes-per-param", KEY_BYTES, "N", 0,
	 "of a gradient element (default: 2)", 1},
	{"gpus", 'g', "N", 0, "that synchronise", 1},
	{"link", KEY_LINK, "RATE", 0, "of each GPU, one direction: 400Gbps", 1},
	{"latency", KEY_LATENCY, "TIME", 0, "of one message (default: 0)", 1},
	{"gpus-per-node", KEY_PER_NODE, "N", 0,
	 "then sync inside nodes first is an algorithm, too", 2},
	{"intra", KEY_INTRA, "RATE", 0, "inside a node, one direction", 2},
	{"algorithm", KEY_ALGORITHM, "NAME", 0,
	 "ring, tree, halving-doubling, hierarchical, star (default: the "
	 "fastest)",
	 2},
	{"compute", KEY_COMPUTE, "TIME", 0, "of one forward and backward", 3},
	{"tokens", KEY_TOKENS, "N", 0,
	 "of one GPU per micro-batch: computation is 6 params tokens / flops",
	 3},
	{"flops", KEY_FLOPS, "RATE", 0, "that a GPU sustains: 400TFLOPS", 3},
	{"compute-per-billion", KEY_PER_BILLION, "TIME", 0,
	 "instead: per billion parameters (default: 0.5ms)", 3},
	{"overlap", KEY_OVERLAP, "SHARE", 0,
	 "of the shorter of the two that is hidden, 0 to 1 (default: 0)", 4},
	{"compression", KEY_COMPRESSION, "FACTOR", 0,
	 "by which gradients shrink (default: 1)", 4},
	{"accumulation", KEY_ACCUMULATION, "K", 0,
	 "micro-batches per sync (default: 1)", 4},
	{"wall", KEY_WALL, "SHARE", 0,
	 "overhead from which on to warn (default: 0.5)", 4},
	{0},
};

struct question {
	struct model_options options;
	struct weft_gradsync_job job;
	double tokens, flops;
};

static double model_parameters(const struct argp_state *state, const char *name)
{
	struct weft_model model;
	struct weft_error err = {0};

	if (weft_model_find(name, &model, &err))
		argp_error(state, "--model: %s", err.text);
	return weft_model_parameters(&model);
}

static enum weft_gradsync_algorithm
algorithm_parse(const struct argp_state *state, const char *name)
{
	for (int a = 0; a < WEFT_N_GRADSYNC_ALGORITHMS; a++) {
		if (strcmp(weft_gradsync_algorithm_names[a], name) == 0)
			return (enum weft_gradsync_algorithm)a;
	}
	argp_error(state, "\"%s\" is not an algorithm; did you mean \"%s\"?",
		   name,
		   weft_suggest(name, weft_gradsync_algorithm_names,
				WEFT_N_GRADSYNC_ALGORITHMS));
	return WEFT_GRADSYNC_FASTEST;
}

static void question_check(const struct argp_state *state,
			   struct question *question)
{
	struct weft_gradsync_job *job = &question->job;

	if (!(job->parameters > 0) || !job->n_gpus ||
	    !(job->link_bytes_per_s > 0))
		argp_error(state, "which sync? Give --params N, --gpus N and "
				  "--link RATE");
	if (!(question->tokens > 0) != !(question->flops > 0))
		argp_error(state, "--tokens and --flops go together");
	if (question->tokens > 0)
		job->compute_s = 6 * job->parameters * question->tokens /
				 question->flops;
}

static error_t parse_compute(int key, char *arg, struct argp_state *state)
{
	struct question *question = state->input;
	struct weft_gradsync_job *job = &question->job;

	switch (key) {
	case KEY_COMPUTE:
		job->compute_s = quantity_parse(state, QUANTITY_DURATION, arg);
		return 0;
	case KEY_PER_BILLION:
		job->compute_s_per_parameter =
			quantity_parse(state, QUANTITY_DURATION, arg) / 1e9;
		return 0;
	case KEY_TOKENS:
		question->tokens = quantity_parse(state, QUANTITY_COUNT, arg);
		return 0;
	case KEY_FLOPS:
		question->flops = quantity_parse(state, QUANTITY_FLOPS, arg);
		return 0;
	case KEY_OVERLAP:
		job->overlap = option_number(state, arg, 0, 1);
		return 0;
	case KEY_COMPRESSION:
		job->compression = option_number(state, arg, 1, 1e6);
		return 0;
	case KEY_ACCUMULATION:
		job->accumulation = quantity_whole(state, arg, 1u << 20);
		return 0;
	case KEY_WALL:
		job->wall = option_number(state, arg, 0, 1);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct question *question = state->input;
	struct weft_gradsync_job *job = &question->job;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &question->options;
		return 0;
	case KEY_PARAMS:
		job->parameters = quantity_parse(state, QUANTITY_COUNT, arg);
		return 0;
	case KEY_MODEL:
		job->parameters = model_parameters(state, arg);
		return 0;
	case KEY_BYTES:
		job->parameter_bytes = option_number(state, arg, 0.125, 16);
		return 0;
	case 'g':
		job->n_gpus = quantity_whole(state, arg, 1u << 22);
		return 0;
	case KEY_LINK:
		job->link_bytes_per_s =
			quantity_parse(state, QUANTITY_RATE, arg);
		return 0;
	case KEY_LATENCY:
		job->latency_s = quantity_parse(state, QUANTITY_TIME, arg);
		return 0;
	case KEY_PER_NODE:
		job->gpus_per_node = quantity_whole(state, arg, 1024);
		return 0;
	case KEY_INTRA:
		job->intra_bytes_per_s =
			quantity_parse(state, QUANTITY_RATE, arg);
		return 0;
	case KEY_ALGORITHM:
		job->algorithm = algorithm_parse(state, arg);
		return 0;
	case ARGP_KEY_END:
		question_check(state, question);
		return 0;
	default:
		return parse_compute(key, arg, state);
	}
}

#define AT(member)	   offsetof(struct weft_gradsync, member)
#define TIME_OF(algorithm) (AT(time_s) + sizeof(double) * (algorithm))
#define GBPS		   (1e9 / 8)

static const struct model_figure figures[] = {
	{.key = "all_reduce_s",
	 .label = "all-reduce",
	 .offset = TIME_OF(WEFT_GRADSYNC_FASTEST),
	 .shown = {1e-3, 1, " ms"},
	 .seed = {1e-3, 1, "ms"},
	 .seed_label = "All-Reduce Time",
	 .difference = "seed_gib"},
	{.key = "overhead",
	 .label = "communication overhead",
	 .offset = AT(overhead),
	 .shown = {0.01, 1, " %"},
	 .seed = {0.01, 1, "%"},
	 .seed_label = "Comm Overhead",
	 .difference = "seed_gib"},
	{.key = "efficiency",
	 .label = "GPU efficiency",
	 .offset = AT(efficiency),
	 .shown = {0.01, 1, " %"},
	 .seed = {0.01, 1, "%"},
	 .seed_label = "GPU Efficiency",
	 .difference = "seed_gib"},
	{.key = "ring_s",
	 .label = "ring",
	 .offset = TIME_OF(WEFT_GRADSYNC_RING),
	 .shown = {1e-3, 1, " ms"},
	 .seed = {1e-3, 1, "ms"},
	 .seed_label = "Ring",
	 .difference = "seed_gib"},
	{.key = "tree_s",
	 .label = "tree",
	 .offset = TIME_OF(WEFT_GRADSYNC_TREE),
	 .shown = {1e-3, 1, " ms"},
	 .seed = {1e-3, 1, "ms"},
	 .seed_label = "Tree",
	 .difference = "seed_tree"},
	{.key = "halving_doubling_s",
	 .label = "halving-doubling",
	 .offset = TIME_OF(WEFT_GRADSYNC_HALVING),
	 .shown = {1e-3, 1, " ms"}},
	{.key = "hierarchical_s",
	 .label = "hierarchical",
	 .offset = TIME_OF(WEFT_GRADSYNC_HIERARCHICAL),
	 .shown = {1e-3, 1, " ms"}},
	{.key = "gradient_bytes",
	 .label = "gradients",
	 .offset = AT(gradient_bytes),
	 .shown = {1e9, 2, " GB"},
	 .seed = {1e9, 2, " GB"},
	 .seed_label = "Gradient Size",
	 .difference = "seed_gib"},
	{.key = "wire_bytes",
	 .label = "sent by each GPU",
	 .offset = AT(wire_bytes),
	 .shown = {1e9, 2, " GB"}},
	{.key = "bus_bytes_per_s",
	 .label = "bus bandwidth",
	 .offset = AT(bus_bytes_per_s),
	 .shown = {1e9, 1, " GB/s"}},
	{.key = "compute_s",
	 .label = "computation",
	 .offset = AT(compute_s),
	 .shown = {1e-3, 1, " ms"},
	 .seed = {1e-3, 1, " ms"},
	 .seed_label = "Compute Time"},
	{.key = "exposed_s",
	 .label = "exposed communication",
	 .offset = AT(exposed_s),
	 .shown = {1e-3, 1, " ms"}},
	{.key = "step_s",
	 .label = "step",
	 .offset = AT(step_s),
	 .shown = {1e-3, 1, " ms"},
	 .seed = {1e-3, 1, " ms"},
	 .seed_label = "Step Time",
	 .difference = "seed_gib"},
	{.key = "ratio",
	 .label = "communication / compute",
	 .offset = AT(ratio),
	 .shown = {1, 2, ""}},
	{.key = "min_bandwidth_bytes_per_s",
	 .label = "link that hides it",
	 .offset = AT(hiding_bytes_per_s),
	 .shown = {GBPS, 0, " Gbps"},
	 .seed = {GBPS, 0, "+ Gbps"},
	 .seed_label = "Min Bandwidth",
	 .difference = "seed_minbw"},
	{.key = "recommended_bytes_per_s",
	 .label = "recommended",
	 .offset = AT(recommended_bytes_per_s),
	 .shown = {GBPS, 0, " Gbps"},
	 .seed = {GBPS, 0, "G+"},
	 .seed_label = "Recommended",
	 .difference = "seed_recommend"},
	{.key = "wall", .offset = AT(wall), .flag = true},
};

static void notes_add(const struct question *question,
		      const struct weft_gradsync *sync,
		      struct model_report *report)
{
	const struct weft_gradsync_job *job = &question->job;
	double wall = job->wall > 0 ? job->wall : WEFT_GRADSYNC_WALL;
	double recommended = sync->recommended_bytes_per_s / GBPS;

	if (sync->wall && question->options.convention == WEFT_SEED)
		model_note(report,
			   "Communication Wall Detected: Communication "
			   "overhead exceeds %.0f%%. Consider using gradient "
			   "accumulation, larger batch sizes, or upgrading to "
			   "%.0fG+ interconnects.",
			   100 * wall, recommended);
	else if (sync->wall)
		model_note(report,
			   "communication wall: overhead above %.0f %%. "
			   "Accumulating %.0f micro-batches per sync, or %.0f "
			   "Gbps (%.0f links) with overlap, would hide it.",
			   100 * wall,
			   ceil(sync->ratio *
				(job->accumulation ? job->accumulation : 1)),
			   recommended,
			   recommended * GBPS / job->link_bytes_per_s);
	if (question->options.convention == WEFT_RIGHT && job->compute_s == 0)
		model_note(report,
			   "computation is assumed (%g ms per billion "
			   "parameters), not estimated: give --compute, or "
			   "--tokens and --flops.",
			   1e12 * (job->compute_s_per_parameter > 0
					   ? job->compute_s_per_parameter
					   : WEFT_GRADSYNC_COMPUTE));
}

static int answer(const struct question *question, struct weft_error *err)
{
	const struct weft_gradsync_job *job = &question->job;
	struct weft_gradsync right, seed;
	struct model_report report = {
		.model = "allreduce",
		.options = &question->options,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &right,
		.seed = &seed,
	};
	char title[128];

	if (weft_gradsync(job, WEFT_RIGHT, &right, err) ||
	    weft_gradsync(job, WEFT_SEED, &seed, err))
		return -1;
	snprintf(title, sizeof(title),
		 "%.4gB parameters x %u GPUs x %.4g Gbps (%s)",
		 job->parameters / 1e9, job->n_gpus,
		 job->link_bytes_per_s / GBPS,
		 weft_gradsync_algorithm_names[question->options.convention ==
							       WEFT_SEED
						       ? seed.algorithm
						       : right.algorithm]);
	report.title = title;
	notes_add(question,
		  question->options.convention == WEFT_SEED ? &seed : &right,
		  &report);
	return model_print(&report, err);
}

int model_allreduce(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{.argp = &model_argp},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.children = children,
		.doc = "What synchronising gradients costs a data-parallel "
		       "step: time by algorithm, overhead, the link that would "
		       "hide it.",
	};
	struct question question = {.job = {.parameter_bytes = 2}};
	struct weft_error err = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &question);
	return answer(&question, &err) ? cmd_fail(&err) : EXIT_YES;
}
