/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synth.c - synthetic fabrics load and have the shape that was asked for */
#include "topology/synth.h"
#include "tests/lib/fabric.h"
#include "topology/cabling.h"
#include "topology/profile.h"

static void counts_are_nested(void **state)
{
	static const struct {
		const char *spec;
		uint32_t nodes, gpus, levels, inner;
	} cases[] = {
		{"node:1 gpu:1", 1, 1, 1, 1},
		{"node:16 gpu:8", 16, 128, 2, 1},
		{"leaf:1 node:3 gpu:4", 3, 12, 2, 1},
		{"pod:4 leaf:16 node:32 gpu:8", 2048, 16384, 4, 64},
		{"pod:2 leaf:4 nvlink:2 node:18 gpu:4", 288, 1152, 4, 8},
		{"nvlink:2 node:18 gpu:4", 36, 144, 2, 1},
		{"l2:2  l1:3 node:2 gpu:2", 12, 24, 4, 6},
		{"a:2 b:2 c:2 d:2 e:2 f:2 g:2 h:2 i:2 node:1 gpu:1", 512, 512,
		 11, 512},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_fabric *f = test_synth(cases[k].spec, NULL);

		assert_int_equal(f->n_nodes, cases[k].nodes);
		assert_int_equal(f->n_gpus, cases[k].gpus);
		assert_int_equal(f->n_levels, cases[k].levels);
		if (f->n_levels > 1)
			assert_int_equal(f->levels[1].n_domains,
					 cases[k].inner);
		weft_fabric_free(f);
	}
}

static void options_show_in_the_fabric(void **state)
{
	const struct weft_synth_options options = {.name = "test",
						   .profile = "selene-a100",
						   .prefix = "dgx",
						   .rails = 8};
	struct weft_fabric *f = test_synth("leaf:2 node:10 gpu:8", &options);

	(void)state;
	assert_string_equal(f->name, "test");
	assert_string_equal(f->profile, "selene-a100");
	assert_int_equal(f->n_rails, 8);
	assert_int_equal(weft_fabric_node(f, "dgx19"), 19);
	assert_string_equal(f->domains[f->levels[1].first_domain].name,
			    "leaf0-rail[0-7]");
	weft_fabric_free(f);
}

/* Above each domain cables carry what the levels say, as far as whole cables
 * can. */
static void check_uplinks(const struct weft_fabric *f)
{
	for (uint32_t d = 0; d < f->n_domains; d++) {
		const struct weft_domain *domain = &f->domains[d];
		const struct weft_link *above =
			&f->levels[domain->level + 1].link;
		double want;

		if (domain->parent == WEFT_NONE)
			continue;
		want = domain->n_gpus * above->rate_bytes_per_s /
		       above->oversubscription;
		assert_close(f->uplink_rate_bytes_per_s[d], want, 0.13);
	}
}

static void cables_bring_out_the_profile_s_links(void **state)
{
	static const char *const specs[] = {
		"node:4 gpu:8",
		"leaf:2 node:8 gpu:8",
		"pod:2 leaf:4 node:16 gpu:8",
		"zone:2 pod:3 leaf:7 node:8 gpu:8",
	};

	(void)state;
	for (uint32_t k = 0; k < weft_n_profiles; k++)
		for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
			struct weft_synth_options options = {
				.profile = weft_profiles[k].name,
				.rails = i ? 1 + 7 * (k % 2) : 0,
				.cables = true};
			struct weft_fabric *f;

			if (weft_profiles[k].nvlink_nodes > 1)
				continue;
			f = test_synth(specs[i], &options);
			assert_non_null(f->cabling);
			check_uplinks(f);
			weft_fabric_free(f);
		}
}

static void every_node_and_switch_is_cabled(void **state)
{
	struct weft_synth_options options = {
		.rails = 4, .cables = true, .damage = 0.2, .seed = 3};
	struct weft_fabric *f =
		test_synth("pod:2 leaf:3 node:4 gpu:8", &options);
	const struct weft_cabling *c = f->cabling;
	uint32_t n;

	(void)state;
	for (uint32_t k = 0; k < f->n_nodes; k++) {
		const uint32_t *of = weft_cabling_of_node(c, k, &n);

		assert_int_equal(n, 8);
		for (uint32_t i = 0; i < n; i++) {
			const struct weft_cable *cable = &c->cables[of[i]];

			assert_int_equal(cable->rail, i / 2);
			assert_int_equal(
				c->switches[cable->b - c->n_nodes].rail, i / 2);
			assert_close(cable->rate_bytes_per_s, 50e9, 1e-9);
		}
	}
	for (uint32_t k = 0; k < c->n_switches; k++) {
		weft_cabling_of_switch(c, k, &n);
		assert_true(n > 0);
	}
	weft_fabric_free(f);
}

static void damage_leaves_out_the_asked_share_of_nodes(void **state)
{
	struct weft_synth_options options = {.damage = 0.25, .seed = 7};
	struct weft_fabric *a, *b, *c;

	(void)state;
	a = test_synth("pod:2 leaf:8 node:4 gpu:8", &options);
	b = test_synth("pod:2 leaf:8 node:4 gpu:8", &options);
	options.seed = 8;
	options.rails = 4;
	c = test_synth("pod:2 leaf:8 node:4 gpu:8", &options);
	assert_int_equal(a->n_nodes, 48);
	assert_int_equal(c->n_nodes, 48);
	assert_string_equal(a->nodes[20].name, b->nodes[20].name);
	weft_fabric_free(a);
	weft_fabric_free(b);
	weft_fabric_free(c);
}

static void heavy_damage_still_leaves_a_fabric(void **state)
{
	struct weft_synth_options options = {.damage = 0.999};

	(void)state;
	for (options.seed = 0; options.seed < 50; options.seed++) {
		struct weft_fabric *f = test_synth(
			"pod:3 leaf:2 nvlink:2 node:3 gpu:2", &options);

		assert_int_equal(f->n_nodes, 1);
		weft_fabric_free(f);
	}
}

static void bad_specs_name_the_column(void **state)
{
	static const struct {
		const char *spec;
		int column;
		const char *says;
	} cases[] = {
		{"", 1, "at the end"},
		{"pod:2", 1, "at the end"},
		{"node:2", 1, "at the end"},
		{"gpu:8", 1, "at the end"},
		{"leaf:2 gpu:8", 8, "at the end"},
		{"gpu:8 node:2", 7, "at the end"},
		{"pod:2 abcdefghijklmnopqrstuvwxyzabcdefghijklmno:2 node:2 "
		 "gpu:8",
		 7, "at most 40"},
		{"leaf:x node:2 gpu:8", 6, "a number"},
		{"leaf node:2 gpu:8", 5, "LEVEL:COUNT"},
		{"leaf:2 :2 gpu:8", 8, "LEVEL:COUNT"},
		{"1:2 node:2 gpu:8", 2, "LEVEL:COUNT"},
		{"leaf:2x node:2 gpu:8", 7, "a blank"},
		{"leaf:0 node:2 gpu:8", 1, "from 1"},
		{"leaf:99999999999999999999 node:2 gpu:8", 1, "from 1"},
		{"leaf:2 node:2 gpu:65", 15, "at most 64"},
		{"pod:2 pod:2 node:2 gpu:8", 7, "given twice"},
		{"n:2 node:2 gpu:8", 1, "prefix"},
		{"rack:2 node:2 gpu:8", 1, "not a network level"},
		{"nvlink:2 leaf:2 node:2 gpu:8", 1, "not a network level"},
		{"node:2 node:2 gpu:8", 1, "not a network level"},
		{"pod:4096 leaf:4096 node:4 gpu:8", 10, "4194304 GPUs"},
		{"a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 node:1 gpu:1", 41,
		 "too many levels"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_error err = {0};

		assert_null(weft_synth(cases[k].spec, NULL, &err));
		assert_error_says(&err, cases[k].says);
		if (err.column != cases[k].column)
			print_error("\"%s\": column %d\n", cases[k].spec,
				    err.column);
		assert_int_equal(err.column, cases[k].column);
	}
}

static void bad_options_are_refused(void **state)
{
	static const struct {
		struct weft_synth_options options;
		const char *says;
	} cases[] = {
		{{.profile = "dgx-h10"}, "dgx-h100-superpod"},
		{{.profile = "gb200-nvl72"}, "nvlink:N"},
		{{.prefix = ""}, "node prefix"},
		{{.prefix = "a b"}, "node prefix"},
		{{.prefix = "leaf"}, "prefix"},
		{{.rails = 65}, "at most 64"},
		{{.rails = 3}, "spread evenly"},
		{{.damage = 1}, "fraction"},
		{{.damage = -0.1}, "fraction"},
		{{.name = ""}, "name"},
		{{.name = "a\"b"}, "name"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_error err = {0};

		assert_null(weft_synth("leaf:2 node:2 gpu:8", &cases[k].options,
				       &err));
		assert_error_says(&err, cases[k].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_nested),
		cmocka_unit_test(options_show_in_the_fabric),
		cmocka_unit_test(cables_bring_out_the_profile_s_links),
		cmocka_unit_test(every_node_and_switch_is_cabled),
		cmocka_unit_test(damage_leaves_out_the_asked_share_of_nodes),
		cmocka_unit_test(heavy_damage_still_leaves_a_fabric),
		cmocka_unit_test(bad_specs_name_the_column),
		cmocka_unit_test(bad_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
