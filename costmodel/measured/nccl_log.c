/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log.c - from a file to runs and rows; the formats are in nccl_log_*.c */
#include "costmodel/measured/nccl_log.h"

#include "base/text.h"
#include "costmodel/measured/nccl_log_draft.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many rows must agree before their figures outvote a rank list. */
#define RATIO_ROWS 3
/* What printing with two decimals and five digits may do to a ratio. */
#define RATIO_ERROR 4e-4

/* Letters and digits of a name, in lower case: what all its spellings share. */
static void letters_of(const char *text, size_t size, char *letters,
		       size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < size && n + 1 < room; i++) {
		if (isalnum((unsigned char)text[i]))
			letters[n++] = (char)tolower((unsigned char)text[i]);
	}
	letters[n] = '\0';
}

/* The collective whose letters are these, or stand in them. */
static enum weft_collective letters_match(const char *letters, bool within)
{
	/* "reduce" is in two others, which stand before it. */
	for (int i = 0; i < WEFT_N_COLLECTIVES; i++) {
		const char *name = weft_collective_names[i];
		char known[32];

		letters_of(name, strlen(name), known, sizeof(known));
		if (within ? strstr(letters, known) != NULL
			   : strcmp(letters, known) == 0)
			return (enum weft_collective)i;
	}
	return WEFT_N_COLLECTIVES;
}

enum weft_collective weft_nccl_collective(const char *name)
{
	char letters[32];
	size_t n;

	letters_of(name, strlen(name), letters, sizeof(letters));
	n = strlen(letters);
	if (n > 4 && strcmp(letters + n - 4, "perf") == 0)
		letters[n - 4] = '\0';
	return letters_match(letters, false);
}

bool nccl_number(const char *text, size_t size, double *value)
{
	char buffer[40], *end;

	/* Not "nan", "inf" or hexadecimal, which strtod takes, too. */
	if (size == 0 || size >= sizeof(buffer) ||
	    !(isdigit((unsigned char)text[0]) || text[0] == '.'))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!isdigit((unsigned char)text[i]) &&
		    !(text[i] && strchr(".eE+-", text[i])))
			return false;
	}
	memcpy(buffer, text, size);
	buffer[size] = '\0';
	*value = strtod(buffer, &end);
	return *end == '\0' && isfinite(*value);
}

bool nccl_uint(const char *text, size_t size, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < size; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	}
	return size > 0 && size < 19;
}

/* Size over time over printed bus bandwidth gives 2(n-1)/n or (n-1)/n: nccl-
 * tests divides by the ranks that took part, whatever was listed.  The median
 * of the fastest rows, whose figures have most digits; 0: not to be had. */
static double run_bus_ratio(const struct weft_nccl_log *log,
			    const struct weft_nccl_run *run)
{
	double ratio[RATIO_ROWS] = {0}, fastest[RATIO_ROWS] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->n_rows; i++) {
		const struct weft_nccl_row *row =
			&log->rows[run->first_row + i];
		double rate = row->busbw_bytes_per_s;
		uint32_t at = 0;

		while (at < RATIO_ROWS && fastest[at] >= rate)
			at++;
		/* Below 10 GB/s two decimals are too few. */
		if (at == RATIO_ROWS || rate < 10e9 || !(row->time_s > 0))
			continue;
		for (uint32_t k = RATIO_ROWS - 1; k > at; k--) {
			fastest[k] = fastest[k - 1];
			ratio[k] = ratio[k - 1];
		}
		fastest[at] = rate;
		ratio[at] = rate * row->time_s / (double)row->size_bytes;
		n += n < RATIO_ROWS;
	}
	if (n < RATIO_ROWS)
		return ratio[0];
	return fmax(fmin(ratio[0], ratio[1]),
		    fmin(fmax(ratio[0], ratio[1]), ratio[2]));
}

/* Ranks that make the ratio what it is; 0 where it does not say. */
static uint32_t ratio_ranks(enum weft_collective collective, double ratio)
{
	double n;

	if (collective == WEFT_ALL_REDUCE)
		n = 2 / (2 - ratio);
	else if (collective == WEFT_ALL_GATHER ||
		 collective == WEFT_REDUCE_SCATTER ||
		 collective == WEFT_ALL_TO_ALL)
		n = 1 / (1 - ratio);
	else
		return 0;
	/* Beyond, one rank more is lost in the printing. */
	return n >= 1.9 && n < 1500 ? (uint32_t)lround(n) : 0;
}

static void run_finish(struct weft_nccl_log *log, struct weft_nccl_run *run)
{
	double ratio = run_bus_ratio(log, run);
	uint32_t n;

	if (run->collective == WEFT_N_COLLECTIVES && !run->program[0] &&
	    ratio > 1 + RATIO_ERROR && ratio < 2) {
		run->collective = WEFT_ALL_REDUCE;
		run->collective_from = "bus bandwidth above the algorithm's";
	}
	n = ratio > 0 ? ratio_ranks(run->collective, ratio) : 0;
	if (run->n_ranks == 0 && n)
		run->n_ranks = n;
}

/* A rank list of which only some lines are left still names the last rank; the
 * bandwidths' ratio then says whether that is right. */
static void run_check_ranks(const struct weft_nccl_log *log,
			    struct weft_nccl_run *run)
{
	double ratio = run_bus_ratio(log, run);
	uint32_t n = ratio > 0 ? ratio_ranks(run->collective, ratio) : 0;

	if (!n || !run->n_ranks || n == run->n_ranks)
		return;
	if (fabs(weft_collective_bus_factor(run->collective, run->n_ranks) -
		 ratio) < RATIO_ERROR)
		return;
	/* Nodes stay what they are: of a run's GPUs some were idle. */
	run->n_ranks = n;
}

static void setting_from_source(struct nccl_draft *draft, const char *source)
{
	const char *base = strrchr(source, '/');
	enum weft_collective collective;
	char letters[256];

	base = base ? base + 1 : source;
	letters_of(base, strlen(base), letters, sizeof(letters));
	collective = letters_match(letters, true);
	draft->setting.collective = collective;
	draft->setting.collective_from =
		collective < WEFT_N_COLLECTIVES ? "name of the file" : "";
}

static void log_finish(struct weft_nccl_log *log)
{
	for (uint32_t i = 0; i < log->n_runs; i++) {
		run_finish(log, &log->runs[i]);
		run_check_ranks(log, &log->runs[i]);
		/* No list of ranks says so; a broken one may. */
		if (log->runs[i].n_ranks &&
		    log->runs[i].n_nodes > log->runs[i].n_ranks)
			log->runs[i].n_nodes = 0;
	}
}

static int text_read(struct nccl_draft *draft, const char *text, size_t size)
{
	size_t first = 0;

	while (first < size && isspace((unsigned char)text[first]))
		first++;
	if (nccl_inspector_looks(text, size))
		return nccl_inspector_read(draft, text, size);
	if (first < size && text[first] == '{')
		return nccl_json_read(draft, text, size);
	if (nccl_csv_looks(text, size))
		return nccl_csv_read(draft, text, size);
	return nccl_text_read(draft, text, size);
}

int weft_nccl_log_parse(const char *text, size_t size, const char *source,
			struct weft_nccl_log *log, struct weft_error *err)
{
	struct nccl_draft draft = {.log = log, .err = err};
	char *plain;
	int rc;

	*log = (struct weft_nccl_log){0};
	snprintf(log->source, sizeof(log->source), "%s", source);
	if (size > WEFT_NCCL_MAX_BYTES)
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "more than %u MiB",
				    WEFT_NCCL_MAX_BYTES >> 20);
	if (weft_text_plain(text, size, &plain, &size, err))
		return -1;
	setting_from_source(&draft, source);
	rc = text_read(&draft, plain ? plain : text, size);
	nccl_draft_devices(&draft);
	free(draft.hosts);
	free(plain);
	if (rc) {
		weft_nccl_log_free(log);
		return -1;
	}
	log_finish(log);
	return 0;
}

void weft_nccl_log_free(struct weft_nccl_log *log)
{
	free(log->runs);
	free(log->rows);
	free(log->flaws);
	*log = (struct weft_nccl_log){0};
}
