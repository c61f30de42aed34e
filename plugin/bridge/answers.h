/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answers.h - what pending jobs with limits of their own were answered, so that
 * an unchanged cluster is not searched again: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_ANSWERS_H
#define WEFT_PLUGIN_BRIDGE_ANSWERS_H

#include "plugin/bridge/decision.h"

#include <stdint.h>
#include <time.h>

#define WEFT_MAX_ASKED 4096

/* Node numbers of all answers: 8 MiB. */
#define WEFT_MAX_ANSWER_NODES (2u << 20)

/* No answer holds for longer. */
#define WEFT_ANSWER_AGE_S 300

/* A search that ran out of time is gone on with after so long. */
#define WEFT_CUT_AGE_S 5

/* RUN_NOW, WILL_RUN and TEST_ONLY have candidates of their own. */
enum weft_question {
	WEFT_ASKED_NOW,
	WEFT_ASKED_LATER,
	WEFT_ASKED_EVER,
	WEFT_N_QUESTIONS
};

/* One answer and what it holds for. */
struct weft_answer {
	uint64_t signature; /* of candidates and what is free; 0: no answer */
	time_t until;	    /* then it is looked at again */
	enum weft_cause cause;
	time_t start; /* when the nodes below are free; 0: not known */
	uint32_t n_nodes, *nodes; /* in the fabric's numbers; malloc'ed */
	char reason[WEFT_REASON_SIZE];
};

/* What stock is asked about one after the other. */
enum weft_asked_by {
	WEFT_BY_LEVEL,
	WEFT_BY_LEVEL_UNTRIMMED,
	WEFT_BY_WHOLE,
	WEFT_BY_ROW,
	WEFT_N_WAYS
};

/* Where the last question of a job to stock ran out of time, or was answered:
 * the next one goes on there. */
struct weft_turn_asked {
	uint32_t first[WEFT_N_WAYS];
	uint32_t first_later, first_victims; /* when it could start, and whom
					      * it would preempt */
	uint32_t soonest; /* 1 + the domain where it could first; 0: none */
};

struct weft_asked {
	uint32_t job_id; /* 0: unused */
	time_t since;	 /* when it was first asked about */
	struct weft_turn_asked turn;
	struct weft_answer answers[WEFT_N_QUESTIONS];
};

/* Direct-mapped by job_id: a clash costs a search.  Zero-initialise. */
struct weft_answers {
	struct weft_asked slots[WEFT_MAX_ASKED];
	uint64_t n_nodes; /* of all answers, at most WEFT_MAX_ANSWER_NODES */
};

/* The job's slot, from now on if there was none. */
struct weft_asked *weft_answers_of(struct weft_answers *table, uint32_t job_id,
				   time_t now);

/* The answer that still holds, or NULL. */
const struct weft_answer *weft_answers_find(const struct weft_asked *w,
					    enum weft_question question,
					    uint64_t signature, time_t now);

/* Keeps the answer in place of the one before, unless it has more nodes than
 * there is room for beside those that still hold: the next question is a
 * search.  Takes over answer->nodes. */
void weft_answers_keep(struct weft_answers *table, struct weft_asked *w,
		       enum weft_question question, struct weft_answer *answer,
		       time_t now);

/* Seconds that a job with this wait= still waits: since it was eligible, or
 * first seen where Slurm does not say. */
double weft_answers_left_s(const struct weft_asked *w, time_t eligible,
			   double wait_s, time_t now);

/* Of no job; nodes may get new numbers. */
void weft_answers_clear(struct weft_answers *table);

#endif
