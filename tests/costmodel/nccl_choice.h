/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_choice.h - what NCCL chooses on a graph, which must not fail */
#ifndef WEFT_TESTS_COSTMODEL_NCCL_CHOICE_H
#define WEFT_TESTS_COSTMODEL_NCCL_CHOICE_H

#include "lab/nccl/nccl.h"
#include "tests/lib/check.h"

static inline struct weft_nccl_tuning tune(const struct weft_nccl_graph *graph)
{
	struct weft_error err = {0};
	struct weft_nccl_tuning tuning;

	weft_nccl_tune(graph, &tuning, &err);
	assert_no_error(&err);
	return tuning;
}

static inline struct weft_nccl_choice
choose(const struct weft_nccl_graph *graph, enum weft_collective collective,
       uint64_t size_bytes)
{
	struct weft_nccl_tuning tuning = tune(graph);
	struct weft_nccl_choice choice;
	struct weft_error err = {0};

	weft_nccl_choose(&tuning, collective, size_bytes, &choice, &err);
	assert_no_error(&err);
	return choice;
}

#endif
