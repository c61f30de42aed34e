/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decision.h - what became of a question, and how often what did: no Slurm
 * types
 */
#ifndef WEFT_PLUGIN_BRIDGE_DECISION_H
#define WEFT_PLUGIN_BRIDGE_DECISION_H

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/request.h"

#include <stdbool.h>
#include <stdint.h>

/* Up to WEFT_CAUSE_SILENT users learn nothing. */
enum weft_cause {
	WEFT_CAUSE_PASS,      /* not a question for weft */
	WEFT_CAUSE_NO_SPEC,   /* weft.yaml: unspecified: off */
	WEFT_CAUSE_UNWANTED,  /* the user said off */
	WEFT_CAUSE_SILENT,    /* (the border) */
	WEFT_CAUSE_NARROWED,  /* stock took weft's nodes */
	WEFT_CAUSE_OBSERVED,  /* weft.yaml: mode: observe; stock chose */
	WEFT_CAUSE_SPEC,      /* a spec that cannot be used */
	WEFT_CAUSE_UNCLEAR,   /* a request that weft does not understand */
	WEFT_CAUSE_FOREIGN,   /* -w names a node that is not in the fabric */
	WEFT_CAUSE_NO_ROOM,   /* not enough free now */
	WEFT_CAUSE_NO_PLAN,   /* enough, but not as the job wants it */
	WEFT_CAUSE_REFUSED,   /* stock declined the plans */
	WEFT_CAUSE_WAITS,     /* the job waits for a better place */
	WEFT_CAUSE_NO_MEMORY, /* weft ran out of memory */
	WEFT_CAUSE_AMISS,     /* weft's own figures contradict each other */
	WEFT_CAUSE_RESTING,   /* the watchdog has switched planning off */
	WEFT_CAUSE_LATE,      /* no time was left */
	WEFT_CAUSE_NOT_BEGUN, /* Slurm did not start it on weft's nodes */
	WEFT_N_CAUSES
};

extern const char *const weft_cause_names[WEFT_N_CAUSES];
/* The same for programs, weft-status-file(5); NULL for the border. */
extern const char *const weft_cause_codes[WEFT_N_CAUSES];

/* What weft last answered, for the job_begin that follows a RUN_NOW under the
 * same lock. */
struct weft_decision {
	uint32_t job_id;
	enum weft_cause cause;
	double bound;		 /* NAN: not known */
	double elapsed_s;	 /* stock's part included */
	struct weft_shape shape; /* what was asked for; 0: open */
	const char *spec; /* in the job's record, for as long as it is locked */
	char reason[WEFT_REASON_SIZE];
	char note[WEFT_REASON_SIZE]; /* of waiting; empty: none */
	/* The plan's GPU of each rank, in the fabric's numbers; malloc'ed, NULL
	 * without one.  Of an observed job: what weft would have chosen. */
	uint32_t n_ranks, *where;
	struct weft_baselines baselines; /* of a job that is to start now */
	bool late;			 /* there was no time for them */
};

void weft_decision_free(struct weft_decision *decision);

/* The decisions so far.  Decisions write them under Slurm's locks; any other
 * thread may read them at any time. */
#define WEFT_N_TIME_BUCKETS 16

struct weft_counters {
	_Atomic uint64_t by_cause[WEFT_N_CAUSES];
	/* decisions by planning time: bucket k took up to 2^k times
	 * WEFT_FIRST_BUCKET_S, the last any time */
	_Atomic uint64_t by_time[WEFT_N_TIME_BUCKETS];
	_Atomic uint64_t planning_ns; /* in all */
};

#define WEFT_FIRST_BUCKET_S 50e-6

extern struct weft_counters weft_counters;

/* A question that was not passed on took planning_s of weft's own time. */
void weft_counters_add(struct weft_counters *counters, enum weft_cause cause,
		       double planning_s);

/* "narrowed 12, ...; planning 3 ms in all" of what users learn into
 * text[size]; empty when nothing was counted. */
void weft_counters_text(const struct weft_counters *counters, char *text,
			size_t size);

#endif
