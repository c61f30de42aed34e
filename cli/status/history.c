/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history.c - how full domains were over time */
#include "base/compare.h"
#include "cli/json.h"
#include "cli/status/fleet.h"

#include "base/hostlist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job takes its nodes, or gives them back. */
struct event {
	double at_s;
	json_t *job;
	bool start;
};

struct clock {
	struct history *h;
	struct event *events;
	uint32_t n, at;
	uint32_t *used; /* [n_nodes] GPUs that jobs have */
};

/* Of one moment, ends come first. */
WEFT_COMPARATOR(event_order, struct event, WEFT_UP(at_s) WEFT_UP(start));

/* ---- events ---- */

static bool is_running(const struct weft_running_list *running, json_t *job)
{
	char id[32];

	snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(job, "job")));
	for (uint32_t i = 0; running && i < running->n; i++)
		if (strcmp(running->jobs[i].id, id) == 0)
			return true;
	return !running;
}

static int events_gather(struct clock *c, const struct saved *saved,
			 double until_s,
			 const struct weft_running_list *running,
			 struct weft_error *err)
{
	struct history *h = c->h;
	json_t *job;
	size_t i, n = json_array_size(saved->jobs);
	double first_s = until_s;

	c->events = weft_calloc(2 * n + 1, sizeof(*c->events), err);
	if (!c->events)
		return -1;
	json_array_foreach(saved->jobs, i, job)
	{
		double start_s = json_number_of(job, "start_s");
		double end_s = json_object_get(job, "end_s")
				       ? json_number_of(job, "end_s")
				       : until_s + 1;

		if (end_s < until_s - HISTORY_LONG_S || start_s > until_s)
			continue;
		if (end_s > until_s && !is_running(running, job))
			continue;
		first_s = fmin(first_s, start_s);
		h->n_jobs++;
		c->events[c->n++] = (struct event){start_s, job, true};
		c->events[c->n++] = (struct event){end_s, job, false};
	}
	qsort(c->events, c->n, sizeof(*c->events), event_order);
	h->from_s = fmax(first_s, until_s - HISTORY_LONG_S);
	h->bin_s = fmax(1, until_s - h->from_s) / HISTORY_BINS;
	return 0;
}

/* Records say how many GPUs a job has, not where in its nodes: each node has
 * its share. */
static int event_apply(struct clock *c, const struct event *event)
{
	const struct weft_fabric *f = c->h->f;
	json_t *on = json_object_get(event->job, "on");
	double gpus = json_number_of(event->job, "gpus");
	struct weft_hostlist nodes = {0};
	struct weft_error why = {0};

	if (!json_is_string(on) ||
	    weft_hostlist_decode(json_string_value(on), f->n_nodes, &nodes,
				 &why)) {
		c->h->n_unplaced += event->start;
		return why.code == WEFT_ENOMEM ? -1 : 0;
	}
	for (uint32_t i = 0; i < nodes.n; i++) {
		uint32_t node = weft_fabric_node(f, nodes.names[i]);
		uint32_t each = (uint32_t)fmin(WEFT_MAX_GPUS_PER_NODE,
					       ceil(fmax(0, gpus) / nodes.n));

		if (node == WEFT_NONE)
			continue;
		if (event->start)
			c->used[node] += each;
		else
			c->used[node] -= each;
	}
	weft_hostlist_free(&nodes);
	return 0;
}

/* ---- bins ---- */

static uint32_t taken_of(const struct clock *c, uint32_t node)
{
	uint32_t n = c->h->f->nodes[node].n_gpus;

	return c->used[node] < n ? c->used[node] : n;
}

/* What is free of a domain, and of that in nodes without a job. */
static void domain_count(const struct clock *c, uint32_t domain, uint32_t bin)
{
	struct history *h = c->h;
	const struct weft_domain *d = &h->f->domains[domain];
	uint32_t taken = 0, whole = 0;

	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++) {
		taken += taken_of(c, i);
		whole += c->used[i] ? 0 : h->f->nodes[i].n_gpus;
	}
	h->taken[(size_t)domain * HISTORY_BINS + bin] = taken;
	if (d->level == h->level && whole > h->largest[bin])
		h->largest[bin] = whole;
}

static void bin_count(const struct clock *c, uint32_t bin)
{
	struct history *h = c->h;
	const struct weft_fabric *f = h->f;

	for (uint32_t l = f->node_level; l < f->n_levels; l++)
		for (uint32_t i = 0; i < f->levels[l].n_domains; i++)
			domain_count(c, f->levels[l].first_domain + i, bin);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		h->free[bin] += f->nodes[i].n_gpus - taken_of(c, i);
		h->whole[bin] += c->used[i] ? 0 : f->nodes[i].n_gpus;
	}
}

static int bins_fill(struct clock *c)
{
	for (uint32_t bin = 0; bin < HISTORY_BINS; bin++) {
		double end_s = c->h->from_s + (bin + 1) * c->h->bin_s;

		while (c->at < c->n && c->events[c->at].at_s <= end_s)
			if (event_apply(c, &c->events[c->at++]))
				return -1;
		bin_count(c, bin);
	}
	return 0;
}

/* The outermost level of which there are several domains of several nodes. */
static uint32_t outer_level(const struct weft_fabric *f)
{
	uint32_t l = f->n_levels - 1;

	while (l > f->node_level && f->levels[l].n_domains == 1)
		l--;
	return f->levels[l].n_domains < f->n_nodes ? l : f->n_levels - 1;
}

int history_build(const struct weft_fabric *f, const struct saved *saved,
		  double until_s, const struct weft_running_list *running,
		  struct history *h, struct weft_error *err)
{
	struct clock c = {.h = h};
	int rc = -1;

	*h = (struct history){.f = f, .level = outer_level(f)};
	h->taken = weft_calloc((size_t)f->n_domains * HISTORY_BINS,
			       sizeof(*h->taken), err);
	c.used = weft_calloc(f->n_nodes, sizeof(*c.used), err);
	if (h->taken && c.used &&
	    events_gather(&c, saved, until_s, running, err) == 0)
		rc = bins_fill(&c);
	free(c.used);
	free(c.events);
	if (rc && err && !err->code)
		weft_fail(err, WEFT_ENOMEM, "out of memory");
	return rc;
}

void history_free(struct history *h)
{
	free(h->taken);
	h->taken = NULL;
}
