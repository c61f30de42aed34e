/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - the n-th allocation fails, for every n: no crash, no leak, and the
 * error says so.  The program is linked with --wrap for the allocators. */
#include "base/hostlist.h"
#include "tests/lib/check.h"
#include "topology/fabric.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
FILE *__real_open_memstream(char **text, size_t *size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);
FILE *__wrap_open_memstream(char **text, size_t *size);

/* Allocations left until one fails; < 0: none fails.  Only while counting. */
static long left = -1;
static long live;
static bool counting;

static bool is_refused(void)
{
	return counting && left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	void *block = is_refused() ? NULL : __real_malloc(size);

	live += counting && block;
	return block;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *block = is_refused() ? NULL : __real_calloc(n, size);

	live += counting && block;
	return block;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *block = is_refused() ? NULL : __real_realloc(old, size);

	live += counting && block && !old;
	return block;
}

void __wrap_free(void *block)
{
	live -= counting && block;
	__real_free(block);
}

/* Its text is allocated inside libc, but freed here. */
FILE *__wrap_open_memstream(char **text, size_t *size)
{
	FILE *stream = is_refused() ? NULL : __real_open_memstream(text, size);

	live += counting && stream;
	return stream;
}

static const char *const files[] = {
	"weft: fabric/1\nname: a\nrails: 2\nnodes:\n  n[0-99]: 4\n"
	"levels:\n  leaf:\n    a[0-4]-r[0-1]: n[0-99]\n"
	"  spine:\n    S0: a[0-4]-r[0-1]\nrack:\n  r[0-9]: n[0-99]\n"
	"links:\n  leaf: {bandwidth: 1 GB/s}\n",
	"weft: fabric/1\nnodes:\n  n[0-3]: 4\nnvlink: 2\n",
	"weft: fabric/1\nnodes:\n  n[0-3]: 4\nnvlink:\n  v[0-1]: n[0-3]\n",
	"weft: fabric/1\nnodes:\n  n[0-3]: 4\nlevels:\n  leaf:\n    L0: m0\n",
	"weft: fabric/1\nrails: 2\nnodes:\n  n[0-3]: {gpus: 4, kind: h100}\n"
	"levels:\n  leaf:\n    L[0-3]: n[0-3]\n"
	"switches:\n  S[0-99]: {domain: core}\n  M0: {network: admin}\n"
	"cables:\n  - {from: \"n[0-1]\", port: a, to: L0, rate: 1 GB/s}\n"
	"  - {from: \"n[0-1]\", port: b, to: L1, rate: 1 GB/s}\n"
	"  - {from: \"L[0-3]\", to: \"S[0-99]\", rate: 1 GB/s}\n",
	"weft: fabric/1\nnodes:\n  n[0-3]: 4\nlevels:\n  leaf:\n    L0: "
	"n[0-3]\n"
	"cables:\n  - {from: n0, to: M0}\n",
};

/* Runs with the n-th allocation failing; true when it was reached. */
static bool parse_failing_at(const char *text, long n)
{
	struct weft_error err = {0};
	struct weft_fabric *f;
	bool reached;

	live = 0;
	left = n;
	counting = true;
	f = weft_fabric_parse(text, strlen(text), "test", &err);
	reached = left < 0;
	left = -1;
	weft_fabric_free(f);
	counting = false;
	assert_int_equal(live, 0);
	if (reached) {
		assert_null(f);
		assert_int_equal(err.code, WEFT_ENOMEM);
	}
	return reached;
}

static void a_fabric_survives_every_failing_allocation(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++) {
		long n = 0;

		while (parse_failing_at(files[k], n))
			n++;
		print_message("file %zu: %ld allocations\n", k, n);
		assert_true(n > 5);
	}
}

static bool encode_failing_at(const char *const *names, uint32_t n_names,
			      long n)
{
	char *text;
	bool reached;

	left = n;
	counting = true;
	text = weft_hostlist_encode(names, n_names);
	reached = left < 0;
	left = -1;
	counting = false;
	assert_true(reached == (text == NULL));
	free(text);
	return reached;
}

static void folding_survives_every_failing_allocation(void **state)
{
	static const char *const names[] = {"a0b0", "a0b1", "a1b0", "a1b1"};

	(void)state;
	for (long n = 0; encode_failing_at(names, 4, n); n++)
		;
}

static bool synth_failing_at(long n)
{
	struct weft_error err = {0};
	bool reached;
	char *text;

	left = n;
	counting = true;
	text = weft_synth("pod:2 leaf:2 node:2 gpu:8", NULL, &err);
	reached = left < 0;
	left = -1;
	counting = false;
	if (!text)
		assert_int_equal(err.code, WEFT_ENOMEM);
	free(text);
	return reached;
}

static void synth_survives_every_failing_allocation(void **state)
{
	(void)state;
	for (long n = 0; synth_failing_at(n); n++)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_survives_every_failing_allocation),
		cmocka_unit_test(folding_survives_every_failing_allocation),
		cmocka_unit_test(synth_survives_every_failing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
