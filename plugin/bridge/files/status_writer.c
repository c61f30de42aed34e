/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status_writer.c - keeping weft's files */
#include "plugin/bridge/files/status_writer.h"

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

/* Of the time, which writing may take: with thousands of nodes and jobs
 * something changes at any time, and the file has megabytes. */
#define WRITE_SHARE 0.02

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

struct weft_status_writer {
	struct weft_worker *worker;
	bool told; /* that a file does not answer; the owner's */
	char *status_path, *verify_path, *health_path, *records_path;
	atomic_bool is_private;
	struct weft_status *shown;
	const struct weft_fabric *fabric;
	struct weft_settings *settings;
	const struct weft_counters *counters;
	void (*complain)(const struct weft_error *err);
	atomic_bool wants_recount;
	struct weft_health *_Atomic health; /* read, and not taken yet */
	/* the thread's own */
	bool complained, records_complained, looked;
	uint64_t version;	     /* of what was written last, */
	bool tried_private;	     /* how it was to be written last, */
	double tried_s;		     /* when, also where that failed, */
	double took_s;		     /* and how long that kept a processor */
	struct identity health_file; /* that was looked into last */
};

static double wall_clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A status writer that slurmctld has left reports nothing. */
static void tell(const struct weft_status_writer *writer,
		 const struct weft_worker *worker, const struct weft_error *err)
{
	if (writer->complain && !weft_worker_left(worker))
		writer->complain(err);
}

/* ---- the snapshot ---- */

static bool is_due(const struct weft_status_writer *writer, uint64_t version,
		   bool is_private, double now_s)
{
	double age_s = now_s - writer->tried_s;

	if (!writer->tried_s || age_s >= LIFE_SIGN_S ||
	    is_private != writer->tried_private)
		return true;
	return (writer->complained || version != writer->version) &&
	       age_s >= writer->took_s / WRITE_SHARE;
}

static void keep_status(struct weft_status_writer *writer,
			const struct weft_worker *worker)
{
	const struct weft_snapshot_place place = {
		.path = writer->status_path,
		.is_private = writer->is_private,
		.worker = worker,
	};
	uint64_t version = weft_status_version(writer->shown);
	double now_s = weft_clock_s(), worked_s = weft_worked_s();
	struct weft_error err = {0};
	bool failed;

	if (!is_due(writer, version, place.is_private, now_s))
		return;
	failed = weft_snapshot_save(writer->shown, writer->fabric,
				    writer->counters, wall_clock_s(), &place,
				    &err) < 0;
	writer->tried_s = now_s;
	writer->tried_private = place.is_private;
	writer->took_s = weft_worked_s() - worked_s;
	if (failed && !writer->complained)
		tell(writer, worker, &err);
	writer->complained = failed;
	if (!failed)
		writer->version = version;
}

static void keep_records(struct weft_status_writer *writer,
			 const struct weft_worker *worker)
{
	struct weft_error err = {0};
	bool failed = weft_records_write(writer->shown, writer->records_path,
					 WEFT_RECORDS_BYTES, &err) < 0;

	if (failed && !writer->records_complained)
		tell(writer, worker, &err);
	writer->records_complained = failed;
}

/* A recount is made under Slurm's locks: not at the wish of any user who may
 * write into a folder like /tmp. */
static void look_for_request(struct weft_status_writer *writer)
{
	struct stat status;

	if (lstat(writer->verify_path, &status) == 0 &&
	    (status.st_uid == 0 || status.st_uid == geteuid()) &&
	    unlink(writer->verify_path) == 0)
		writer->wants_recount = true;
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

static struct weft_health *health_read(const struct weft_status_writer *writer,
				       struct weft_error *err)
{
	struct weft_health *health = weft_calloc(1, sizeof(*health), err);

	if (!health ||
	    weft_trusted_file(writer->health_path, geteuid(), err) < 0 ||
	    weft_health_load(writer->health_path, writer->fabric, health, err) <
		    0) {
		health_free(health);
		return NULL;
	}
	return health;
}

/* A file is looked into once, right or wrong, until it changes. */
static void watch_health(struct weft_status_writer *writer,
			 const struct weft_worker *worker)
{
	struct identity now = identity_of(writer->health_path);
	struct weft_health *health;
	struct weft_error err = {0};

	if (writer->looked && identities_equal(&now, &writer->health_file))
		return;
	writer->looked = true;
	writer->health_file = now;
	health = health_read(writer, &err);
	if (health)
		health_free(atomic_exchange(&writer->health, health));
	else
		tell(writer, worker, &err);
}

struct weft_health *weft_status_writer_health(struct weft_status_writer *writer)
{
	if (!writer ||
	    !atomic_load_explicit(&writer->health, memory_order_relaxed))
		return NULL;
	return atomic_exchange(&writer->health, NULL);
}

/* ---- the thread ---- */

static bool status_writer_round(void *self, const struct weft_worker *worker)
{
	struct weft_status_writer *writer = self;

	if (writer->health_path && writer->fabric)
		watch_health(writer, worker);
	if (writer->records_path)
		keep_records(writer, worker);
	if (writer->status_path) {
		look_for_request(writer);
		keep_status(writer, worker);
	}
	return true;
}

static void status_writer_free(void *self)
{
	struct weft_status_writer *writer = self;

	weft_settings_free(writer->settings);
	free(writer->status_path);
	free(writer->verify_path);
	free(writer->health_path);
	free(writer->records_path);
	health_free(writer->health);
	free(writer);
}

static int paths_copy(struct weft_status_writer *writer,
		      const struct weft_status_writer_options *options,
		      struct weft_error *err)
{
	const char *status_path = options->status_path;
	size_t size;

	if (options->health_path) {
		writer->health_path = weft_strdup(options->health_path, err);
		if (!writer->health_path)
			return -1;
	}
	if (options->records_path) {
		writer->records_path = weft_strdup(options->records_path, err);
		if (!writer->records_path)
			return -1;
	}
	if (!status_path)
		return 0;
	size = strlen(status_path) + sizeof(".verify");
	writer->status_path = weft_strdup(status_path, err);
	writer->verify_path = weft_calloc(size, 1, err);
	if (!writer->status_path || !writer->verify_path)
		return -1;
	snprintf(writer->verify_path, size, "%s.verify", status_path);
	return 0;
}

static struct weft_status_writer *
status_writer_make(const struct weft_status_writer_options *options,
		   struct weft_error *err)
{
	struct weft_status_writer *writer =
		weft_calloc(1, sizeof(*writer), err);

	if (!writer)
		return NULL;
	writer->is_private = options->is_private;
	writer->shown = options->shown;
	writer->fabric = options->fabric;
	writer->counters = options->counters;
	writer->complain = options->complain;
	if (options->settings)
		writer->settings = weft_settings_hold(options->settings);
	if (paths_copy(writer, options, err) == 0)
		return writer;
	status_writer_free(writer);
	return NULL;
}

struct weft_status_writer *
weft_status_writer_start(const struct weft_status_writer_options *options,
			 struct weft_error *err)
{
	struct weft_status_writer *writer = status_writer_make(options, err);
	const struct weft_work work = {
		.name = "weft-keeper",
		.period_s = options->period_s > 0 ? options->period_s
						  : DEFAULT_PERIOD_S,
		.round = status_writer_round,
		.release = status_writer_free,
		.self = writer,
	};

	if (!writer)
		return NULL;
	writer->worker = weft_worker_start(&work, err);
	if (writer->worker)
		return writer;
	status_writer_free(writer);
	return NULL;
}

void weft_status_writer_stop(struct weft_status_writer *writer)
{
	if (writer)
		weft_worker_leave(writer->worker);
}

void weft_status_writer_keep_private(struct weft_status_writer *writer,
				     bool is_private)
{
	if (writer)
		writer->is_private = is_private;
}

bool weft_status_writer_wants_recount(struct weft_status_writer *writer)
{
	return writer &&
	       atomic_load_explicit(&writer->wants_recount,
				    memory_order_relaxed) &&
	       atomic_exchange(&writer->wants_recount, false);
}

bool weft_status_writer_hangs(struct weft_status_writer *writer,
			      const char **path, bool *again)
{
	bool hangs;

	if (!writer)
		return false;
	hangs = weft_worker_busy_s(writer->worker) > HANGS_S;
	if (hangs == writer->told)
		return false;
	writer->told = hangs;
	*path = writer->status_path   ? writer->status_path
		: writer->health_path ? writer->health_path
				      : writer->records_path;
	*again = !hangs;
	return true;
}
