/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.c - YAML as facts; JSON is YAML */
#include "costmodel/script/facts.h"

#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

#define MAX_PATH 200

/* "${model.size}" refers to what is elsewhere: nothing is known of it. */
static void scalar_add(struct facts *facts, const struct weft_yaml_node *node,
		       const char *path, const char *file)
{
	facts_add_text(facts, FACT_FILE, path, node->text, file,
		       (uint32_t)node->line);
	if (!facts->failed && strstr(node->text, "${"))
		facts->of[facts->n - 1].unknown = true;
}

static void node_add(struct facts *facts, const struct weft_yaml_node *node,
		     const char *path, const char *file)
{
	char below[MAX_PATH];

	if (node->kind == WEFT_YAML_SCALAR) {
		scalar_add(facts, node, path, file);
		return;
	}
	for (node = node->child; node; node = node->next) {
		int n = snprintf(below, sizeof(below), "%s%s%s", path,
				 *path && node->key ? "." : "",
				 node->key ? node->key : "");

		if (n < MAX_PATH)
			node_add(facts, node, below, file);
	}
}

int facts_read_tree(struct facts *facts, const char *text, size_t size,
		    const char *file, struct weft_error *err)
{
	struct weft_yaml doc;

	if (weft_yaml_parse(text, size, file, &doc, err))
		return -1;
	node_add(facts, doc.root, "", file);
	weft_yaml_free(&doc);
	return facts->failed ? -1 : 0;
}
