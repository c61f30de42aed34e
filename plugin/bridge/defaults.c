/* SPDX-License-Identifier: GPL-3.0-or-later */
/* defaults.c - reading and finding the specs of jobs that come without one */
#include "plugin/bridge/defaults.h"

#include "plugin/bridge/launch/spec_text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEFAULTS 256

static int default_read(const struct weft_yaml *doc,
			const struct weft_yaml_node *node,
			struct weft_default *entry, struct weft_error *err)
{
	struct weft_error why = {0};
	struct weft_spec spec;

	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, "defaults", err) < 0)
		return -1;
	if (weft_spec_text_parse(node->text, &spec, &why) < 0)
		return weft_yaml_fail_inside(doc, node, false, why.column, err,
					     "%s", why.text);
	entry->partition = weft_strdup(node->key, err);
	entry->spec = weft_strdup(node->text, err);
	return entry->partition && entry->spec ? 0 : -1;
}

int weft_defaults_read(const struct weft_yaml *doc,
		       const struct weft_yaml_node *node,
		       struct weft_defaults *defaults, struct weft_error *err)
{
	memset(defaults, 0, sizeof(*defaults));
	if (!node)
		return 0;
	if (weft_yaml_expect(doc, node, WEFT_YAML_MAP, "defaults", err) < 0)
		return -1;
	if (node->n_children > MAX_DEFAULTS)
		return weft_yaml_fail(doc, node, err, "defaults: more than %d",
				      MAX_DEFAULTS);
	defaults->list =
		weft_calloc(node->n_children, sizeof(*defaults->list), err);
	if (!defaults->list)
		return -1;
	for (const struct weft_yaml_node *child = node->child; child;
	     child = child->next) {
		struct weft_default *entry = &defaults->list[defaults->n++];

		if (default_read(doc, child, entry, err) < 0)
			return -1;
	}
	return 0;
}

void weft_defaults_free(struct weft_defaults *defaults)
{
	for (uint32_t i = 0; i < defaults->n; i++) {
		free(defaults->list[i].partition);
		free(defaults->list[i].spec);
	}
	free(defaults->list);
	memset(defaults, 0, sizeof(*defaults));
}

const char *weft_defaults_find(const struct weft_defaults *defaults,
			       const char *partition)
{
	size_t length = partition ? strcspn(partition, ",") : 0;
	const char *any = NULL;

	for (uint32_t i = 0; i < defaults->n; i++) {
		const struct weft_default *entry = &defaults->list[i];

		if (strcmp(entry->partition, "*") == 0)
			any = entry->spec;
		else if (length && strlen(entry->partition) == length &&
			 strncmp(entry->partition, partition, length) == 0)
			return entry->spec;
	}
	return any;
}
