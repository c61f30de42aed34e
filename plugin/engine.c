/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.c - loading and dropping what weft keeps inside slurmctld */
#include "plugin/engine.h"

#include "plugin/bridge/kept.h"
#include "plugin/bridge/watchdog.h"
#include "plugin/contend.h"
#include "plugin/trouble.h"
#include "topology/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#define SETTINGS_FILE "weft.yaml"
#define KEPT_NAME     "weft-good"

struct weft_engine weft_engine;

/* How the nodes were paired, as the log has it. */
static char said[600];

/* Everything that was made from the settings, and they themselves. */
static void engine_drop(void)
{
	weft_keeper_stop(weft_engine.keeper);
	weft_shown_adopt(&weft_shown, NULL);
	weft_engine.keeper = NULL;
	weft_engine.nodes.health = NULL;
	weft_engine.bridge.load = NULL;
	weft_loads_free(&weft_engine.loads);
	weft_health_free(weft_engine.health);
	free(weft_engine.health);
	weft_engine.health = NULL;
	weft_bridge_clear(&weft_engine.bridge);
	weft_answers_clear(&weft_engine.answers);
	weft_past_clear(&weft_engine.past);
	weft_settings_free(weft_engine.settings);
	weft_engine.settings = NULL;
	/* What is known of jobs goes on with the next fabric. */
	weft_engine.nodes.fabric = NULL;
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
		.health_path = settings->health_path,
		.shown = &weft_shown,
		.counters = &weft_counters,
		.complain = complain,
	};
	struct weft_error err = {0};

	if (!settings->status_path && !settings->health_path)
		return;
	weft_engine.keeper = weft_keeper_start(&options, &err);
	if (!weft_engine.keeper)
		complain(&err);
}

static void loads_start(const struct weft_settings *settings)
{
	struct weft_error err = {0};

	if (!settings->fabric ||
	    (!settings->contention && !settings->health_path))
		return;
	weft_engine.loads_stale = true;
	if (weft_loads_build(settings->fabric, &weft_engine.loads, &err) < 0) {
		weft_loads_free(&weft_engine.loads);
		complain(&err);
	}
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
	loads_start(settings);
	keeper_start(settings);
}

bool weft_engine_on(void)
{
	if (!weft_engine.settings || !weft_engine.nodes.fabric)
		return false;
	if (weft_engine.nodes.n == (uint32_t)node_record_count)
		return true;
	weft_trouble(WEFT_TROUBLE_TABLE, 1);
	return false;
}

/* Takes over what the keeper has read. */
static void health_take(void)
{
	struct weft_health *health = weft_keeper_health(weft_engine.keeper);
	uint32_t n_slow = 0;

	if (!health)
		return;
	if (weft_engine.loads.total.fabric)
		weft_loads_ill(&weft_engine.loads, health);
	weft_health_free(weft_engine.health);
	free(weft_engine.health);
	weft_engine.health = health;
	for (uint32_t i = 0; i < health->n_nodes; i++)
		n_slow += health->factor[i] >= WEFT_SLOW;
	weft_nodes_changed(&weft_engine.nodes);
	weft_shown.n_slow_nodes = n_slow;
	weft_shown.health_s = time(NULL);
	weft_shown.n_changes++;
	verbose("weft: health read: %u nodes are slow", n_slow);
}

/* Sees to what a plan has to heed beside what is free. */
static void surroundings_refresh(void)
{
	health_take();
	weft_engine.nodes.health = weft_engine.health;
	if (weft_engine.loads.total.fabric)
		weft_engine.bridge.load = weft_loads_total(&weft_engine.loads);
}

bool weft_engine_begin(void)
{
	enum weft_effort effort =
		weft_watchdog_effort(&weft_watchdog, weft_clock_s());

	weft_engine.bridge.method =
		effort == WEFT_EFFORT_FULL ? NULL : "first-fit";
	weft_engine.bridge.place_cpu_s = 0;
	surroundings_refresh();
	return effort != WEFT_EFFORT_NONE;
}

void weft_engine_end(void)
{
	double planning_s = weft_engine.bridge.place_cpu_s;
	double budget_s = weft_engine.settings->budget_s;

	if (planning_s > weft_watchdog_limit_s(budget_s))
		weft_trouble(WEFT_TROUBLE_SLOW, 1);
	if (weft_watchdog_note(&weft_watchdog, planning_s, budget_s,
			       weft_clock_s()))
		error("weft: decisions take %.0f ms and more, of a budget of "
		      "%.3g ms: effort is %s for ten minutes",
		      planning_s * 1e3, budget_s * 1e3,
		      weft_effort_names[weft_watchdog.effort]);
}

void weft_engine_follow(const job_record_t *job, enum weft_hold hold)
{
	if (hold == WEFT_HOLDS_NOTHING) {
		weft_contend_ended(job);
		if (weft_engine.keeper)
			weft_shown_job_ended(&weft_shown, job->job_id);
	}
	if (weft_engine_on())
		weft_nodes_follow(&weft_engine.nodes, job, hold);
}

/* The files cannot be read, as err says.  What an earlier slurmctld read well
 * goes on, unless the admin took weft.yaml away. */
static struct weft_settings *engine_fall_back(const char *path,
					      const char *kept,
					      const struct weft_error *err)
{
	struct weft_settings *settings = NULL;
	char text[sizeof(err->text) + sizeof(err->source) + 64];

	weft_error_text(err, text, sizeof(text));
	if (!weft_engine.settings && access(path, F_OK) == 0)
		settings = weft_settings_load_kept(path, kept, NULL);
	if (weft_engine.settings || settings)
		error("weft: keeping the fabric read before: %s", text);
	else
		error("weft: off, all jobs are placed by Slurm alone: %s",
		      text);
	return settings;
}

void weft_engine_load(void)
{
	static char name[] = SETTINGS_FILE;
	char *path = get_extra_conf_path(name);
	char *kept =
		xstrdup_printf("%s/" KEPT_NAME, slurm_conf.state_save_location);
	struct weft_error err = {0};
	struct weft_settings *settings = weft_settings_load(path, &err);

	if (!settings) {
		settings = engine_fall_back(path, kept, &err);
	} else if (weft_kept_save(settings, kept, &err) < 0) {
		error("weft: no copy of the files is kept for the next start");
		complain(&err);
	}
	if (settings)
		engine_adopt(settings);
	if (settings && !settings->enabled)
		info("weft: off, as %s says", path);
	xfree(path);
	xfree(kept);
	weft_engine_pair();
}

void weft_engine_pair(void)
{
	const struct weft_settings *settings = weft_engine.settings;
	struct weft_error err = {0};
	struct weft_nodes before = weft_engine.nodes;
	char text[sizeof(said)];

	weft_answers_clear(&weft_engine.answers);
	weft_engine.nodes = (struct weft_nodes){0};
	if (settings && settings->enabled &&
	    weft_nodes_build(settings->fabric, &weft_engine.nodes, text,
			     sizeof(text), &err) < 0) {
		weft_nodes_free(&weft_engine.nodes);
		error("weft: off: %s",
		      weft_error_text(&err, text, sizeof(text)));
	}
	if (weft_engine.nodes.fabric)
		weft_nodes_inherit(&weft_engine.nodes, &before);
	weft_nodes_free(&before);
	if (!weft_engine.nodes.fabric)
		return;
	/* Slurm changes partitions more often than nodes. */
	if (strcmp(text, said) == 0)
		return;
	memcpy(said, text, sizeof(said));
	info("weft: fabric %s, %u GPUs, %g ms per decision; %s",
	     settings->fabric->name, settings->fabric->n_gpus,
	     settings->budget_s * 1e3, text);
}

void weft_engine_settle(void)
{
	if (!weft_engine_on())
		return;
	weft_nodes_refresh(&weft_engine.nodes);
	if (weft_engine.loads_stale)
		weft_contend_rebuild();
	weft_engine.loads_stale = false;
}

void weft_engine_unload(void)
{
	engine_drop();
	weft_nodes_free(&weft_engine.nodes);
	weft_shown_free(&weft_shown);
}
