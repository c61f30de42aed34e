/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.c - reading weft.yaml and the files that it names */
#include "plugin/bridge/files/settings.h"

#include "tests/lib/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "name: small\n"
				  "profile: dgx-h100-superpod\n"
				  "nodes:\n"
				  "  n[0-3]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    a: n[0-1]\n"
				  "    b: n[2-3]\n";

static const char model_text[] = "layers: 4\n"
				 "hidden: 256\n"
				 "ffn: 1024\n"
				 "heads: 8\n"
				 "vocab: 1000\n"
				 "seq: 512\n";

static char folder[] = "/tmp/weft-settings.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	umask(022);
	if (!mkdtemp(folder) || mkdir(path_of("models"), 0700) != 0)
		return -1;
	test_write_file(path_of("fabric.yaml"), fabric_text);
	test_write_file(path_of("models/tiny.yaml"), model_text);
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"weft.yaml", "fabric.yaml",
					    "models/tiny.yaml"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	rmdir(path_of("models"));
	return rmdir(folder);
}

static const struct weft_owner trainer = {.partition = "train",
					  .qos = "high",
					  .account = "lab"};

static struct weft_settings *load(const char *text, struct weft_error *err)
{
	test_write_file(path_of("weft.yaml"), text);
	return weft_settings_load(path_of("weft.yaml"), err);
}

static void defaults_are_those_of_the_manual(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s =
		load("weft: slurm/1\nfabric: fabric.yaml\n", &err);

	(void)state;
	assert_no_error(&err);
	assert_non_null(s);
	assert_int_equal(s->mode, WEFT_MODE_OBSERVE);
	assert_false(s->place_unspecified);
	assert_false(weft_settings_place(s, &trainer));
	assert_true(s->order_ranks);
	assert_close(s->budget_s, 0.020, 1e-12);
	assert_true(isinf(s->heavier));
	assert_int_equal(s->fabric->n_gpus, 32);
	assert_int_equal(s->n_models, 0);
	assert_null(s->status_path);
	assert_null(s->health_path);
	assert_true(s->contention);
	assert_false(s->accept_missing);
	weft_settings_free(s);
}

static void every_key_is_read(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load("weft: slurm/1\n"
				       "fabric: fabric.yaml\n"
				       "budget: 5 ms\n"
				       "unspecified: place\n"
				       "ranks: leave\n"
				       "mode: place\n"
				       "weights: 0.2\n"
				       "status: run/status.json\n"
				       "health: /run/health.yaml\n"
				       "contention: off\n"
				       "accept_missing: yes\n"
				       "models:\n"
				       "  House-1b: models/tiny.yaml\n",
				       &err);

	(void)state;
	assert_no_error(&err);
	assert_non_null(s);
	assert_true(s->place_unspecified);
	assert_true(weft_settings_place(s, &trainer));
	assert_false(s->order_ranks);
	assert_close(s->budget_s, 0.005, 1e-12);
	assert_close(s->heavier, 0.2, 1e-12);
	assert_string_equal(s->status_path, path_of("run/status.json"));
	assert_string_equal(s->health_path, "/run/health.yaml");
	assert_false(s->contention);
	assert_true(s->accept_missing);
	assert_non_null(weft_settings_model(s, "house-1B"));
	assert_null(weft_settings_model(s, "tiny"));
	assert_int_equal(weft_settings_model(s, "House-1b")->layers, 4);
	weft_settings_free(s);
}

static bool places(const char *mode_and_place, const struct weft_owner *owner)
{
	struct weft_error err = {0};
	struct weft_settings *s;
	char text[256];
	bool place;

	snprintf(text, sizeof(text), "weft: slurm/1\nfabric: fabric.yaml\n%s",
		 mode_and_place);
	s = load(text, &err);
	assert_no_error(&err);
	assert_non_null(s);
	place = weft_settings_place(s, owner);
	weft_settings_free(s);
	return place;
}

static void every_list_that_is_given_must_name_the_job(void **state)
{
	static const struct weft_owner nobody;

	(void)state;
	assert_true(places("mode: place\n", &nobody));
	assert_false(places("mode: observe\nplace: {partitions: [train]}\n",
			    &trainer));
	assert_true(places("mode: place\nplace: {partitions: [train]}\n",
			   &trainer));
	assert_false(
		places("mode: place\nplace: {partitions: [train]}\n", &nobody));
	assert_false(
		places("mode: place\nplace: {partitions: [main]}\n", &trainer));
	assert_true(
		places("mode: place\nplace: {qos: [low, high]}\n", &trainer));
	assert_true(
		places("mode: place\nplace: {accounts: [lab]}\n", &trainer));
	assert_false(places("mode: place\n"
			    "place: {partitions: [train], accounts: [ops]}\n",
			    &trainer));
}

static void weights_go_first_or_last(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load("weft: slurm/1\n"
				       "fabric: fabric.yaml\n"
				       "weights: last\n",
				       &err);

	(void)state;
	assert_no_error(&err);
	assert_true(s->heavier == 0);
	weft_settings_free(s);
	assert_null(load("weft: slurm/1\nfabric: fabric.yaml\nweights: -1\n",
			 &err));
	assert_error_says(&err, "weights");
}

static void switched_off_it_reads_no_other_file(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load("weft: slurm/1\n"
				       "fabric: missing.yaml\n"
				       "mode: off\n",
				       &err);

	(void)state;
	assert_no_error(&err);
	assert_non_null(s);
	assert_int_equal(s->mode, WEFT_MODE_OFF);
	assert_null(s->fabric);
	weft_settings_free(s);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *text, *says;
		int line;
	} wrong[] = {
		{"", "", 0},
		{"fabric: fabric.yaml\n", "weft", 1},
		{"weft: slurm/2\nfabric: fabric.yaml\n", "slurm/1", 1},
		{"weft: slurm/1\n", "fabric", 1},
		{"weft: slurm/1\nfabrik: x\n", "fabric", 2},
		{"weft: slurm/1\nfabric: fabric.yaml\nbudget: 20\n", "", 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nbudget: 20 s\n", "10 s",
		 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nunspecified: plaice\n",
		 "place", 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nmode: observed\n",
		 "observe", 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nplace: [train]\n", "", 3},
		{"weft: slurm/1\nfabric: fabric.yaml\n"
		 "place: {partition: [train]}\n",
		 "partitions", 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nranks: leaves\n", "leave",
		 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nmodels: x\n", "", 3},
		{"weft: slurm/1\nfabric: fabric.yaml\nmodels:\n  a: b.yaml\n",
		 "", 0},
		{"weft: slurm/1\nfabric: missing.yaml\n", "", 0},
		{"weft: slurm/1\nfabric: \"\"\n", "file", 2},
		{"weft: slurm/1\nfabric: [a]\n", "", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};

		print_message("%s\n", wrong[i].text);
		assert_null(load(wrong[i].text, &err));
		assert_error_says(&err, wrong[i].says);
		if (wrong[i].line)
			assert_int_equal(err.line, wrong[i].line);
	}
}

static void a_missing_file_is_an_error(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_null(weft_settings_load(path_of("nowhere.yaml"), &err));
	assert_int_not_equal(err.code, 0);
	weft_settings_free(NULL);
}

static void a_pipe_is_not_waited_for(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
	assert_null(load("weft: slurm/1\nfabric: pipe\n", &err));
	assert_error_says(&err, "regular file");
	err = (struct weft_error){0};
	assert_null(weft_settings_load(path_of("pipe"), &err));
	assert_error_says(&err, "regular file");
	unlink(path_of("pipe"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_manual),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(every_list_that_is_given_must_name_the_job),
		cmocka_unit_test(weights_go_first_or_last),
		cmocka_unit_test(switched_off_it_reads_no_other_file),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(a_pipe_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
