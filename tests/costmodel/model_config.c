/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_config.c - shapes from config.json, as several families write them */
#include "costmodel/job/flops.h"
#include "costmodel/job/model.h"

#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load(const char *name, struct weft_model *m, struct weft_error *err)
{
	const char *srcdir = getenv("WEFT_SRCDIR");
	char path[512];

	memset(err, 0, sizeof(*err));
	snprintf(path, sizeof(path), "%s/tests/models/%s.json",
		 srcdir ? srcdir : ".", name);
	return weft_model_load(path, m, err);
}

/* Parameters as the makers say them, in billions. */
static void parameters_are_those_that_makers_print(void **state)
{
	static const struct {
		const char *name;
		double parameters_e9;
	} known[] = {
		{"llama4-maverick", 400}, {"nemotron3-nano", 31.6},
		{"deepseek-v3", 685},	  {"kimi-k2", 1026},
		{"qwen3-30b-a3b", 30.5},  {"qwen2", 7.6},
		{"gpt-oss-120b", 116.8},  {"qwen3-next", 79.7},
		{"gemma3", 27},		  {"gpt2", 1.56},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct weft_error err;
		struct weft_model m;

		assert_int_equal(load(known[i].name, &m, &err), 0);
		assert_close(weft_model_parameters(&m) / 1e9,
			     known[i].parameters_e9, 0.02);
	}
}

static void a_config_is_the_built_in_of_its_name(void **state)
{
	static const char *const pairs[][2] = {
		{"llama4-maverick", "llama4-maverick"},
		{"nemotron3-nano", "nemotron3-nano-30B"},
		{"kimi-k2", "kimi-k2"},
		{"qwen3-30b-a3b", "qwen3-30B-a3B"},
		{"gpt-oss-120b", "gpt-oss-120B"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct weft_error err;
		struct weft_model read, known;
		struct weft_flops a, b;

		assert_int_equal(load(pairs[i][0], &read, &err), 0);
		assert_int_equal(weft_model_find(pairs[i][1], &known, &err), 0);
		a = weft_flops(&read, 4096);
		b = weft_flops(&known, 4096);
		assert_close(a.products, b.products, 1e-12);
		assert_close(a.attention, b.attention, 1e-12);
		assert_close(weft_model_parameters(&read),
			     weft_model_parameters(&known), 1e-12);
	}
}

static void layers_of_each_kind_are_counted(void **state)
{
	struct weft_error err;
	struct weft_model m;

	(void)state;
	assert_int_equal(load("llama4-maverick", &m, &err), 0);
	assert_int_equal(weft_model_expert_layers(&m, 0, 48), 24);
	assert_false(weft_model_has_experts(&m, 0));
	assert_true(weft_model_has_experts(&m, 1));
	assert_int_equal(m.window_layers, 36);
	assert_int_equal(load("nemotron3-nano", &m, &err), 0);
	assert_int_equal(m.layers, 23);
	assert_int_equal(m.ssm_layers, 23);
	assert_int_equal(m.attention_layers, 6);
	assert_false(m.gated_mlp);
	assert_int_equal(load("qwen3-next", &m, &err), 0);
	assert_int_equal(m.attention_layers, 12);
	assert_int_equal(m.ssm_layers, 36);
	assert_int_equal(load("gemma3", &m, &err), 0);
	assert_int_equal(m.window_layers, 52);
	assert_true(m.gated_mlp && m.tied_embedding);
	assert_int_equal(load("qwen2", &m, &err), 0);
	assert_int_equal(m.window_layers, 0);
	assert_int_equal(load("deepseek-v3", &m, &err), 0);
	assert_int_equal(m.mtp_layers, 1);
	assert_int_equal(m.dense_layers, 3);
}

/* A window of 1,024 in 8,192 tokens leaves a quarter of the pairs, less the
 * first window's. */
static void windows_leave_fewer_pairs(void **state)
{
	struct weft_error err;
	struct weft_model m;

	(void)state;
	assert_int_equal(load("gemma3", &m, &err), 0);
	m.window_layers = m.layers;
	assert_close(weft_model_span(&m, 8192), 2 * 1024 - 1024.0 / 8, 1e-12);
	assert_close(weft_model_span(&m, 512), 512, 1e-12);
}

static void what_is_not_trained_whole_is_refused(void **state)
{
	struct weft_error err;
	struct weft_model m;

	(void)state;
	assert_int_equal(load("lora", &m, &err), -1);
	assert_error_says(&err, "LoRA");
	assert_int_equal(err.line, 2);
	assert_int_equal(load("t5", &m, &err), -1);
	assert_error_says(&err, "encoder with a decoder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_those_that_makers_print),
		cmocka_unit_test(a_config_is_the_built_in_of_its_name),
		cmocka_unit_test(layers_of_each_kind_are_counted),
		cmocka_unit_test(windows_leave_fewer_pairs),
		cmocka_unit_test(what_is_not_trained_whole_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
