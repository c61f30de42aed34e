/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_simulation.c - times of all-reduces against simulated flows */
#include "costmodel/traffic/collective.h"
#include "lab/calculators/gradsync.h"
#include "tests/costmodel/simulation.h"

#include <stdio.h>

/* A group of `inner` GPUs on each of `outer` nodes, and the fabric it fills. */
struct scene {
	struct weft_fabric *f;
	struct simulation s;
	uint32_t only_level; /* whose messages are simulated */
};

static void scene_add(void *data, uint32_t from, uint32_t to, double share)
{
	struct scene *scene = data;

	if (scene->only_level == weft_fabric_meet(scene->f, from, to))
		simulation_add(&scene->s, scene->f, from, to, share * 1e9);
}

/* Seconds for all that an algorithm sends, level by level: each uses the links
 * of one at a time. */
static double scene_run(struct scene *scene, enum weft_algorithm algorithm,
			const struct weft_group *group)
{
	uint32_t n = scene->f->n_gpus;
	double time_s = 0;

	for (uint32_t l = 0; l < scene->f->n_levels; l++) {
		simulation_open(&scene->s, scene->f, 2 * n * n * n);
		scene->s.nic_beside_port = true;
		scene->only_level = l;
		weft_collective_flows(WEFT_ALL_REDUCE, algorithm, group,
				      scene_add, scene);
		time_s += simulation_run(&scene->s, NULL);
		simulation_close(&scene->s);
	}
	return time_s;
}

static void all_reduces_take_what_their_flows_take(void **state)
{
	static const enum weft_algorithm algorithms[] = {
		[WEFT_GRADSYNC_RING] = WEFT_RING,
		[WEFT_GRADSYNC_TREE] = WEFT_DOUBLE_TREE,
		[WEFT_GRADSYNC_HALVING] = WEFT_HALVING_DOUBLING,
		[WEFT_GRADSYNC_HIERARCHICAL] = WEFT_HIERARCHICAL,
	};
	static const uint32_t shapes[][2] = {{8, 1}, {5, 1}, {3, 1}, {4, 2},
					     {4, 4}, {2, 8}, {3, 3}, {8, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		uint32_t inner = shapes[i][0], outer = shapes[i][1];
		struct weft_group group = {outer > 1 ? inner : 1,
					   outer > 1 ? outer : inner, 1};
		struct weft_gradsync sync;
		struct weft_error err = {0};
		struct scene scene;
		char spec[64];

		snprintf(spec, sizeof(spec), "node:%u gpu:%u", outer, inner);
		scene.f = test_synth(spec, NULL);
		struct weft_gradsync_job job = {
			.parameters = 1e9,
			.parameter_bytes = 1,
			.n_gpus = inner * outer,
			.link_bytes_per_s = scene.f->levels[outer > 1]
						    .link.rate_bytes_per_s,
			.gpus_per_node = outer > 1 ? inner : 0,
			.intra_bytes_per_s =
				scene.f->levels[0].link.rate_bytes_per_s,
		};

		weft_gradsync(&job, WEFT_RIGHT, &sync, &err);
		assert_no_error(&err);
		for (int a = WEFT_GRADSYNC_RING;
		     a <= WEFT_GRADSYNC_HIERARCHICAL; a++)
			if ((a == WEFT_GRADSYNC_HIERARCHICAL) == (outer > 1) &&
			    weft_collective_applies(WEFT_ALL_REDUCE,
						    algorithms[a], &group))
				assert_close(sync.time_s[a],
					     scene_run(&scene, algorithms[a],
						       &group),
					     1e-9);
		weft_fabric_free(scene.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_reduces_take_what_their_flows_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
