/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_any.h - any text as a foreign description: refused with a message and
 * a place, or a inventory that can be audited, and whose fabric can be written
 * and read */
#ifndef WEFT_TESTS_FUZZ_IMPORT_ANY_H
#define WEFT_TESTS_FUZZ_IMPORT_ANY_H

#include "tests/fuzz/fuzz.h"
#include "topology/audit/audit.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* As in fuzz_fabric.c: brackets that name more than 100,000 things are valid
 * and only slow. */
static inline bool asks_for_much(const uint8_t *data, size_t size)
{
	size_t digits = 0, longest = 0, sum = 0;

	for (size_t i = 0; i < size; i++) {
		digits = isdigit(data[i]) ? digits + 1 : 0;
		longest = digits > longest ? digits : longest;
		if (data[i] == '\n')
			sum = longest = 0;
		if (data[i] == '[') {
			sum += longest;
			longest = 0;
		}
		if (sum + longest > 5 && memchr(data, '[', size))
			return true;
	}
	return false;
}

/* Findings have a text of one line each. */
static inline void require_audit(const struct weft_inventory *s,
				 const struct weft_hierarchy *hierarchy)
{
	struct weft_findings found = {0};
	const struct weft_audit a = {
		.inventory = s, .hierarchy = hierarchy, .findings = &found};
	static struct weft_tiers tiers;
	struct weft_error err = {0};

	require(weft_audit_run(&a, &err) == 0);
	require(weft_audit_tiers(s, hierarchy, &tiers, &err) == 0);
	for (uint32_t i = 0; i < found.n; i++)
		require(found.item[i].text[0] &&
			!strchr(found.item[i].text, '\n'));
	weft_findings_free(&found);
}

static inline void require_fabric(struct weft_inventory *s)
{
	const struct weft_hierarchy_options options = {.gpus_per_node = 8};
	struct weft_error err = {0};
	struct weft_hierarchy *hierarchy =
		weft_hierarchy_build(s, &options, &err);
	struct weft_fabric *f;
	char *text = NULL;

	if (hierarchy) {
		require_audit(s, hierarchy);
		text = weft_inventory_write(s, hierarchy, &options, &err);
	}
	if (text) {
		f = weft_fabric_parse(text, strlen(text), "written", &err);
		require(f != NULL);
		weft_fabric_free(f);
	} else {
		require_message(&err);
	}
	free(text);
	weft_hierarchy_free(hierarchy);
}

/* The importer gets a copy with a NUL behind, as from a file. */
static inline void import_any(const char *format, const uint8_t *data,
			      size_t size)
{
	const struct weft_importer *importer = weft_importer_find(format, NULL);
	const struct weft_import_options options = {.no_include = true};
	struct weft_inventory s = {0};
	struct weft_error err = {0};
	char *text = malloc(size + 1);

	require(text && importer);
	memcpy(text, data, size);
	text[size] = '\0';
	if (weft_import_text(&s, importer, text, size, "input", NULL, &options,
			     &err) ||
	    weft_inventory_finish(&s, &err))
		require_message(&err);
	else
		require_fabric(&s);
	weft_inventory_free(&s);
	free(text);
}

#endif
