/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sharing.c - when flows end that share links and are not alike */
#include "costmodel/time/span_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Flows that may be looked at. */
#define MAX_FLOWS 60000

/* Flows that end within this share of the time are taken together, and links
 * that can give as much to each of their flows but for this share. */
#define TOGETHER 0.01

/* Nothing is looked at closer for less. */
#define UNLIKE 1.02

struct share_link {
	double capacity, free; /* bytes/s: whole, and not settled yet */
	uint32_t n_flows;      /* that have bytes left */
	uint32_t waiting;      /* of them, whose rates are not settled */
	uint32_t first;	       /* into sharing.crossing; [first, next link's) */
};

struct share_flow {
	uint32_t first; /* into sharing.link_of; [first, next flow's) */
	uint32_t stage;
	double left, rate; /* rate 0: not settled */
};

struct sharing {
	weft_sharing_capacity capacity;
	const void *data;
	struct weft_error *err;
	uint32_t *number; /* [all links] + 1; 0: not used */
	struct share_link *links;
	uint32_t n_links, links_room;
	struct share_flow *flows; /* [n_flows + 1] */
	uint32_t n_flows, flows_room;
	uint32_t *link_of;  /* [n_crossings] of each flow */
	uint32_t *crossing; /* [n_crossings] flows of each link */
	uint32_t n_crossings, crossings_room;
	uint32_t *live; /* [n_live] flows with bytes left */
	uint32_t n_live;
	uint32_t *open; /* [n_open] links with flows left */
	uint32_t n_open;
	uint64_t visits; /* of links, by flows and in search of the tightest
			  */
};

/* Room for `more` of an array behind n. */
static int reserve(void **array, uint32_t *room, uint32_t n, uint32_t more,
		   size_t size, struct weft_error *err)
{
	uint32_t wanted = *room ? *room : 1024;
	void *grown;

	while (wanted - n < more)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	*array = grown;
	*room = wanted;
	return 0;
}

/* ---- reading ---- */

static int link_number(struct sharing *s, uint32_t link, uint32_t *number)
{
	if (s->number[link] == 0) {
		if (reserve((void **)&s->links, &s->links_room, s->n_links, 1,
			    sizeof(*s->links), s->err))
			return -1;
		s->links[s->n_links++] = (struct share_link){
			.capacity = s->capacity(s->data, link)};
		s->number[link] = s->n_links;
	}
	*number = s->number[link] - 1;
	return 0;
}

static int path_add(void *data, const struct weft_flow_path *path)
{
	struct sharing *s = data;

	if (s->n_flows >= MAX_FLOWS)
		return -1;
	if (reserve((void **)&s->flows, &s->flows_room, s->n_flows, 2,
		    sizeof(*s->flows), s->err) ||
	    reserve((void **)&s->link_of, &s->crossings_room, s->n_crossings,
		    path->n_links, sizeof(*s->link_of), s->err))
		return -1;
	s->flows[s->n_flows++] = (struct share_flow){
		.first = s->n_crossings,
		.stage = path->stage,
		.left = path->bytes,
	};
	for (uint32_t i = 0; i < path->n_links; i++) {
		uint32_t number;

		if (link_number(s, path->link[i], &number))
			return -1;
		if (isinf(s->links[number].capacity))
			continue;
		s->links[number].n_flows++;
		s->link_of[s->n_crossings++] = number;
	}
	s->flows[s->n_flows].first = s->n_crossings;
	return 0;
}

/* Lists the flows of each link. */
static int links_list(struct sharing *s)
{
	uint32_t at = 0;

	s->crossing = weft_calloc(s->n_crossings, sizeof(*s->crossing), s->err);
	s->live = weft_calloc(s->n_flows, sizeof(*s->live), s->err);
	s->open = weft_calloc(s->n_links, sizeof(*s->open), s->err);
	if (!s->crossing || !s->live || !s->open)
		return -1;
	for (uint32_t l = 0; l < s->n_links; l++) {
		at += s->links[l].n_flows;
		s->links[l].first = at;
		s->open[s->n_open++] = l;
	}
	for (uint32_t i = s->n_flows; i-- > 0;) {
		s->live[i] = i;
		for (uint32_t c = s->flows[i].first; c < s->flows[i + 1].first;
		     c++)
			s->crossing[--s->links[s->link_of[c]].first] = i;
	}
	s->n_live = s->n_flows;
	return 0;
}

/* Most seconds of each stage: no flow gets less than an equal share of each of
 * its links. */
static void most_find(const struct sharing *s, double *most_s)
{
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct share_flow *flow = &s->flows[i];
		double *stage_s = &most_s[flow->stage];

		for (uint32_t c = flow->first; c < flow[1].first; c++) {
			const struct share_link *l = &s->links[s->link_of[c]];

			*stage_s = fmax(*stage_s,
					flow->left * l->n_flows / l->capacity);
		}
	}
}

static uint32_t crossing_end(const struct sharing *s, uint32_t link)
{
	return link + 1 < s->n_links ? s->links[link + 1].first
				     : s->n_crossings;
}

/* Least seconds of each stage: its own bytes over each link.  sum_s: zeroes, as
 * after it. */
static void least_find(const struct sharing *s, double *sum_s, double *least_s)
{
	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct share_link *l = &s->links[i];
		uint32_t end = crossing_end(s, i);

		for (uint32_t c = l->first; c < end; c++) {
			const struct share_flow *f = &s->flows[s->crossing[c]];

			sum_s[f->stage] += f->left / l->capacity;
			least_s[f->stage] =
				fmax(least_s[f->stage], sum_s[f->stage]);
		}
		for (uint32_t c = l->first; c < end; c++)
			sum_s[s->flows[s->crossing[c]].stage] = 0;
	}
}

/* 1: how flows share makes a difference to a stage. */
static int is_unlike(const struct sharing *s, uint32_t n_stages)
{
	double *stage_s = weft_calloc(n_stages, 3 * sizeof(*stage_s), s->err);
	int unlike = 0;

	if (!stage_s)
		return -1;
	most_find(s, stage_s);
	least_find(s, stage_s + n_stages, stage_s + 2 * n_stages);
	for (uint32_t p = 0; p < n_stages; p++)
		if (stage_s[p] > UNLIKE * stage_s[2 * n_stages + p])
			unlike = 1;
	free(stage_s);
	return unlike;
}

/* ---- sharing ---- */

/* The rate of one flow: what its links can still give to each. */
static void flow_settle(struct sharing *s, struct share_flow *flow)
{
	double rate = (double)INFINITY;

	for (uint32_t c = flow->first; c < flow[1].first; c++) {
		const struct share_link *l = &s->links[s->link_of[c]];

		rate = fmin(rate, l->free / l->waiting);
	}
	flow->rate = rate;
	for (uint32_t c = flow->first; c < flow[1].first; c++) {
		struct share_link *l = &s->links[s->link_of[c]];

		l->free -= rate;
		l->waiting--;
	}
	s->visits += 2 * (flow[1].first - flow->first);
}

static void link_settle(struct sharing *s, const struct share_link *l)
{
	uint32_t end = crossing_end(s, (uint32_t)(l - s->links));

	for (uint32_t c = l->first; c < end; c++) {
		struct share_flow *flow = &s->flows[s->crossing[c]];

		if (flow->left > 0 && !(flow->rate > 0))
			flow_settle(s, flow);
	}
	s->visits += end - l->first;
}

/* Settles the flows of the links that can give least, and forgets links that
 * have no others.  n: links left of s->open. */
static uint32_t tightest_settle(struct sharing *s, uint32_t n)
{
	double least = (double)INFINITY;
	uint32_t n_left = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct share_link *l = &s->links[s->open[i]];

		least = fmin(least, l->free / l->waiting);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct share_link *l = &s->links[s->open[i]];

		if (l->waiting &&
		    l->free <= l->waiting * least * (1 + TOGETHER))
			link_settle(s, l);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = s->open[i];

		if (s->links[l].waiting == 0)
			continue;
		s->open[i] = s->open[n_left];
		s->open[n_left++] = l;
	}
	s->visits += 3 * n;
	return n_left;
}

/* What each flow gets until one ends. */
static void rates_settle(struct sharing *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_open; i++) {
		struct share_link *l = &s->links[s->open[i]];

		l->free = l->capacity;
		l->waiting = l->n_flows;
		if (l->n_flows)
			s->open[n++] = s->open[i];
	}
	s->n_open = n;
	for (uint32_t i = 0; i < s->n_live; i++)
		s->flows[s->live[i]].rate = 0;
	while (n > 0)
		n = tightest_settle(s, n);
}

/* Goes on from now_s until the next flows have ended; returns that time. */
static double ends_next(struct sharing *s, double now_s, double *end_s)
{
	double next_s = (double)INFINITY;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_live; i++) {
		const struct share_flow *flow = &s->flows[s->live[i]];

		next_s = fmin(next_s, flow->left / flow->rate);
	}
	next_s += TOGETHER * (now_s + next_s);
	for (uint32_t i = 0; i < s->n_live; i++) {
		struct share_flow *flow = &s->flows[s->live[i]];
		double ends_s = flow->left / flow->rate;

		if (ends_s > next_s) {
			flow->left -= next_s * flow->rate;
			s->live[n++] = s->live[i];
			continue;
		}
		flow->left = 0;
		end_s[flow->stage] = fmax(end_s[flow->stage], now_s + ends_s);
		for (uint32_t c = flow->first; c < flow[1].first; c++)
			s->links[s->link_of[c]].n_flows--;
	}
	s->n_live = n;
	return now_s + next_s;
}

/* When the flows that are left end, if each waits for the fullest of its links:
 * at least that late.  What the search did until now is kept. */
static int rest_estimate(struct sharing *s, double now_s, double *end_s)
{
	double *left = weft_calloc(s->n_links, sizeof(*left), s->err);

	if (!left)
		return -1;
	for (uint32_t i = 0; i < s->n_live; i++) {
		const struct share_flow *flow = &s->flows[s->live[i]];

		for (uint32_t c = flow->first; c < flow[1].first; c++)
			left[s->link_of[c]] += flow->left;
	}
	for (uint32_t i = 0; i < s->n_live; i++) {
		const struct share_flow *flow = &s->flows[s->live[i]];
		double *stage_s = &end_s[flow->stage];

		for (uint32_t c = flow->first; c < flow[1].first; c++) {
			uint32_t l = s->link_of[c];

			*stage_s = fmax(*stage_s,
					now_s + left[l] / s->links[l].capacity);
		}
	}
	free(left);
	return 1;
}

static void sharing_free(struct sharing *s)
{
	free(s->number);
	free(s->links);
	free(s->flows);
	free(s->link_of);
	free(s->crossing);
	free(s->live);
	free(s->open);
}

/* 0: too many. */
static int paths_read(struct sharing *s, const struct weft_flows *flows,
		      uint32_t kind)
{
	for (uint32_t i = 0; i < flows->kinds[kind].n_groups; i++)
		if (weft_flows_paths(flows, kind, i, path_add, s, s->err))
			return s->n_flows < MAX_FLOWS ? -1 : 0;
	return 1;
}

int weft_sharing_ends(const struct weft_flows *flows, uint32_t kind,
		      weft_sharing_capacity capacity, const void *data,
		      double *end_s, uint64_t *visits, struct weft_error *err)
{
	struct sharing s = {.capacity = capacity, .data = data, .err = err};
	double now_s = 0;
	int rc = -1;

	s.number = weft_calloc(weft_flows_n_links(flows->fabric),
			       sizeof(*s.number), err);
	if (s.number)
		rc = paths_read(&s, flows, kind);
	if (rc == 1 && s.n_flows == 0)
		rc = 0;
	if (rc == 1)
		rc = links_list(&s) ? -1 : is_unlike(&s, flows->n_stages);
	memset(end_s, 0, flows->n_stages * sizeof(*end_s));
	s.visits = 8 * (uint64_t)s.n_crossings;
	while (rc == 1 && s.n_live > 0 && s.visits < *visits) {
		rates_settle(&s);
		now_s = ends_next(&s, now_s, end_s);
	}
	if (rc == 1 && s.n_live > 0)
		rc = now_s > 0 ? rest_estimate(&s, now_s, end_s) : 0;
	*visits -= s.visits < *visits ? s.visits : *visits;
	sharing_free(&s);
	return rc;
}
