/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_allreduce.c - weft model allreduce: the gradient sync of a step */
#include "base/size.h"
#include "cli/cmd.h"
#include "lab/calculators/gradsync.h"
#include "lab/model/model.h"
#include "lab/model/options.h"
#include "lab/model/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static void algorithm_read(const struct argp_state *state, char *name,
			   void *input)
{
	struct question *question = input;

	question->job.algorithm = (enum weft_gradsync_algorithm)model_word(
		state, "an algorithm", name, weft_gradsync_algorithm_names,
		WEFT_N_GRADSYNC_ALGORITHMS);
}

static void per_billion_read(const struct argp_state *state, char *text,
			     void *input)
{
	struct question *question = input;

	question->job.compute_s_per_parameter =
		quantity_parse(state, QUANTITY_DURATION, text) / 1e9;
}

static const struct value_option options[] = {
	{"params", 0, "N", "parameters: 7e9, 7B", 1, COUNT(job.parameters)},
	{"model", 0, "NAME", "those of a built-in model", 1, READ(model_read)},
	{"bytes-per-param", 0, "N", "of a gradient element (default: 2)", 1,
	 NUMBER(job.parameter_bytes, 0.125, 16)},
	{"gpus", 'g', "N", "that synchronise", 1,
	 WHOLE(job.n_gpus, 1, 1u << 22)},
	{"link", 0, "RATE", "of each GPU, one direction: 400Gbps", 1,
	 RATE(job.link_bytes_per_s)},
	{"latency", 0, "TIME", "of one message (default: 0)", 1,
	 TIME(job.latency_s)},
	{"gpus-per-node", 0, "N",
	 "then sync inside nodes first is an algorithm, too", 2,
	 WHOLE(job.gpus_per_node, 1, 1024)},
	{"intra", 0, "RATE", "inside a node, one direction", 2,
	 RATE(job.intra_bytes_per_s)},
	{"algorithm", 0, "NAME",
	 "ring, tree, halving-doubling, hierarchical, star (default: the "
	 "fastest)",
	 2, READ(algorithm_read)},
	{"compute", 0, "TIME", "of one forward and backward", 3,
	 DURATION(job.compute_s)},
	{"tokens", 0, "N",
	 "of one GPU per micro-batch: computation is 6 params tokens / flops",
	 3, COUNT(tokens)},
	{"flops", 0, "RATE", "that a GPU sustains: 400TFLOPS", 3, FLOPS(flops)},
	{"compute-per-billion", 0, "TIME",
	 "instead: per billion parameters (default: 0.5ms)", 3,
	 READ(per_billion_read)},
	{"overlap", 0, "SHARE",
	 "of the shorter of the two that is hidden, 0 to 1 (default: 0)", 4,
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
	char text[32];

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
			   weft_quantity_text(
				   1e9 * (job->compute_s_per_parameter > 0
						  ? job->compute_s_per_parameter
						  : WEFT_GRADSYNC_COMPUTE),
				   "s", text, sizeof(text)));
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
	char title[128], parameters[32], rate[32];

	if (weft_gradsync(job, WEFT_RIGHT, &right, err) ||
	    weft_gradsync(job, WEFT_SEED, &seed, err))
		return -1;
	snprintf(title, sizeof(title), "%s parameters x %u GPUs x %s (%s)",
		 weft_count_text(job->parameters, parameters,
				 sizeof(parameters)),
		 job->n_gpus,
		 weft_quantity_text(8 * job->link_bytes_per_s, "bit/s", rate,
				    sizeof(rate)),
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
	static const struct model_asked asked = {
		.help = "What synchronising gradients costs a data-parallel "
			"step: time by algorithm, overhead, the link that "
			"would "
			"hide it.",
		.options = options,
		.n_options = sizeof(options) / sizeof(options[0]),
		.check = question_check,
	};
	struct question question = {.job = {.parameter_bytes = 2}};
	struct weft_error err = {0};

	model_parse(&asked, argc, argv, &question);
	return answer(&question, &err) ? cmd_fail(&err) : EXIT_YES;
}
