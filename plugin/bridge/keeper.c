/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeper.c - a background thread that keeps weft's files */
#include "config.h" /* pthread_setname_np */

#include "plugin/bridge/keeper.h"

#include "plugin/bridge/snapshot.h"
#include "plugin/bridge/trusted.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_PERIOD_S 1.0

/* Though nothing changed: readers tell a weft that is gone from one at rest. */
#define LIFE_SIGN_S 30

/* Tells a file from the one that takes its place, or what is written into it.
 */
struct identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct weft_keeper {
	pthread_t thread;
	pthread_mutex_t lock; /* of `stop` alone; no decision takes it */
	pthread_cond_t wake;
	bool stop;
	double period_s;
	char *status_path, *verify_path, *health_path;
	const struct weft_shown *shown;
	const struct weft_counters *counters;
	void (*complain)(const struct weft_error *err);
	atomic_bool wants_recount;
	struct weft_health *_Atomic health; /* read, and not taken yet */
	/* the thread's own */
	bool written, complained, looked;
	uint64_t version; /* of what was written last */
	double written_s;
	struct identity health_file; /* that was looked into last */
};

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the snapshot ---- */

static void keep_status(struct weft_keeper *keeper)
{
	uint64_t version = weft_shown_version(keeper->shown);
	double now_s = seconds(CLOCK_MONOTONIC);
	struct weft_error err = {0};

	if (keeper->written && version == keeper->version &&
	    now_s - keeper->written_s < LIFE_SIGN_S)
		return;
	if (weft_snapshot_save(keeper->shown, keeper->counters,
			       seconds(CLOCK_REALTIME), keeper->status_path,
			       &err) < 0) {
		if (!keeper->complained && keeper->complain)
			keeper->complain(&err);
		keeper->complained = true;
		return;
	}
	keeper->complained = false;
	keeper->written = true;
	keeper->version = version;
	keeper->written_s = now_s;
}

static void look_for_request(struct weft_keeper *keeper)
{
	if (unlink(keeper->verify_path) == 0)
		keeper->wants_recount = true;
}

/* ---- health ---- */

static struct identity identity_of(const char *path)
{
	struct identity identity = {0};
	struct stat status;

	if (stat(path, &status) == 0) {
		identity.device = status.st_dev;
		identity.inode = status.st_ino;
		identity.size = status.st_size;
		identity.changed = status.st_mtim;
	}
	return identity;
}

static bool identities_equal(const struct identity *a, const struct identity *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

static void health_free(struct weft_health *health)
{
	weft_health_free(health);
	free(health);
}

static struct weft_health *health_read(const struct weft_keeper *keeper,
				       struct weft_error *err)
{
	struct weft_health *health = weft_calloc(1, sizeof(*health), err);

	if (!health || weft_trusted_file(keeper->health_path, err) < 0 ||
	    weft_health_load(keeper->health_path, keeper->shown->fabric, health,
			     err) < 0) {
		health_free(health);
		return NULL;
	}
	return health;
}

/* A file is looked into once, right or wrong, until it changes. */
static void watch_health(struct weft_keeper *keeper)
{
	struct identity now = identity_of(keeper->health_path);
	struct weft_health *health;
	struct weft_error err = {0};

	if (keeper->looked && identities_equal(&now, &keeper->health_file))
		return;
	keeper->looked = true;
	keeper->health_file = now;
	health = health_read(keeper, &err);
	if (health)
		health_free(atomic_exchange(&keeper->health, health));
	else if (keeper->complain)
		keeper->complain(&err);
}

struct weft_health *weft_keeper_health(struct weft_keeper *keeper)
{
	if (!keeper ||
	    !atomic_load_explicit(&keeper->health, memory_order_relaxed))
		return NULL;
	return atomic_exchange(&keeper->health, NULL);
}

/* ---- the thread ---- */

static void keeper_round(struct weft_keeper *keeper)
{
	if (keeper->health_path && keeper->shown->fabric)
		watch_health(keeper);
	if (keeper->status_path) {
		look_for_request(keeper);
		keep_status(keeper);
	}
}

/* Sleeps a period, less when told to stop; false then. */
static bool keeper_sleep(struct weft_keeper *keeper)
{
	struct timespec until;
	double end_s = seconds(CLOCK_MONOTONIC) + keeper->period_s;
	bool stop;

	until.tv_sec = (time_t)end_s;
	until.tv_nsec = (long)((end_s - (double)until.tv_sec) * 1e9);
	pthread_mutex_lock(&keeper->lock);
	while (!keeper->stop)
		if (pthread_cond_timedwait(&keeper->wake, &keeper->lock,
					   &until) != 0)
			break;
	stop = keeper->stop;
	pthread_mutex_unlock(&keeper->lock);
	return !stop;
}

static void *keeper_run(void *arg)
{
	struct weft_keeper *keeper = arg;

	do
		keeper_round(keeper);
	while (keeper_sleep(keeper));
	return NULL;
}

/* slurmctld's signals are slurmctld's: the thread takes none. */
static int thread_create(struct weft_keeper *keeper, struct weft_error *err)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&keeper->thread, NULL, keeper_run, keeper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return weft_fail(err, WEFT_EIO,
				 "no thread for weft's files: %s",
				 strerror(rc));
	pthread_setname_np(keeper->thread, "weft-keeper");
	return 0;
}

static void keeper_free(struct weft_keeper *keeper)
{
	pthread_cond_destroy(&keeper->wake);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper->status_path);
	free(keeper->verify_path);
	free(keeper->health_path);
	health_free(keeper->health);
	free(keeper);
}

/* Copies of the names: settings may change before the thread has ended. */
static int paths_copy(struct weft_keeper *keeper, const char *status_path,
		      const char *health_path, struct weft_error *err)
{
	size_t size;

	if (health_path) {
		keeper->health_path = weft_strdup(health_path, err);
		if (!keeper->health_path)
			return -1;
	}
	if (!status_path)
		return 0;
	size = strlen(status_path) + sizeof(".verify");
	keeper->status_path = weft_strdup(status_path, err);
	keeper->verify_path = weft_calloc(size, 1, err);
	if (!keeper->status_path || !keeper->verify_path)
		return -1;
	snprintf(keeper->verify_path, size, "%s.verify", status_path);
	return 0;
}

struct weft_keeper *weft_keeper_start(const struct weft_keeper_options *options,
				      struct weft_error *err)
{
	struct weft_keeper *keeper = weft_calloc(1, sizeof(*keeper), err);
	pthread_condattr_t monotonic;

	if (!keeper)
		return NULL;
	pthread_mutex_init(&keeper->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&keeper->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	keeper->shown = options->shown;
	keeper->counters = options->counters;
	keeper->complain = options->complain;
	keeper->period_s =
		options->period_s > 0 ? options->period_s : DEFAULT_PERIOD_S;
	if (paths_copy(keeper, options->status_path, options->health_path,
		       err) < 0 ||
	    thread_create(keeper, err) < 0) {
		keeper_free(keeper);
		return NULL;
	}
	return keeper;
}

void weft_keeper_stop(struct weft_keeper *keeper)
{
	if (!keeper)
		return;
	pthread_mutex_lock(&keeper->lock);
	keeper->stop = true;
	pthread_cond_signal(&keeper->wake);
	pthread_mutex_unlock(&keeper->lock);
	pthread_join(keeper->thread, NULL);
	keeper_free(keeper);
}

bool weft_keeper_wants_recount(struct weft_keeper *keeper)
{
	return keeper &&
	       atomic_load_explicit(&keeper->wants_recount,
				    memory_order_relaxed) &&
	       atomic_exchange(&keeper->wants_recount, false);
}
