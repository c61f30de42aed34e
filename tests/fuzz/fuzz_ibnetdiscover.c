/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_ibnetdiscover.c - any bytes as the capture of an InfiniBand fabric:
 * refused with a message, or levels whose fabric file loads */
#include "tests/fuzz/import_any.h"
#include "tests/lib/fabric_check.h"

/* What hierarchy.h promises. */
static void check_hierarchy(const struct weft_inventory *s,
			    const struct weft_hierarchy *hierarchy)
{
	for (uint32_t d = 0; d < hierarchy->n_domains; d++) {
		uint32_t parent = hierarchy->domains[d].parent;

		require(hierarchy->domains[d].level < hierarchy->n_levels);
		require(parent == WEFT_NONE ||
			hierarchy->domains[parent].level >
				hierarchy->domains[d].level);
	}
	for (uint32_t h = 0; h < s->n_hosts; h++)
		require(hierarchy->host_domain[h] == WEFT_NONE ||
			hierarchy->host_domain[h] < hierarchy->n_domains);
	for (uint32_t i = 0; i < s->n_switches; i++)
		require(hierarchy->switch_domain[i] == WEFT_NONE ||
			hierarchy->switch_domain[i] < hierarchy->n_domains);
}

static void check_fabric(struct weft_inventory *s)
{
	const struct weft_hierarchy_options options = {.gpus_per_node = 8};
	struct weft_error err = {0};
	struct weft_hierarchy *hierarchy =
		weft_hierarchy_build(s, &options, &err);
	struct weft_fabric *f = NULL;
	char *text = NULL;

	require(hierarchy != NULL);
	check_hierarchy(s, hierarchy);
	require_audit(s, hierarchy);
	text = weft_inventory_write(s, hierarchy, &options, &err);
	if (text) {
		f = weft_fabric_parse(text, strlen(text), "written", &err);
		require(f && fabric_check(f, &err) == 0);
	} else {
		require(err.code != 0 && err.text[0]);
	}
	weft_fabric_free(f);
	free(text);
	weft_hierarchy_free(hierarchy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct weft_importer *importer =
		weft_importer_find("ibnetdiscover", NULL);
	struct weft_import_options options = {0};
	struct weft_error err = {0};
	struct weft_inventory s = {0};
	char *text = malloc(size + 1);

	require(text && importer);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	importer->looks(text, size);
	/* the same bytes are as good a list of names as any */
	options.names = size % 2 ? text : NULL;
	if (weft_import_text(&s, importer, text, size, "fuzz", NULL, &options,
			     &err) == 0 &&
	    weft_inventory_finish(&s, &err) == 0)
		check_fabric(&s);
	else
		require(err.code != 0 && err.text[0]);
	weft_inventory_free(&s);
	free(text);
	return 0;
}
