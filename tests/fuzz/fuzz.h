/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz.h - what every harness checks by */
#ifndef WEFT_TESTS_FUZZ_FUZZ_H
#define WEFT_TESTS_FUZZ_FUZZ_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

/* A message is there and safe to print. */
static inline void require_message(const struct weft_error *err)
{
	require(err->code >= 1 && err->code <= 125 && err->text[0]);
	require(err->line >= 0 && err->column >= 0);
	for (const char *c = err->text; *c; c++)
		require((unsigned char)*c >= ' ' && *c != 0x7f);
}

#endif
