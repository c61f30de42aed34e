/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answers.c - the table of pending jobs that were answered */
#include "plugin/bridge/answers.h"

#include <stdlib.h>
#include <string.h>

static void asked_free(struct weft_asked *w)
{
	for (uint32_t q = 0; q < WEFT_N_QUESTIONS; q++)
		free(w->answers[q].nodes);
	memset(w, 0, sizeof(*w));
}

struct weft_asked *weft_answers_of(struct weft_answers *table, uint32_t job_id,
				   time_t now)
{
	struct weft_asked *w = &table->slots[job_id % WEFT_MAX_ASKED];

	if (w->job_id != job_id) {
		asked_free(w);
		w->job_id = job_id;
		w->since = now;
	}
	/* the clock was set back */
	if (w->since > now)
		w->since = now;
	return w;
}

const struct weft_answer *weft_answers_find(const struct weft_asked *w,
					    enum weft_question question,
					    uint64_t signature, time_t now)
{
	const struct weft_answer *answer = &w->answers[question];

	return answer->signature && answer->signature == signature &&
			       now < answer->until &&
			       answer->until - now <= WEFT_ANSWER_AGE_S
		       ? answer
		       : NULL;
}

void weft_answers_keep(struct weft_asked *w, enum weft_question question,
		       struct weft_answer *answer)
{
	free(w->answers[question].nodes);
	w->answers[question] = *answer;
	answer->nodes = NULL;
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
		asked_free(&table->slots[i]);
}
