/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log_text.c - reads the table that nccl-tests prints, wherever it stands
 *
 * The columns changed over the years (no root, then root; "error", then
 * "#wrong"; four more with -I), so they are found by their names:
 *
 *   size count type [redop] [root]  time algbw busbw (#wrong|error) ...  twice
 *
 * A line is a row when it has "NUMBER NUMBER TYPE", whatever stands before.
 */
#include "costmodel/measured/nccl_log_draft.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 40
/* Old releases print the largest deviation instead of a count of wrong
 * elements: beyond this it is no rounding. */
#define MAX_DEVIATION 0.1

struct word {
	const char *at;
	size_t size;
};

struct line {
	struct word words[MAX_WORDS];
	uint32_t n;
	uint32_t number;
};

/* What the last line of column names said. */
struct columns {
	bool known, redop, root, counted; /* counted: "#wrong", not "error" */
	uint32_t half; /* columns out of place: from "time" to "time" */
};

struct reader {
	struct nccl_draft *draft;
	struct columns columns;
	/* A row whose rest is on a later line, because another process wrote
	 * in between: its words, in `held`. */
	char held[256];
	size_t held_size;
	uint32_t held_line;
};

static bool word_is(const struct word *word, const char *text)
{
	return word->size == strlen(text) &&
	       memcmp(word->at, text, word->size) == 0;
}

static bool word_number(const struct word *word, double *value)
{
	return nccl_number(word->at, word->size, value);
}

static void line_cut(const char *text, size_t size, struct line *line)
{
	size_t i = 0;

	line->n = 0;
	while (i < size && line->n < MAX_WORDS) {
		size_t start;

		while (i < size && (unsigned char)text[i] <= ' ')
			i++;
		start = i;
		while (i < size && (unsigned char)text[i] > ' ')
			i++;
		if (i > start)
			line->words[line->n++] =
				(struct word){text + start, i - start};
	}
}

static bool is_type(const struct word *word)
{
	static const char *const types[] = {
		"int8",	  "uint8",  "int32",   "uint32",   "int64",
		"uint64", "half",   "float",   "double",   "bfloat16",
		"char",	  "f8e4m3", "f8e5m2",  "fp8_e4m3", "fp8_e5m2",
		"int",	  "long",   "float16", "float32",  "float64",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (word_is(word, types[i]))
			return true;
	}
	return false;
}

/* Index of the row's first word, or line->n. */
static uint32_t row_find(const struct line *line)
{
	uint64_t number;

	for (uint32_t i = 0; i + 2 < line->n; i++) {
		if (is_type(&line->words[i + 2]) &&
		    nccl_uint(line->words[i].at, line->words[i].size,
			      &number) &&
		    nccl_uint(line->words[i + 1].at, line->words[i + 1].size,
			      &number))
			return i;
	}
	return line->n;
}

/* The names of the columns, if that is what the line is. */
static bool columns_read(const struct line *line, struct columns *columns)
{
	struct columns found = {0};
	uint32_t first = 0, second = 0;

	for (uint32_t i = 0; i < line->n; i++) {
		const struct word *word = &line->words[i];

		found.known |= i > 0 && word_is(word, "count") &&
			       word_is(word - 1, "size");
		found.redop |= word_is(word, "redop");
		found.root |= word_is(word, "root");
		found.counted |= word_is(word, "#wrong");
		if (!word_is(word, "time"))
			continue;
		if (first && !second)
			second = i;
		first = first ? first : i;
	}
	if (!found.known || !first)
		return false;
	found.half = (second ? second : line->n) - first;
	*columns = found;
	return true;
}

static bool is_word(const struct word *word)
{
	char c = word->at[0];

	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Index of the first time of a row that starts at `at`.  A redop may be blank
 * (all-to-all of old releases). */
static uint32_t row_values(const struct line *line, uint32_t at,
			   const struct columns *columns)
{
	uint32_t i = at + 3;

	if (columns->redop && i < line->n && is_word(&line->words[i]) &&
	    !word_is(&line->words[i], "N/A"))
		i++;
	return i + (columns->root ? 1 : 0);
}

static double half_time_s(const struct line *line, uint32_t at)
{
	double time_us;

	if (at >= line->n || !word_number(&line->words[at], &time_us))
		return 0;
	return time_us > 0 ? time_us * 1e-6 : 0;
}

/* Were the results of the half that starts at word `at` wrong? */
static bool half_wrong(const struct line *line, uint32_t at,
		       const struct columns *columns)
{
	double wrong;

	if (at + 3 >= line->n || columns->half < 4 ||
	    !word_number(&line->words[at + 3], &wrong))
		return false;
	return wrong > (columns->counted ? 0 : MAX_DEVIATION);
}

/* NULL with *row filled, or why it cannot be used. */
static const char *row_read(const struct line *line, uint32_t at,
			    const struct columns *columns,
			    struct weft_nccl_row *row)
{
	uint32_t half = columns->half < 4 ? columns->half : 4;
	uint32_t first = row_values(line, at, columns);
	uint32_t second = first + columns->half;
	double rate;

	*row = (struct weft_nccl_row){.line = line->number};
	if (!nccl_uint(line->words[at].at, line->words[at].size,
		       &row->size_bytes))
		return "its size is no number";
	if (row->size_bytes == 0)
		return "its size is zero";
	if (first + half > line->n)
		return "it is cut off";
	if (half_wrong(line, first, columns) ||
	    half_wrong(line, second, columns))
		return "its results were wrong";
	row->time_s = half_time_s(line, first);
	if (second + half <= line->n)
		row->time_in_place_s = half_time_s(line, second);
	if (row->time_s <= 0 && row->time_in_place_s <= 0)
		return "it has no time";
	if (half > 2 && word_number(&line->words[first + 2], &rate))
		row->busbw_bytes_per_s = rate * 1e9;
	return NULL;
}

static int row_add(struct reader *reader, const struct line *line, uint32_t at)
{
	struct nccl_draft *draft = reader->draft;
	struct weft_nccl_row row;
	const char *why;

	if (!reader->columns.known || !draft->open)
		return nccl_draft_flaw(draft, line->number,
				       "no column names stand above it");
	why = row_read(line, at, &reader->columns, &row);
	if (!why)
		return nccl_draft_row(draft, &row);
	if (strcmp(why, "its results were wrong") == 0)
		draft->log->runs[draft->log->n_runs - 1].n_wrong++;
	return nccl_draft_flaw(draft, line->number, why);
}

/* End of the values of a row whose first one is at word `first`. */
static uint32_t values_end(const struct line *line, uint32_t first)
{
	uint32_t end = first;
	double value;

	while (end < line->n && (word_number(&line->words[end], &value) ||
				 word_is(&line->words[end], "N/A")))
		end++;
	return end;
}

/* Keeps words at..end-1 of a row that another process' message cut, for the
 * line on which it goes on. */
static const char *row_hold(struct reader *reader, const struct line *line,
			    uint32_t at, uint32_t end)
{
	const char *start = line->words[at].at;
	const struct word *last = &line->words[end - 1];
	size_t size = (size_t)(last->at + last->size - start);
	char stop = line->words[end].at[0];

	/* A message right behind a digit: the number may have lost some. */
	if ((stop >= '0' && stop <= '9') || stop == '.' ||
	    size + 1 > sizeof(reader->held) / 2)
		return "another message stands in it";
	memcpy(reader->held, start, size);
	reader->held[size] = ' ';
	reader->held_size = size + 1;
	reader->held_line = line->number;
	return NULL;
}

static int held_join(struct reader *reader, const struct line *line)
{
	const struct word *last = &line->words[line->n - 1];
	const char *start = line->words[0].at;
	size_t size = (size_t)(last->at + last->size - start);
	struct line whole = {.number = reader->held_line};

	if (reader->held_size + size > sizeof(reader->held))
		size = sizeof(reader->held) - reader->held_size;
	memcpy(reader->held + reader->held_size, start, size);
	line_cut(reader->held, reader->held_size + size, &whole);
	reader->held_size = 0;
	return row_add(reader, &whole, 0);
}

/* "#  Rank  3 [Group  0] Pid 77 on HOST device  3 [...] ..." */
static int rank_read(struct reader *reader, const struct line *line)
{
	uint64_t rank = 0, device = 0;
	const struct word *host = NULL;
	bool found = false;

	for (uint32_t i = 0; i + 1 < line->n; i++) {
		const struct word *word = &line->words[i], *next = word + 1;

		if (word_is(word, "Rank"))
			found = nccl_uint(next->at, next->size, &rank);
		else if (word_is(word, "on") && found && !host)
			host = next;
		else if (word_is(word, "device") && host &&
			 nccl_uint(next->at, next->size, &device) &&
			 rank < WEFT_NCCL_MAX_ROWS && device < 1024)
			return nccl_draft_rank(reader->draft, (uint32_t)rank,
					       (uint32_t)device, host->at,
					       host->size);
	}
	return 0;
}

static bool line_has(const struct line *line, const char *a, const char *b)
{
	for (uint32_t i = 0; i + 1 < line->n; i++) {
		if (word_is(&line->words[i], a) &&
		    word_is(&line->words[i + 1], b))
			return true;
	}
	return false;
}

static int held_give_up(struct reader *reader)
{
	if (!reader->held_size)
		return 0;
	reader->held_size = 0;
	return nccl_draft_flaw(reader->draft, reader->held_line,
			       "it is cut off");
}

/* Lines that are no row. */
static int other_read(struct reader *reader, const struct line *line,
		      const char *text, size_t size)
{
	struct nccl_draft *draft = reader->draft;
	double value;

	if (reader->held_size && line->n &&
	    word_number(&line->words[0], &value))
		return held_join(reader, line);
	if (columns_read(line, &reader->columns))
		return held_give_up(reader) ||
				       nccl_draft_open(draft, line->number)
			       ? -1
			       : 0;
	if (line_has(line, "Using", "devices"))
		nccl_draft_devices(draft);
	else if (line_has(line, "Out", "of") &&
		 line_has(line, "bounds", "values"))
		nccl_draft_close(draft, line_has(line, ":", "0") == false);
	else if (line_has(line, "NCCL", "INFO"))
		return 0; /* may name anything */
	else
		nccl_draft_program(draft, text, size, "log");
	return rank_read(reader, line);
}

static int row_take(struct reader *reader, struct line *line, uint32_t at)
{
	uint32_t first = row_values(line, at, &reader->columns);
	uint32_t end = values_end(line, first);
	const char *why;

	if (end >= line->n || !reader->columns.known)
		return row_add(reader, line, at);
	if (end < first + reader->columns.half) {
		why = row_hold(reader, line, at, end);
		return why ? nccl_draft_flaw(reader->draft, line->number, why)
			   : 0;
	}
	line->n = end; /* a time stamp, or a message behind it */
	return row_add(reader, line, at);
}

static int line_read(struct reader *reader, const char *text, size_t size,
		     uint32_t number)
{
	struct line line = {.number = number};
	uint32_t at;

	line_cut(text, size, &line);
	at = row_find(&line);
	if (at == line.n)
		return other_read(reader, &line, text, size);
	if (held_give_up(reader))
		return -1;
	return row_take(reader, &line, at);
}

int nccl_text_read(struct nccl_draft *draft, const char *text, size_t size)
{
	struct reader reader = {.draft = draft};
	uint32_t number = 0;

	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;

		if (line_read(&reader, text + at, length, ++number))
			return -1;
		at += length + 1;
	}
	draft->log->n_lines = number;
	return held_give_up(&reader);
}
