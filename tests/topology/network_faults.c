/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_faults.c - one fault in networks of ibnet.h, of other shapes, names
 * and order, and in captures of real ones: is the faulty place named first?
 */
#include "tests/lib/ibnet.h"
#include "tests/topology/faults.h"

/* ---- networks of ibnet.h ---- */

static const struct test_ibnet nets[] = {
	{.pods = 2,
	 .bundles = 3,
	 .hosts = 6,
	 .spines = 4,
	 .parallel = 2,
	 .cores = 8,
	 .shuffled = true},
	{.bundles = 4, .hosts = 8, .rails = 4, .spines = 4, .shuffled = true},
	{.pods = 2,
	 .bundles = 4,
	 .hosts = 8,
	 .rails = 8,
	 .spines = 8,
	 .cores = 8,
	 .storage_leafs = 2},
	{.bundles = 6, .hosts = 8, .spines = 4, .parallel = 2, .uneven = true},
	{.bundles = 1, .hosts = 16, .rails = 8},
};
#define N_NETS (sizeof(nets) / sizeof(nets[0]))

static bool truth_first(const struct weft_findings *found,
			const struct test_ibnet_truth *truth)
{
	struct fault f = {{{0}}};

	for (int i = 0; i < 2; i++)
		snprintf(f.where[i], sizeof(f.where[i]), "%s", truth->place[i]);
	if (truth->was[0])
		snprintf(f.where[1], sizeof(f.where[1]), "%s", truth->was);
	return names_first(found, &f);
}

/* Without a reference any name is right; and nothing shows on which leaf a host
 * with one cable should be, or that a host without cables was there. */
static bool shows_alone(const struct test_ibnet *spec)
{
	bool needs_siblings = spec->fault == TEST_IBNET_CABLE_MOVED ||
			      spec->fault == TEST_IBNET_HCA_LOST;

	return spec->fault != TEST_IBNET_HOST_RENAMED &&
	       (!needs_siblings || spec->rails > 1);
}

static void net_count(struct tally *tally, struct weft_findings *found,
		      const struct test_ibnet_truth *truth, const char *how)
{
	bool first = truth_first(found, truth);
	struct fault f = {{{0}}};

	snprintf(f.where[0], sizeof(f.where[0]), "%s", truth->line);
	tally->n++;
	tally->first += first;
	if (!first)
		report(found, how, "ibnet", 0, &f);
	weft_findings_free(found);
}

static void net_look(const struct test_ibnet *spec, struct tally tally[2])
{
	const struct fault nowhere = {{"nowhere", ""}};
	struct test_ibnet sound = *spec;
	struct test_ibnet_truth truth;
	struct weft_findings found;
	struct told was = {0}, now = {0};
	char *text;
	size_t size;

	sound.fault = TEST_IBNET_SOUND;
	text = test_ibnet_text(&sound, NULL, &size);
	told_import(&was, "ibnetdiscover", text);
	free(text);
	look_alone(&was, &found);
	if (weft_findings_count(&found, WEFT_ERROR)) {
		report(&found, "nothing", "ibnet", 0, &nowhere);
		fail_msg("errors in a sound network");
	}
	weft_findings_free(&found);
	text = test_ibnet_text(spec, &truth, &size);
	if (text) {
		told_import(&now, "ibnetdiscover", text);
		if (shows_alone(spec)) {
			look_alone(&now, &found);
			net_count(&tally[0], &found, &truth, "alone");
		}
		look_against(&was, &now, &found);
		net_count(&tally[1], &found, &truth, "against");
	}
	free(text);
	told_free(&was);
	told_free(&now);
}

static void so_it_is_in_networks_made_up_otherwise(void **state)
{
	struct tally tally[TEST_IBNET_N_FAULTS][2] = {{{0}}};
	struct tally all[2] = {{0}};
	uint64_t seed = test_seed();

	(void)state;
	for (int f = TEST_IBNET_SOUND + 1; f < TEST_IBNET_N_FAULTS; f++)
		for (uint32_t i = 0; i < 3 * N_NETS; i++) {
			struct test_ibnet spec = nets[i % N_NETS];

			spec.seed = seed + i;
			spec.fault = (enum test_ibnet_fault)f;
			net_look(&spec, tally[f]);
		}
	for (int f = TEST_IBNET_SOUND + 1; f < TEST_IBNET_N_FAULTS; f++) {
		tally_print(test_ibnet_faults[f], "alone", &tally[f][0],
			    &all[0]);
		tally_print(test_ibnet_faults[f], "against", &tally[f][1],
			    &all[1]);
	}
	print_message("# alone %u of %u, against %u of %u\n", all[0].first,
		      all[0].n, all[1].first, all[1].n);
	assert_true(all[0].first >= LEAST * all[0].n);
	assert_true(all[1].first >= LEAST * all[1].n);
}

/* ---- real captures ---- */

#define N_REAL 12 /* faults of a kind in each capture */

/* Real networks are never whole.  errors: findings of that level that a person
 * who looks at the capture calls right. */
static const struct real {
	const char *name;
	uint32_t errors;
} reals[] = {
	{"selene-storage-hdr.txt", 0},
	/* a host with two cables exchanged, and a group of ten hosts whose
	 * third leaf is not in the capture */
	{"dgx-ndr-40sw-582ca.txt", 2},
};

static bool is_known(const struct weft_findings *list,
		     const struct weft_finding *f)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->item[i].id == f->id &&
		    strcmp(list->item[i].place, f->place) == 0 &&
		    strcmp(list->item[i].text, f->text) == 0)
			return true;
	return false;
}

/* Leaves what the capture shows without the fault out. */
static void known_drop(struct weft_findings *found,
		       const struct weft_findings *known)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < found->n; i++)
		if (!is_known(known, &found->item[i]))
			found->item[kept++] = found->item[i];
	found->n = kept;
}

/* The capture as the writer of these tests tells it. */
static void real_tell(const char *text, fault_function make, uint64_t *random,
		      struct fault *fault, bool *made, struct told *t)
{
	struct told first = {0};

	told_import(&first, "ibnetdiscover", text);
	*made = !make || make(&first, random, fault);
	tell(first.inventory, first.hierarchy, FORM_IBNETDISCOVER, t);
	told_free(&first);
}

static void real_fault(struct run *run, const char *text, size_t k,
		       uint32_t seed, const struct told *was,
		       const struct weft_findings *known)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 7;
	struct weft_findings found;
	struct fault fault = {{{0}}};
	struct told now;
	bool made;

	real_tell(text, kinds[k].make, &random, &fault, &made, &now);
	if (made && is_shown(kinds[k].alone, FORM_IBNETDISCOVER)) {
		look_alone(&now, &found);
		known_drop(&found, known);
		count(&run->alone[k], &found, &fault, kinds[k].name, "alone",
		      seed);
	}
	if (made) {
		look_against(was, &now, &found);
		count(&run->against[k], &found, &fault, kinds[k].name,
		      "against", seed);
	}
	told_free(&now);
}

static void real_look(struct run *run, const struct real *real)
{
	char path[1024];
	struct weft_findings known;
	struct told was;
	char *text;
	bool made;

	snprintf(path, sizeof(path), "%s/%s",
		 test_shared("data/real/ibnetdiscover"), real->name);
	text = test_read_file(path, NULL);
	assert_non_null(text);
	real_tell(text, NULL, NULL, NULL, &made, &was);
	look_alone(&was, &known);
	if (weft_findings_count(&known, WEFT_ERROR) != real->errors) {
		const struct fault nowhere = {{"nowhere", ""}};

		report(&known, "nothing", real->name, 0, &nowhere);
		fail_msg("%s: other errors", real->name);
	}
	for (size_t k = 0; k < N_KINDS; k++)
		for (uint32_t i = 0;
		     is_shown(kinds[k].against, FORM_IBNETDISCOVER) &&
		     i < N_REAL;
		     i++)
			real_fault(run, text, k, i, &was, &known);
	weft_findings_free(&known);
	told_free(&was);
	free(text);
}

static void and_in_real_captures(void **state)
{
	struct tally alone = {0}, against = {0};
	struct run *run = calloc(1, sizeof(*run));

	(void)state;
	if (!test_shared("data/real/ibnetdiscover")) {
		print_message("skipped: ../shared/data/real/ibnetdiscover is "
			      "not here\n");
		free(run);
		skip();
	}
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		real_look(run, &reals[i]);
	for (size_t k = 0; k < N_KINDS; k++) {
		tally_print(kinds[k].name, "alone", &run->alone[k], &alone);
		tally_print(kinds[k].name, "against", &run->against[k],
			    &against);
	}
	print_message("# alone %u of %u, against %u of %u\n", alone.first,
		      alone.n, against.first, against.n);
	assert_true(alone.first >= LEAST * alone.n);
	assert_true(against.first >= LEAST * against.n);
	free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_it_is_in_networks_made_up_otherwise),
		cmocka_unit_test(and_in_real_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
