/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeper.c - keeping weft's files */
#include "plugin/bridge/files/keeper.h"

#include "base/clock.h"
#include "base/trusted.h"
#include "plugin/bridge/files/records.h"
#include "plugin/bridge/files/snapshot.h"
#include "plugin/bridge/files/worker.h"

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

/* What a busy server may take to answer. */
#define HANGS_S 10

/* Tells a file from the one that takes its place, or what is written into it.
 */
struct identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct weft_keeper {
	struct weft_worker *worker;
	bool told; /* that a file does not answer; the owner's */
	char *status_path, *verify_path, *health_path, *records_path;
	bool is_private;
	struct weft_status *shown;
	const struct weft_fabric *fabric;
	struct weft_settings *settings;
	const struct weft_counters *counters;
	void (*complain)(const struct weft_error *err);
	atomic_bool wants_recount;
	struct weft_health *_Atomic health; /* read, and not taken yet */
	/* the thread's own */
	bool written, complained, records_complained, looked;
	uint64_t version; /* of what was written last */
	double written_s;
	struct identity health_file; /* that was looked into last */
};

static double wall_clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Nobody is to hear of a keeper that has been left. */
static void tell(const struct weft_keeper *keeper,
		 const struct weft_worker *worker, const struct weft_error *err)
{
	if (keeper->complain && !weft_worker_left(worker))
		keeper->complain(err);
}

/* ---- the snapshot ---- */

static void keep_status(struct weft_keeper *keeper,
			const struct weft_worker *worker)
{
	const struct weft_snapshot_place place = {
		.path = keeper->status_path,
		.is_private = keeper->is_private,
		.worker = worker,
	};
	uint64_t version = weft_status_version(keeper->shown);
	double now_s = weft_clock_s();
	struct weft_error err = {0};

	if (keeper->written && version == keeper->version &&
	    now_s - keeper->written_s < LIFE_SIGN_S)
		return;
	if (weft_snapshot_save(keeper->shown, keeper->fabric, keeper->counters,
			       wall_clock_s(), &place, &err) < 0) {
		if (!keeper->complained)
			tell(keeper, worker, &err);
		keeper->complained = true;
		return;
	}
	keeper->complained = false;
	keeper->written = true;
	keeper->version = version;
	keeper->written_s = now_s;
}

static void keep_records(struct weft_keeper *keeper,
			 const struct weft_worker *worker)
{
	struct weft_error err = {0};
	bool failed = weft_records_write(keeper->shown, keeper->records_path,
					 WEFT_RECORDS_BYTES, &err) < 0;

	if (failed && !keeper->records_complained)
		tell(keeper, worker, &err);
	keeper->records_complained = failed;
}

/* A recount is made under Slurm's locks: not at the wish of any user who may
 * write into a folder like /tmp. */
static void look_for_request(struct weft_keeper *keeper)
{
	struct stat status;

	if (lstat(keeper->verify_path, &status) == 0 &&
	    (status.st_uid == 0 || status.st_uid == geteuid()) &&
	    unlink(keeper->verify_path) == 0)
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

	if (!health ||
	    weft_trusted_file(keeper->health_path, geteuid(), err) < 0 ||
	    weft_health_load(keeper->health_path, keeper->fabric, health, err) <
		    0) {
		health_free(health);
		return NULL;
	}
	return health;
}

/* A file is looked into once, right or wrong, until it changes. */
static void watch_health(struct weft_keeper *keeper,
			 const struct weft_worker *worker)
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
	else
		tell(keeper, worker, &err);
}

struct weft_health *weft_keeper_health(struct weft_keeper *keeper)
{
	if (!keeper ||
	    !atomic_load_explicit(&keeper->health, memory_order_relaxed))
		return NULL;
	return atomic_exchange(&keeper->health, NULL);
}

/* ---- the thread ---- */

static bool keeper_round(void *self, const struct weft_worker *worker)
{
	struct weft_keeper *keeper = self;

	if (keeper->health_path && keeper->fabric)
		watch_health(keeper, worker);
	if (keeper->records_path)
		keep_records(keeper, worker);
	if (keeper->status_path) {
		look_for_request(keeper);
		keep_status(keeper, worker);
	}
	return true;
}

static void keeper_free(void *self)
{
	struct weft_keeper *keeper = self;

	weft_settings_free(keeper->settings);
	free(keeper->status_path);
	free(keeper->verify_path);
	free(keeper->health_path);
	free(keeper->records_path);
	health_free(keeper->health);
	free(keeper);
}

static int paths_copy(struct weft_keeper *keeper,
		      const struct weft_keeper_options *options,
		      struct weft_error *err)
{
	const char *status_path = options->status_path;
	size_t size;

	if (options->health_path) {
		keeper->health_path = weft_strdup(options->health_path, err);
		if (!keeper->health_path)
			return -1;
	}
	if (options->records_path) {
		keeper->records_path = weft_strdup(options->records_path, err);
		if (!keeper->records_path)
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

static struct weft_keeper *
keeper_make(const struct weft_keeper_options *options, struct weft_error *err)
{
	struct weft_keeper *keeper = weft_calloc(1, sizeof(*keeper), err);

	if (!keeper)
		return NULL;
	keeper->is_private = options->is_private;
	keeper->shown = options->shown;
	keeper->fabric = options->fabric;
	keeper->counters = options->counters;
	keeper->complain = options->complain;
	if (options->settings)
		keeper->settings = weft_settings_hold(options->settings);
	if (paths_copy(keeper, options, err) == 0)
		return keeper;
	keeper_free(keeper);
	return NULL;
}

struct weft_keeper *weft_keeper_start(const struct weft_keeper_options *options,
				      struct weft_error *err)
{
	struct weft_keeper *keeper = keeper_make(options, err);
	const struct weft_work work = {
		.name = "weft-keeper",
		.period_s = options->period_s > 0 ? options->period_s
						  : DEFAULT_PERIOD_S,
		.round = keeper_round,
		.release = keeper_free,
		.self = keeper,
	};

	if (!keeper)
		return NULL;
	keeper->worker = weft_worker_start(&work, err);
	if (keeper->worker)
		return keeper;
	keeper_free(keeper);
	return NULL;
}

void weft_keeper_stop(struct weft_keeper *keeper)
{
	if (keeper)
		weft_worker_leave(keeper->worker);
}

bool weft_keeper_wants_recount(struct weft_keeper *keeper)
{
	return keeper &&
	       atomic_load_explicit(&keeper->wants_recount,
				    memory_order_relaxed) &&
	       atomic_exchange(&keeper->wants_recount, false);
}

bool weft_keeper_hangs(struct weft_keeper *keeper, const char **path,
		       bool *again)
{
	bool hangs;

	if (!keeper)
		return false;
	hangs = weft_worker_busy_s(keeper->worker) > HANGS_S;
	if (hangs == keeper->told)
		return false;
	keeper->told = hangs;
	*path = keeper->status_path   ? keeper->status_path
		: keeper->health_path ? keeper->health_path
				      : keeper->records_path;
	*again = !hangs;
	return true;
}
