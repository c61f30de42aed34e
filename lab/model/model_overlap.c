/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_overlap.c - weft model overlap: hidden and exposed communication, as
 * profilers recorded it */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/whole_file.h"
#include "lab/model/options.h"
#include "lab/model/overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the tables of weft model overlap, for other programs ---- */

static int file_write(const char *path, const struct overlap_answer *a,
		      void (*print)(const struct overlap_answer *, FILE *),
		      struct weft_error *err)
{
	struct output file;

	if (output_open(&file, path, err))
		return -1;
	print(a, file.out);
	return output_close(&file, 0, err);
}

/* The axis where a group tells its own; else it is left to the reader. */
static void print_matrix(const struct overlap_answer *a, FILE *out)
{
	const struct weft_exchange *x = &a->exchange;
	bool told = x->placed_bytes > x->axis_bytes[WEFT_N_AXES];

	fprintf(out, told ? "from,to,bytes,axis\n" : "from,to,bytes\n");
	for (size_t i = 0; i < x->n_pairs; i++) {
		const struct weft_exchange_pair *p = &x->pairs[i];
		enum weft_axis axis =
			p->axis == WEFT_N_AXES ? WEFT_AXIS_DP : p->axis;

		fprintf(out, "%u,%u,%.17g", p->from, p->to, p->bytes);
		fprintf(out, told ? ",%s\n" : "\n", weft_axis_names[axis]);
	}
}

static struct weft_advice_input advice_input(const struct overlap_answer *a)
{
	return (struct weft_advice_input){
		.traces = a->traces,
		.overlaps = a->overlaps,
		.waits = a->waits.n_matches ? &a->waits : NULL,
		.n_traces = a->n_files,
	};
}

/* time_s: without waiting, where other ranks' traces tell. */
static void print_collectives(const struct overlap_answer *a, FILE *out)
{
	const struct weft_advice_input in = advice_input(a);

	fprintf(out, "collective,ranks,bytes,time_s,exposed_s\n");
	for (uint32_t r = 0; r < a->n_files; r++) {
		const struct weft_trace *t = &a->traces[r];

		for (uint32_t i = 0; i < t->n_collectives; i++) {
			const struct weft_trace_collective *c =
				&t->collectives[i];

			fprintf(out, "%s,%u,%.0f,%.9g,%.9g\n",
				weft_trace_op_names[c->op], c->n_ranks,
				c->size_bytes,
				weft_advice_transfer_s(&in, r, i),
				a->overlaps[r].exposed_each_s[i]);
		}
	}
}

/* --matrix and --collectives: written whole or not at all. */
static int overlap_write_files(const struct overlap_answer *a,
			       struct weft_error *err)
{
	if (a->matrix_path && !a->exchange.n_pairs)
		return weft_fail_at(err, WEFT_EINVAL, a->matrix_path, 0, 0,
				    "not written: no trace records which ranks "
				    "exchanged bytes (process groups with "
				    "their ranks, or all ranks' traces)");
	if (a->matrix_path && file_write(a->matrix_path, a, print_matrix, err))
		return -1;
	if (a->collectives_path &&
	    file_write(a->collectives_path, a, print_collectives, err))
		return -1;
	return 0;
}

/* ---- the command ---- */

/* Says how far a long file is: on a terminal in place, else now and then. */
struct progress {
	const char *file;
	double start_s, said_s;
	bool on_terminal;
};

static void progress_say(void *context, double part)
{
	struct progress *p = context;
	double now = weft_clock_s();
	double pause = p->on_terminal ? 0.25 : 10;

	if (now - p->start_s < 2 || now - p->said_s < pause)
		return;
	p->said_s = now;
	fprintf(stderr, "weft: reading %s: %.0f %%%s", p->file, 100 * part,
		p->on_terminal ? "\r" : "\n");
}

static void progress_end(const struct progress *p)
{
	if (p->said_s > 0 && p->on_terminal)
		fprintf(stderr, "\033[K");
}

/* Reads and measures one trace; its events are done with then, so that many
 * traces need the memory of one. */
static int trace_take(struct overlap_answer *a, uint32_t i,
		      struct weft_overlap *overlap, struct weft_error *err)
{
	struct progress progress = {
		.file = a->files[i],
		.start_s = weft_clock_s(),
		.on_terminal = isatty(STDERR_FILENO),
	};
	struct weft_trace_options read = {.progress = progress_say,
					  .context = &progress};
	struct weft_trace *t = &a->traces[i];
	int code = weft_trace_load(a->files[i], &read, t, err);

	progress_end(&progress);
	if (code || weft_overlap_build(t, overlap, err))
		return -1;
	a->has_times |= t->n_events > 0;
	weft_trace_drop_events(t);
	t->file = i;
	return 0;
}

/* Traces by rank, and their overlaps with them. */
static int traces_take(struct overlap_answer *a, struct weft_error *err)
{
	struct weft_overlap *unsorted;
	int code = 0;

	a->traces = weft_calloc(a->n_files, sizeof(*a->traces), err);
	a->overlaps = weft_calloc(a->n_files, sizeof(*a->overlaps), err);
	unsorted = weft_calloc(a->n_files, sizeof(*unsorted), err);
	if (!a->traces || !a->overlaps || !unsorted)
		code = -1;
	for (uint32_t i = 0; !code && i < a->n_files; i++)
		code = trace_take(a, i, &unsorted[i], err);
	if (!code)
		code = weft_trace_set_join(a->traces, a->n_files, err);
	for (uint32_t i = 0; unsorted && i < a->n_files; i++) {
		if (code)
			weft_overlap_free(&unsorted[i]);
		else
			a->overlaps[i] = unsorted[a->traces[i].file];
	}
	free(unsorted);
	return code;
}

static void steps_count(struct overlap_answer *a)
{
	a->n_steps = a->asked_steps;
	for (uint32_t i = 0; !a->asked_steps && i < a->n_files; i++) {
		if (a->traces[i].n_steps > a->n_steps)
			a->n_steps = a->traces[i].n_steps;
	}
	if (!a->n_steps)
		a->n_steps = 1;
}

static int answer_build(struct overlap_answer *a, struct weft_error *err)
{
	struct weft_advice_input in;

	if (traces_take(a, err))
		return -1;
	steps_count(a);
	if (weft_waits_build(a->traces, a->n_files, &a->waits, err) ||
	    weft_exchange_build(a->traces, a->n_files, a->n_steps, &a->exchange,
				err))
		return -1;
	in = advice_input(a);
	in.n_steps = a->n_steps;
	return weft_advice_build(&in, a->advice, err);
}

static void answer_free(struct overlap_answer *a)
{
	weft_waits_free(&a->waits);
	weft_exchange_free(&a->exchange);
	for (uint32_t i = 0; i < a->n_files; i++) {
		if (a->traces)
			weft_trace_free(&a->traces[i]);
		if (a->overlaps)
			weft_overlap_free(&a->overlaps[i]);
	}
	free(a->traces);
	free(a->overlaps);
	free(a->files);
}

double overlap_model_s(const struct overlap_answer *a,
		       const struct weft_trace *t,
		       const struct weft_trace_collective *c)
{
	uint32_t n = c->n_ranks ? c->n_ranks : t->world_size;

	if (!(a->link_bytes_per_s > 0) || !(c->size_bytes > 0))
		return 0;
	return weft_overlap_ring_s(c->op, n, c->size_bytes, a->link_bytes_per_s,
				   a->latency_s);
}

double overlap_model_kind_s(const struct overlap_answer *a, uint32_t rank,
			    enum weft_trace_op op, double *measured_s)
{
	const struct weft_trace *t = &a->traces[rank];
	const struct weft_advice_input in = advice_input(a);
	double sum = 0;

	*measured_s = 0;
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		double model;

		if (t->collectives[i].op != op)
			continue;
		model = overlap_model_s(a, t, &t->collectives[i]);
		if (!(model > 0))
			continue;
		sum += model;
		*measured_s += weft_advice_transfer_s(&in, rank, i);
	}
	return sum;
}

double overlap_eta_seed(const struct weft_overlap *o)
{
	double shorter = o->compute_s < o->comm_s ? o->compute_s : o->comm_s;

	return shorter > 0 ? o->overlap_s / shorter : 0;
}

static void file_add(const struct argp_state *state, char *path, void *input)
{
	struct overlap_answer *a = input;
	const char **longer;

	if (!path)
		argp_error(state, "which traces? One file per rank");
	longer =
		realloc(a->files, (a->n_files + (size_t)1) * sizeof(*a->files));
	if (!longer)
		argp_failure(state, EXIT_ERROR, 0, "out of memory");
	a->files = longer;
	a->files[a->n_files++] = path;
}

#define QUESTION struct overlap_answer

static const struct option_row options[] = {
	{"link", 0, "RATE",
	 "of each GPU, one direction: shows what a ring's closed form has", 1,
	 RATE(link_bytes_per_s)},
	{"latency", 0, "TIME", "of one message (default: 0)", 1,
	 TIME(latency_s)},
	{"steps", 0, "N", "steps in the traces (default: the profiler's count)",
	 2, WHOLE(asked_steps, 0, 1u << 30)},
	{"matrix", 0, "FILE",
	 "write bytes per step by pair of ranks, as traffic=FILE reads them", 3,
	 TEXT(matrix_path)},
	{"collectives", 0, "FILE", "write one line per collective (CSV)", 3,
	 TEXT(collectives_path)},
	{"top", 0, "N",
	 "collectives with the longest exposed time to list (default: 8)", 4,
	 WHOLE(top, 0, 1u << 30)},
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct overlap_answer *a = input;

	if (a->latency_s > 0 && !(a->link_bytes_per_s > 0))
		argp_error(state, "--latency needs --link");
}

static int answer(void *input, struct weft_error *err)
{
	struct overlap_answer *a = input;
	int rc = answer_build(a, err);

	if (!rc)
		rc = overlap_write_files(a, err);
	if (!rc && a->options.json)
		rc = overlap_print_json(a, err);
	else if (!rc)
		overlap_print_text(a);
	answer_free(a);
	return rc;
}

const struct calculator model_overlap = {
	.name = "overlap",
	.help = "what traces say: hidden and exposed communication, waits",
	.line.arguments = "TRACE...",
	.line.doc =
		"How much of a job's communication its computing hides, who "
		"waited for whom, and what would shorten it: from PyTorch "
		"profiler (Kineto) traces, one per rank, plain or gzip'ed.  "
		"Execution traces and Chakra graphs give bytes only.",
	LINE_ROWS(options),
	.line.argument = file_add,
	.line.check = question_check,
	.question_size = sizeof(struct overlap_answer),
	.question = &(const struct overlap_answer){.top = 8},
	.answer = answer,
};
