/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_hostlist.c - any text as a hostlist: refused with a column, or the same
 * names after folding and expanding again */
#include "base/hostlist.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 4096

static void check_round_trip(const struct weft_hostlist *list)
{
	char *folded =
		weft_hostlist_encode((const char *const *)list->names, list->n);
	struct weft_error err = {0};
	struct weft_hostlist again;

	require(folded != NULL);
	require(weft_hostlist_decode(folded, MAX_NAMES, &again, &err) == 0);
	require(again.n == list->n);
	for (uint32_t i = 0; i < list->n; i++)
		require(strcmp(again.names[i], list->names[i]) == 0);
	free(folded);
	weft_hostlist_free(&again);
}

static void check_order(const struct weft_hostlist *list)
{
	for (uint32_t i = 1; i < list->n; i++) {
		int order =
			weft_name_compare(list->names[i - 1], list->names[i]);
		int back =
			weft_name_compare(list->names[i], list->names[i - 1]);

		require((order < 0) == (back > 0));
		require((order == 0) ==
			(strcmp(list->names[i - 1], list->names[i]) == 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct weft_hostlist list;
	char *text = calloc(size + 1, 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (weft_hostlist_decode(text, MAX_NAMES, &list, &err)) {
		require(err.code == WEFT_EINVAL && err.text[0]);
		require(err.column >= 1 &&
			(size_t)err.column <= strlen(text) + 1);
	} else {
		require(list.n >= 1 && list.n <= MAX_NAMES);
		require(weft_hostlist_column(text, list.n - 1) >= 1);
		check_round_trip(&list);
		check_order(&list);
		weft_hostlist_free(&list);
	}
	free(text);
	return 0;
}
