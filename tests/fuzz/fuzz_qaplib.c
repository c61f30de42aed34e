/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_qaplib.c - any bytes as a problem, and as where three things go:
 * refused, or two whole matrices and three places of their own */
#include "lab/map/qaplib.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void try_problem(const char *text, size_t size)
{
	struct weft_error err = {0};
	struct qap q = {0};
	uint32_t n_left, place[QAPLIB_MAX_N];
	struct scan s;
	int64_t cost;

	if (scan_text(&s, "input", text, size, &err) ||
	    qaplib_read(&s, &q, &n_left)) {
		require_message(&err);
	} else {
		require(q.n >= 1 && q.n <= QAPLIB_MAX_N);
		for (uint32_t i = 0; i < q.n; i++)
			place[i] = q.n - 1 - i;
		cost = qap_cost(&q, place);
		require(cost <= INT64_MAX / 2 && cost >= -(INT64_MAX / 2));
	}
	qap_free(&q);
}

static void try_assignment(const char *text, size_t size)
{
	struct weft_error err = {0};
	uint32_t place[3];
	struct scan s;

	if (scan_text(&s, "input", text, size, &err) ||
	    qaplib_read_assignment(&s, 3, 4, place)) {
		require_message(&err);
		return;
	}
	require(place[0] < 4 && place[1] < 4 && place[2] < 4);
	require(place[0] != place[1] && place[1] != place[2] &&
		place[0] != place[2]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(size + 1, 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	try_problem(text, size);
	try_assignment(text, size);
	free(text);
	return 0;
}
