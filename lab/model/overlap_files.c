/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap_files.c - the tables of weft model overlap, for other programs */
#include "lab/model/overlap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device, a pipe or what a link names is written as it is: /dev/stdout is a
 * link that must stay one.  A file appears when it is whole. */
static bool is_special(const char *path)
{
	struct stat about;

	return lstat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

static int write_fail(const char *path, struct weft_error *err)
{
	return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s", strerror(errno));
}

static int file_write(const char *path, const struct overlap_answer *a,
		      void (*print)(const struct overlap_answer *, FILE *),
		      struct weft_error *err)
{
	bool special = is_special(path);
	size_t size = strlen(path) + sizeof(".part");
	char *part = weft_calloc(size, 1, err);
	FILE *out;
	int failed;

	if (!part)
		return -1;
	snprintf(part, size, "%s.part", path);
	out = fopen(special ? path : part, "w");
	if (!out) {
		free(part);
		return write_fail(path, err);
	}
	print(a, out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed && !special)
		failed = rename(part, path) != 0;
	if (failed) {
		write_fail(path, err);
		if (!special)
			unlink(part);
	}
	free(part);
	return failed ? -1 : 0;
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

/* time_s: without waiting, where other ranks' traces tell. */
static void print_collectives(const struct overlap_answer *a, FILE *out)
{
	const struct weft_advice_input in = {
		.traces = a->traces,
		.overlaps = a->overlaps,
		.waits = a->waits.n_matches ? &a->waits : NULL,
		.n_traces = a->n_files,
	};

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

int overlap_write_files(const struct overlap_answer *a, struct weft_error *err)
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
