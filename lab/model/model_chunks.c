/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_chunks.c - weft model chunks: how many buckets a gradient wants */
#include "cli/cmd.h"
#include "cli/option.h"
#include "lab/model/model_part.h"
#include "lab/model/quantity.h"

#include <stdio.h>

/* What the seeds take for starting a chunk. */
#define OVERHEAD_S 5e-6

enum {
	KEY_GRADIENTS = 256,
	KEY_LINK,
	KEY_OVERHEAD,
	KEY_BACKWARD,
	KEY_STEP,
	KEY_CHUNKS,
	KEY_MIN_CHUNK,
	KEY_WHOLE,
	KEY_CHUNK,
};

static const struct argp_option options[] = {
	{"gradients", KEY_GRADIENTS, "SIZE", 0, "to synchronise: 500MB", 1},
	{"link", KEY_LINK, "RATE", 0, "of each GPU, one direction", 1},
	{"gpus", 'g', "N", 0,
	 "of the ring (default: very many, two passes of everything)", 1},
	{"overhead", KEY_OVERHEAD, "TIME", 0,
	 "of starting one chunk (default: 5us)", 2},
	{"backward", KEY_BACKWARD, "TIME", 0, "pass to hide behind", 2},
	{"step", KEY_STEP, "TIME", 0, "without any overlap", 2},
	{"chunks", KEY_CHUNKS, "N", 0, "so many instead of the best", 3},
	{"min-chunk", KEY_MIN_CHUNK, "SIZE", 0,
	 "of the printed rule (default: 25MB)", 3},
	{"whole-efficiency", KEY_WHOLE, "SHARE", 0,
	 "of the link that one large transfer reaches (default: 1)", 3},
	{"chunk-efficiency", KEY_CHUNK, "SHARE", 0,
	 "of the link that a chunk reaches (default: 1)", 3},
	{0},
};

struct question {
	struct model_options options;
	struct weft_chunks_job job;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct question *question = state->input;
	struct weft_chunks_job *job = &question->job;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &question->options;
		return 0;
	case KEY_GRADIENTS:
		job->gradient_bytes =
			quantity_parse(state, QUANTITY_BYTES, arg);
		return 0;
	case KEY_LINK:
		job->link_bytes_per_s =
			quantity_parse(state, QUANTITY_RATE, arg);
		return 0;
	case 'g':
		job->n_gpus = quantity_whole(state, arg, 1u << 22);
		return 0;
	case KEY_OVERHEAD:
		job->overhead_s = quantity_parse(state, QUANTITY_DURATION, arg);
		return 0;
	case KEY_BACKWARD:
		job->backward_s = quantity_parse(state, QUANTITY_DURATION, arg);
		return 0;
	case KEY_STEP:
		job->step_s = quantity_parse(state, QUANTITY_DURATION, arg);
		return 0;
	case KEY_CHUNKS:
		job->n_chunks = quantity_whole(state, arg, 1u << 24);
		return 0;
	case KEY_MIN_CHUNK:
		job->min_chunk_bytes =
			quantity_parse(state, QUANTITY_BYTES, arg);
		return 0;
	case KEY_WHOLE:
		job->whole_efficiency = option_number(state, arg, 0.001, 1);
		return 0;
	case KEY_CHUNK:
		job->chunk_efficiency = option_number(state, arg, 0.001, 1);
		return 0;
	case ARGP_KEY_END:
		if (!(job->gradient_bytes > 0) || !(job->link_bytes_per_s > 0))
			argp_error(state, "which gradient? Give --gradients "
					  "SIZE and --link RATE");
		if (job->step_s > 0 && job->step_s < job->backward_s)
			argp_error(state, "--step: it is shorter than the "
					  "--backward pass in it");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

#define AT(member) offsetof(struct weft_chunks, member)

static const struct model_figure figures[] = {
	{.key = "chunks",
	 .label = "chunks",
	 .offset = AT(n_chunks),
	 .shown = {1, 0, ""},
	 .seed = {1, 0, ""},
	 .seed_label = "N_chunk_opt",
	 .difference = "nchunk_seed"},
	{.key = "best",
	 .label = "shortest tail at",
	 .offset = AT(best),
	 .shown = {1, 1, ""},
	 .difference = "nchunk_seed"},
	{.key = "chunk_bytes",
	 .label = "of each",
	 .offset = AT(chunk_bytes),
	 .shown = {1e6, 2, " MB"},
	 .seed = {1e6, 2, " MB"},
	 .difference = "nchunk_seed"},
	{.key = "chunk_s",
	 .label = "transfer of one",
	 .offset = AT(chunk_s),
	 .shown = {1e-3, 3, " ms"},
	 .seed = {1e-3, 2, " ms"},
	 .seed_label = "T_comm_chunk",
	 .difference = "nchunk_seed"},
	{.key = "total_s",
	 .label = "all, with their starts",
	 .offset = AT(total_s),
	 .shown = {1e-3, 3, " ms"},
	 .seed = {1e-3, 2, " ms"},
	 .seed_label = "T_comm",
	 .difference = "nchunk_seed"},
	{.key = "growth",
	 .label = "more than unsplit",
	 .offset = AT(growth),
	 .shown = {0.01, 2, " %"},
	 .difference = "nchunk_seed"},
	{.key = "tail_s",
	 .label = "tail: last and starts",
	 .offset = AT(tail_s),
	 .shown = {1e-6, 0, " us"},
	 .difference = "nchunk_seed"},
	{.key = "share_of_backward",
	 .label = "of the backward pass",
	 .offset = AT(share_of_backward),
	 .shown = {0.01, 2, " %"},
	 .seed = {0.01, 2, "%"},
	 .seed_label = "Overlap fraction",
	 .difference = "nchunk_seed"},
	{.key = "hidden_share",
	 .label = "hidden behind it",
	 .offset = AT(hidden_share),
	 .shown = {0.01, 1, " %"},
	 .difference = "eta_seed"},
	{.key = "exposed_s",
	 .label = "exposed after it",
	 .offset = AT(exposed_s),
	 .shown = {1e-3, 3, " ms"},
	 .difference = "nchunk_seed"},
	{.key = "achieved_s",
	 .label = "step then",
	 .offset = AT(achieved_s),
	 .shown = {1e-3, 3, " ms"},
	 .difference = "eta_seed"},
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
	snprintf(part->title, sizeof(part->title),
		 "%.4g MB of gradients at %.4g GB/s", job.gradient_bytes / 1e6,
		 job.link_bytes_per_s / 1e9);
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

int model_chunks(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{.argp = &model_argp},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.children = children,
		.doc = "Into how many chunks to split a gradient, so that its "
		       "sync hides behind the backward pass.",
	};
	struct question question = {0};
	struct model_chunks_part part;
	struct weft_error err = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &question);
	if (model_chunks_part(&question.job, &question.options, &part, &err) ||
	    model_print(&part.report, &err))
		return cmd_fail(&err);
	return EXIT_YES;
}
