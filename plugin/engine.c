/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.c - loading and dropping what weft keeps inside slurmctld */
#include "plugin/engine.h"

#include <string.h>
#include <time.h>

#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"

#define SETTINGS_FILE "weft.yaml"

struct weft_engine weft_engine;

/* How the nodes were paired, as the log has it. */
static char said[600];

/* Everything that was made from the settings, and they themselves. */
static void engine_drop(void)
{
	weft_keeper_stop(weft_engine.keeper);
	weft_shown_adopt(&weft_shown, NULL);
	weft_bridge_clear(&weft_engine.bridge);
	weft_nodes_free(&weft_engine.nodes);
	weft_settings_free(weft_engine.settings);
	memset(&weft_engine, 0, sizeof(weft_engine));
}

/* Called by the keeper's thread; Slurm's log may be written to by any. */
static void complain(const struct weft_error *err)
{
	char text[sizeof(err->text) + sizeof(err->source) + 64];

	error("weft: %s", weft_error_text(err, text, sizeof(text)));
}

static void keeper_start(const struct weft_settings *settings)
{
	const struct weft_keeper_options options = {
		.status_path = settings->status_path,
		.shown = &weft_shown,
		.counters = &weft_counters,
		.complain = complain,
	};
	struct weft_error err = {0};

	if (!settings->status_path)
		return;
	weft_engine.keeper = weft_keeper_start(&options, &err);
	if (!weft_engine.keeper)
		complain(&err);
}

/* Takes over newly read settings; what was made from the old ones goes. */
static void engine_adopt(struct weft_settings *settings)
{
	engine_drop();
	if (!weft_shown.since_s) {
		weft_shown_init(&weft_shown);
		weft_shown.since_s = time(NULL);
	}
	weft_engine.settings = settings;
	weft_engine.bridge.settings = settings;
	said[0] = '\0';
	weft_shown_adopt(&weft_shown, settings->fabric);
	keeper_start(settings);
}

void weft_engine_load(void)
{
	static char name[] = SETTINGS_FILE;
	char *path = get_extra_conf_path(name);
	struct weft_error err = {0};
	struct weft_settings *settings = weft_settings_load(path, &err);
	char text[sizeof(err.text) + sizeof(err.source) + 64];

	if (!settings && weft_engine.settings)
		error("weft: keeping the fabric read before: %s",
		      weft_error_text(&err, text, sizeof(text)));
	else if (!settings)
		error("weft: off, all jobs are placed by Slurm alone: %s",
		      weft_error_text(&err, text, sizeof(text)));
	else
		engine_adopt(settings);
	if (settings && !settings->enabled)
		info("weft: off, as %s says", path);
	xfree(path);
	weft_engine_pair();
}

void weft_engine_pair(void)
{
	const struct weft_settings *settings = weft_engine.settings;
	struct weft_error err = {0};
	char text[sizeof(said)];

	weft_nodes_free(&weft_engine.nodes);
	if (!settings || !settings->enabled)
		return;
	if (weft_nodes_build(settings->fabric, &weft_engine.nodes, text,
			     sizeof(text), &err) < 0) {
		weft_nodes_free(&weft_engine.nodes);
		error("weft: off: %s",
		      weft_error_text(&err, text, sizeof(text)));
		return;
	}
	/* Slurm changes partitions more often than nodes. */
	if (strcmp(text, said) == 0)
		return;
	memcpy(said, text, sizeof(said));
	info("weft: fabric %s, %u GPUs, %g ms per decision; %s",
	     settings->fabric->name, settings->fabric->n_gpus,
	     settings->budget_s * 1e3, text);
}

void weft_engine_unload(void)
{
	engine_drop();
	weft_shown_free(&weft_shown);
}
