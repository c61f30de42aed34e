/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_memory.c - each allocation of reading and measuring traces fails in
 * turn */
#include "lab/trace/advice.h"
#include "lab/trace/exchange.h"

#include "tests/costmodel/trace_file.h"
#include "tests/lib/failing.h"

#define TRACE(rank)                                                            \
	KINETO(RANK(rank),                                                     \
	       KERNEL(7, 0, 40, ) "," NCCL(                                    \
		       "AllReduce", 20, 40,                                    \
		       CALL("allreduce", 100,                                  \
			    "[0, 1]")) "," NCCL("SendRecv", 70, 40,            \
						CALL("all_to_all", 100,        \
						     "[0, 1]") ",\"In split "  \
							       "size\":\"[1, " \
							       "2]\""))

/* All that weft model overlap does with two traces. */
static int measure(char *const *paths, struct weft_error *err)
{
	struct weft_trace traces[2] = {0};
	struct weft_overlap overlaps[2] = {0};
	struct weft_waits waits = {0};
	struct weft_exchange exchange = {0};
	struct weft_advice advice[WEFT_N_ADVICES];
	struct weft_advice_input in = {.traces = traces,
				       .overlaps = overlaps,
				       .waits = &waits,
				       .n_traces = 2,
				       .n_steps = 1};
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		rc = weft_trace_load(paths[i], NULL, &traces[i], err);
		if (!rc)
			rc = weft_overlap_build(&traces[i], &overlaps[i], err);
	}
	if (!rc)
		rc = weft_trace_set_join(traces, 2, err);
	if (!rc)
		rc = weft_waits_build(traces, 2, &waits, err);
	if (!rc)
		rc = weft_exchange_build(traces, 2, 1, &exchange, err);
	if (!rc)
		rc = weft_advice_build(&in, advice, err);
	weft_exchange_free(&exchange);
	weft_waits_free(&waits);
	for (int i = 0; i < 2; i++) {
		weft_overlap_free(&overlaps[i]);
		weft_trace_free(&traces[i]);
	}
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	static const char *const texts[] = {TRACE(0), TRACE(1)};
	char *paths[2];
	int n = 0;

	(void)state;
	for (int i = 0; i < 2; i++)
		paths[i] = trace_file_write(texts[i], strlen(texts[i]));
	for (;; n++) {
		struct weft_error err = {0};
		int rc;

		left = n;
		rc = measure(paths, &err);
		left = -1;
		assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
		if (!rc)
			break;
	}
	assert_true(n > 30);
	for (int i = 0; i < 2; i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
