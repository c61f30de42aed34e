/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_sequence.c - weft model sequence: attention over several GPUs */
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

#define QUESTION struct question

static const struct option_row options[] = {
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

#define RESULT struct weft_sequence

static const struct model_figure figures[] = {
	FIGURE("hop_bytes", "one block of K and V", hop_bytes, MB(2)),
	FIGURE("buffer_bytes", "buffer of one block", buffer_bytes, MB(2),
	       PRINTED("KV-ring buffer", MB(0)), .difference = "seed_mib"),
	FIGURE("double_buffer_bytes", "buffers, in and out",
	       double_buffer_bytes, MB(2), .difference = "seed_single_buffer"),
	FIGURE("hop_s", "hop", hop_s, MS(3)),
	FIGURE("ring_s", "all hops of a layer", ring_s, MS(3)),
	FIGURE("gather_bytes", "gathered K and V", gather_bytes, MB(2)),
	FIGURE("gather_s", "gathering them", gather_s, MS(3),
	       PRINTED("Communication per layer", {1e-6, 2, " us"}),
	       .difference = "seed_us"),
	FIGURE("compute_s", "attention of a layer", compute_s, MS(3)),
	FIGURE("block_s", "of one block", block_s, MS(3)),
	FIGURE("ratio", "hop / block", ratio, PLAIN(3)),
	FIGURE("gather_ratio", "gather / attention", gather_ratio, PLAIN(3),
	       .difference = "seed_us"),
	FIGURE("serial_s", "ring, one buffer", serial_s, MS(3)),
	FIGURE("overlapped_s", "ring, double buffer", overlapped_s, MS(3)),
	FIGURE("gather_serial_s", "gather, one buffer", gather_serial_s, MS(3),
	       .difference = "seed_us"),
	FIGURE("gather_overlapped_s", "gather, double buffer",
	       gather_overlapped_s, MS(3), .difference = "seed_us"),
	FIGURE("min_block_tokens", "tokens per GPU to hide", min_block_tokens,
	       PLAIN(0)),
	FIGURE("hidden", NULL, hidden, {0}, .flag = true),
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

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct model_sequence_part part;

	if (model_sequence_part(&question->job, &question->options, &part, err))
		return -1;
	return model_print(&part.report, err);
}

const struct calculator model_sequence = {
	.name = "sequence",
	.help = "attention over several GPUs, ring and gather",
	.line.doc = "What splitting a sequence over GPUs costs one attention "
		    "layer, as a ring and as a gather, with and without a "
		    "double buffer.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
