/* SPDX-License-Identifier: GPL-3.0-or-later */
/* site.c - finding and reading the site's weft.yaml */
#include "cli/slurm/site.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SLURM_CONF    "/etc/slurm/slurm.conf"
#define SETTINGS_FILE "weft.yaml"

/* The file that a key of weft.yaml names; NULL: none, or no memory. */
static char *named_file(const struct site *site, const char *key,
			struct weft_error *err)
{
	const struct weft_yaml_node *node =
		site->read ? weft_yaml_find(site->doc.root, key) : NULL;

	if (!node || node->kind != WEFT_YAML_SCALAR || !node->text[0])
		return NULL;
	return weft_text_beside(site->yaml_path, node->text, err);
}

static bool contention_is_off(const struct site *site)
{
	const struct weft_yaml_node *node =
		site->read ? weft_yaml_find(site->doc.root, "contention")
			   : NULL;

	return node && node->kind == WEFT_YAML_SCALAR &&
	       strcmp(node->text, "off") == 0;
}

int site_open(struct site *site, const char *fabric_path,
	      struct weft_error *err)
{
	const char *conf = getenv("SLURM_CONF");

	memset(site, 0, sizeof(*site));
	if (!fabric_path)
		fabric_path = getenv("WEFT_FABRIC");
	if (fabric_path && !fabric_path[0])
		fabric_path = NULL;
	site->yaml_path = weft_text_beside(conf && conf[0] ? conf : SLURM_CONF,
					   SETTINGS_FILE, err);
	if (!site->yaml_path)
		return -1;
	if (!fabric_path || access(site->yaml_path, R_OK) == 0) {
		if (weft_yaml_load(site->yaml_path, &site->doc, err) < 0)
			return -1;
		site->read = true;
	}
	site->alone = contention_is_off(site);
	site->status_path = named_file(site, "status", err);
	site->fabric_path = fabric_path ? weft_strdup(fabric_path, err)
					: named_file(site, "fabric", err);
	if (!site->fabric_path)
		return weft_fail_at(err, WEFT_EINVAL, site->yaml_path, 0, 0,
				    "key fabric is missing; give --fabric FILE "
				    "or set WEFT_FABRIC");
	return 0;
}

void site_close(struct site *site)
{
	if (site->read)
		weft_yaml_free(&site->doc);
	free(site->fabric_path);
	free(site->status_path);
	free(site->yaml_path);
	memset(site, 0, sizeof(*site));
}

int site_model(const struct site *site, const char *name,
	       struct weft_model *model, struct weft_error *err)
{
	const struct weft_yaml_node *models =
		site->read ? weft_yaml_find(site->doc.root, "models") : NULL;
	const struct weft_yaml_node *node = models ? models->child : NULL;
	char *path;
	int rc = -1;

	while (node && strcasecmp(node->key, name) != 0)
		node = node->next;
	if (!node || node->kind != WEFT_YAML_SCALAR)
		return 0;
	path = weft_text_beside(site->yaml_path, node->text, err);
	if (path && weft_model_load(path, model, err) == 0)
		rc = 1;
	free(path);
	return rc;
}
