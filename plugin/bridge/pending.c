/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c - finding out what keeps a job waiting */
#include "plugin/bridge/pending.h"

#include "base/append.h"
#include "base/bitset.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of the time that passes, explanations take one part in so many. */
#define DUTY 50

/* A trial on the way gets no longer than this part of the budget. */
#define TRIALS 8

#define DAY_S 86400

struct looking {
	const struct weft_pending *pending;
	struct weft_job job; /* a copy; its tables are the bridge's */
	bool bound;	     /* by more than numbers of nodes and GPUs */
	double deadline_s;
};

/* ---- trials ---- */

/* GPUs that a node would give to the job; with a number per node all or none.
 */
static uint32_t gives(const struct weft_shape *shape,
		      const struct weft_occupancy *o, uint32_t node)
{
	uint32_t n = weft_occupancy_give(o, node);

	if (!shape->gpus_per_node)
		return n;
	return n >= shape->gpus_per_node ? shape->gpus_per_node : 0;
}

static uint32_t nodes_needed(const struct weft_shape *shape)
{
	if (shape->gpus_per_node)
		return shape->n_gpus / shape->gpus_per_node;
	return shape->min_nodes;
}

/* Nodes and GPUs of nodes first..first+n that the job could have. */
static uint32_t count_free(const struct weft_shape *shape,
			   const struct weft_occupancy *o, uint32_t first,
			   uint32_t n, uint64_t *gpus)
{
	uint32_t able = 0;

	*gpus = 0;
	for (uint32_t i = first; i < first + n; i++) {
		uint32_t give = gives(shape, o, i);

		able += give > 0;
		*gpus += give;
	}
	return able;
}

static bool fits(const struct looking *l, const struct weft_job *job,
		 const struct weft_occupancy *o)
{
	const struct weft_pending *p = l->pending;
	const struct weft_shape *shape = p->shape;
	struct weft_place_options options = {
		.budget_s = p->budget_s / TRIALS,
	};
	struct weft_placement place = {0};
	uint64_t gpus;
	bool placed;

	if (count_free(shape, o, 0, o->fabric->n_nodes, &gpus) <
		    nodes_needed(shape) ||
	    gpus < shape->n_gpus)
		return false;
	if (!l->bound)
		return true;
	placed = weft_place(o->fabric, job, o, &options, &place, NULL) == 0 &&
		 place.placed;
	weft_placement_free(&place);
	return placed;
}

/* A search that the thread's deadline has cut short has proved nothing. */
static bool late(const struct looking *l)
{
	return weft_clock_s() > l->deadline_s ||
	       (l->bound && weft_deadline_passed());
}

/* Whether CPUs or memory are what some node gives less than its free GPUs for.
 * Endings give back GPUs alone. */
static bool lacks_other(const struct weft_occupancy *o)
{
	for (uint32_t i = 0; i < o->fabric->n_nodes; i++)
		if (o->usable[i] < weft_mask_count(o->free[i]))
			return true;
	return false;
}

/* Whether the job fits when endings first..first+n have ended. */
static bool fits_after(const struct looking *l, uint32_t first, uint32_t n)
{
	const struct weft_pending *p = l->pending;
	struct weft_occupancy o = {0};
	bool answer = false;

	if (weft_occupancy_copy(p->o, &o, NULL) == 0) {
		for (uint32_t i = first; i < first + n; i++)
			p->release(p->context, &p->endings[i], &o);
		answer = fits(l, &l->job, &o);
	}
	weft_occupancy_free(&o);
	return answer;
}

/* ---- the obstacle ---- */

/* The domain of the level that could give the job most nodes, else GPUs. */
static uint32_t fullest(const struct weft_pending *p, uint32_t level,
			uint32_t *nodes, uint64_t *gpus)
{
	const struct weft_fabric *f = p->o->fabric;
	const struct weft_level *l = &f->levels[level];
	uint32_t best = WEFT_NONE;

	*nodes = 0;
	*gpus = 0;
	for (uint32_t i = 0; i < l->n_domains; i++) {
		const struct weft_domain *d = &f->domains[l->first_domain + i];
		uint64_t g;
		uint32_t n = count_free(p->shape, p->o, d->first_node,
					d->n_nodes, &g);

		if (best != WEFT_NONE && g <= *gpus)
			continue;
		best = l->first_domain + i;
		*nodes = n;
		*gpus = g;
	}
	return best;
}

/* "leaf leaf2 has 3 of 4 nodes free" */
static bool tell_domain(const struct looking *l, char *text)
{
	const struct weft_pending *p = l->pending;
	const struct weft_fabric *f = p->o->fabric;
	const struct weft_shape *shape = p->shape;
	uint32_t level = l->job.within_level, domain, nodes;
	uint64_t gpus;

	if (level == WEFT_NONE || level < f->node_level)
		return false;
	domain = fullest(p, level, &nodes, &gpus);
	if (domain == WEFT_NONE ||
	    (nodes >= nodes_needed(shape) && gpus >= shape->n_gpus))
		return false;
	weft_append(text, WEFT_PENDING_SIZE, "%s %s has ",
		    f->levels[level].name, f->domains[domain].name);
	if (shape->gpus_per_node)
		weft_append(text, WEFT_PENDING_SIZE, "%u of %u nodes free",
			    nodes, nodes_needed(shape));
	else if (gpus < shape->n_gpus)
		weft_append(text, WEFT_PENDING_SIZE, "%u of %u GPUs free",
			    (uint32_t)gpus, shape->n_gpus);
	else
		weft_append(text, WEFT_PENDING_SIZE,
			    "%u of %u nodes with free GPUs", nodes,
			    nodes_needed(shape));
	return true;
}

/* "3 of 8 nodes free" */
static bool tell_total(const struct looking *l, char *text)
{
	const struct weft_pending *p = l->pending;
	const struct weft_shape *shape = p->shape;
	uint32_t need = nodes_needed(shape), nodes;
	uint64_t gpus;

	nodes = count_free(shape, p->o, 0, p->o->fabric->n_nodes, &gpus);
	if (nodes < need && shape->gpus_per_node)
		weft_append(text, WEFT_PENDING_SIZE,
			    "%u of %u nodes with %u GPU%s free", nodes, need,
			    shape->gpus_per_node,
			    shape->gpus_per_node == 1 ? "" : "s");
	else if (nodes < need)
		weft_append(text, WEFT_PENDING_SIZE,
			    "%u of %u nodes have free GPUs", nodes, need);
	else if (gpus < shape->n_gpus)
		weft_append(text, WEFT_PENDING_SIZE, "%u of %u GPUs free",
			    (uint32_t)gpus, shape->n_gpus);
	else
		return false;
	return true;
}

/* In the words of the placement layer, which knows every limit. */
static bool tell_limit(const struct looking *l, char *text)
{
	const struct weft_pending *p = l->pending;
	struct weft_place_options options = {
		.budget_s = p->budget_s / TRIALS,
	};
	struct weft_placement place = {0};
	bool told = false;

	if (weft_place(p->o->fabric, &l->job, p->o, &options, &place, NULL) ==
		    0 &&
	    !place.placed && place.n_why) {
		weft_append(text, WEFT_PENDING_SIZE, "%s", place.why[0]);
		told = true;
	}
	weft_placement_free(&place);
	return told;
}

/* What there is too little of; false: nothing can be said. */
static bool tell_scarcity(const struct looking *l, char *text)
{
	bool told = tell_domain(l, text) || tell_total(l, text) ||
		    (l->bound && tell_limit(l, text));

	if (told && l->pending->hide_nodes)
		snprintf(text, WEFT_PENDING_SIZE, "too few nodes are free");
	return told;
}

/* ---- the way out ---- */

/* "14:05", or with the date where it is not within a day. */
static void tell_time(const struct weft_pending *p, int64_t end_s, char *text)
{
	time_t at = (time_t)end_s;
	char moment[32];
	struct tm tm;

	if (!end_s || !localtime_r(&at, &tm))
		return;
	strftime(moment, sizeof(moment),
		 end_s - p->now_s < DAY_S ? "%H:%M" : "%m-%dT%H:%M", &tm);
	weft_append(text, WEFT_PENDING_SIZE, " (%s)", moment);
}

/* The least number of endings, in their order, after which the job fits; 0:
 * not known, also because none helps.  Twice as many with each try, then by
 * halves: most jobs wait for one of the next few. */
static uint32_t find_ending(const struct looking *l, bool *never)
{
	uint32_t n = l->pending->n_endings, too_few = 0, enough = 1;

	*never = false;
	if (!n || late(l))
		return 0;
	if (!fits_after(l, 0, n)) {
		*never = !late(l) && !l->pending->more &&
			 !lacks_other(l->pending->o);
		return 0;
	}
	while (enough < n && !fits_after(l, 0, enough)) {
		if (late(l))
			return 0;
		too_few = enough;
		enough = enough * 2 < n ? enough * 2 : n;
	}
	while (enough - too_few > 1) {
		uint32_t middle = too_few + (enough - too_few) / 2;

		if (late(l))
			return 0;
		if (fits_after(l, 0, middle))
			enough = middle;
		else
			too_few = middle;
	}
	return enough;
}

static bool tell_ending(const struct looking *l, char *text)
{
	const struct weft_pending *p = l->pending;
	const struct weft_ending *last;
	bool never;
	uint32_t n = find_ending(l, &never);

	if (never)
		weft_append(text, WEFT_PENDING_SIZE,
			    "; would not fit if all jobs ended");
	if (!n)
		return false;
	last = &p->endings[n - 1];
	if (p->hide_jobs) {
		weft_append(text, WEFT_PENDING_SIZE, "; fits when others end");
		tell_time(p, last->end_s, text);
		return true;
	}
	weft_append(text, WEFT_PENDING_SIZE, "; fits when job %u ends",
		    last->job_id);
	if (n > 1 && !fits_after(l, n - 1, 1))
		weft_append(text, WEFT_PENDING_SIZE, " after %u other%s", n - 1,
			    n == 2 ? "" : "s");
	tell_time(p, last->end_s, text);
	return true;
}

/* A weaker wish with which the job would fit now. */
static bool ease_within(const struct looking *l, char *words, size_t size)
{
	const struct weft_fabric *f = l->pending->o->fabric;
	struct weft_job eased = l->job;

	if (l->job.within_level == WEFT_NONE)
		return false;
	for (uint32_t level = l->job.within_level + 1;
	     level < f->n_levels && !late(l); level++) {
		eased.within_level = level;
		if (!fits(l, &eased, l->pending->o))
			continue;
		snprintf(words, size, "with within=%s", f->levels[level].name);
		return true;
	}
	return false;
}

static bool ease_segment(const struct looking *l, char *words, size_t size)
{
	struct weft_job eased = l->job;

	for (uint32_t n = l->job.spec.segment / 2; n > 1 && !late(l); n /= 2) {
		eased.spec.segment = n;
		if (!fits(l, &eased, l->pending->o))
			continue;
		snprintf(words, size, "with segment=%u", n);
		return true;
	}
	if (!l->job.spec.segment || late(l))
		return false;
	eased.spec.segment = 0;
	snprintf(words, size, "without segment=");
	return fits(l, &eased, l->pending->o);
}

static bool ease_split(const struct looking *l, char *words, size_t size)
{
	struct weft_job eased = l->job;

	if (!l->job.spec.n_split || late(l))
		return false;
	eased.spec.n_split = 0;
	snprintf(words, size, "without split=");
	return fits(l, &eased, l->pending->o);
}

static void tell_eased(const struct looking *l, bool after, char *text)
{
	static bool (*const ways[])(const struct looking *l, char *words,
				    size_t size) = {
		ease_within,
		ease_segment,
		ease_split,
	};
	char words[64];

	for (size_t i = 0; l->bound && i < sizeof(ways) / sizeof(ways[0]);
	     i++) {
		if (late(l) || !ways[i](l, words, sizeof(words)))
			continue;
		weft_append(text, WEFT_PENDING_SIZE,
			    after ? ", or %s" : "; fits %s", words);
		return;
	}
}

bool weft_pending_explain(const struct weft_pending *pending,
			  char text[WEFT_PENDING_SIZE])
{
	const struct weft_shape *shape = pending->shape;
	struct looking l = {
		.pending = pending,
		.deadline_s = weft_clock_s() + pending->budget_s,
	};
	const struct weft_job *job = weft_bridge_job(
		pending->bridge, pending->request->spec, shape->n_gpus, NULL);
	bool after;

	text[0] = '\0';
	if (!job)
		return false;
	l.job = *job;
	l.job.gpus_per_node = shape->gpus_per_node;
	l.job.min_nodes = shape->min_nodes;
	l.job.max_nodes = shape->max_nodes;
	l.bound = job->within_level != WEFT_NONE || job->spec.segment ||
		  job->spec.n_split || pending->o->required;
	if (!tell_scarcity(&l, text))
		return false;
	after = tell_ending(&l, text);
	tell_eased(&l, after, text);
	return true;
}

/* ---- what was said before ---- */

const char *weft_pending_recall(const struct weft_pending_memory *memory,
				uint32_t job_id, double now_s, double age_s)
{
	uint32_t i = job_id % WEFT_PENDING_SLOTS;

	if (memory->slots[i].job_id != job_id ||
	    now_s - memory->slots[i].at_s > age_s)
		return NULL;
	return memory->slots[i].text;
}

bool weft_pending_may(const struct weft_pending_memory *memory, double now_s)
{
	return now_s >= memory->quiet_until_s;
}

void weft_pending_keep(struct weft_pending_memory *memory, uint32_t job_id,
		       const char *text, double start_s, double end_s)
{
	uint32_t i = job_id % WEFT_PENDING_SLOTS;

	memory->slots[i].job_id = job_id;
	memory->slots[i].at_s = end_s;
	snprintf(memory->slots[i].text, sizeof(memory->slots[i].text), "%s",
		 text);
	memory->quiet_until_s = end_s + DUTY * (end_s - start_s);
}
