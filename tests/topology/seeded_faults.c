/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeded_faults.c - one fault in each of 200 fabrics: is the faulty place named
 * first, and is nothing said of the fabric without it?
 */
#include "tests/topology/faults.h"
#include "topology/synth.h"

#define N_FABRICS 200

static const struct shape {
	const char *spec, *profile;
	uint32_t rails;
	double damage;
	bool storage;
} shapes[] = {
	{"leaf:8 node:8 gpu:8", NULL, 0, 0, false},
	{"spine:2 leaf:4 node:6 gpu:8", NULL, 0, 0, false},
	{"spine:2 leaf:4 node:8 gpu:8", NULL, 8, 0, false},
	{"leaf:1 node:16 gpu:8", NULL, 8, 0, false},
	{"leaf:8 node:8 gpu:8", NULL, 0, 0, true},
	{"spine:2 leaf:4 node:8 gpu:8", NULL, 8, 0, true},
	{"leaf:8 node:8 gpu:8", NULL, 0, 0.15, false},
	{"leaf:4 nvlink:1 node:18 gpu:4", "gb200-nvl72", 0, 0, false},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* ---- fabrics ---- */

/* Two switches of a storage network, on which every host has an adapter. */
static void storage_add(struct weft_inventory *s)
{
	uint32_t sw[2];

	for (uint32_t i = 0; i < 2; i++) {
		sw[i] = weft_inventory_switch(s, i ? "store1" : "store0",
					      (struct weft_place){0}, NULL);
		s->switches[sw[i]].network = "storage";
	}
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		struct weft_inventory_cable cable = {.n = 1,
						     .rate_bytes_per_s = 25e9};

		cable.a = (struct weft_end){
			WEFT_END_HOST, h,
			weft_inventory_hca(s, h, "mlx5_9", NULL,
					   (struct weft_place){0}, NULL),
			0};
		cable.b = (struct weft_end){WEFT_END_SWITCH, sw[h % 2],
					    WEFT_NONE, 0};
		weft_inventory_add_cable(s, &cable, NULL);
	}
	for (uint32_t k = 0; k < 2; k++) {
		struct weft_inventory_cable cable = {.n = 4,
						     .rate_bytes_per_s = 25e9};
		uint32_t core = weft_inventory_switch(
			s, "storecore", (struct weft_place){0}, NULL);

		s->switches[core].network = "storage";
		cable.a =
			(struct weft_end){WEFT_END_SWITCH, sw[k], WEFT_NONE, 0};
		cable.b =
			(struct weft_end){WEFT_END_SWITCH, core, WEFT_NONE, 0};
		weft_inventory_add_cable(s, &cable, NULL);
	}
}

/* Switches that were added to the inventory are in no domain. */
static void hierarchy_grow(struct weft_hierarchy *hierarchy, uint32_t was,
			   uint32_t n)
{
	hierarchy->switch_domain =
		realloc(hierarchy->switch_domain, n * sizeof(uint32_t));
	for (uint32_t k = was; k < n; k++)
		hierarchy->switch_domain[k] = WEFT_NONE;
}

static void plant(const struct shape *shape, uint64_t seed, struct told *t)
{
	const struct weft_synth_options options = {
		.name = "test",
		.profile = shape->profile,
		.rails = shape->rails,
		.damage = shape->damage,
		.seed = seed,
		.cables = true,
	};
	struct weft_error err = {0};
	char *text = weft_synth(shape->spec, &options, &err);
	uint32_t n;

	assert_no_error(&err);
	*t = (struct told){0};
	told_fabric(t, text);
	free(text);
	n = t->inventory->n_switches;
	if (shape->storage) {
		storage_add(t->inventory);
		hierarchy_grow(t->hierarchy, n, t->inventory->n_switches);
	}
}

static void no_errors(struct run *run, struct weft_findings *found,
		      const char *what, enum form form, uint32_t seed)
{
	const struct fault nowhere = {{"nowhere", ""}};

	if (weft_findings_count(found, WEFT_ERROR)) {
		run->false_errors++;
		report(found, what, form_names[form], seed, &nowhere);
	}
	weft_findings_free(found);
}

/* The fabric as it is, in that form: alone and against itself. */
static void look_at_sound(struct run *run, struct told *was, enum form form,
			  uint32_t seed)
{
	struct weft_findings found;
	struct told same;

	tell(was->inventory, was->hierarchy, form, &same);
	look_alone(&same, &found);
	no_errors(run, &found, "nothing, alone", form, seed);
	look_against(was, &same, &found);
	no_errors(run, &found, "nothing, against", form, seed);
	told_free(&same);
}

static void look_at_fault(struct run *run, uint32_t seed,
			  const struct told *was, struct told *faulty,
			  const struct fault *fault, size_t k)
{
	for (enum form form = 0; form < N_FORMS; form++) {
		struct weft_findings found;
		struct told now;

		if (!is_shown(kinds[k].alone | kinds[k].against, form) ||
		    (form == FORM_FABRIC && kinds[k].make == gpu_lost &&
		     was->fabric->n_rails > 1)) /* no fabric says that */
			continue;
		tell(faulty->inventory, faulty->hierarchy, form, &now);
		if (is_shown(kinds[k].alone, form)) {
			look_alone(&now, &found);
			count(&run->alone[k], &found, fault, kinds[k].name,
			      form_names[form], seed);
		}
		if (is_shown(kinds[k].against, form)) {
			look_against(was, &now, &found);
			count(&run->against[k], &found, fault, kinds[k].name,
			      form_names[form], seed);
		}
		told_free(&now);
	}
}

static void look_at_fabric(struct run *run, uint32_t seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	size_t k = seed % N_KINDS;
	const struct shape *shape;
	struct fault fault = {{{0}}};
	struct told was, faulty;

	do
		shape = &shapes[test_random_below(&random, N_SHAPES)];
	while (kinds[k].rails && !shape->rails);
	plant(shape, seed, &was);
	for (enum form form = 0; form < N_FORMS; form++)
		if (is_shown(kinds[k].alone | kinds[k].against, form))
			look_at_sound(run, &was, form, seed);
	plant(shape, seed, &faulty);
	if (kinds[k].make(&faulty, &random, &fault))
		look_at_fault(run, seed, &was, &faulty, &fault, k);
	told_free(&was);
	told_free(&faulty);
}

static void the_faulty_place_is_named_first(void **state)
{
	uint32_t seed = (uint32_t)test_seed();
	struct tally alone = {0}, against = {0};
	struct run *run = calloc(1, sizeof(*run));

	(void)state;
	for (uint32_t i = 0; i < N_FABRICS; i++)
		look_at_fabric(run, seed * 1000 + i);
	for (size_t k = 0; k < N_KINDS; k++) {
		tally_print(kinds[k].name, "alone", &run->alone[k], &alone);
		tally_print(kinds[k].name, "against", &run->against[k],
			    &against);
	}
	print_message("# alone %u of %u, against %u of %u; errors in sound "
		      "fabrics: %u\n",
		      alone.first, alone.n, against.first, against.n,
		      run->false_errors);
	assert_int_equal(run->false_errors, 0);
	assert_true(alone.first >= LEAST * alone.n);
	assert_true(against.first >= LEAST * against.n);
	free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_faulty_place_is_named_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
