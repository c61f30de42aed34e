/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading.c - settings read, and copied, by threads */
#include "plugin/bridge/files/reading.h"

#include "plugin/bridge/files/config_cache.h"
#include "plugin/bridge/files/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- reading ---- */

struct weft_reading {
	struct weft_worker *worker;
	char *path, *kept, *base;
	bool compare;
	struct weft_reading_answer answer; /* the thread's until it has ended */
};

static bool read_files(void *self, const struct weft_worker *worker)
{
	struct weft_reading *reading = self;
	struct weft_reading_answer *answer = &reading->answer;

	(void)worker;
	if (reading->path)
		answer->settings =
			weft_settings_load(reading->path, &answer->err);
	if (answer->settings && reading->compare && reading->kept)
		answer->before = weft_settings_load_kept(reading->base,
							 reading->kept, NULL);
	if (answer->settings || !reading->kept)
		return false;
	if (reading->path && access(reading->path, F_OK) != 0)
		return false;
	answer->settings =
		weft_settings_load_kept(reading->base, reading->kept,
					answer->err.code ? NULL : &answer->err);
	answer->kept = answer->settings != NULL;
	return false;
}

static void reading_free(void *self)
{
	struct weft_reading *reading = self;

	weft_settings_free(reading->answer.settings);
	weft_settings_free(reading->answer.before);
	free(reading->path);
	free(reading->kept);
	free(reading->base);
	free(reading);
}

/* A copy of a text that may be none. */
static int copy_text(const char *from, char **to, struct weft_error *err)
{
	*to = from ? weft_strdup(from, err) : NULL;
	return from && !*to ? -1 : 0;
}

struct weft_reading *weft_reading_start(const struct weft_reading_from *from,
					struct weft_error *err)
{
	struct weft_reading *reading = weft_calloc(1, sizeof(*reading), err);
	const struct weft_work work = {
		.name = "weft-reading",
		.round = read_files,
		.release = reading_free,
		.self = reading,
	};

	if (!reading)
		return NULL;
	reading->compare = from->compare;
	if (copy_text(from->path, &reading->path, err) == 0 &&
	    copy_text(from->kept, &reading->kept, err) == 0 &&
	    copy_text(from->base, &reading->base, err) == 0)
		reading->worker = weft_worker_start(&work, err);
	if (reading->worker)
		return reading;
	reading_free(reading);
	return NULL;
}

bool weft_reading_take(struct weft_reading *reading, double limit_s,
		       struct weft_reading_answer *answer)
{
	if (!weft_worker_wait(reading->worker, limit_s))
		return false;
	*answer = reading->answer;
	reading->answer.settings = reading->answer.before = NULL;
	weft_reading_leave(reading);
	return true;
}

void weft_reading_leave(struct weft_reading *reading)
{
	if (reading)
		weft_worker_leave(reading->worker);
}

/* ---- keeping copies ---- */

struct keeping {
	struct weft_settings *settings;
	char *kept;
	unsigned turn;
	void (*complain)(const struct weft_error *err);
};

/* One thread at a time, and the last one told has the last word. */
static pthread_mutex_t keeping_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint last_turn;

static bool keep_files(void *self, const struct weft_worker *worker)
{
	const struct keeping *keeping = self;
	struct weft_error err = {0};
	int rc = 0;

	(void)worker;
	pthread_mutex_lock(&keeping_lock);
	if (keeping->turn == last_turn)
		rc = weft_config_cache_save(keeping->settings, keeping->kept,
					    &err);
	pthread_mutex_unlock(&keeping_lock);
	if (rc < 0)
		keeping->complain(&err);
	return false;
}

static void keeping_free(void *self)
{
	struct keeping *keeping = self;

	weft_settings_free(keeping->settings);
	free(keeping->kept);
	free(keeping);
}

void weft_reading_keep(struct weft_settings *settings, const char *kept,
		       void (*complain)(const struct weft_error *err))
{
	struct weft_error err = {0};
	struct keeping *keeping = weft_calloc(1, sizeof(*keeping), &err);
	const struct weft_work work = {
		.name = "weft-keeping",
		.round = keep_files,
		.release = keeping_free,
		.self = keeping,
	};
	struct weft_worker *worker = NULL;

	if (keeping && copy_text(kept, &keeping->kept, &err) == 0) {
		keeping->settings = weft_settings_hold(settings);
		keeping->complain = complain;
		keeping->turn = ++last_turn;
		worker = weft_worker_start(&work, &err);
	}
	if (!worker) {
		complain(&err);
		if (keeping)
			keeping_free(keeping);
	}
	weft_worker_leave(worker);
}
