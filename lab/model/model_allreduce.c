/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_allreduce.c - weft model allreduce: the gradient sync of a step */
#include "base/size.h"
#include "cli/in_unit.h"
#include "lab/calculators/gradsync.h"
#include "lab/model/model.h"
#include "lab/model/options.h"

#include <math.h>
#include <stdio.h>

struct question {
	struct model_options options;
	struct weft_gradsync_job job;
	double tokens, flops;
};

static void model_read(const struct argp_state *state, char *name, void *input)
{
	struct question *question = input;
	struct weft_model model = model_named(state, name);

	question->job.parameters = weft_model_parameters(&model);
}

static void per_billion_read(const struct argp_state *state, char *text,
			     void *input)
{
	struct question *question = input;

	question->job.compute_s_per_parameter =
		quantity_duration(state, text) / 1e9;
}

#define QUESTION struct question

static const struct option_row options[] = {
	{"params", 0, "N", "parameters: 7e9, 7B", 1, COUNT(job.parameters)},
	{"model", 0, "NAME", "parameters of a built-in model", 1,
	 READ(model_read)},
	{"bytes-per-param", 0, "N", "of a gradient element (default: 2)", 1,
	 NUMBER(job.parameter_bytes, 0.125, 16)},
	{"gpus", 'g', "N", "that synchronise", 1,
	 WHOLE(job.n_gpus, 1, 1u << 22)},
	{"link", 0, "RATE", "of each GPU, one direction: 400Gbps", 1,
	 RATE(job.link_bytes_per_s)},
	{"latency", 0, "TIME", "of one message (default: 0)", 1,
	 TIME(job.latency_s)},
	{"gpus-per-node", 0, "N", "lets algorithms sync inside nodes first", 2,
	 WHOLE(job.gpus_per_node, 1, 1024)},
	{"intra", 0, "RATE", "inside a node, one direction", 2,
	 RATE(job.intra_bytes_per_s)},
	{"algorithm", 0, "NAME",
	 "ring, tree, halving-doubling, hierarchical, star (default: the "
	 "fastest)",
	 2,
	 NAME(job.algorithm, weft_gradsync_algorithm_names,
	      WEFT_N_GRADSYNC_ALGORITHMS, "an algorithm")},
	{"compute", 0, "TIME", "of one forward and backward", 3,
	 DURATION(job.compute_s)},
	{"tokens", 0, "N",
	 "of one GPU per micro-batch: computation is 6 params tokens / flops",
	 3, COUNT(tokens)},
	{"flops", 0, "RATE", "that a GPU sustains: 400TFLOPS", 3, FLOPS(flops)},
	{"compute-per-billion", 0, "TIME",
	 "of one forward and backward per billion parameters, instead of "
	 "--compute (default: 0.5ms)",
	 3, READ(per_billion_read)},
	{"overlap", 0, "SHARE",
	 "of the shorter of computing and sync that is hidden (default: 0)", 4,
	 NUMBER(job.overlap, 0, 1)},
	{"compression", 0, "FACTOR", "by which gradients shrink (default: 1)",
	 4, NUMBER(job.compression, 1, 1e6)},
	{"accumulation", 0, "K", "micro-batches per sync (default: 1)", 4,
	 WHOLE(job.accumulation, 1, 1u << 20)},
	{"wall", 0, "SHARE", "overhead from which on to warn (default: 0.5)", 4,
	 NUMBER(job.wall, 0, 1)},
};

static void question_check(const struct argp_state *state, void *input)
{
	struct question *question = input;
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

#define RESULT struct weft_gradsync
#define GBPS   (1e9 / 8)

static const struct model_figure figures[] = {
	FIGURE("all_reduce_s", "all-reduce", time_s[WEFT_GRADSYNC_FASTEST],
	       MS(1), PRINTED("All-Reduce Time", {1e-3, 1, "ms"}),
	       .difference = "seed_gib"),
	FIGURE("overhead", "communication overhead", overhead, PERCENT(1),
	       PRINTED("Comm Overhead", {0.01, 1, "%"}),
	       .difference = "seed_gib"),
	FIGURE("efficiency", "GPU efficiency", efficiency, PERCENT(1),
	       PRINTED("GPU Efficiency", {0.01, 1, "%"}),
	       .difference = "seed_gib"),
	FIGURE("ring_s", "ring", time_s[WEFT_GRADSYNC_RING], MS(1),
	       PRINTED("Ring", {1e-3, 1, "ms"}), .difference = "seed_gib"),
	FIGURE("tree_s", "tree", time_s[WEFT_GRADSYNC_TREE], MS(1),
	       PRINTED("Tree", {1e-3, 1, "ms"}), .difference = "seed_tree"),
	FIGURE("halving_doubling_s", "halving-doubling",
	       time_s[WEFT_GRADSYNC_HALVING], MS(1)),
	FIGURE("hierarchical_s", "hierarchical",
	       time_s[WEFT_GRADSYNC_HIERARCHICAL], MS(1)),
	FIGURE("gradient_bytes", "gradients", gradient_bytes, GB(2),
	       PRINTED("Gradient Size", GB(2)), .difference = "seed_gib"),
	FIGURE("wire_bytes", "sent by each GPU", wire_bytes, GB(2)),
	FIGURE("bus_bytes_per_s", "bus bandwidth", bus_bytes_per_s,
	       {1e9, 1, " GB/s"}),
	FIGURE("compute_s", "computation", compute_s, MS(1),
	       PRINTED("Compute Time", MS(1))),
	FIGURE("exposed_s", "exposed communication", exposed_s, MS(1)),
	FIGURE("step_s", "step", step_s, MS(1), PRINTED("Step Time", MS(1)),
	       .difference = "seed_gib"),
	FIGURE("ratio", "communication / compute", ratio, PLAIN(2)),
	FIGURE("min_bandwidth_bytes_per_s", "link that hides it",
	       hiding_bytes_per_s, {GBPS, 0, " Gbps"},
	       PRINTED("Min Bandwidth", {GBPS, 0, "+ Gbps"}),
	       .difference = "seed_minbw"),
	FIGURE("recommended_bytes_per_s", "recommended",
	       recommended_bytes_per_s, {GBPS, 0, " Gbps"},
	       PRINTED("Recommended", {GBPS, 0, "G+"}),
	       .difference = "seed_recommend"),
	FIGURE("wall", NULL, wall, {0}, .flag = true),
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
			   "computation is assumed (%s per billion "
			   "parameters), not estimated: give --compute, or "
			   "--tokens and --flops.",
			   IN_UNIT(1e9 * (job->compute_s_per_parameter > 0
						  ? job->compute_s_per_parameter
						  : WEFT_GRADSYNC_COMPUTE),
				   "s"));
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
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
	char title[128], parameters[32];

	if (weft_gradsync(job, WEFT_RIGHT, &right, err) ||
	    weft_gradsync(job, WEFT_SEED, &seed, err))
		return -1;
	snprintf(title, sizeof(title), "%s parameters x %u GPUs x %s (%s)",
		 weft_count_text(job->parameters, parameters,
				 sizeof(parameters)),
		 job->n_gpus, IN_UNIT(8 * job->link_bytes_per_s, "bit/s"),
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

const struct calculator model_allreduce = {
	.name = "allreduce",
	.help = "what synchronising gradients costs a step",
	.line.doc = "What synchronising gradients costs a data-parallel step: "
		    "time by algorithm, overhead, the link that would hide it.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.question = &(const struct question){.job = {.parameter_bytes = 2}},
	.answer = answer,
};
