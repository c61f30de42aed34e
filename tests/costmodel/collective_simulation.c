/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_simulation.c - prices of collectives against simulated flows */
#include "costmodel/traffic/collective.h"
#include "tests/costmodel/simulation.h"

#include <stdio.h>

/* A group of `inner` GPUs on each of `outer` nodes, and the fabric it fills. */
struct scene {
	struct weft_fabric *f;
	struct weft_group group;
	struct simulation s;
	uint32_t only_level; /* whose messages are simulated; WEFT_NONE: all */
};

static void scene_open(struct scene *scene, uint32_t inner, uint32_t outer)
{
	char spec[64];

	snprintf(spec, sizeof(spec), "node:%u gpu:%u", outer, inner);
	memset(scene, 0, sizeof(*scene));
	scene->f = test_synth(spec, NULL);
	scene->group.n_levels = outer > 1 ? 2 : 1;
	for (uint32_t l = 0; l < scene->group.n_levels; l++) {
		scene->group.level[l].n = l ? outer : inner;
		scene->group.level[l].rate_bytes_per_s =
			scene->f->levels[l].link.rate_bytes_per_s;
	}
}

static void scene_add(void *data, uint32_t from, uint32_t to, double bytes)
{
	struct scene *scene = data;

	if (scene->only_level == WEFT_NONE ||
	    scene->only_level == weft_fabric_meet(scene->f, from, to))
		simulation_add(&scene->s, scene->f, from, to, bytes);
}

/* Seconds for all that an algorithm sends at a level (or at all), at once. */
static double scene_run(struct scene *scene, enum weft_collective collective,
			enum weft_algorithm algorithm, uint32_t only_level)
{
	uint32_t n = scene->f->n_gpus;
	struct weft_error err = {0};
	double time_s;

	simulation_open(&scene->s, scene->f, 2 * n * n * n);
	scene->s.nic_beside_port = true;
	scene->only_level = only_level;
	weft_collective_flows(collective, algorithm, &scene->group, 1e9,
			      scene_add, scene, &err);
	assert_no_error(&err);
	time_s = simulation_run(&scene->s, NULL);
	simulation_close(&scene->s);
	return time_s;
}

/* A pipelined algorithm has all its links busy at once, and so takes what the
 * simulation takes.  One in phases uses a level's links at a time: each level's
 * messages, simulated alone, add up.  A ring is priced as if the one message in
 * `inner` that leaves a node crossed NVLink, too, which matters where all NICs
 * together are as fast. */
static void check_collective(struct scene *scene,
			     enum weft_collective collective,
			     enum weft_algorithm algorithm)
{
	const struct weft_group *group = &scene->group;
	double inner = group->level[0].n;
	bool nics_match = group->n_levels > 1 &&
			  inner * group->level[1].rate_bytes_per_s >=
				  group->level[0].rate_bytes_per_s;
	struct weft_collective_price price;
	double at_once_s, in_turn_s = 0;

	weft_collective_price(collective, algorithm, &scene->group, 1e9, &price,
			      NULL);
	at_once_s = scene_run(scene, collective, algorithm, WEFT_NONE);
	for (uint32_t l = 0; l < scene->group.n_levels; l++)
		in_turn_s += scene_run(scene, collective, algorithm, l);
	if (algorithm == WEFT_RING)
		assert_true(price.transfer_s <=
			    at_once_s * inner / (inner - 1) * (1 + 1e-9));
	else if (algorithm == WEFT_DOUBLE_TREE)
		assert_close(price.transfer_s, at_once_s, 1e-9);
	else if (algorithm != WEFT_PAT)
		assert_close(price.transfer_s, in_turn_s, 1e-9);
	if (algorithm == WEFT_RING && !nics_match)
		assert_close(price.transfer_s, at_once_s, 1e-9);
	/* PAT uses both levels in one phase, and waits for the slower. */
	assert_true(price.transfer_s >= at_once_s * (1 - 1e-9));
}

static void collectives_are_priced_as_simulated(void **state)
{
	static const uint32_t shapes[][2] = {{8, 1}, {5, 1}, {4, 2}, {4, 4},
					     {2, 8}, {3, 3}, {8, 3}};
	uint32_t n_checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct scene scene;

		scene_open(&scene, shapes[i][0], shapes[i][1]);
		for (uint32_t k = 0; k < WEFT_N_COLLECTIVES * WEFT_N_ALGORITHMS;
		     k++) {
			enum weft_algorithm algorithm = k % WEFT_N_ALGORITHMS;
			enum weft_collective collective = k / WEFT_N_ALGORITHMS;

			if (algorithm == WEFT_SHARP || algorithm == WEFT_NVLS ||
			    !weft_collective_applies(collective, algorithm,
						     &scene.group))
				continue;
			check_collective(&scene, collective, algorithm);
			n_checked++;
		}
		weft_fabric_free(scene.f);
	}
	assert_true(n_checked > 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_are_priced_as_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
