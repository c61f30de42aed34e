/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qaplib.c - problems and solutions in the format of QAPLIB */
#include "lab/map/qaplib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER "a whole number"

/* Reads a matrix; *sum and *largest are of absolute values. */
static int matrix_read(struct scan *s, uint32_t n, const char *name,
		       int64_t *matrix, double *sum, double *largest)
{
	uint32_t n_numbers = n * n;

	*sum = *largest = 0;
	for (uint32_t i = 0; i < n_numbers; i++) {
		double size;

		scan_space(s);
		if (scan_at_end(s))
			return scan_fail(s,
					 "the file ends after %u of the %u "
					 "numbers of matrix %s",
					 i, n_numbers, name);
		if (scan_integer(s, NUMBER, &matrix[i]))
			return -1;
		size = fabs((double)matrix[i]);
		*sum += size;
		*largest = size > *largest ? size : *largest;
	}
	return 0;
}

static int rest_count(struct scan *s, uint32_t *n_left)
{
	double number;

	for (scan_space(s); !scan_at_end(s); scan_space(s)) {
		if (*s->at == ',' || *s->at == '-') {
			s->at++;
			continue;
		}
		if (scan_number(s, "numbers or the end of the file", &number))
			return -1;
		++*n_left;
	}
	return 0;
}

int qaplib_read(struct scan *s, struct qap *q, uint32_t *n_left)
{
	double sum_a, sum_b, largest_a, largest_b;
	uint64_t n;
	size_t n_numbers;

	memset(q, 0, sizeof(*q));
	*n_left = 0;
	scan_space(s);
	if (scan_count(s, 1, QAPLIB_MAX_N, "the size of the problem, 1 to 4096",
		       &n))
		return -1;
	n_numbers = (size_t)n * n;
	/* before anything is allocated: a number takes a digit and a blank */
	if (4 * n_numbers > (size_t)(s->end - s->at) + 1)
		return scan_fail(
			s,
			"expected two matrices of %llu x %llu numbers: "
			"the file is too short",
			(unsigned long long)n, (unsigned long long)n);
	q->n = (uint32_t)n;
	q->a = weft_calloc(n_numbers, sizeof(*q->a), s->err);
	q->b = weft_calloc(n_numbers, sizeof(*q->b), s->err);
	if (!q->a || !q->b)
		return -1;
	if (matrix_read(s, q->n, "A", q->a, &sum_a, &largest_a) ||
	    matrix_read(s, q->n, "B", q->b, &sum_b, &largest_b))
		return -1;
	if (fmin(sum_a * largest_b, sum_b * largest_a) >= ldexp(1, 62))
		return scan_fail(s,
				 "the matrices' numbers are too large: costs "
				 "could exceed 2^62");
	return rest_count(s, n_left);
}

/* The numbers of an assignment and where each stands. */
struct listing {
	const char *begin; /* of the text */
	uint32_t n, room;
	double *number;
	const char **at;
};

static int listing_read(struct scan *s, struct listing *l)
{
	for (;;) {
		scan_space(s);
		if (*s->at == ',') {
			s->at++;
			continue;
		}
		if (scan_at_end(s))
			return 0;
		if (l->n == l->room)
			return scan_fail(s,
					 "expected %u places, or a solution of "
					 "QAPLIB, which has %u numbers; found "
					 "more",
					 l->room - 2, l->room);
		l->at[l->n] = s->at;
		if (scan_number(s, "a number", &l->number[l->n]))
			return -1;
		l->n++;
	}
}

/* The last n numbers, which count from `base`. */
static int places_check(const struct scan *s, const struct listing *l,
			uint32_t base, uint32_t n_places, uint32_t *place)
{
	uint32_t n = l->room - 2, first = l->n - n;
	uint8_t *taken = weft_calloc(n_places, 1, s->err);
	int rc = taken ? 0 : -1;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		size_t offset = (size_t)(l->at[first + i] - l->begin);
		double value = l->number[first + i] - base;

		if (!(value >= 0 && value < n_places &&
		      value == floor(value))) {
			rc = scan_fail_at(s, l->begin, offset,
					  "expected a place from %u to %u (%s)",
					  base, n_places - 1 + base,
					  base ? "a solution counts from 1"
					       : "a list counts from 0");
			break;
		}
		place[i] = (uint32_t)value;
		if (taken[place[i]])
			rc = scan_fail_at(s, l->begin, offset,
					  "place %u is taken already",
					  place[i] + base);
		taken[place[i]] = 1;
	}
	free(taken);
	return rc;
}

int qaplib_read_assignment(struct scan *s, uint32_t n, uint32_t n_places,
			   uint32_t *place)
{
	struct listing l = {.begin = s->at, .room = n + 2};
	int rc = -1;

	l.number = weft_calloc(l.room, sizeof(*l.number), s->err);
	l.at = weft_calloc(l.room, sizeof(*l.at), s->err);
	if (!l.number || !l.at || listing_read(s, &l))
		goto out;
	if (l.n == n || (l.n == n + 2 && l.number[0] == n))
		rc = places_check(s, &l, l.n == n ? 0 : 1, n_places, place);
	else
		scan_fail(s,
			  "expected %u places, or a solution of QAPLIB, which "
			  "has %u numbers, the first of them %u; found %u",
			  n, n + 2, n, l.n);
out:
	free(l.number);
	free(l.at);
	return rc;
}
