/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.h - a thread for what may take for ever, which is all that is done
 * with files: no Slurm types
 *
 * A system call on a file returns when its file system answers: an NFS server
 * that is gone, a frozen disk never do.  Hence no thread ever joins a worker.
 * Its owner may leave it at any time; what the two share is freed by whichever
 * of them is the last.  A worker takes none of the process's signals.  The code
 * that it runs must stay mapped after dlclose (link with -z nodelete).
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_WORKER_H
#define WEFT_PLUGIN_BRIDGE_FILES_WORKER_H

#include "base/error.h"

#include <stdbool.h>

struct weft_worker;

struct weft_work {
	const char *name; /* of the thread, 15 bytes at most */
	double period_s;  /* from the end of a round to the next one */
	/* The thread's; may take for ever.  false: there is no other round. */
	bool (*round)(void *self, const struct weft_worker *worker);
	/* Both have let go. */
	void (*release)(void *self);
	void *self;
};

/* NULL with err (no thread can be made, or too many wait for files already):
 * `self` stays the caller's then.  End with weft_worker_leave. */
struct weft_worker *weft_worker_start(const struct weft_work *work,
				      struct weft_error *err);

/* The owner's last word; never waits.  The first round takes place in any case.
 * NULL is none. */
void weft_worker_leave(struct weft_worker *worker);

/* For rounds: no one wants what they do from now on. */
bool weft_worker_left(const struct weft_worker *worker);

/* Whether the first round has ended; waits for it limit_s at most. */
bool weft_worker_wait(struct weft_worker *worker, double limit_s);

/* For how long the present round has been going on; 0 between two. */
double weft_worker_busy_s(const struct weft_worker *worker);

#endif
