/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suggest.c - the word that was meant */
#include "base/suggest.h"
#include "tests/lib/check.h"

#include <string.h>

static void the_nearest_word_is_suggested(void **state)
{
	static const char *const known[] = {
		"nodes",   "nvlink", "levels", "rails", "dgx-h100-superpod",
		"dgx-b200"};
	static const struct {
		const char *word, *nearest;
	} cases[] = {
		{"nodse", "nodes"},	  {"NODES", "nodes"},
		{"link", "nvlink"},	  {"lvels", "levels"},
		{"rials", "rails"},	  {"dgx-h100", "dgx-h100-superpod"},
		{"dgx-b300", "dgx-b200"}, {"", "nodes"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
		assert_string_equal(weft_suggest(cases[k].word, known, 6),
				    cases[k].nearest);
}

static void a_word_far_away_is_no_hint(void **state)
{
	static const char *const known[] = {"tp", "nodes", "compress"};

	(void)state;
	assert_string_equal(weft_suggest_near("tpp", known, 3), "tp");
	assert_string_equal(weft_suggest_near("nodse", known, 3), "nodes");
	assert_null(weft_suggest_near("tensor-model-parallel-size", known, 3));
	assert_null(weft_suggest_near("wibble", known, 3));
	assert_null(weft_suggest_near("lr", known, 3));
}

static void a_far_word_gets_the_known_ones(void **state)
{
	static const char *const known[] = {"tp", "nodes", "gpus"};
	const char *many[100];
	char text[WEFT_SUGGEST_TEXT];

	(void)state;
	assert_string_equal(weft_suggest_text("nodse", known, 3, text),
			    "did you mean \"nodes\"?");
	assert_string_equal(weft_suggest_text("wibble", known, 3, text),
			    "known are tp, nodes, gpus");
	for (size_t i = 0; i < 100; i++)
		many[i] = "aaaaaaaaaa";
	weft_suggest_text("wibble", many, 100, text);
	assert_true(strlen(text) < WEFT_SUGGEST_TEXT);
	assert_string_equal(text + strlen(text) - 5, ", ...");
}

static void no_known_word_gives_no_suggestion(void **state)
{
	(void)state;
	assert_null(weft_suggest("a", NULL, 0));
}

static void long_words_are_compared_by_their_beginning(void **state)
{
	char a[300], b[300];
	const char *known[] = {"x", b};

	(void)state;
	memset(a, 'a', sizeof(a));
	memset(b, 'a', sizeof(b));
	a[299] = b[299] = '\0';
	b[200] = 'b';
	assert_string_equal(weft_suggest(a, known, 2), b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_far_word_gets_the_known_ones),
		cmocka_unit_test(the_nearest_word_is_suggested),
		cmocka_unit_test(a_word_far_away_is_no_hint),
		cmocka_unit_test(no_known_word_gives_no_suggestion),
		cmocka_unit_test(long_words_are_compared_by_their_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
