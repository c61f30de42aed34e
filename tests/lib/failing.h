/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failing.h - lets the n-th allocation fail, and all that follow, in a test
 * that is linked with --wrap=calloc and --wrap=realloc
 */
#ifndef WEFT_TESTS_LIB_FAILING_H
#define WEFT_TESTS_LIB_FAILING_H

#include <stdbool.h>
#include <stddef.h>

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Allocations that still succeed; negative: all do. */
static int left = -1;

static bool allocation_fails(void)
{
	if (left == 0)
		return true;
	left -= left > 0;
	return false;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(old, size);
}

#endif
