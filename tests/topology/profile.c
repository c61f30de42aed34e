/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c - the profile table against the reference table it is taken from */
#include "topology/profile.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 16

/* Splits a CSV line in place; quoted fields keep their commas. */
static int line_split(char *line, char *fields[MAX_FIELDS])
{
	int n = 0;

	for (char *p = line; p && n < MAX_FIELDS; n++) {
		char quote = *p == '"' ? '"' : '\0';

		fields[n] = p += quote != '\0';
		if (quote)
			p = strchr(p, '"');
		if (quote && p)
			*p++ = '\0';
		p = p ? strchr(p, ',') : NULL;
		if (p)
			*p++ = '\0';
	}
	return n;
}

/* profile,level,name,gpus,peak,eff,innet,latency,switches,oversubscription */
static void row_check(char *line, uint32_t n_levels[])
{
	char *field[MAX_FIELDS];
	const struct weft_profile *profile;
	const struct weft_link *link;
	uint32_t level;

	assert_true(line_split(line, field) >= 10);
	profile = weft_profile_find(field[0]);
	assert_non_null(profile);
	level = (uint32_t)atoi(field[1]);
	assert_true(level < profile->n_links);
	link = &profile->link[level];
	assert_close(link->rate_bytes_per_s / link->oversubscription,
		     atof(field[5]) * 1e9, 1e-12);
	assert_close(link->latency_s, atof(field[7]) * 1e-6, 1e-12);
	assert_close(link->oversubscription, atof(field[9]), 1e-12);
	if (level == 0)
		assert_int_equal(profile->gpus_per_node * profile->nvlink_nodes,
				 atoi(field[3]));
	n_levels[profile - weft_profiles]++;
}

static void every_row_of_the_reference_is_in_the_table(void **state)
{
	const char *path = test_shared("data/costmodel/fabric_profiles.csv");
	uint32_t n_levels[64] = {0};
	char *text, *line, *rest;

	(void)state;
	if (!path) {
		print_message("skipped: the reference data is not here\n");
		skip();
	}
	text = test_read_file(path, NULL);
	assert_non_null(text);
	line = strtok_r(text, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest)) != NULL)
		row_check(line, n_levels);
	/* the reference has not all machines */
	for (uint32_t k = 0; k < weft_n_profiles; k++)
		assert_true(n_levels[k] == weft_profiles[k].n_links ||
			    !n_levels[k]);
	free(text);
}

static void profiles_are_complete(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < weft_n_profiles; k++) {
		const struct weft_profile *p = &weft_profiles[k];

		assert_ptr_equal(weft_profile_find(p->name), p);
		assert_true(p->help && *p->help);
		assert_true(p->gpus_per_node >= 1);
		assert_true(p->n_links >= 2 && p->n_links <= 5);
		for (uint32_t l = 0; l < p->n_links; l++) {
			assert_true(p->link[l].rate_bytes_per_s > 0);
			assert_true(p->link[l].oversubscription >= 1);
			assert_true(!l || p->link[l].latency_s >=
						  p->link[l - 1].latency_s);
		}
	}
	assert_null(weft_profile_find("none"));
}

/* InfiniBand and EFA choose by load; Llama 3's network hashes 16 flows. */
static void ethernet_is_hashed(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < weft_n_profiles; k++) {
		const struct weft_profile *p = &weft_profiles[k];
		bool roce = strcmp(p->name, "roce-llama3") == 0;
		bool tcp = strcmp(p->name, "pcie4-100g-tcp") == 0 ||
			   strcmp(p->name, "mi300x") == 0;

		assert_int_equal(p->routing, roce || tcp
						     ? WEFT_ROUTING_ECMP
						     : WEFT_ROUTING_ADAPTIVE);
		assert_int_equal(p->n_flows, roce ? 16 : 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_reference_is_in_the_table),
		cmocka_unit_test(profiles_are_complete),
		cmocka_unit_test(ethernet_is_hashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
