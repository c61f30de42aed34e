/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.c - built-in shapes against the table, and model files */
#include "costmodel/job/model.h"

#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void check_shape(const struct csv *csv, uint32_t row,
			const struct weft_model *m)
{
	const bool gated =
		strncmp(table_cell(csv, row, "mlp"), "gated", 5) == 0;
	const char *kv_heads = table_cell(csv, row, "kv_heads");
	const bool latent = strcmp(kv_heads, "MLA") == 0;

	assert_string_equal(m->name, table_cell(csv, row, "model"));
	assert_int_equal(m->layers, table_number(csv, row, "layers"));
	assert_int_equal(m->hidden, table_number(csv, row, "hidden"));
	assert_int_equal(m->ffn, table_number(csv, row, "ffn"));
	assert_int_equal(m->heads, table_number(csv, row, "heads"));
	assert_int_equal(m->kv_heads,
			 latent ? m->heads : strtod(kv_heads, NULL));
	assert_int_equal(m->mla_kv_rank > 0, latent);
	assert_int_equal(m->vocab, table_number(csv, row, "vocab"));
	assert_int_equal(m->seq, table_number(csv, row, "seq"));
	assert_int_equal(m->gated_mlp, gated);
	assert_int_equal(m->tied_embedding,
			 strcmp(table_cell(csv, row, "embeddings"), "tied") ==
				 0);
	assert_int_equal(m->experts, table_number(csv, row, "experts"));
	assert_int_equal(m->top_k, table_number(csv, row, "top_k"));
	assert_int_equal(m->expert_ffn, table_number(csv, row, "expert_ffn"));
}

static void check_parameters(const struct csv *csv, uint32_t row,
			     const struct weft_model *m)
{
	double billions = weft_model_parameters(m) / 1e9;
	double nominal = table_number(csv, row, "nominal_params_B");
	double formula = table_number(csv, row, "formula_params_B");
	double formula_err = table_number(csv, row, "formula_err_pct");

	/* The table has three decimals. */
	if (formula > 0)
		assert_true(fabs(billions - formula) < 0.0006);
	if (fabs(formula_err) < 3)
		assert_close(billions, nominal, 0.03);
}

static void every_built_in_model_equals_the_table(void **state)
{
	struct csv csv = table_open("data/costmodel/model_shapes.csv");

	(void)state;
	assert_true(csv.n_rows <= weft_n_models);
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		struct weft_error err = {0};
		struct weft_model m;

		weft_model_find(table_cell(&csv, row, "model"), &m, &err);
		assert_no_error(&err);
		check_shape(&csv, row, &m);
		check_parameters(&csv, row, &m);
	}
	csv_free(&csv);
}

static void layers_add_up_to_the_model(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < weft_n_models; i++) {
		const struct weft_model *m = &weft_models[i];
		uint32_t half = m->layers / 3;
		double sum = weft_model_embedding_parameters(m) +
			     weft_model_mtp_parameters(m);
		double one_by_one = sum;

		sum += weft_model_layers_parameters(m, 0, half);
		sum += weft_model_layers_parameters(m, half, m->layers - half);
		for (uint32_t l = 0; l < m->layers; l++)
			one_by_one += weft_model_layer_parameters(m, l);
		assert_close(sum, weft_model_parameters(m), 1e-12);
		assert_close(one_by_one, weft_model_parameters(m), 1e-12);
	}
}

static void keys_and_values_are_split_over_tensor_ranks(void **state)
{
	struct weft_error err = {0};
	struct weft_model m;

	(void)state;
	weft_model_find("llama3-405B", &m, &err);
	assert_no_error(&err);
	assert_close(weft_model_kv_width(&m, 1), 1024, 0);
	assert_close(weft_model_kv_width(&m, 8), 128, 0);
	/* 16 ranks, 8 heads: each pair of ranks holds the same head. */
	assert_close(weft_model_kv_width(&m, 16), 128, 0);
}

static void names_ignore_case_and_unknown_ones_get_a_hint(void **state)
{
	struct weft_error err = {0};
	struct weft_model m;

	(void)state;
	assert_int_equal(weft_model_find("LLAMA3-70b", &m, &err), 0);
	assert_string_equal(m.name, "llama3-70B");
	assert_int_equal(weft_model_find("llama3-70", &m, &err), -1);
	assert_error_says(&err, "unknown model \"llama3-70\"; did you mean "
				"\"llama3-70B\"?");
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_model_find(WEFT_MODEL_DEFAULT, &m, &err), 0);
}

/* Loads `text` from a temporary file. */
static int load_text(const char *text, struct weft_model *m,
		     struct weft_error *err)
{
	static const char path[] = "model-test.yaml";
	int rc;

	test_write_file(path, text);
	memset(err, 0, sizeof(*err));
	rc = weft_model_load(path, m, err);
	unlink(path);
	return rc;
}

#define SHAPE                                                                  \
	"layers: 10\nhidden: 512\nffn: 2048\nheads: 8\nvocab: 1000\nseq: "     \
	"128\n"

static void a_file_gives_a_shape(void **state)
{
	struct weft_error err;
	struct weft_model m;

	(void)state;
	load_text(SHAPE, &m, &err);
	assert_no_error(&err);
	assert_string_equal(m.name, "model-test.yaml");
	assert_int_equal(m.kv_heads, 8);
	assert_false(m.gated_mlp);
	load_text("name: mine\ngated_mlp: true\nkv_heads: 2\nexperts: 4\n"
		  "top_k: 2\nexpert_ffn: 64\n" SHAPE,
		  &m, &err);
	assert_no_error(&err);
	assert_string_equal(m.name, "mine");
	assert_true(m.gated_mlp);
	assert_int_equal(m.kv_heads, 2);
	/* attention 2h^2 + 2h*kv, experts, router, norms */
	assert_close(weft_model_layer_parameters(&m, 0),
		     2.0 * 512 * 512 + 2.0 * 512 * 128 + 4 * 3.0 * 512 * 64 +
			     4 * 512 + 2 * 512,
		     1e-12);
}

static void wrong_files_are_explained_with_their_line(void **state)
{
	static const struct {
		const char *text, *says;
		int line;
	} cases[] = {
		{"layers: 4\n", "no \"hidden\"", 1},
		{"- 1\n", "", 1},
		{SHAPE "hiden: 4\n", "hidden", 7},
		{SHAPE "kv_heads: 3\n", "kv_heads must divide heads", 7},
		{SHAPE "experts: 8\n", "experts needs top_k", 7},
		{SHAPE "experts: 8\ntop_k: 2\n", "experts needs expert_ffn", 7},
		{SHAPE "top_k: 2\n", "top_k must be at most experts", 7},
		{SHAPE "dense_layers: 11\n", "at most layers", 7},
		{SHAPE "mla_rope: 64\n", "mla_rope needs mla_kv_rank", 7},
		{SHAPE "gated_mlp: 7\n", "", 7},
		{"layers: 0\nhidden: 512\nffn: 2048\nheads: 8\nvocab: 1\nseq: "
		 "1\n",
		 "", 1},
		{"layers: 1\nhidden: 100\nffn: 2048\nheads: 8\nvocab: 1\nseq: "
		 "1\n",
		 "heads must divide hidden", 4},
	};
	struct weft_error err;
	struct weft_model m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(load_text(cases[i].text, &m, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.line, cases[i].line);
	}
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_model_load("/nonexistent", &m, &err), -1);
	assert_int_equal(err.code, WEFT_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_built_in_model_equals_the_table),
		cmocka_unit_test(layers_add_up_to_the_model),
		cmocka_unit_test(keys_and_values_are_split_over_tensor_ranks),
		cmocka_unit_test(names_ignore_case_and_unknown_ones_get_a_hint),
		cmocka_unit_test(a_file_gives_a_shape),
		cmocka_unit_test(wrong_files_are_explained_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
