/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnetdiscover.c - how long a large InfiniBand fabric takes from its capture
 * to its fabric file: 4,000 hosts with eight adapters each, three tiers
 */
#include "base/clock.h"
#include "tests/lib/ibnet.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <stdio.h>
#include <stdlib.h>

struct times {
	double read_s, levels_s, write_s;
};

static int once(const char *text, size_t size, struct times *t, uint32_t *hcas)
{
	const struct weft_hierarchy_options options = {.gpus_per_node = 8};
	struct weft_error err = {0};
	struct weft_inventory s = {0};
	struct weft_hierarchy *hierarchy = NULL;
	double start = weft_clock_s();
	char *yaml = NULL;

	if (weft_import_text(&s, weft_importer_find("ibnetdiscover", &err),
			     text, size, "bench", NULL, NULL, &err) == 0 &&
	    weft_inventory_finish(&s, &err) == 0) {
		t->read_s = weft_clock_s() - start;
		hierarchy = weft_hierarchy_build(&s, &options, &err);
		t->levels_s = weft_clock_s() - start - t->read_s;
	}
	if (hierarchy)
		yaml = weft_inventory_write(&s, hierarchy, &options, &err);
	t->write_s = weft_clock_s() - start - t->read_s - t->levels_s;
	*hcas = s.n_hcas;
	if (!yaml)
		fprintf(stderr, "%s\n", err.text);
	weft_hierarchy_free(hierarchy);
	weft_inventory_free(&s);
	free(yaml);
	return yaml ? 0 : -1;
}

int main(void)
{
	const struct test_ibnet spec = {
		.pods = 8,
		.bundles = 16,
		.hosts = 32,
		.rails = 8,
		.spines = 32,
		.cores = 128,
		.shuffled = true,
		.seed = 1,
	};
	struct times best = {1e9, 1e9, 1e9}, t;
	uint32_t hcas = 0;
	size_t size;
	char *text = test_ibnet_text(&spec, NULL, &size);

	for (int round = 0; text && round < 5; round++) {
		if (once(text, size, &t, &hcas))
			return 1;
		if (t.read_s + t.levels_s + t.write_s <
		    best.read_s + best.levels_s + best.write_s)
			best = t;
	}
	free(text);
	if (!hcas)
		return 1;
	printf("{\"bench\": \"ibnetdiscover\", \"hcas\": %u, \"bytes\": %zu, "
	       "\"read_s\": %.3f, \"levels_s\": %.3f, \"write_s\": %.3f, "
	       "\"total_s\": %.3f}\n",
	       hcas, size, best.read_s, best.levels_s, best.write_s,
	       best.read_s + best.levels_s + best.write_s);
	return 0;
}
