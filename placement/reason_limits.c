/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reason_limits.c - which limit on nodes keeps a job from its place, and what
 * would fit instead
 */
#include "placement/reason.h"

#include "placement/nodes/candidates.h"
#include "placement/nodes/layouts.h"
#include "placement/nodes/limits.h"

#include <stdio.h>
#include <stdlib.h>

/* Values of one limit that are tried, nearest first. */
#define MAX_TRIES 12

/* A job with one limit changed; 0 nodes: it has no place either. */
struct trial {
	struct weft_job job;
	struct weft_occupancy o;
	uint32_t n_nodes;
};

/* Out of memory counts as no place: then less is said. */
static bool trial_fits(const struct capacity *s, struct trial *t)
{
	struct layouts *l = weft_calloc(1, sizeof(*l), NULL);
	struct candidates *c = weft_calloc(1, sizeof(*c), NULL);
	struct capacity own = {0};

	t->n_nodes = 0;
	if (!l || !c || capacity_build(s->f, &t->job, &t->o, 1, 0, &own, NULL))
		goto out;
	if (layouts_are_binding(&own)) {
		if (layouts_build(&own, NULL, l, NULL) == 0 && l->n)
			t->n_nodes = l->layout[0].node_set.n_nodes;
	} else if (candidates_build(&own, c, NULL) == 0 && c->n) {
		t->n_nodes = c->node_set[0].n_nodes;
	}
out:
	if (l)
		layouts_free(l);
	if (c)
		candidates_free(c);
	free(l);
	free(c);
	capacity_free(&own);
	return t->n_nodes > 0;
}

static void trial_start(const struct capacity *s, struct trial *t)
{
	t->job = *s->job;
	t->o = *s->o;
	t->n_nodes = 0;
}

/* ---- segments and parts ---- */

/* Nodes that the groups of the whole fabric can give to the job, most first;
 * returns how many groups there are. */
static uint32_t list_rooms(const struct capacity *s, uint32_t *room)
{
	const struct weft_level *l = &s->f->levels[limits_level(s->f)];
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t here = s->n_givers[l->first_domain + i], at = n;

		if (!here)
			continue;
		for (; at > 0 && room[at - 1] < here; at--)
			room[at] = room[at - 1];
		room[at] = here;
		n++;
	}
	return n;
}

/* The largest smaller segment that fits: one as large as a domain, each next
 * smaller number, halves; 0: none. */
static uint32_t nearest_segment(const struct capacity *s, uint32_t largest)
{
	uint32_t n = s->job->spec.segment - 1;
	struct trial t;

	n = n < largest ? n : largest;
	for (uint32_t i = 0; n > 1; i++) {
		trial_start(s, &t);
		t.job.spec.segment = n;
		if (trial_fits(s, &t))
			return n;
		n = i < MAX_TRIES ? n - 1 : n / 2;
	}
	return 0;
}

static bool lacks_segments(const struct capacity *s, struct weft_placement *p,
			   bool look)
{
	const char *level = s->f->levels[limits_level(s->f)].name;
	uint32_t segment = limits_segment(s->f, s->job), n, whole = 0, fits = 0;
	uint32_t *room = weft_calloc(s->f->n_nodes, sizeof(*room), NULL);
	struct trial t;
	char hint[48] = "";

	n = room ? list_rooms(s, room) : 0;
	trial_start(s, &t);
	t.job.spec.segment = 1;
	if (!n || (look && !trial_fits(s, &t))) {
		free(room);
		return false;
	}
	if (look)
		fits = nearest_segment(s, room[0]);
	if (fits > 1)
		snprintf(hint, sizeof(hint), "; fits with segment=%u", fits);
	else if (look)
		snprintf(hint, sizeof(hint), "; fits without segment");
	for (uint32_t i = 0; i < n; i++)
		whole += room[i] / segment;
	if (!whole)
		weft_placement_explain(p,
				       "segment=%u: no %s has %u free nodes, "
				       "the largest has %u%s",
				       segment, level, segment, room[0], hint);
	else
		weft_placement_explain(p,
				       "segment=%u: the %ss have room for %u "
				       "segment%s of free nodes%s",
				       segment, level, whole,
				       whole == 1 ? "" : "s", hint);
	free(room);
	return true;
}

/* "9+4x2+3" for the parts of a spec; false where it is too long. */
static bool write_split(const struct weft_spec *spec, char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0, times; i < spec->n_split; i += times) {
		int k;

		for (times = 1; i + times < spec->n_split &&
				spec->split[i + times] == spec->split[i];)
			times++;
		k = snprintf(text + used, size - used, "%s%u", i ? "+" : "",
			     spec->split[i]);
		if (k > 0 && times > 1)
			k += snprintf(text + used + k,
				      used + (size_t)k < size
					      ? size - used - (size_t)k
					      : 0,
				      "x%u", times);
		if (k < 0 || used + (size_t)k >= size)
			return false;
		used += (size_t)k;
	}
	return true;
}

/* The same number of nodes in the largest groups, as many in each as it has. */
static bool nearest_split(const struct capacity *s, const uint32_t *room,
			  uint32_t n_rooms, struct trial *t)
{
	struct weft_spec *spec = &t->job.spec;
	uint32_t left = 0;

	trial_start(s, t);
	for (uint32_t i = 0; i < spec->n_split; i++)
		left += spec->split[i];
	spec->n_split = 0;
	for (uint32_t i = 0; left && i < n_rooms; i++) {
		uint32_t n = room[i] < left ? room[i] : left;

		if (spec->n_split == WEFT_MAX_PARTS)
			return false;
		spec->split[spec->n_split++] = n;
		left -= n;
	}
	return !left && trial_fits(s, t);
}

static bool lacks_parts(const struct capacity *s, struct weft_placement *p,
			bool look)
{
	const char *level = s->f->levels[limits_level(s->f)].name;
	uint32_t *room = weft_calloc(s->f->n_nodes, sizeof(*room), NULL);
	uint32_t n = room ? list_rooms(s, room) : 0;
	char asked[48] = "", fits[48] = "", next[32] = "";
	struct trial t;

	if (!n || !write_split(&s->job->spec, asked, sizeof(asked))) {
		free(room);
		return false;
	}
	if (look && nearest_split(s, room, n, &t) &&
	    !write_split(&t.job.spec, fits, sizeof(fits)))
		fits[0] = '\0';
	if (n > 1)
		snprintf(next, sizeof(next), ", the next %u", room[1]);
	weft_placement_explain(p,
			       "split=%s: the %s with most free nodes has %u%s"
			       "%s%s",
			       asked, level, room[0], next,
			       fits[0] ? "; fits with split=" : "", fits);
	free(room);
	return true;
}

/* ---- other limits ---- */

/* Each changes its limit to the i-th nearest value; false: there is none. */

static bool change_nodes(const struct capacity *s, struct trial *t, uint32_t i)
{
	(void)s;
	if (i || (!t->job.min_nodes && !t->job.max_nodes) ||
	    t->job.spec.n_split || t->job.gpus_per_node)
		return false;
	t->job.min_nodes = t->job.max_nodes = 0;
	return true;
}

static bool change_within(const struct capacity *s, struct trial *t, uint32_t i)
{
	uint32_t level = t->job.within_level;

	if (level == WEFT_NONE || level + i + 1 >= s->f->n_levels)
		return false;
	t->job.within_level = level + i + 1;
	return true;
}

/* Divisors of the job below what was asked for. */
static bool change_per_node(const struct capacity *s, struct trial *t,
			    uint32_t i)
{
	uint32_t n = t->job.gpus_per_node;

	(void)s;
	if (!n || t->job.spec.n_split)
		return false;
	while (n > 1) {
		n--;
		if (t->job.n_gpus % n == 0 && i-- == 0) {
			t->job.gpus_per_node = n;
			/* the number of nodes only followed from it */
			t->job.min_nodes = t->job.max_nodes = 0;
			return true;
		}
	}
	return false;
}

static bool drop_required(const struct capacity *s, struct trial *t, uint32_t i)
{
	(void)s;
	if (i || !t->o.required)
		return false;
	t->o.required = NULL;
	return true;
}

static void say_nodes(const struct capacity *s, const struct trial *t,
		      struct weft_placement *p)
{
	char range[32] = "";

	if (s->job->max_nodes != s->job->min_nodes)
		snprintf(range, sizeof(range), "-%u", s->job->max_nodes);
	weft_placement_explain(p,
			       "nodes=%u%s cannot be kept; fits with nodes=%u",
			       s->job->min_nodes, range, t->n_nodes);
}

static void say_within(const struct capacity *s, const struct trial *t,
		       struct weft_placement *p)
{
	const struct weft_level *level = s->f->levels;

	weft_placement_explain(p,
			       "within=%s cannot be kept; fits with within=%s",
			       level[s->job->within_level].name,
			       level[t->job.within_level].name);
}

static void say_per_node(const struct capacity *s, const struct trial *t,
			 struct weft_placement *p)
{
	weft_placement_explain(p,
			       "gpus_per_node=%u cannot be kept; fits with "
			       "gpus_per_node=%u",
			       s->job->gpus_per_node, t->job.gpus_per_node);
}

static void say_required(const struct capacity *s, const struct trial *t,
			 struct weft_placement *p)
{
	(void)s;
	(void)t;
	weft_placement_explain(p, "the required nodes do not go together with "
				  "the other limits; fits without them");
}

static const struct {
	bool (*change)(const struct capacity *s, struct trial *t, uint32_t i);
	void (*say)(const struct capacity *s, const struct trial *t,
		    struct weft_placement *p);
} limits[] = {
	{change_nodes, say_nodes},
	{change_within, say_within},
	{change_per_node, say_per_node},
	{drop_required, say_required},
};

/* The first limit of which another value gives the job a place. */
static bool blame_one(const struct capacity *s, struct weft_placement *p)
{
	for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
		for (uint32_t i = 0; i < MAX_TRIES; i++) {
			struct trial t;

			trial_start(s, &t);
			if (!limits[k].change(s, &t, i))
				break;
			if (!trial_fits(s, &t))
				continue;
			limits[k].say(s, &t, p);
			return true;
		}
	}
	return false;
}

/* A strategy may find nothing where there is something. */
static bool is_to_blame(const struct capacity *s, struct weft_placement *p)
{
	struct trial t;

	trial_start(s, &t);
	if (!trial_fits(s, &t))
		return false;
	weft_placement_explain(p,
			       "%s finds no place within the limits on nodes; "
			       "there is one",
			       p->method);
	return true;
}

void reason_limits(const struct capacity *s, struct weft_placement *p,
		   bool look)
{
	if (look && is_to_blame(s, p))
		return;
	if (limits_segment(s->f, s->job) && lacks_segments(s, p, look))
		return;
	if (limits_parts(s->f, s->job) && lacks_parts(s, p, look))
		return;
	if (look && blame_one(s, p))
		return;
	weft_placement_explain(p, "no set of nodes with free GPUs meets all "
				  "the limits on nodes");
}

void reason_groups(const struct capacity *s, struct weft_placement *p)
{
	const struct weft_fabric *f = s->f;
	uint32_t lost;

	if (s->job->spec.spread != WEFT_FAILURE_DOMAIN ||
	    limits_lost(s, p->where, &lost, NULL))
		return;
	weft_placement_explain(p,
			       "the loss of one %s takes at most %u of %u "
			       "replicas",
			       f->n_racks ? "rack"
					  : f->levels[limits_level(f)].name,
			       lost, s->job->spec.dp);
}
