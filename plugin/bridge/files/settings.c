/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.c - reading weft.yaml */
#include "plugin/bridge/files/settings.h"

#include "base/suggest.h"
#include "base/trusted.h"
#include "base/yaml.h"
#include "costmodel/job/spec.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SETTINGS_FORMAT	  "slurm/1"
#define DEFAULT_BUDGET_S  0.020
#define MIN_BUDGET_S	  0.0001
#define MAX_BUDGET_S	  10.0
#define MAX_MODELS	  256
#define MAX_HEAVIER	  1000
#define SETTINGS_MAX_PATH 4096

const char *const weft_mode_names[WEFT_N_MODES] = {
	[WEFT_MODE_OFF] = "off",
	[WEFT_MODE_OBSERVE] = "observe",
	[WEFT_MODE_PLACE] = "place",
};

/* What the readers of the keys share. */
struct reading {
	const struct weft_yaml *doc;
	const char *path; /* of weft.yaml: relative names are seen from there */
	const char *kept; /* folder of the copies to be read, or NULL */
	struct weft_settings *settings;
	struct weft_error *err;
};

/* A key's value in the file.  -1 with reading->err. */
typedef int (*key_reader)(struct reading *reading,
			  const struct weft_yaml_node *node);

static int read_format(struct reading *reading,
		       const struct weft_yaml_node *format)
{
	if (strcmp(format->text, SETTINGS_FORMAT) != 0)
		return weft_yaml_fail(reading->doc, format, reading->err,
				      "weft: expected " SETTINGS_FORMAT
				      ", found \"%s\"",
				      format->text);
	return 0;
}

static int read_mode(struct reading *reading, const struct weft_yaml_node *node)
{
	for (uint32_t m = 0; m < WEFT_N_MODES; m++) {
		if (strcmp(node->text, weft_mode_names[m]) != 0)
			continue;
		reading->settings->mode = (enum weft_mode)m;
		return 0;
	}
	return weft_yaml_fail(
		reading->doc, node, reading->err,
		"mode: expected off, observe or place, found "
		"\"%s\"; did you mean \"%s\"?",
		node->text,
		weft_suggest(node->text, weft_mode_names, WEFT_N_MODES));
}

static int read_place(struct reading *reading,
		      const struct weft_yaml_node *node)
{
	return weft_rules_read_place(reading->doc, node,
				     &reading->settings->rules, reading->err);
}

static int read_accept_missing(struct reading *reading,
			       const struct weft_yaml_node *node)
{
	return weft_yaml_bool(reading->doc, node,
			      &reading->settings->accept_missing, reading->err);
}

static int read_budget(struct reading *reading,
		       const struct weft_yaml_node *node)
{
	double *budget_s = &reading->settings->budget_s;

	if (weft_yaml_time(reading->doc, node, budget_s, reading->err) < 0)
		return -1;
	if (*budget_s < MIN_BUDGET_S || *budget_s > MAX_BUDGET_S)
		return weft_yaml_fail(reading->doc, node, reading->err,
				      "budget: expected 0.1 ms to 10 s");
	return 0;
}

/* One of two words; *first: it is the first. */
static int read_choice(struct reading *reading,
		       const struct weft_yaml_node *node,
		       const char *const words[2], bool *first)
{
	*first = strcmp(node->text, words[0]) == 0;
	if (*first || strcmp(node->text, words[1]) == 0)
		return 0;
	return weft_yaml_fail(reading->doc, node, reading->err,
			      "%s: expected %s or %s, found \"%s\"; did you "
			      "mean \"%s\"?",
			      node->key, words[0], words[1], node->text,
			      weft_suggest(node->text, words, 2));
}

static int read_unspecified(struct reading *reading,
			    const struct weft_yaml_node *node)
{
	static const char *const words[] = {"place", "off"};

	return read_choice(reading, node, words,
			   &reading->settings->place_unspecified);
}

static int read_ranks(struct reading *reading,
		      const struct weft_yaml_node *node)
{
	static const char *const words[] = {"order", "leave"};

	return read_choice(reading, node, words,
			   &reading->settings->order_ranks);
}

static int read_weights(struct reading *reading,
			const struct weft_yaml_node *node)
{
	double *heavier = &reading->settings->heavier;

	*heavier = strcmp(node->text, "first") == 0 ? (double)INFINITY : 0;
	if (*heavier > 0 || strcmp(node->text, "last") == 0)
		return 0;
	return weft_yaml_number(reading->doc, node, 0, MAX_HEAVIER, heavier,
				reading->err);
}

static int read_spec_limit(struct reading *reading,
			   const struct weft_yaml_node *node)
{
	uint64_t limit;

	if (weft_yaml_uint(reading->doc, node, 1, WEFT_SPEC_MAX_BYTES, &limit,
			   reading->err) < 0)
		return -1;
	reading->settings->spec_limit = (uint32_t)limit;
	return 0;
}

static int read_defaults(struct reading *reading,
			 const struct weft_yaml_node *node)
{
	return weft_defaults_read(reading->doc, node,
				  &reading->settings->defaults, reading->err);
}

/* ---- files ---- */

/* The file that a key names, as seen from weft.yaml's folder. */
static int resolve_path(struct reading *reading,
			const struct weft_yaml_node *node,
			char path[SETTINGS_MAX_PATH])
{
	const char *base = reading->path, *slash = strrchr(base, '/');
	int folder =
		slash && node->text[0] != '/' ? (int)(slash + 1 - base) : 0;
	int length = snprintf(path, SETTINGS_MAX_PATH, "%.*s%s", folder, base,
			      node->text);

	if (!node->text[0])
		return weft_yaml_fail(reading->doc, node, reading->err,
				      "expected the name of a file");
	if (length < 0 || length >= SETTINGS_MAX_PATH)
		return weft_yaml_fail(reading->doc, node, reading->err,
				      "path is too long");
	return 0;
}

/* Notes that this file is read.  *file is itself or its copy, trusted. */
static int open_file(struct reading *reading, const char *path,
		     char file[SETTINGS_MAX_PATH])
{
	struct weft_settings *settings = reading->settings;
	char **files = realloc(settings->files,
			       (settings->n_files + 1) * sizeof(*files));
	int length;

	if (!files)
		return weft_fail(reading->err, WEFT_ENOMEM, "out of memory");
	settings->files = files;
	files[settings->n_files] = weft_strdup(path, reading->err);
	if (!files[settings->n_files])
		return -1;
	length = reading->kept ? snprintf(file, SETTINGS_MAX_PATH, "%s/%u",
					  reading->kept, settings->n_files)
			       : snprintf(file, SETTINGS_MAX_PATH, "%s", path);
	settings->n_files++;
	if (length < 0 || length >= SETTINGS_MAX_PATH)
		return weft_fail(reading->err, WEFT_EINVAL, "path is too long");
	return weft_trusted_file(file, geteuid(), reading->err);
}

static int read_fabric(struct reading *reading,
		       const struct weft_yaml_node *node)
{
	char path[SETTINGS_MAX_PATH], file[SETTINGS_MAX_PATH];

	if (resolve_path(reading, node, path) < 0 ||
	    open_file(reading, path, file) < 0)
		return -1;
	reading->settings->fabric_path = weft_strdup(path, reading->err);
	if (!reading->settings->fabric_path)
		return -1;
	reading->settings->fabric = weft_fabric_load(file, reading->err);
	return reading->settings->fabric ? 0 : -1;
}

static int read_model(struct reading *reading,
		      const struct weft_yaml_node *node,
		      struct weft_model *model)
{
	char path[SETTINGS_MAX_PATH], file[SETTINGS_MAX_PATH];

	if (strlen(node->key) >= sizeof(model->name))
		return weft_yaml_fail_key(reading->doc, node, reading->err,
					  "name of a model has more than %zu "
					  "bytes",
					  sizeof(model->name) - 1);
	if (weft_yaml_expect(reading->doc, node, WEFT_YAML_SCALAR, "models",
			     reading->err) < 0)
		return -1;
	if (resolve_path(reading, node, path) < 0 ||
	    open_file(reading, path, file) < 0)
		return -1;
	if (weft_model_load(file, model, reading->err) < 0)
		return -1;
	snprintf(model->name, sizeof(model->name), "%s", node->key);
	return 0;
}

static int read_models(struct reading *reading,
		       const struct weft_yaml_node *models)
{
	struct weft_settings *settings = reading->settings;

	if (models->n_children > MAX_MODELS)
		return weft_yaml_fail(reading->doc, models, reading->err,
				      "models: more than %d", MAX_MODELS);
	settings->models = weft_calloc(models->n_children,
				       sizeof(*settings->models), reading->err);
	if (!settings->models)
		return -1;
	for (const struct weft_yaml_node *node = models->child; node;
	     node = node->next, settings->n_models++)
		if (read_model(reading, node,
			       &settings->models[settings->n_models]) < 0)
			return -1;
	return 0;
}

static int read_status(struct reading *reading,
		       const struct weft_yaml_node *node)
{
	char path[SETTINGS_MAX_PATH];

	if (resolve_path(reading, node, path) < 0)
		return -1;
	reading->settings->status_path = weft_strdup(path, reading->err);
	return reading->settings->status_path ? 0 : -1;
}

static int read_wait(struct reading *reading, const struct weft_yaml_node *node)
{
	return weft_rules_read_wait(reading->doc, node,
				    &reading->settings->rules, reading->err);
}

static int read_limits(struct reading *reading,
		       const struct weft_yaml_node *node)
{
	return weft_rules_read_limits(reading->doc, node,
				      reading->settings->fabric,
				      &reading->settings->rules, reading->err);
}

static int read_health(struct reading *reading,
		       const struct weft_yaml_node *node)
{
	char path[SETTINGS_MAX_PATH];

	if (resolve_path(reading, node, path) < 0)
		return -1;
	reading->settings->health_path = weft_strdup(path, reading->err);
	return reading->settings->health_path ? 0 : -1;
}

static int read_contention(struct reading *reading,
			   const struct weft_yaml_node *node)
{
	bool on = strcmp(node->text, "on") == 0;

	if (!on && strcmp(node->text, "off") != 0)
		return weft_yaml_fail(reading->doc, node, reading->err,
				      "contention: expected on or off, found "
				      "\"%s\"",
				      node->text);
	reading->settings->contention = on;
	return 0;
}

static int read_infer(struct reading *reading,
		      const struct weft_yaml_node *node)
{
	return weft_yaml_bool(reading->doc, node, &reading->settings->infer,
			      reading->err);
}

/* ---- the table ---- */

/* In the order in which they are read; an optional key that is absent keeps its
 * default.  Switched off, weft may name files that are not there yet. */
static const struct key {
	const char *name;
	enum weft_yaml_kind kind;
	key_reader read;
	const char *required; /* what is missing without it; NULL: optional */
	bool when_off;	      /* read even when weft is off */
} key_table[] = {
	{"weft", WEFT_YAML_SCALAR, read_format, "\"weft: " SETTINGS_FORMAT "\"",
	 true},
	{"mode", WEFT_YAML_SCALAR, read_mode, NULL, true},
	{"place", WEFT_YAML_MAP, read_place, NULL, true},
	{"accept_missing", WEFT_YAML_SCALAR, read_accept_missing, NULL, true},
	{"budget", WEFT_YAML_SCALAR, read_budget, NULL, true},
	{"unspecified", WEFT_YAML_SCALAR, read_unspecified, NULL, true},
	{"ranks", WEFT_YAML_SCALAR, read_ranks, NULL, true},
	{"weights", WEFT_YAML_SCALAR, read_weights, NULL, true},
	{"status", WEFT_YAML_SCALAR, read_status, NULL, true},
	{"health", WEFT_YAML_SCALAR, read_health, NULL, true},
	{"contention", WEFT_YAML_SCALAR, read_contention, NULL, true},
	{"spec_limit", WEFT_YAML_SCALAR, read_spec_limit, NULL, true},
	{"infer", WEFT_YAML_SCALAR, read_infer, NULL, true},
	{"defaults", WEFT_YAML_MAP, read_defaults, NULL, true},
	{"models", WEFT_YAML_MAP, read_models, NULL, false},
	{"fabric", WEFT_YAML_SCALAR, read_fabric, "the fabric's file", false},
	{"wait", WEFT_YAML_MAP, read_wait, NULL, true},
	{"limits", WEFT_YAML_MAP, read_limits, NULL, true},
};
#define N_KEYS (sizeof(key_table) / sizeof(key_table[0]))

static int read_key(struct reading *reading, const struct key *key)
{
	const struct weft_yaml_node *root = reading->doc->root;
	const struct weft_yaml_node *node = weft_yaml_find(root, key->name);

	if (!key->when_off && reading->settings->mode == WEFT_MODE_OFF)
		return 0;
	if (!node && key->required)
		return weft_yaml_fail(reading->doc, root, reading->err,
				      "key %s is missing: expected %s",
				      key->name, key->required);
	if (!node)
		return 0;
	if (weft_yaml_expect(reading->doc, node, key->kind, key->name,
			     reading->err) < 0)
		return -1;
	return key->read(reading, node);
}

static int settings_read(struct reading *reading)
{
	const struct weft_yaml *doc = reading->doc;
	const char *names[N_KEYS];

	if (weft_yaml_expect(doc, doc->root, WEFT_YAML_MAP, "weft.yaml",
			     reading->err) < 0)
		return -1;
	/* Distinguishes a file of another format from one with a wrong key. */
	if (read_key(reading, &key_table[0]) < 0)
		return -1;
	for (size_t k = 0; k < N_KEYS; k++)
		names[k] = key_table[k].name;
	if (weft_yaml_known_keys(doc, doc->root, names, N_KEYS, "weft.yaml",
				 reading->err) < 0)
		return -1;
	for (size_t k = 1; k < N_KEYS; k++)
		if (read_key(reading, &key_table[k]) < 0)
			return -1;
	return 0;
}

struct weft_settings *weft_settings_load_kept(const char *path,
					      const char *folder,
					      struct weft_error *err)
{
	struct weft_settings *settings = weft_calloc(1, sizeof(*settings), err);
	struct weft_yaml doc = {0};
	struct reading reading = {.doc = &doc,
				  .path = path,
				  .kept = folder,
				  .settings = settings,
				  .err = err};
	char file[SETTINGS_MAX_PATH];

	if (!settings)
		return NULL;
	settings->mode = WEFT_MODE_OBSERVE;
	settings->order_ranks = true;
	settings->contention = true;
	settings->budget_s = DEFAULT_BUDGET_S;
	settings->heavier = (double)INFINITY;
	weft_rules_default(&settings->rules);
	settings->spec_limit = WEFT_SPEC_MAX_BYTES;
	if (open_file(&reading, path, file) < 0 ||
	    weft_yaml_load(file, &doc, err) < 0 ||
	    settings_read(&reading) < 0) {
		weft_settings_free(settings);
		settings = NULL;
	}
	weft_yaml_free(&doc);
	return settings;
}

struct weft_settings *weft_settings_load(const char *path,
					 struct weft_error *err)
{
	return weft_settings_load_kept(path, NULL, err);
}

struct weft_settings *weft_settings_hold(struct weft_settings *settings)
{
	atomic_fetch_add(&settings->n_users, 1);
	return settings;
}

void weft_settings_free(struct weft_settings *settings)
{
	if (!settings || atomic_fetch_sub(&settings->n_users, 1) > 0)
		return;
	for (uint32_t i = 0; i < settings->n_files; i++)
		free(settings->files[i]);
	free(settings->files);
	weft_fabric_free(settings->fabric);
	weft_rules_free(&settings->rules);
	free(settings->models);
	free(settings->status_path);
	free(settings->health_path);
	free(settings->fabric_path);
	weft_defaults_free(&settings->defaults);
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

bool weft_settings_place(const struct weft_settings *settings,
			 const struct weft_owner *owner)
{
	return settings->mode == WEFT_MODE_PLACE &&
	       weft_rules_place(&settings->rules, owner);
}
