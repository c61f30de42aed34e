/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - assertions, random cases and files for the tests */
#include "tests/lib/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_assert_close(double a, double b, double rel, const char *file,
		       int line)
{
	double scale = fmax(fabs(a), fabs(b));

	if (!(fabs(a - b) <= rel * scale)) {
		print_error("%.17g is not within %g of %.17g\n", a, rel, b);
		_fail(file, line);
	}
}

void test_assert_no_error(const struct weft_error *err, const char *file,
			  int line)
{
	char text[512];

	if (err->code) {
		print_error("%s\n", weft_error_text(err, text, sizeof(text)));
		_fail(file, line);
	}
}

void test_assert_error_says(const struct weft_error *err, const char *part,
			    const char *file, int line)
{
	if (!err->code || !strstr(err->text, part)) {
		print_error("error %d \"%s\" does not say \"%s\"\n", err->code,
			    err->text, part);
		_fail(file, line);
	}
}

uint64_t test_seed(void)
{
	const char *text = getenv("WEFT_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

uint32_t test_cases(uint32_t n)
{
	const char *text = getenv("WEFT_TEST_CASES");

	return text ? (uint32_t)strtoul(text, NULL, 10) : n;
}

uint64_t test_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t test_random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(test_random(state) % n);
}

const char *test_source(const char *name)
{
	static char path[4096];
	const char *top = getenv("WEFT_SRCDIR");

	snprintf(path, sizeof(path), "%s/%s", top ? top : ".", name);
	return path;
}

const char *test_shared(const char *name)
{
	static char path[4096];
	const char *top = getenv("WEFT_SRCDIR");

	snprintf(path, sizeof(path), "%s/../shared/%s", top ? top : ".", name);
	return access(path, R_OK) == 0 ? path : NULL;
}

char *test_read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	long length;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 &&
	    fseek(file, 0, SEEK_SET) == 0 &&
	    (text = calloc((size_t)length + 1, 1)) != NULL) {
		size_t got = fread(text, 1, (size_t)length, file);

		if (size)
			*size = got;
	}
	fclose(file);
	return text;
}

void test_write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}
