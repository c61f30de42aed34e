/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answers.c - the table of pending jobs that were answered */
#include "plugin/bridge/answers.h"

#include <stdlib.h>

static void answer_drop(struct weft_answers *table, struct weft_answer *answer)
{
	table->n_nodes -= answer->n_nodes;
	free(answer->nodes);
	*answer = (struct weft_answer){0};
}

static void asked_free(struct weft_answers *table, struct weft_asked *w)
{
	for (uint32_t q = 0; q < WEFT_N_QUESTIONS; q++)
		answer_drop(table, &w->answers[q]);
	*w = (struct weft_asked){0};
}

struct weft_asked *weft_answers_of(struct weft_answers *table, uint32_t job_id,
				   time_t now)
{
	struct weft_asked *w = &table->slots[job_id % WEFT_MAX_ASKED];

	if (w->job_id != job_id) {
		asked_free(table, w);
		w->job_id = job_id;
		w->since = now;
	}
	/* the clock was set back */
	if (w->since > now)
		w->since = now;
	return w;
}

static bool holds(const struct weft_answer *answer, time_t now)
{
	return now < answer->until && answer->until - now <= WEFT_ANSWER_AGE_S;
}

const struct weft_answer *weft_answers_find(const struct weft_asked *w,
					    enum weft_question question,
					    uint64_t signature, time_t now)
{
	const struct weft_answer *answer = &w->answers[question];

	return answer->signature && answer->signature == signature &&
			       holds(answer, now)
		       ? answer
		       : NULL;
}

/* Those of jobs that have gone are not asked for again, nor those from before
 * the clock was set back. */
static void drop_expired(struct weft_answers *table, time_t now)
{
	for (uint32_t i = 0; i < WEFT_MAX_ASKED; i++)
		for (uint32_t q = 0; q < WEFT_N_QUESTIONS; q++) {
			struct weft_answer *a = &table->slots[i].answers[q];

			if (a->n_nodes && !holds(a, now))
				answer_drop(table, a);
		}
}

void weft_answers_keep(struct weft_answers *table, struct weft_asked *w,
		       enum weft_question question, struct weft_answer *answer,
		       time_t now)
{
	struct weft_answer *kept = &w->answers[question];

	answer_drop(table, kept);
	*kept = *answer;
	answer->nodes = NULL;
	table->n_nodes += kept->n_nodes;
	if (table->n_nodes > WEFT_MAX_ANSWER_NODES)
		drop_expired(table, now);
	if (table->n_nodes > WEFT_MAX_ANSWER_NODES)
		answer_drop(table, kept);
}

double weft_answers_left_s(const struct weft_asked *w, time_t eligible,
			   double wait_s, time_t now)
{
	time_t since = eligible && eligible <= now ? eligible : w->since;

	return wait_s - difftime(now, since);
}

void weft_answers_clear(struct weft_answers *table)
{
	for (uint32_t i = 0; i < WEFT_MAX_ASKED; i++)
		asked_free(table, &table->slots[i]);
}
