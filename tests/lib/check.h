/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.h - cmocka, and the few assertions it lacks */
#ifndef WEFT_TESTS_LIB_CHECK_H
#define WEFT_TESTS_LIB_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* |a - b| <= rel * max(|a|, |b|).  cmocka's assert_float_equal casts to float.
 */
#define assert_close(a, b, rel)                                                \
	test_assert_close((a), (b), (rel), __FILE__, __LINE__)
void test_assert_close(double a, double b, double rel, const char *file,
		       int line);

/* Fails with the error's own text when err->code is set. */
#define assert_no_error(err) test_assert_no_error((err), __FILE__, __LINE__)
void test_assert_no_error(const struct weft_error *err, const char *file,
			  int line);

/* err->text contains `part`. */
#define assert_error_says(err, part)                                           \
	test_assert_error_says((err), (part), __FILE__, __LINE__)
void test_assert_error_says(const struct weft_error *err, const char *part,
			    const char *file, int line);

/* The seed of random cases: $WEFT_TEST_SEED, or 1; printed once, so that a
 * failure can be repeated. */
uint64_t test_seed(void);
/* How many random cases: $WEFT_TEST_CASES, or n. */
uint32_t test_cases(uint32_t n);
/* The next number of a splitmix64 stream. */
uint64_t test_random(uint64_t *state);
/* Uniform in 0..n-1, n > 0. */
uint32_t test_random_below(uint64_t *state, uint32_t n);

/* Path of `name` in the reference folder beside the checkout ("../shared"), or
 * NULL where that folder is absent: then the caller skips with a message.
 * Static buffer. */
const char *test_shared(const char *name);
/* Path of `name` under the source tree.  Static buffer. */
const char *test_source(const char *name);

/* A whole file as a NUL-terminated malloc'ed string, or NULL. */
char *test_read_file(const char *path, size_t *size);
/* Makes text a file; fails the test where it cannot. */
void test_write_file(const char *path, const char *text);

#endif
