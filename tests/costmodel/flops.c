/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.c - floating point operations, against published formulas and MFUs */
#include "costmodel/job/flops.h"

#include "costmodel/job/gpu.h"
#include "tests/costmodel/table.h"

#include <string.h>

static struct weft_model model(const char *name)
{
	struct weft_error err = {0};
	struct weft_model m;

	weft_model_find(name, &m, &err);
	assert_no_error(&err);
	return m;
}

static void a_gpt_has_the_flops_of_the_published_formula(void **state)
{
	static const char *const names[] = {"gpt-1.7B", "gpt3-175B",
					    "turing-530B", "gpt-1008B"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct weft_model m = model(names[i]);
		struct weft_flops f = weft_flops(&m, m.seq);
		double B = 512, s = m.seq, l = m.layers, h = m.hidden,
		       V = m.vocab;
		double term = B * s * l * h * h;

		/* arXiv:2205.05198 appendix A; arXiv:2104.04473 equation 3 */
		assert_close(weft_flops_model(&f, 512, false),
			     72 * term * (1 + s / (6 * h) + V / (12 * h * l)),
			     1e-12);
		assert_close(weft_flops_hardware(&f, 512, WEFT_RECOMPUTE_FULL),
			     96 * term * (1 + s / (6 * h) + V / (16 * l * h)),
			     1e-12);
	}
}

static void a_causal_mask_halves_attention_alone(void **state)
{
	struct weft_model m = model("llama3-70B");
	struct weft_flops f = weft_flops(&m, 8192);

	(void)state;
	assert_close(weft_flops_model(&f, 1, false) -
			     weft_flops_model(&f, 1, true),
		     1.5 * f.attention, 1e-9);
	assert_close(f.attention, 4.0 * 8192 * 8192 * 8192 * 80, 1e-12);
}

static void hardware_flops_count_what_is_repeated(void **state)
{
	struct weft_model m = model("llama3-8B");
	struct weft_flops f = weft_flops(&m, 4096);
	double once = weft_flops_model(&f, 8, false);

	(void)state;
	assert_close(weft_flops_hardware(&f, 8, WEFT_RECOMPUTE_NONE), once, 0);
	assert_close(weft_flops_hardware(&f, 8, WEFT_RECOMPUTE_SELECTIVE),
		     once + 8 * f.attention, 1e-12);
	assert_close(weft_flops_hardware(&f, 8, WEFT_RECOMPUTE_FULL),
		     once + 8 * (f.products + f.attention), 1e-12);
}

static void six_per_parameter_and_token_without_attention(void **state)
{
	struct weft_model m = model("llama3-8B");
	struct weft_flops f = weft_flops(&m, 8192);
	double products = 3 * (f.products + f.logits) / 8192;
	/* All parameters but the input embedding are in products. */
	double weights = weft_model_parameters(&m) - (double)m.vocab * m.hidden;

	(void)state;
	assert_close(products, 6 * weights, 1e-4);
}

static void a_token_meets_the_experts_it_is_sent_to(void **state)
{
	struct weft_model m = model("grok1-314B"), more = m;
	double two = weft_flops_layer(&m, 0), three;

	(void)state;
	more.top_k = 3;
	three = weft_flops_layer(&more, 0);
	assert_close(three - two, 2.0 * 3 * m.hidden * m.expert_ffn, 1e-9);
	/* Experts that are not asked compute nothing but their score. */
	more = m;
	more.experts = 16;
	assert_close(weft_flops_layer(&more, 0) - two, 2.0 * 8 * m.hidden,
		     1e-6);
}

static void latent_attention_has_its_published_cost(void **state)
{
	struct weft_model m = model("deepseek-v3");
	struct weft_flops f = weft_flops(&m, 4096);

	(void)state;
	/* 37 B parameters are active for a token (arXiv:2412.19437). */
	assert_close((f.products + f.logits) / 4096 / 2, 36.7e9, 0.02);
}

/* MFU from the printed step time, beside the printed MFU. */
static void published_utilisations_follow_from_step_times(void **state)
{
	struct csv csv = table_open("data/costmodel/published_training.csv");
	static const struct {

		const char *source, *model;
		double within;
	} sets[] = {
		{"arXiv:2205.05198", "turing-530B", 0.0012},
		{"v24.11.1 nemo_megatron/README_175b", "gpt3-175B", 0.0030},
		{"v24.11.1 llama3.1/README_8b", "llama3-8B", 0.0020},
		{"v24.11.1 llama3.1/README_70b", "llama3-70B", 0.0030},
		{"v24.11.1 maxtext/README_70b", "llama2-70B", 0.0010},
		{"v25.05.05 nemotron", "nemotron4-340B", 0.0040},
	};
	uint32_t n = 0;

	(void)state;
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		double mfu = table_number(&csv, row, "mfu_pct") / 100;
		double step_s = table_number(&csv, row, "step_s");

		for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
			struct weft_model m = model(sets[i].model);
			bool fp8 = strcmp(table_cell(&csv, row, "precision"),
					  "fp8") == 0;
			struct weft_error err = {0};
			struct weft_flops f;
			double peak;

			if (!(mfu > 0 && step_s > 0) ||
			    !strstr(table_cell(&csv, row, "source"),
				    sets[i].source) ||
			    table_number(&csv, row, "hidden") != m.hidden)
				continue;
			peak = weft_gpu_find(table_cell(&csv, row, "gpu"), &err)
				       ->flops_per_s[fp8 ? WEFT_BITS_8
							 : WEFT_BITS_16];
			m.layers = (uint32_t)table_number(&csv, row, "layers");
			f = weft_flops(
				&m, (uint32_t)table_number(&csv, row, "seq"));
			assert_close(weft_flops_model(&f,
						      (uint32_t)table_number(
							      &csv, row, "gbs"),
						      false) /
					     step_s / peak /
					     table_number(&csv, row, "gpus"),
				     mfu, sets[i].within);
			n++;
		}
	}
	csv_free(&csv);
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpt_has_the_flops_of_the_published_formula),
		cmocka_unit_test(a_causal_mask_halves_attention_alone),
		cmocka_unit_test(hardware_flops_count_what_is_repeated),
		cmocka_unit_test(six_per_parameter_and_token_without_attention),
		cmocka_unit_test(a_token_meets_the_experts_it_is_sent_to),
		cmocka_unit_test(latent_attention_has_its_published_cost),
		cmocka_unit_test(published_utilisations_follow_from_step_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
