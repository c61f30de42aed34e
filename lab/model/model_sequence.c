/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_sequence.c - weft model sequence: attention over several GPUs */
#include "cli/cmd.h"
#include "lab/model/model_part.h"
#include "lab/model/options.h"

#include <math.h>
#include <stdio.h>

struct question {
	struct model_options options;
	struct weft_sequence_job job;
};

static void model_read(const struct argp_state *state, char *name, void *input)
{
	struct question *question = input;
	struct weft_sequence_job *job = &question->job;
	struct weft_model model = model_named(state, name);

	job->hidden = weft_model_kv_width(&model, 1);
	job->query_width = model.head_width
				   ? (double)model.head_width * model.heads
				   : model.hidden;
}

static const struct value_option options[] = {
	{"ways", 'n', "N", "GPUs that share the sequence", 1,
	 WHOLE(job.ways, 1, 1u << 20)},
	{"seq", 0, "N", "tokens of the whole sequence", 1, COUNT(job.tokens)},
	{"hidden", 0, "N", "width of keys, and of values", 1,
	 COUNT(job.hidden)},
	{"query-width", 0, "N", "width of queries (default: that of keys)", 1,
	 COUNT(job.query_width)},
	{"model", 0, "NAME", "both widths of a built-in model", 1,
	 READ(model_read)},
	{"element-bytes", 0, "N", "of an element (default: 2)", 1,
	 NUMBER(job.element_bytes, 0.125, 16)},
	{"link", 0, "RATE", "of each GPU, one direction", 2,
	 RATE(job.link_bytes_per_s)},
	{"latency", 0, "TIME", "of one message (default: 0)", 2,
	 TIME(job.latency_s)},
	{"compute", 0, "TIME", "attention of one layer on one GPU, forward", 3,
	 DURATION(job.compute_s)},
	{"flops", 0, "RATE", "instead: that a GPU sustains in attention", 3,
	 FLOPS(job.flops)},
	{"sync", 0, "TIME", "after each block (default: 0)", 3,
	 TIME(job.sync_s)},
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct question *question = input;
	const struct weft_sequence_job *job = &question->job;

	if (!job->ways || !(job->tokens > 0) || !(job->hidden > 0) ||
	    !(job->link_bytes_per_s > 0))
		argp_error(state, "which sequence? Give --ways N, --seq N, "
				  "--hidden N (or --model) and --link RATE");
}

#define AT(member) offsetof(struct weft_sequence, member)
#define MS                                                                     \
	{                                                                      \
		1e-3, 3, " ms"                                                 \
	}

static const struct model_figure figures[] = {
	{.key = "hop_bytes",
	 .label = "one block of K and V",
	 .offset = AT(hop_bytes),
	 .shown = {1e6, 2, " MB"}},
	{.key = "buffer_bytes",
	 .label = "buffer of one block",
	 .offset = AT(buffer_bytes),
	 .shown = {1e6, 2, " MB"},
	 .seed = {1e6, 0, " MB"},
	 .seed_label = "KV-ring buffer",
	 .difference = "seed_mib"},
	{.key = "double_buffer_bytes",
	 .label = "buffers, in and out",
	 .offset = AT(double_buffer_bytes),
	 .shown = {1e6, 2, " MB"},
	 .difference = "seed_single_buffer"},
	{.key = "hop_s", .label = "hop", .offset = AT(hop_s), .shown = MS},
	{.key = "ring_s",
	 .label = "all hops of a layer",
	 .offset = AT(ring_s),
	 .shown = MS},
	{.key = "gather_bytes",
	 .label = "gathered K and V",
	 .offset = AT(gather_bytes),
	 .shown = {1e6, 2, " MB"}},
	{.key = "gather_s",
	 .label = "gathering them",
	 .offset = AT(gather_s),
	 .shown = MS,
	 .seed = {1e-6, 2, " us"},
	 .seed_label = "Communication per layer",
	 .difference = "seed_us"},
	{.key = "compute_s",
	 .label = "attention of a layer",
	 .offset = AT(compute_s),
	 .shown = MS},
	{.key = "block_s",
	 .label = "of one block",
	 .offset = AT(block_s),
	 .shown = MS},
	{.key = "ratio",
	 .label = "hop / block",
	 .offset = AT(ratio),
	 .shown = {1, 3, ""}},
	{.key = "gather_ratio",
	 .label = "gather / attention",
	 .offset = AT(gather_ratio),
	 .shown = {1, 3, ""},
	 .difference = "seed_us"},
	{.key = "serial_s",
	 .label = "ring, one buffer",
	 .offset = AT(serial_s),
	 .shown = MS},
	{.key = "overlapped_s",
	 .label = "ring, double buffer",
	 .offset = AT(overlapped_s),
	 .shown = MS},
	{.key = "gather_serial_s",
	 .label = "gather, one buffer",
	 .offset = AT(gather_serial_s),
	 .shown = MS,
	 .difference = "seed_us"},
	{.key = "gather_overlapped_s",
	 .label = "gather, double buffer",
	 .offset = AT(gather_overlapped_s),
	 .shown = MS,
	 .difference = "seed_us"},
	{.key = "min_block_tokens",
	 .label = "tokens per GPU to hide",
	 .offset = AT(min_block_tokens),
	 .shown = {1, 0, ""}},
	{.key = "hidden", .offset = AT(hidden), .flag = true},
};

static struct model_bar bar(const char *key, const char *label,
			    double compute_s, double total_s)
{
	return (struct model_bar){key, label, compute_s,
				  fmax(total_s - compute_s, 0)};
}

static void notes_add(const struct weft_sequence_job *job,
		      const struct weft_sequence *q,
		      struct model_report *report)
{
	if (isnan(q->compute_s))
		model_note(report, "how much is hidden depends on the "
				   "attention's time: give --compute or "
				   "--flops.");
	else if (q->hidden)
		model_note(report, "with a double buffer every hop is hidden "
				   "behind a block's attention.");
	else
		model_note(report,
			   "a hop takes %.2f times as long as a block's "
			   "attention: even a double buffer leaves it "
			   "exposed.",
			   q->ratio);
	if (isfinite(q->min_block_tokens))
		model_note(report,
			   "a ring is hidden from %.0f tokens per GPU on "
			   "(%.0f over %u GPUs).",
			   ceil(q->min_block_tokens),
			   ceil(q->min_block_tokens) * job->ways, job->ways);
}

int model_sequence_part(const struct weft_sequence_job *job,
			const struct model_options *model_options,
			struct model_sequence_part *part,
			struct weft_error *err)
{
	bool seed = model_options->convention == WEFT_SEED;
	const struct weft_sequence *q = seed ? &part->seed : &part->right;

	if (weft_sequence(job, WEFT_RIGHT, &part->right, err) ||
	    weft_sequence(job, WEFT_SEED, &part->seed, err))
		return -1;
	part->bars[0] = bar("ring_serial", "ring, one buffer", q->compute_s,
			    q->serial_s);
	part->bars[1] = bar("ring_overlapped", "ring, double buffer",
			    q->compute_s, q->overlapped_s);
	part->bars[2] = bar("gather_serial", "gather, one buffer", q->compute_s,
			    q->gather_serial_s);
	part->bars[3] = bar("gather_overlapped", "gather, double buffer",
			    q->compute_s, q->gather_overlapped_s);
	snprintf(part->title, sizeof(part->title),
		 "%.0f tokens over %u GPUs, width %.0f", job->tokens, job->ways,
		 job->hidden);
	part->report = (struct model_report){
		.model = "sequence",
		.options = model_options,
		.title = part->title,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &part->right,
		.seed = &part->seed,
		.bars = part->bars,
		.n_bars = 4,
	};
	if (!seed)
		notes_add(job, q, &part->report);
	return 0;
}

int model_sequence(int argc, char **argv)
{
	static const struct model_asked asked = {
		.help = "What splitting a sequence over GPUs costs one "
			"attention layer, as a ring and as a gather, with and "
			"without a double buffer.",
		.options = options,
		.n_options = sizeof(options) / sizeof(options[0]),
		.check = question_check,
	};
	struct question question = {0};
	struct model_sequence_part part;
	struct weft_error err = {0};

	model_parse(&asked, argc, argv, &question);
	if (model_sequence_part(&question.job, &question.options, &part,
				&err) ||
	    model_print(&part.report, &err))
		return cmd_fail(&err);
	return EXIT_YES;
}
