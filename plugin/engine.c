/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.c - loading and dropping what weft keeps inside slurmctld */
#include "plugin/engine.h"

#include "base/clock.h"
#include "plugin/bridge/files/reading.h"
#include "plugin/bridge/watchdog.h"
#include "plugin/jobs_load.h"
#include "plugin/limits/again.h"
#include "plugin/limits/parts.h"
#include "plugin/slurm/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#define SETTINGS_FILE "weft.yaml"
#define KEPT_NAME     "weft-good"
#define RECORDS_NAME  "weft-records"

/* Slurm's locks are held meanwhile, and slurmctld answers no one. */
#define READ_LIMIT_S 0.5
#define KEPT_LIMIT_S 0.25

struct weft_engine weft_engine;

/* Files that have not answered yet. */
static struct weft_reading *reading;

/* How the nodes were paired, as the log has it. */
static char said[600];

/* Everything that was made from the settings, and they themselves. */
static void engine_drop(void)
{
	weft_status_writer_stop(weft_engine.writer);
	weft_status_writer_stop(weft_engine.watcher);
	weft_engine.writer = weft_engine.watcher = NULL;
	weft_engine.nodes.health = NULL;
	weft_engine.bridge.load = NULL;
	weft_jobs_load_forget();
	weft_link_load_free(&weft_engine.loads);
	weft_health_free(weft_engine.health);
	free(weft_engine.health);
	weft_engine.health = NULL;
	weft_bridge_clear(&weft_engine.bridge);
	weft_answers_clear(&weft_engine.answers);
	weft_previous_nodes_clear(&weft_engine.previous);
	weft_settings_free(weft_engine.settings);
	weft_engine.settings = NULL;
	/* What is known of jobs goes on with the next fabric. */
	weft_engine.nodes.fabric = NULL;
}

/* Called by the status writer's thread; Slurm's log may be written to by any.
 */
static void complain(const struct weft_error *err)
{
	char text[sizeof(err->text) + sizeof(err->source) + 64];

	error("weft: %s", weft_error_text(err, text, sizeof(text)));
}

/* By another thread, too. */
static void complain_of_copies(const struct weft_error *err)
{
	char text[sizeof(err->text) + sizeof(err->source) + 64];

	error("weft: no copy of the files is kept for the next start: %s",
	      weft_error_text(err, text, sizeof(text)));
}

/* The status file tells of jobs and nodes, whosever they are. */
static bool is_private(void)
{
	return slurm_conf.private_data &
	       (PRIVATE_DATA_JOBS | PRIVATE_DATA_NODES);
}

/* One for each file: while one does not answer, the other is kept. */
static struct weft_status_writer *
status_writer_start(struct weft_settings *settings, const char *status_path,
		    const char *health_path)
{
	const struct weft_status_writer_options options = {
		.status_path = status_path,
		.is_private = is_private(),
		.health_path = health_path,
		.shown = &weft_status,
		.fabric = settings->fabric,
		.settings = settings,
		.counters = &weft_counters,
		.complain = complain,
	};
	struct weft_status_writer *writer;
	struct weft_error err = {0};

	if (!status_path && !health_path)
		return NULL;
	writer = weft_status_writer_start(&options, &err);
	if (!writer)
		complain(&err);
	return writer;
}

/* One for all settings: it has a count of its own of what is in the file. */
static void recorder_start(const struct weft_settings *settings)
{
	char *path = xstrdup_printf("%s/" RECORDS_NAME,
				    slurm_conf.state_save_location);
	const struct weft_status_writer_options options = {
		.records_path = path,
		.shown = &weft_status,
		.counters = &weft_counters,
		.complain = complain,
	};
	struct weft_error err = {0};

	if (settings->mode == WEFT_MODE_OFF) {
		weft_status_writer_stop(weft_engine.recorder);
		weft_engine.recorder = NULL;
	} else if (!weft_engine.recorder) {
		weft_engine.recorder = weft_status_writer_start(&options, &err);
		if (!weft_engine.recorder)
			complain(&err);
	}
	xfree(path);
}

static void loads_start(const struct weft_settings *settings)
{
	struct weft_error err = {0};

	if (!settings->fabric ||
	    (!settings->contention && !settings->health_path))
		return;
	weft_engine.loads_stale = true;
	if (weft_link_load_build(settings->fabric, &weft_engine.loads, &err) <
	    0) {
		weft_link_load_free(&weft_engine.loads);
		complain(&err);
	}
}

/* Takes over newly read settings; what was made from the old ones goes. */
static void engine_adopt(struct weft_settings *settings)
{
	engine_drop();
	if (!weft_status.since_s) {
		weft_status_init(&weft_status);
		weft_status.since_s = time(NULL);
	}
	weft_engine.settings = settings;
	weft_engine.bridge.settings = settings;
	said[0] = '\0';
	weft_status_forget_nodes(&weft_status);
	loads_start(settings);
	weft_engine.writer =
		status_writer_start(settings, settings->status_path, NULL);
	weft_engine.watcher =
		status_writer_start(settings, NULL, settings->health_path);
	recorder_start(settings);
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

/* Takes over what the status writer has read. */
static void health_take(void)
{
	struct weft_health *health =
		weft_status_writer_health(weft_engine.watcher);
	uint32_t n_slow = 0;

	if (!health)
		return;
	if (weft_engine.loads.total.fabric)
		weft_link_load_ill(&weft_engine.loads, health);
	weft_health_free(weft_engine.health);
	free(weft_engine.health);
	weft_engine.health = health;
	for (uint32_t i = 0; i < health->n_nodes; i++)
		n_slow += health->factor[i] >= WEFT_SLOW;
	weft_nodes_changed(&weft_engine.nodes);
	weft_status.n_slow_nodes = n_slow;
	weft_status.health_s = time(NULL);
	weft_status.n_changes++;
	verbose("weft: health read: %u nodes are slow", n_slow);
}

/* Sees to what a plan has to heed beside what is free. */
static void surroundings_refresh(void)
{
	health_take();
	weft_engine.nodes.health = weft_engine.health;
	if (weft_engine.loads.total.fabric)
		weft_engine.bridge.load =
			weft_link_load_total(&weft_engine.loads);
}

/* When the question came in, and stock's time by then. */
static double entered_s, entered_stock_s;

void weft_engine_enter(uint32_t uid)
{
	double now_s = weft_clock_s();

	weft_nodes_settle(&weft_engine.nodes);
	if (!weft_engine.settings)
		return;
	weft_jobs_load_go_on();
	entered_s = weft_worked_s();
	entered_stock_s = weft_stock_s;
	weft_engine.granted_s =
		weft_grant_s(weft_engine.settings->budget_s, uid, now_s);
	weft_deadline_set(entered_s + weft_engine.granted_s);
}

bool weft_engine_hurried(void)
{
	return weft_deadline() > 0 &&
	       weft_deadline_left() < weft_engine.granted_s / 2;
}

static void tell_rationed(uint32_t uid)
{
	info("weft: plans for the jobs of uid %u take more than %g%% of the "
	     "time: they get %g%% of the budget",
	     uid, 100 * WEFT_RATION_SHARE, 100 * WEFT_RATION_PART);
}

void weft_engine_started(uint32_t uid, double spent_s)
{
	if (weft_start_charge(weft_engine.settings->budget_s, uid, spent_s,
			      weft_clock_s()))
		tell_rationed(uid);
}

void weft_engine_leave(uint32_t uid)
{
	double spent_s =
		weft_worked_s() - entered_s - (weft_stock_s - entered_stock_s);

	if (!weft_deadline())
		return;
	weft_deadline_set(0);
	if (weft_grant_charge(weft_engine.settings->budget_s,
			      weft_engine.granted_s, uid, spent_s,
			      weft_clock_s()))
		tell_rationed(uid);
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
		weft_jobs_load_ended(job);
		if (weft_engine.writer)
			weft_status_job_ended(&weft_status, job->job_id);
	}
	if (weft_engine_on())
		weft_nodes_follow(&weft_engine.nodes, job, hold);
}

void weft_engine_verify(const job_record_t *job, enum weft_hold hold)
{
	if (weft_engine_on())
		weft_nodes_verify(&weft_engine.nodes, job, hold);
}

/* ---- reading the files ---- */

static void tell_unread(const char *text)
{
	if (weft_engine.settings)
		error("weft: keeping the fabric read before: %s", text);
	else
		error("weft: off, all jobs are placed by Slurm alone: %s",
		      text);
}

/* A fabric that has lost nodes which Slurm has may be half a file: what was
 * read before goes on, unless the admin says otherwise.  False: the answer now
 * has what is to be adopted, if anything. */
static bool answer_accept(struct weft_reading_answer *answer)
{
	const struct weft_settings *read = answer->settings;
	const struct weft_settings *before =
		weft_engine.settings ? weft_engine.settings : answer->before;
	char lost[sizeof(said)];

	if (!read->fabric || read->accept_missing || !before ||
	    !before->fabric ||
	    !weft_nodes_lost(before->fabric, read->fabric, lost, sizeof(lost)))
		return true;
	error("weft: keeping the fabric read before: %s lacks%s; "
	      "\"accept_missing: yes\" in %s takes it as it is",
	      read->fabric_path, lost + 1, read->files[0]);
	weft_settings_free(answer->settings);
	answer->settings = weft_engine.settings ? NULL : answer->before;
	if (answer->settings)
		answer->before = NULL;
	return false;
}

/* Takes over what was read; what an earlier slurmctld read well goes on where
 * nothing else is known. */
static void answer_adopt(struct weft_reading_answer *answer, const char *kept)
{
	char text[sizeof(answer->err.text) + sizeof(answer->err.source) + 64];
	bool fresh = answer->settings && !answer->kept && answer_accept(answer);

	if (answer->kept && weft_engine.settings) {
		weft_settings_free(answer->settings);
		answer->settings = NULL;
	}
	if (answer->settings) {
		engine_adopt(answer->settings);
		if (fresh)
			weft_reading_keep(answer->settings, kept,
					  complain_of_copies);
		if (answer->settings->mode == WEFT_MODE_OFF)
			info("weft: off, as weft.yaml says");
	}
	weft_settings_free(answer->before);
	if (answer->err.code)
		tell_unread(weft_error_text(&answer->err, text, sizeof(text)));
}

/* The copies alone, since the files do not answer. */
static void kept_adopt(const struct weft_reading_from *from)
{
	const struct weft_reading_from copies = {.kept = from->kept,
						 .base = from->base};
	struct weft_reading *kept = weft_reading_start(&copies, NULL);
	struct weft_reading_answer answer;

	if (!kept || !weft_reading_take(kept, KEPT_LIMIT_S, &answer)) {
		weft_reading_leave(kept);
		return;
	}
	if (answer.settings)
		engine_adopt(answer.settings);
}

/* Until they answer, what is known goes on. */
static void files_hang(const struct weft_reading_from *from)
{
	char text[512];

	if (!weft_engine.settings)
		kept_adopt(from);
	snprintf(text, sizeof(text),
		 "%s, or a file that it names, does not answer", from->path);
	tell_unread(text);
}

/* Caller: xfree. */
static char *kept_path(void)
{
	return xstrdup_printf("%s/" KEPT_NAME, slurm_conf.state_save_location);
}

void weft_engine_load(void)
{
	static char name[] = SETTINGS_FILE;
	char *path = get_extra_conf_path(name), *kept = kept_path();
	const struct weft_reading_from from = {
		.path = path,
		.kept = kept,
		.base = path,
		.compare = !weft_engine.settings,
	};
	struct weft_reading_answer answer = {0};

	/* PrivateData holds also where the files do not answer. */
	weft_status_writer_keep_private(weft_engine.writer, is_private());
	weft_reading_leave(reading);
	reading = weft_reading_start(&from, &answer.err);
	if (!reading) {
		answer_adopt(&answer, kept);
	} else if (weft_reading_take(reading, READ_LIMIT_S, &answer)) {
		reading = NULL;
		answer_adopt(&answer, kept);
	} else {
		files_hang(&from);
	}
	xfree(path);
	xfree(kept);
	weft_engine_pair();
}

static void tell_hanging(struct weft_status_writer *writer)
{
	const char *path;
	bool again;

	if (!weft_status_writer_hangs(writer, &path, &again))
		return;
	if (again)
		info("weft: %s answers again", path);
	else
		error("weft: %s does not answer; Slurm and weft go on without "
		      "it",
		      path);
}

bool weft_engine_look(void)
{
	struct weft_reading_answer answer;
	char *kept;

	tell_hanging(weft_engine.writer);
	tell_hanging(weft_engine.watcher);
	tell_hanging(weft_engine.recorder);
	if (!reading || !weft_reading_take(reading, 0, &answer))
		return false;
	reading = NULL;
	info("weft: %s was read late", SETTINGS_FILE);
	kept = kept_path();
	answer_adopt(&answer, kept);
	xfree(kept);
	weft_engine_pair();
	weft_engine_settle();
	return true;
}

void weft_engine_pair(void)
{
	const struct weft_settings *settings = weft_engine.settings;
	struct weft_error err = {0};
	struct weft_nodes before = weft_engine.nodes;
	char text[sizeof(said)];

	weft_answers_clear(&weft_engine.answers);
	weft_again_forget();
	weft_parts_forget();
	weft_engine.nodes = (struct weft_nodes){0};
	if (settings && settings->mode != WEFT_MODE_OFF &&
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
	info("weft: mode %s, fabric %s, %u GPUs, %g ms per decision; %s",
	     weft_mode_names[settings->mode], settings->fabric->name,
	     settings->fabric->n_gpus, settings->budget_s * 1e3, text);
}

void weft_engine_settle(void)
{
	if (!weft_engine_on())
		return;
	weft_nodes_refresh(&weft_engine.nodes);
	if (weft_engine.loads_stale)
		weft_jobs_load_rebuild();
	weft_engine.loads_stale = false;
}

/* What is shown stays: a status writer that waits for its file may still read
 * it. */
void weft_engine_unload(void)
{
	weft_reading_leave(reading);
	reading = NULL;
	weft_status_writer_stop(weft_engine.recorder);
	weft_engine.recorder = NULL;
	engine_drop();
	weft_again_forget();
	weft_parts_forget();
	weft_nodes_free(&weft_engine.nodes);
}
