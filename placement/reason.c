/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reason.c - why a placement is as it is, or why there is none */
#include "placement/reason.h"

#include "base/bitset.h"
#include "base/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters of a hostlist in a sentence. */
#define MAX_HOSTS 100

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* Domain of the level that can give most; WEFT_NONE where the level has none.
 */
static uint32_t fullest(const struct capacity *s, uint32_t level)
{
	const struct weft_level *l = &s->f->levels[level];
	uint32_t best = WEFT_NONE;

	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t d = l->first_domain + i;

		if (best == WEFT_NONE || s->cap[d] > s->cap[best])
			best = d;
	}
	return best;
}

/* Free GPUs in the best NVLink domain inside a node. */
static uint32_t fullest_inside_node(const struct capacity *s)
{
	const struct weft_level *l = &s->f->levels[0];
	uint32_t best = 0;

	for (uint32_t i = 0; i < l->n_domains; i++) {
		const struct weft_domain *d =
			&s->f->domains[l->first_domain + i];
		uint32_t node = s->f->gpu_node[d->first_gpu];
		uint32_t at = d->first_gpu - s->f->nodes[node].first_gpu;
		uint64_t mask = weft_mask_first(d->n_gpus) << at;
		uint32_t n = weft_mask_count(s->o->free[node] & mask);

		if (n > s->give[node])
			n = s->give[node];
		best = n > best ? n : best;
	}
	return best;
}

static bool lacks_gpus(const struct capacity *s, struct weft_placement *p)
{
	uint32_t usable = s->usable, n = s->job->n_gpus;

	if (usable >= n)
		return false;
	weft_placement_explain(p, "needs %u GPU%s, %u usable of %u", n,
			       plural(n), usable, s->f->n_gpus);
	return true;
}

static bool lacks_nodes(const struct capacity *s, struct weft_placement *p)
{
	const struct weft_job *job = s->job;
	uint32_t n = s->n_giving, each = job->gpus_per_node, nodes;

	if (each) {
		nodes = job->n_gpus / each;
		if (n >= nodes)
			return false;
		weft_placement_explain(p,
				       "needs %u node%s with %u free GPU%s "
				       "each, %u such node%s",
				       nodes, plural(nodes), each, plural(each),
				       n, plural(n));
		return true;
	}
	if (n >= job->min_nodes)
		return false;
	weft_placement_explain(p, "needs %u nodes, %u with a usable GPU",
			       job->min_nodes, n);
	return true;
}

static bool lacks_required(const struct capacity *s, struct weft_placement *p)
{
	const struct weft_job *job = s->job;
	uint32_t n = 0, most = job->n_gpus / capacity_least(s);

	if (!s->o->required)
		return false;
	for (uint32_t i = 0; i < s->f->n_nodes; i++) {
		if (!weft_bitset_has(s->o->required, i))
			continue;
		n++;
		if (s->give[i])
			continue;
		weft_placement_explain(p,
				       "required node %s cannot give %u GPU%s",
				       s->f->nodes[i].name, capacity_least(s),
				       plural(capacity_least(s)));
		return true;
	}
	if (job->max_nodes && job->max_nodes < most)
		most = job->max_nodes;
	if (n <= most)
		return false;
	weft_placement_explain(p, "%u nodes are required, the job takes %u", n,
			       most);
	return true;
}

/* The level that the job may not leave. */
static bool lacks_room(const struct capacity *s, struct weft_placement *p)
{
	uint32_t level = s->job->within_level, n = s->job->n_gpus, best, d;
	uint32_t top = s->f->n_levels - 1;

	if (level == WEFT_NONE)
		level = top;
	if (level < s->f->node_level) {
		best = fullest_inside_node(s);
	} else {
		d = fullest(s, level);
		best = d == WEFT_NONE ? 0 : s->cap[d];
	}
	if (best >= n)
		return false;
	if (level == s->job->within_level)
		weft_placement_explain(p,
				       "%u GPUs do not fit into one %s "
				       "(within=): the fullest can give %u",
				       n, s->f->levels[level].name, best);
	else
		weft_placement_explain(p,
				       "%u GPUs do not fit into one connected "
				       "part of the fabric: the fullest can "
				       "give %u",
				       n, best);
	return true;
}

bool reason_impossible(const struct capacity *s, struct weft_placement *p)
{
	return lacks_gpus(s, p) || lacks_required(s, p) || lacks_nodes(s, p) ||
	       lacks_room(s, p);
}

/* Distinct domains of a level that the nodes are in, which are inside of them.
 */
static uint32_t count_domains(const struct capacity *s,
			      const struct weft_placement *p, uint32_t level)
{
	const struct weft_fabric *f = s->f;
	uint32_t first = f->levels[level].first_domain, n = 0;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < p->n_nodes; i++) {
			const struct weft_node *node = &f->nodes[p->nodes[i]];
			uint32_t d = f->gpu_domain[level][node->first_gpu];
			uint8_t *seen = &s->seen[d - first];

			n += !pass && !*seen;
			*seen = !pass;
		}
	}
	return n;
}

/* "16 GPUs on 2 nodes in 2 leafs of 1 pod". */
static void explain_span(const struct capacity *s, struct weft_placement *p)
{
	const struct weft_fabric *f = s->f;
	char text[160];
	const char *join = "in";
	int n, k;

	n = snprintf(text, sizeof(text), "%u GPU%s on %u node%s", p->n_ranks,
		     plural(p->n_ranks), p->n_nodes, plural(p->n_nodes));
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		uint32_t count = count_domains(s, p, l);

		/* a level whose domains are single nodes says nothing new */
		if (f->levels[l].n_domains == f->n_nodes)
			continue;
		k = snprintf(text + n, sizeof(text) - (size_t)n, " %s %u %s%s",
			     join, count, f->levels[l].name, plural(count));
		if (k < 0 || (size_t)(n + k) >= sizeof(text))
			break;
		n += k;
		join = "of";
		if (count == 1)
			break;
	}
	weft_placement_explain(p, "%s", text);
}

/* The innermost level that the job had to leave, and what it offered. */
static void explain_tightness(const struct capacity *s,
			      struct weft_placement *p)
{
	const struct weft_fabric *f = s->f;
	uint32_t d, level;

	for (level = f->n_levels - 1; level > f->node_level; level--)
		if (count_domains(s, p, level) == 1 &&
		    count_domains(s, p, level - 1) > 1)
			break;
	if (level == f->node_level ||
	    f->levels[level - 1].n_domains == f->n_nodes)
		return;
	d = fullest(s, level - 1);
	if (s->cap[d] < p->n_ranks)
		weft_placement_explain(p,
				       "%u GPUs do not fit into one %s: the "
				       "fullest can give %u",
				       p->n_ranks, f->levels[level - 1].name,
				       s->cap[d]);
}

/* Nodes of which only a part is used.  Out of memory leaves it unsaid. */
static void explain_shared(const struct capacity *s, struct weft_placement *p)
{
	const struct weft_fabric *f = s->f;
	uint32_t *used = weft_calloc(f->n_nodes, sizeof(*used), NULL);
	uint32_t n = 0, last = 0;

	if (!used)
		return;
	for (uint32_t r = 0; r < p->n_ranks; r++)
		used[f->gpu_node[p->where[r]]]++;
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		uint32_t node = p->nodes[i];

		if (used[node] == f->nodes[node].n_gpus)
			continue;
		n++;
		last = node;
	}
	if (n == 1)
		weft_placement_explain(p, "%s gives %u of its %u GPUs",
				       f->nodes[last].name, used[last],
				       f->nodes[last].n_gpus);
	else if (n > 1)
		weft_placement_explain(p,
				       "%u nodes give only a part of their "
				       "GPUs",
				       n);
	free(used);
}

static void explain_baseline(struct weft_placement *p, double baseline)
{
	double cost = p->cost.total[p->metric];

	if (baseline < 0)
		weft_placement_explain(p, "first-fit finds no place");
	else if (cost > 0 && baseline > cost * 1.005)
		weft_placement_explain(p, "first-fit would cost %.2fx",
				       baseline / cost);
}

static void explain_optimum(struct weft_placement *p)
{
	if (p->gap < 1e-9)
		weft_placement_explain(p, "proven optimal: the cost equals "
					  "the lower bound");
}

/* The nodes that come next, by name, as far as a sentence holds them. */
static void explain_next(const struct capacity *s, struct weft_placement *p)
{
	const char **names = weft_calloc(p->n_next, sizeof(*names), NULL);
	double ratio = p->next_cost / p->cost.total[p->metric];
	char *hosts = NULL;

	for (uint32_t i = 0; names && i < p->n_next; i++)
		names[i] = s->f->nodes[p->next[i]].name;
	if (names)
		hosts = weft_hostlist_encode(names, p->n_next);
	free(names);
	if (!hosts)
		return;
	if (strlen(hosts) > MAX_HOSTS)
		strcpy(hosts + MAX_HOSTS - 3, "...");
	if (ratio > 1.0005)
		weft_placement_explain(p, "the next best, on %s, costs %.3fx",
				       hosts, ratio);
	else
		weft_placement_explain(p, "others cost the same, as %s", hosts);
	free(hosts);
}

void reason_placed(const struct capacity *s, struct weft_placement *p,
		   double baseline)
{
	explain_span(s, p);
	explain_tightness(s, p);
	explain_shared(s, p);
	if (s->judge->indifferent)
		weft_placement_explain(
			p,
			"any nodes do: spread over the fabric a step is within "
			"%.1f %%, so these leave most room for others",
			100 * s->judge->same);
	if (s->job->prefer_level != WEFT_NONE &&
	    s->job->prefer_level >= s->f->node_level &&
	    count_domains(s, p, s->job->prefer_level) > 1)
		weft_placement_explain(
			p, "not within one %s as preferred: none has room",
			s->f->levels[s->job->prefer_level].name);
	reason_groups(s, p);
	explain_baseline(p, baseline);
	if (p->n_next && p->cost.total[p->metric] > 0)
		explain_next(s, p);
	explain_optimum(p);
}

void reason_given(const struct capacity *s, struct weft_placement *p)
{
	explain_span(s, p);
	explain_shared(s, p);
	explain_optimum(p);
}
