/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suggest.c - the nearest known word, by edit distance */
#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 63
/* From this length on, a word's beginning counts as one edit away from it:
 * "dgx-h100" means "dgx-h100-superpod", not "dgx-b200". */
#define ABBREVIATION 3

static size_t word_fold(const char *word, char folded[LONGEST + 1])
{
	size_t length = 0;

	for (; word[length] && length < LONGEST; length++)
		folded[length] = (char)tolower((unsigned char)word[length]);
	folded[length] = '\0';
	return length;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Cost of the cell (i, j) of the edit-distance table: rows are the two above
 * and the one being filled. */
static size_t cell(const char *a, const char *b, size_t i, size_t j,
		   size_t rows[3][LONGEST + 1])
{
	const size_t *above = rows[(i - 1) % 3];
	size_t cost = least(above[j - 1] + (a[i - 1] != b[j - 1]),
			    least(above[j], rows[i % 3][j - 1]) + 1);

	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
		cost = least(cost, rows[(i - 2) % 3][j - 2] + 1);
	return cost;
}

/* Edit distance with swaps of neighbours (optimal string alignment), or `limit`
 * as soon as it cannot be smaller. */
static size_t distance(const char *a, size_t a_length, const char *b,
		       size_t b_length, size_t limit)
{
	size_t rows[3][LONGEST + 1];

	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t smallest = i;

		rows[i % 3][0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			rows[i % 3][j] = cell(a, b, i, j, rows);
			smallest = least(smallest, rows[i % 3][j]);
		}
		if (smallest > limit)
			return limit;
	}
	return rows[a_length % 3][b_length];
}

/* The known word nearest to `word`, and how many edits away it is. */
static const char *nearest_find(const char *word, const char *const *known,
				size_t n, size_t *edits)
{
	char a[LONGEST + 1], b[LONGEST + 1];
	size_t a_length = word_fold(word, a);
	size_t best = LONGEST + 1;
	const char *nearest = n ? known[0] : NULL;

	for (size_t k = 0; k < n; k++) {
		size_t b_length = word_fold(known[k], b);
		size_t gap = a_length > b_length ? a_length - b_length
						 : b_length - a_length;
		size_t d;

		if (gap >= best && strncmp(a, b, a_length) != 0)
			continue;
		d = distance(a, a_length, b, b_length, best);
		if (a_length >= ABBREVIATION && d > 1 &&
		    strncmp(a, b, a_length) == 0)
			d = 1;
		if (d < best) {
			best = d;
			nearest = known[k];
		}
	}
	*edits = best;
	return nearest;
}

const char *weft_suggest(const char *word, const char *const *known, size_t n)
{
	size_t edits;

	return nearest_find(word, known, n, &edits);
}

const char *weft_suggest_near(const char *word, const char *const *known,
			      size_t n)
{
	size_t edits;
	const char *nearest = nearest_find(word, known, n, &edits);

	return edits <= (strlen(word) + 2) / 4 + (strlen(word) > 2) ? nearest
								    : NULL;
}

const char *weft_suggest_text(const char *word, const char *const *known,
			      size_t n, char text[WEFT_SUGGEST_TEXT])
{
	const char *near = weft_suggest_near(word, known, n);
	size_t used;

	if (near) {
		snprintf(text, WEFT_SUGGEST_TEXT, "did you mean \"%.100s\"?",
			 near);
		return text;
	}
	used = (size_t)snprintf(text, WEFT_SUGGEST_TEXT, "known are");
	for (size_t k = 0; k < n; k++) {
		size_t more = strlen(known[k]) + 2;

		/* room for ", ..." and the end */
		if (used + more + 6 > WEFT_SUGGEST_TEXT) {
			strcpy(text + used, ", ...");
			break;
		}
		used += (size_t)snprintf(text + used, WEFT_SUGGEST_TEXT - used,
					 "%s %s", k ? "," : "", known[k]);
	}
	return text;
}

static const char *row_name(const void *rows, size_t size, size_t i)
{
	const void *row = (const char *)rows + i * size;

	return *(const char *const *)row;
}

const void *weft_row_find(const char *name, const void *rows, size_t size,
			  size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(row_name(rows, size, i), name) == 0)
			return (const char *)rows + i * size;
	return NULL;
}

const char *weft_row_hint(const char *name, const void *rows, size_t size,
			  size_t n, char text[WEFT_SUGGEST_TEXT])
{
	const char *known[256];

	for (size_t i = 0; i < n; i++)
		known[i] = row_name(rows, size, i);
	return weft_suggest_text(name, known, n, text);
}
