/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_chunks.c - weft model chunks: how many buckets a gradient wants */
#include "cli/in_unit.h"
#include "lab/model/model_part.h"
#include "lab/model/options.h"

#include <stdio.h>

/* What the seeds take for starting a chunk. */
#define OVERHEAD_S 5e-6

struct question {
	struct model_options options;
	struct weft_chunks_job job;
};

#define QUESTION struct question

static const struct option_row options[] = {
	{"gradients", 0, "SIZE", "to synchronise: 500MB", 1,
	 BYTES(job.gradient_bytes)},
	{"link", 0, "RATE", "of each GPU, one direction", 1,
	 RATE(job.link_bytes_per_s)},
	{"gpus", 'g', "N",
	 "of the ring (default: very many, two passes of everything)", 1,
	 WHOLE(job.n_gpus, 1, 1u << 22)},
	{"overhead", 0, "TIME", "of starting one chunk (default: 5us)", 2,
	 DURATION(job.overhead_s)},
	{"backward", 0, "TIME", "pass to hide behind", 2,
	 DURATION(job.backward_s)},
	{"step", 0, "TIME", "without any overlap", 2, DURATION(job.step_s)},
	{"chunks", 0, "N", "so many instead of the best", 3,
	 WHOLE(job.n_chunks, 1, 1u << 24)},
	{"min-chunk", 0, "SIZE", "of the printed rule (default: 25MB)", 3,
	 BYTES(job.min_chunk_bytes)},
	{"whole-efficiency", 0, "SHARE",
	 "of the link that one large transfer reaches (default: 1)", 3,
	 NUMBER(job.whole_efficiency, 0.001, 1)},
	{"chunk-efficiency", 0, "SHARE",
	 "of the link that a chunk reaches (default: 1)", 3,
	 NUMBER(job.chunk_efficiency, 0.001, 1)},
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct question *question = input;
	const struct weft_chunks_job *job = &question->job;

	if (!(job->gradient_bytes > 0) || !(job->link_bytes_per_s > 0))
		argp_error(state, "which gradient? Give --gradients SIZE and "
				  "--link RATE");
	if (job->step_s > 0 && job->step_s < job->backward_s)
		argp_error(state, "--step: it is shorter than the --backward "
				  "pass in it");
}

#define RESULT struct weft_chunks

static const struct model_figure figures[] = {
	FIGURE("chunks", "chunks", n_chunks, PLAIN(0),
	       PRINTED("N_chunk_opt", PLAIN(0)), .difference = "nchunk_seed"),
	FIGURE("best", "shortest tail at", best, PLAIN(1),
	       .difference = "nchunk_seed"),
	FIGURE("chunk_bytes", "of each", chunk_bytes, MB(2), .seed = MB(2),
	       .difference = "nchunk_seed"),
	FIGURE("chunk_s", "transfer of one", chunk_s, MS(3),
	       PRINTED("T_comm_chunk", MS(2)), .difference = "nchunk_seed"),
	FIGURE("total_s", "all, with their starts", total_s, MS(3),
	       PRINTED("T_comm", MS(2)), .difference = "nchunk_seed"),
	FIGURE("growth", "more than unsplit", growth, PERCENT(2),
	       .difference = "nchunk_seed"),
	FIGURE("tail_s", "tail: last and starts", tail_s, {1e-6, 0, " us"},
	       .difference = "nchunk_seed"),
	FIGURE("share_of_backward", "of the backward pass", share_of_backward,
	       PERCENT(2), PRINTED("Overlap fraction", {0.01, 2, "%"}),
	       .difference = "nchunk_seed"),
	FIGURE("hidden_share", "hidden behind it", hidden_share, PERCENT(1),
	       .difference = "eta_seed"),
	FIGURE("exposed_s", "exposed after it", exposed_s, MS(3),
	       .difference = "nchunk_seed"),
	FIGURE("achieved_s", "step then", achieved_s, MS(3),
	       .difference = "eta_seed"),
};

int model_chunks_part(const struct weft_chunks_job *given,
		      const struct model_options *model_options,
		      struct model_chunks_part *part, struct weft_error *err)
{
	struct weft_chunks_job job = *given;
	bool assumed = !(job.overhead_s > 0);

	if (assumed)
		job.overhead_s = OVERHEAD_S;
	if (weft_chunks(&job, WEFT_RIGHT, &part->right, err) ||
	    weft_chunks(&job, WEFT_SEED, &part->seed, err))
		return -1;
	snprintf(part->title, sizeof(part->title), "%s of gradients at %s",
		 IN_UNIT(job.gradient_bytes, "B"),
		 IN_UNIT(job.link_bytes_per_s, "B/s"));
	part->report = (struct model_report){
		.model = "chunks",
		.options = model_options,
		.title = part->title,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.right = &part->right,
		.seed = &part->seed,
	};
	if (model_options->convention == WEFT_SEED)
		return 0;
	if (assumed)
		model_note(&part->report,
			   "starting a chunk is assumed to take %.0f us: give "
			   "--overhead.",
			   OVERHEAD_S * 1e6);
	model_note(&part->report,
		   "DistributedDataParallel's own buckets of 25 MiB are %.0f.",
		   weft_bucket_count(job.gradient_bytes));
	return 0;
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct model_chunks_part part;

	if (model_chunks_part(&question->job, &question->options, &part, err))
		return -1;
	return model_print(&part.report, err);
}

const struct calculator model_chunks = {
	.name = "chunks",
	.help = "how many buckets a gradient wants",
	.line.doc = "Into how many chunks to split a gradient, so that its "
		    "sync hides behind the backward pass.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
