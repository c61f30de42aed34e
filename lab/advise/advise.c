/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advise.c - which layouts of a job fit, and which of them is the fastest
 *
 * The space is small enough to look at all of it: no bound is needed, and the
 * first of the list is the fastest by the model.  A layout that fits without
 * recomputation is not tried with it, which would only add to its step.
 */
#include "lab/advise/advise.h"

#include "base/clock.h"
#include "base/compare.h"
#include "costmodel/job/memory.h"
#include "costmodel/job/software.h"
#include "costmodel/time/range.h"
#include "costmodel/time/step.h"
#include "placement/place.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 64
/* Share of the budget in which all layouts are tried, and what one placement of
 * the best may take. */
#define TRY_SHARE 0.7
#define PLACE_S	  1.0

struct work {
	const struct advise_question *q;
	const uint32_t *where; /* [gpus] of the job's GPUs, in tree order */
	struct layout *layouts;
	uint32_t n;
	atomic_uint next;
	double end_s;
};

/* Whether the job of the layout fits; as a side effect its memory. */
static bool fits(const struct advise_question *q, const struct weft_job *job,
		 struct layout *layout)
{
	const struct weft_memory_options options =
		weft_software_memory(&job->spec, q->gpu);
	struct weft_memory memory;

	if (weft_memory_worst(&job->spec, &job->model, &options, &memory, NULL))
		return false;
	layout->memory_bytes = memory.total_bytes;
	layout->too_large = !weft_memory_fits(&memory, q->gpu->usable_bytes);
	return !layout->too_large;
}

static int layout_time(const struct advise_question *q,
		       const struct weft_job *job, const uint32_t *where,
		       bool exact, struct layout *layout)
{
	const struct weft_step_options options = {.gpu = q->gpu};
	const struct weft_step_job placed = {
		.fabric = q->fabric,
		.spec = &job->spec,
		.model = &job->model,
		.where = where,
		.load = q->load,
		.exact_sharing = exact,
	};
	const struct weft_range *range =
		&weft_ranges[weft_run_kind(&job->spec, &job->model)];
	struct weft_step step;

	if (weft_step(&placed, &options, &step, NULL))
		return -1;
	layout->step_s = step.step_s;
	layout->low_s = step.step_s * range->low;
	layout->high_s = step.step_s * range->high;
	layout->known = true;
	return 0;
}

static int job_of(const struct advise_question *q, const struct layout *layout,
		  struct weft_job *job, struct weft_error *err)
{
	char text[WEFT_SPEC_MAX_BYTES + 1];

	layout_spec(q->space, layout, text, sizeof(text));
	return weft_job_build(text, 0, true, q->fabric, job, err);
}

/* Without recomputation, else with it. */
static void layout_try(struct work *work, struct layout *layout)
{
	const struct weft_spec *fixed = &work->q->space->fixed;
	int n = weft_spec_given(fixed, "recompute") ? 1 : 2;

	for (int i = 0; i < n && !layout->known; i++) {
		struct weft_job job = {0};

		layout->recompute = i > 0;
		layout->too_large = false;
		if (job_of(work->q, layout, &job, NULL) == 0 &&
		    fits(work->q, &job, layout))
			layout_time(work->q, &job, work->where, false, layout);
		weft_job_free(&job);
		if (!layout->too_large)
			break;
	}
}

static void *worker(void *argument)
{
	struct work *work = argument;

	while (weft_clock_s() < work->end_s) {
		uint32_t i = atomic_fetch_add(&work->next, 1);

		if (i >= work->n)
			break;
		layout_try(work, &work->layouts[i]);
	}
	return NULL;
}

static void try_all(struct work *work)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MAX_THREADS];
	long n = 0;

	if (cores > MAX_THREADS)
		cores = MAX_THREADS;
	while (n < cores - 1 &&
	       pthread_create(&threads[n], NULL, worker, work) == 0)
		n++;
	worker(work);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

/* GPUs that placement would give a job of this size, in tree order.  1: none,
 * and why. */
static int gpus_choose(const struct advise_question *q, uint32_t *where,
		       char why[160], struct weft_error *err)
{
	struct weft_placement placement = {0};
	struct weft_job job = {0};
	char text[64];
	int rc = -1;

	for (uint32_t r = 0; r < q->space->gpus; r++)
		where[r] = r;
	if (!q->free)
		return 0;
	snprintf(text, sizeof(text), "gpus=%u", q->space->gpus);
	if (weft_job_build(text, 0, false, q->fabric, &job, err) == 0 &&
	    weft_place_first(q->fabric, &job, q->free, &placement, err) == 0) {
		rc = placement.placed ? 0 : 1;
		if (rc)
			snprintf(why, 160, "%.159s", placement.why[0]);
		else
			memcpy(where, placement.where,
			       q->space->gpus * sizeof(*where));
		qsort(where, q->space->gpus, sizeof(*where),
		      weft_compare_numbers);
	}
	weft_placement_free(&placement);
	weft_job_free(&job);
	return rc;
}

WEFT_COMPARATOR(layout_compare, struct layout,
		WEFT_DOWN(known) WEFT_UP(step_s) WEFT_UP(memory_bytes));

/* The best ones where placement itself would put them. */
static void place_best(const struct work *work, struct advise_answer *answer,
		       double end_s)
{
	const struct advise_question *q = work->q;

	for (uint32_t i = 0; i < q->n_best && i < answer->n; i++) {
		const struct weft_place_options options = {.budget_s = PLACE_S};
		struct weft_placement placement = {0};
		struct layout placed = answer->layouts[i];
		struct weft_job job = {0};

		if (weft_clock_s() + PLACE_S > end_s)
			break;
		if (job_of(q, &placed, &job, NULL) == 0 &&
		    weft_place(q->fabric, &job, q->free, &options, &placement,
			       NULL) == 0 &&
		    placement.placed &&
		    layout_time(q, &job, placement.where, true, &placed) == 0)
			answer->layouts[i] = placed;
		weft_placement_free(&placement);
		weft_job_free(&job);
	}
}

static void answer_fill(const struct work *work, struct advise_answer *answer)
{
	uint32_t tried = atomic_load(&work->next);

	answer->n_tried = tried < work->n ? tried : work->n;
	answer->complete = tried >= work->n;
	qsort(answer->layouts, work->n, sizeof(*answer->layouts),
	      layout_compare);
	for (uint32_t i = 0; i < work->n; i++) {
		answer->n += answer->layouts[i].known;
		answer->n_too_large += answer->layouts[i].too_large;
	}
}

/* Where no layout even makes a job, what is wrong with the given keys. */
static int spec_check(const struct advise_question *q,
		      const struct advise_answer *answer, uint32_t n,
		      struct weft_error *err)
{
	struct weft_job job = {0};
	int rc;

	if (answer->n || answer->n_too_large || !n || !answer->complete)
		return 0;
	rc = job_of(q, &answer->layouts[0], &job, err);
	weft_job_free(&job);
	return rc;
}

int advise(const struct advise_question *question, struct advise_answer *answer,
	   struct weft_error *err)
{
	uint32_t *where =
		weft_calloc(question->space->gpus, sizeof(*where), err);
	double start_s = weft_clock_s();
	struct work work = {
		.q = question,
		.where = where,
		.end_s = start_s + TRY_SHARE * question->budget_s,
	};
	int rc = -1;

	memset(answer, 0, sizeof(*answer));
	if (!where ||
	    layouts_list(question->space, &work.layouts, &work.n, err))
		goto out;
	rc = gpus_choose(question, where, answer->why, err);
	if (rc == 0) {
		answer->layouts = work.layouts;
		try_all(&work);
		answer_fill(&work, answer);
		rc = spec_check(question, answer, work.n, err);
		if (rc == 0 && question->free) {
			place_best(&work, answer, start_s + question->budget_s);
			qsort(answer->layouts, answer->n,
			      sizeof(*answer->layouts), layout_compare);
		}
	}
out:
	free(where);
	if (!answer->layouts)
		free(work.layouts);
	return rc < 0 ? -1 : 0;
}

void advise_free(struct advise_answer *answer)
{
	free(answer->layouts);
	memset(answer, 0, sizeof(*answer));
}
