/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c - threads that are never joined */
#include "config.h" /* pthread_setname_np */

#include "plugin/bridge/files/worker.h"

#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Threads that were left while they wait for some file: each reconfiguration
 * may add a few, for as long as the file system does not answer. */
#define MAX_LEFT 32

struct weft_worker {
	struct weft_work work;
	pthread_mutex_t lock; /* held for moments, and never with a file */
	pthread_cond_t change;
	atomic_bool left;	/* by its owner */
	bool ended;		/* of itself */
	bool looked;		/* the first round has ended */
	_Atomic double since_s; /* when this round began; 0: between two */
};

static atomic_uint n_left;

static void worker_free(struct weft_worker *worker)
{
	worker->work.release(worker->work.self);
	pthread_cond_destroy(&worker->change);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

static struct timespec time_of(double at_s)
{
	struct timespec at = {.tv_sec = (time_t)at_s};

	at.tv_nsec = (long)((at_s - (double)at.tv_sec) * 1e9);
	return at;
}

/* ---- the thread ---- */

/* Tells that a round has ended; rests until the next one, unless that was the
 * last or the owner leaves. */
static void round_ended(struct weft_worker *worker, bool again)
{
	struct timespec until = time_of(weft_clock_s() + worker->work.period_s);

	pthread_mutex_lock(&worker->lock);
	worker->since_s = 0;
	worker->looked = true;
	pthread_cond_broadcast(&worker->change);
	while (again && !worker->left)
		if (pthread_cond_timedwait(&worker->change, &worker->lock,
					   &until) != 0)
			break;
	pthread_mutex_unlock(&worker->lock);
}

static void *worker_run(void *arg)
{
	struct weft_worker *worker = arg;
	bool again, left;

	do {
		worker->since_s = weft_clock_s();
		again = worker->work.round(worker->work.self, worker);
		round_ended(worker, again);
	} while (again && !worker->left);
	pthread_mutex_lock(&worker->lock);
	worker->ended = true;
	left = worker->left;
	pthread_mutex_unlock(&worker->lock);
	if (left) {
		worker_free(worker);
		n_left--;
	}
	return NULL;
}

/* ---- the owner ---- */

static int thread_create(struct weft_worker *worker)
{
	pthread_t thread;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, worker_run, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0) {
		pthread_setname_np(thread, worker->work.name);
		pthread_detach(thread);
	}
	return rc;
}

struct weft_worker *weft_worker_start(const struct weft_work *work,
				      struct weft_error *err)
{
	struct weft_worker *worker;
	pthread_condattr_t monotonic;
	int rc;

	if (n_left >= MAX_LEFT) {
		weft_fail(err, WEFT_EIO, "%u threads wait for files already",
			  (unsigned)n_left);
		return NULL;
	}
	worker = weft_calloc(1, sizeof(*worker), err);
	if (!worker)
		return NULL;
	worker->work = *work;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	rc = thread_create(worker);
	if (rc != 0) {
		pthread_cond_destroy(&worker->change);
		pthread_mutex_destroy(&worker->lock);
		free(worker);
		weft_fail(err, WEFT_EIO, "no thread for weft's files: %s",
			  strerror(rc));
		return NULL;
	}
	return worker;
}

void weft_worker_leave(struct weft_worker *worker)
{
	bool ended;

	if (!worker)
		return;
	n_left++;
	pthread_mutex_lock(&worker->lock);
	worker->left = true;
	ended = worker->ended;
	pthread_cond_broadcast(&worker->change);
	pthread_mutex_unlock(&worker->lock);
	if (ended) {
		worker_free(worker);
		n_left--;
	}
}

bool weft_worker_left(const struct weft_worker *worker)
{
	return worker->left;
}

bool weft_worker_wait(struct weft_worker *worker, double limit_s)
{
	struct timespec until = time_of(weft_clock_s() + limit_s);
	bool looked;

	pthread_mutex_lock(&worker->lock);
	while (!worker->looked)
		if (pthread_cond_timedwait(&worker->change, &worker->lock,
					   &until) != 0)
			break;
	looked = worker->looked;
	pthread_mutex_unlock(&worker->lock);
	return looked;
}

double weft_worker_busy_s(const struct weft_worker *worker)
{
	double since_s = worker->since_s;

	return since_s > 0 ? weft_clock_s() - since_s : 0;
}
