/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.c - reading weft.yaml */
#include "plugin/settings.h"

#include "topology/suggest.h"
#include "topology/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define SETTINGS_FORMAT	  "slurm/1"
#define DEFAULT_BUDGET_S  0.020
#define MIN_BUDGET_S	  0.0001
#define MAX_BUDGET_S	  10.0
#define MAX_MODELS	  256
#define SETTINGS_MAX_PATH 4096

static int read_format(const struct weft_yaml *doc,
		       const struct weft_yaml_node *root,
		       struct weft_error *err)
{
	const struct weft_yaml_node *format = weft_yaml_find(root, "weft");

	if (!format)
		return weft_yaml_fail(
			doc, root, err,
			"key weft is missing: expected \"weft: " SETTINGS_FORMAT
			"\"");
	if (weft_yaml_expect(doc, format, WEFT_YAML_SCALAR, "weft", err) < 0)
		return -1;
	if (strcmp(format->text, SETTINGS_FORMAT) != 0)
		return weft_yaml_fail(doc, format, err,
				      "weft: expected " SETTINGS_FORMAT
				      ", found \"%s\"",
				      format->text);
	return 0;
}

static int read_budget(const struct weft_yaml *doc,
		       const struct weft_yaml_node *root,
		       struct weft_settings *settings, struct weft_error *err)
{
	const struct weft_yaml_node *budget = weft_yaml_find(root, "budget");

	settings->budget_s = DEFAULT_BUDGET_S;
	if (!budget)
		return 0;
	if (weft_yaml_time(doc, budget, &settings->budget_s, err) < 0)
		return -1;
	if (settings->budget_s < MIN_BUDGET_S ||
	    settings->budget_s > MAX_BUDGET_S)
		return weft_yaml_fail(doc, budget, err,
				      "budget: expected 0.1 ms to 10 s");
	return 0;
}

static int read_unspecified(const struct weft_yaml *doc,
			    const struct weft_yaml_node *root,
			    struct weft_settings *settings,
			    struct weft_error *err)
{
	static const char *const words[] = {"place", "ignore"};
	const struct weft_yaml_node *node = weft_yaml_find(root, "unspecified");

	settings->place_unspecified = true;
	if (!node)
		return 0;
	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, "unspecified", err) <
	    0)
		return -1;
	if (strcmp(node->text, words[0]) != 0 &&
	    strcmp(node->text, words[1]) != 0)
		return weft_yaml_fail(doc, node, err,
				      "unspecified: expected place or ignore, "
				      "found \"%s\"; did you mean \"%s\"?",
				      node->text,
				      weft_suggest(node->text, words, 2));
	settings->place_unspecified = strcmp(node->text, words[0]) == 0;
	return 0;
}

/* `name` as seen from the folder of the file `base`, into path[size]. */
static int resolve_path(const struct weft_yaml *doc,
			const struct weft_yaml_node *node, const char *base,
			char *path, size_t size, struct weft_error *err)
{
	const char *slash = strrchr(base, '/');
	int folder =
		slash && node->text[0] != '/' ? (int)(slash + 1 - base) : 0;
	int length = snprintf(path, size, "%.*s%s", folder, base, node->text);

	if (!node->text[0])
		return weft_yaml_fail(doc, node, err,
				      "expected the name of a file");
	if (length < 0 || (size_t)length >= size)
		return weft_yaml_fail(doc, node, err, "path is too long");
	return 0;
}

/* Opening a pipe or a device may wait for ever, and slurmctld with it. */
static int expect_file(const char *path, struct weft_error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	if (!S_ISREG(status.st_mode))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "expected a regular file");
	return 0;
}

static int read_fabric(const struct weft_yaml *doc,
		       const struct weft_yaml_node *root, const char *base,
		       struct weft_settings *settings, struct weft_error *err)
{
	const struct weft_yaml_node *fabric = weft_yaml_find(root, "fabric");
	char path[SETTINGS_MAX_PATH];

	if (!fabric)
		return weft_yaml_fail(doc, root, err,
				      "key fabric is missing: expected the "
				      "fabric's file");
	if (weft_yaml_expect(doc, fabric, WEFT_YAML_SCALAR, "fabric", err) < 0)
		return -1;
	if (resolve_path(doc, fabric, base, path, sizeof(path), err) < 0 ||
	    expect_file(path, err) < 0)
		return -1;
	settings->fabric = weft_fabric_load(path, err);
	return settings->fabric ? 0 : -1;
}

static int read_model(const struct weft_yaml *doc,
		      const struct weft_yaml_node *node, const char *base,
		      struct weft_model *model, struct weft_error *err)
{
	char path[SETTINGS_MAX_PATH];

	if (strlen(node->key) >= sizeof(model->name))
		return weft_yaml_fail_key(doc, node, err,
					  "name of a model has more than %zu "
					  "bytes",
					  sizeof(model->name) - 1);
	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, "models", err) < 0)
		return -1;
	if (resolve_path(doc, node, base, path, sizeof(path), err) < 0 ||
	    expect_file(path, err) < 0)
		return -1;
	if (weft_model_load(path, model, err) < 0)
		return -1;
	snprintf(model->name, sizeof(model->name), "%s", node->key);
	return 0;
}

static int read_models(const struct weft_yaml *doc,
		       const struct weft_yaml_node *root, const char *base,
		       struct weft_settings *settings, struct weft_error *err)
{
	const struct weft_yaml_node *models = weft_yaml_find(root, "models");

	if (!models)
		return 0;
	if (weft_yaml_expect(doc, models, WEFT_YAML_MAP, "models", err) < 0)
		return -1;
	if (models->n_children > MAX_MODELS)
		return weft_yaml_fail(doc, models, err, "models: more than %d",
				      MAX_MODELS);
	settings->models =
		weft_calloc(models->n_children, sizeof(*settings->models), err);
	if (!settings->models)
		return -1;
	for (const struct weft_yaml_node *node = models->child; node;
	     node = node->next, settings->n_models++)
		if (read_model(doc, node, base,
			       &settings->models[settings->n_models], err) < 0)
			return -1;
	return 0;
}

static int read_enabled(const struct weft_yaml *doc,
			const struct weft_yaml_node *root,
			struct weft_settings *settings, struct weft_error *err)
{
	const struct weft_yaml_node *enabled = weft_yaml_find(root, "enabled");

	settings->enabled = true;
	return enabled ? weft_yaml_bool(doc, enabled, &settings->enabled, err)
		       : 0;
}

static int settings_read(const struct weft_yaml *doc, const char *path,
			 struct weft_settings *settings, struct weft_error *err)
{
	static const char *const keys[] = {"weft",   "enabled",	    "fabric",
					   "budget", "unspecified", "models"};
	const struct weft_yaml_node *root = doc->root;

	if (weft_yaml_expect(doc, root, WEFT_YAML_MAP, "weft.yaml", err) < 0 ||
	    read_format(doc, root, err) < 0 ||
	    weft_yaml_known_keys(doc, root, keys,
				 sizeof(keys) / sizeof(keys[0]), "weft.yaml",
				 err) < 0 ||
	    read_enabled(doc, root, settings, err) < 0 ||
	    read_budget(doc, root, settings, err) < 0 ||
	    read_unspecified(doc, root, settings, err) < 0)
		return -1;
	/* Switched off, it may name files that are not there yet. */
	if (!settings->enabled)
		return 0;
	if (read_models(doc, root, path, settings, err) < 0)
		return -1;
	return read_fabric(doc, root, path, settings, err);
}

struct weft_settings *weft_settings_load(const char *path,
					 struct weft_error *err)
{
	struct weft_settings *settings = weft_calloc(1, sizeof(*settings), err);
	struct weft_yaml doc = {0};

	if (!settings)
		return NULL;
	if (expect_file(path, err) < 0 || weft_yaml_load(path, &doc, err) < 0 ||
	    settings_read(&doc, path, settings, err) < 0) {
		weft_settings_free(settings);
		settings = NULL;
	}
	weft_yaml_free(&doc);
	return settings;
}

void weft_settings_free(struct weft_settings *settings)
{
	if (!settings)
		return;
	weft_fabric_free(settings->fabric);
	free(settings->models);
	free(settings);
}

const struct weft_model *
weft_settings_model(const struct weft_settings *settings, const char *name)
{
	for (uint32_t m = 0; m < settings->n_models; m++)
		if (strcasecmp(settings->models[m].name, name) == 0)
			return &settings->models[m];
	return NULL;
}
