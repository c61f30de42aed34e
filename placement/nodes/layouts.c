/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layouts.c - sets of nodes in groups, from the innermost domains outwards */
#include "placement/nodes/layouts.h"

#include "base/compare.h"
#include "placement/nodes/groups.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHARES 4

/* Domains of a level that are tried, tightest first, and that must have given a
 * layout for the others to be left out. */
#define MAX_TRIED 16
#define ENOUGH	  3

/* Levels looked at beyond the innermost one that has room, as for jobs without
 * groups. */
#define LEVELS_BEYOND 1

/* Numbers of nodes tried where neither they nor the GPUs of each are given and
 * no equal share will do. */
#define MAX_COUNTS 256

struct build {
	struct capacity *s;
	const struct weft_fabric *f;
	const struct weft_job *job;
	struct layouts *out;
	uint32_t segment, n_parts;
	uint32_t n_whole, largest; /* see find_needs */
	uint32_t n_shares, share[MAX_SHARES];
	struct effort *effort;
	struct weft_error *err;
};

static bool is_enough(const struct build *b)
{
	return b->effort &&
	       (b->effort->work == 0 || (b->out->n && effort_late(b->effort)));
}

/* What it takes to list the members of groups, and to sort them. */
#define WORK_OF_MEMBER 8

static void spend(const struct build *b, uint64_t work)
{
	if (b->effort)
		effort_spend(b->effort, work);
}

static int list_groups(struct build *b, uint32_t scope, uint32_t share,
		       struct groups *g)
{
	spend(b, WORK_OF_MEMBER * (uint64_t)b->f->domains[scope].n_nodes);
	return groups_build(b->s, scope, share, g, b->err);
}

bool layouts_are_binding(const struct capacity *s)
{
	return limits_segment(s->f, s->job) || limits_parts(s->f, s->job);
}

bool layouts_needed(const struct capacity *s)
{
	return layouts_are_binding(s) ||
	       s->job->spec.spread == WEFT_FAILURE_DOMAIN;
}

void layout_free(struct layout *layout)
{
	node_set_free(&layout->node_set);
	free(layout->fence);
	free(layout->rank);
	memset(layout, 0, sizeof(*layout));
}

void layouts_free(struct layouts *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		layout_free(&l->layout[i]);
	l->n = 0;
}

/* Takes over what is in *layout, or frees it when it is known or there is no
 * room; zeroes it. */
static void layouts_add(struct layouts *l, struct layout *layout)
{
	bool known = l->n == LAYOUTS_MAX;

	for (uint32_t i = 0; i < l->n; i++)
		known |= l->layout[i].node_set.hash == layout->node_set.hash;
	if (!known)
		l->layout[l->n++] = *layout;
	else
		layout_free(layout);
	memset(layout, 0, sizeof(*layout));
}

/* GPUs that each node may give, when all give the same but for the last one:
 * the most first, and fewer where the job comes out even. */
static void find_shares(struct build *b)
{
	uint32_t n = b->job->n_gpus, largest = 0, nodes;

	for (uint32_t i = 0; i < b->f->n_nodes; i++)
		if (b->s->give[i] > largest)
			largest = b->s->give[i];
	if (b->job->gpus_per_node)
		b->share[b->n_shares++] = b->job->gpus_per_node;
	for (uint32_t u = largest; u > 0 && !b->job->gpus_per_node; u--) {
		nodes = (n + u - 1) / u;
		if (nodes < b->job->min_nodes)
			continue;
		if ((b->job->max_nodes && nodes > b->job->max_nodes) ||
		    b->n_shares == MAX_SHARES)
			break;
		if (n % u == 0 || !b->n_shares)
			b->share[b->n_shares++] = u;
	}
}

/* Segments of the same number of GPUs may change places. */
static void find_equal(struct layout *layout, uint32_t segment)
{
	const struct node_set *c = &layout->node_set;
	uint32_t n = c->n_nodes / segment;

	for (uint32_t i = 1; i < n * segment; i++)
		if (c->count[i] != c->count[0])
			return;
	if (n < 2)
		return;
	layout->n_segments = n;
	layout->segment = segment * c->count[0];
}

/* Takes over *c: ranks in their own order, segment by segment, where these are
 * not all in one domain. */
static int add_segments(struct build *b, struct node_set *c, bool alone)
{
	struct layout layout = {.node_set = *c};

	memset(c, 0, sizeof(*c));
	if (alone) {
		layouts_add(b->out, &layout);
		return 0;
	}
	layout.fence =
		weft_calloc(layout.node_set.n_nodes, sizeof(uint32_t), b->err);
	layout.rank = weft_calloc(b->job->n_gpus, sizeof(uint32_t), b->err);
	if (!layout.fence || !layout.rank) {
		layout_free(&layout);
		return -1;
	}
	for (uint32_t i = 0; i < layout.node_set.n_nodes; i++)
		layout.fence[i] = i / b->segment;
	for (uint32_t r = 0; r < b->job->n_gpus; r++)
		layout.rank[r] = r;
	find_equal(&layout, b->segment);
	layouts_add(b->out, &layout);
	return 0;
}

/* rc as of what filled g->take[]. */
static int take_over(struct build *b, const struct groups *g, int rc,
		     uint32_t last)
{
	struct layout layout = {0};
	uint32_t n_used = 0;

	if (rc != 1)
		return rc;
	for (uint32_t i = 0; i < g->n; i++)
		n_used += g->take[i] > 0;
	rc = groups_choose(g, last, &layout.node_set, b->err);
	if (rc == 1 && b->segment)
		rc = add_segments(b, &layout.node_set, n_used == 1) ? -1 : 1;
	else if (rc == 1)
		layouts_add(b->out, &layout);
	layout_free(&layout);
	return rc;
}

static int try_segments(struct build *b, struct groups *g, uint32_t n_nodes)
{
	static const enum distribution deals[] = {DEAL_COMPACT, DEAL_EVEN};
	const struct segments segments = {b->segment, n_nodes, UINT32_MAX};
	uint32_t last = 0;
	int found = 0, rc;

	spend(b, n_nodes + (uint64_t)g->n);
	for (uint32_t i = 0; i < 2 && g->share; i++) {
		rc = groups_distribute_segments(g, &segments, deals[i], &last,
						b->err);
		rc = take_over(b, g, rc, last);
		if (rc < 0)
			return -1;
		found |= rc;
	}
	if (found)
		return 1;
	/* every group may have the last segment */
	spend(b, WORK_OF_MEMBER * (uint64_t)g->n_members / b->segment +
			 (n_nodes % b->segment
				  ? (uint64_t)g->n * n_nodes / b->segment
				  : 0));
	rc = groups_most_segments(g, &segments, &last, b->err);
	return take_over(b, g, rc, last);
}

/* The nodes of a domain, each with the same share: 1, 0 or -1. */
static int try_share(struct build *b, uint32_t scope, uint32_t share)
{
	uint32_t n = (b->job->n_gpus + share - 1) / share;
	struct groups g;
	int rc = list_groups(b, scope, share, &g);

	if (rc == 0 && b->segment) {
		rc = try_segments(b, &g, n);
	} else if (rc == 0) {
		rc = groups_split(&g, b->job->spec.split, b->n_parts, b->err);
		rc = take_over(b, &g, rc, g.n - 1);
	}
	groups_free(&g);
	return rc;
}

/* The next number of nodes to try: every one, or as many as can be looked at of
 * a wide range. */
static uint32_t next_count(uint32_t n, uint32_t low, uint32_t high)
{
	uint32_t step = (high - low) / MAX_COUNTS;

	return n + (step ? step : 1);
}

/* The fewest nodes in segments that give what they have. */
static int try_counts(struct build *b, struct groups *g, uint32_t most)
{
	uint32_t low = b->job->min_nodes, high = b->job->max_nodes, n_whole = 0;
	int rc = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n_whole += g->group[i].n_nodes / b->segment;
	if (low < (b->job->n_gpus + most - 1) / most)
		low = (b->job->n_gpus + most - 1) / most;
	if (!high || high > g->n_members)
		high = g->n_members;
	if (high > b->job->n_gpus)
		high = b->job->n_gpus;
	for (uint32_t n = low;
	     rc == 0 && n <= high && n / b->segment <= n_whole && !is_enough(b);
	     n = next_count(n, low, high))
		rc = try_segments(b, g, n);
	return rc;
}

/* Nodes that give what they have: finds what there is.  When `only_news`, not
 * where they all have the same and equal shares say it all. */
static int try_uneven(struct build *b, uint32_t scope, bool only_news)
{
	uint32_t least = UINT32_MAX, most = 0;
	struct groups g;
	int rc = list_groups(b, scope, 0, &g);

	for (uint32_t i = 0; rc == 0 && i < g.n_members; i++) {
		uint32_t give = g.member[i].give;

		least = give < least ? give : least;
		most = give > most ? give : most;
	}
	if (rc < 0 || !most || b->job->gpus_per_node ||
	    (only_news && least == most && !b->s->o->required))
		goto out;
	if (b->segment) {
		rc = try_counts(b, &g, most);
	} else {
		rc = groups_split(&g, b->job->spec.split, b->n_parts, b->err);
		rc = take_over(b, &g, rc, g.n - 1);
	}
out:
	groups_free(&g);
	return rc;
}

/* What any layout takes: so many whole segments, and a group of so many nodes.
 */
static void find_needs(struct build *b)
{
	uint32_t most = b->s->give_most;
	uint32_t n = most ? (b->job->n_gpus + most - 1) / most : 0;

	n = n < b->job->min_nodes ? b->job->min_nodes : n;
	if (b->segment) {
		b->n_whole = n / b->segment;
		b->largest = n < b->segment ? n : b->segment;
	}
	for (uint32_t i = 0; i < b->n_parts; i++)
		if (b->job->spec.split[i] > b->largest)
			b->largest = b->job->spec.split[i];
}

/* False: the domain cannot hold the job, whatever its nodes give.  Far quicker
 * than to look for a layout. */
static bool may_hold(const struct build *b, uint32_t domain)
{
	const struct weft_domain *d = &b->f->domains[domain];
	const uint32_t *group = b->f->gpu_domain[limits_level(b->f)];
	uint32_t n_whole = 0, largest = 0;

	if (!capacity_holds(b->s, domain))
		return false;
	for (uint32_t i = group[d->first_gpu];
	     i <= group[d->first_gpu + d->n_gpus - 1]; i++) {
		uint32_t n = b->s->n_givers[i];

		n_whole += b->segment ? n / b->segment : 0;
		largest = n > largest ? n : largest;
	}
	return n_whole >= b->n_whole && largest >= b->largest;
}

/* Domains of a level, the tightest first; those alike only once. */
struct scope {
	uint32_t domain, cap, n_untouched;
	uint64_t shape;
};

WEFT_COMPARATOR(compare_scopes, struct scope,
		WEFT_UP(cap) WEFT_UP(n_untouched) WEFT_UP(shape)
			WEFT_UP(domain));

static int list_scopes(const struct build *b, uint32_t level,
		       struct scope **list, uint32_t *n)
{
	const struct weft_level *l = &b->f->levels[level];
	const struct capacity *s = b->s;
	uint32_t kept = 0;

	*n = 0;
	*list = weft_calloc(l->n_domains, sizeof(**list), b->err);
	if (!*list)
		return -1;
	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t d = l->first_domain + i;

		if (may_hold(b, d))
			(*list)[(*n)++] = (struct scope){
				d, s->cap[d], s->n_untouched[d], s->shape[d]};
	}
	qsort(*list, *n, sizeof(**list), compare_scopes);
	for (uint32_t i = 0; i < *n; i++)
		if (!kept || (*list)[kept - 1].shape != (*list)[i].shape)
			(*list)[kept++] = (*list)[i];
	*n = kept;
	return 0;
}

/* Nodes that give so many hold tensor groups whole, or are wholly in one. */
static bool keeps_tensor(const struct weft_job *job, uint32_t share)
{
	uint32_t tp = job->spec.tp ? job->spec.tp : 1;

	return share % tp == 0 || tp % share == 0;
}

/* Returns how many domains of the level gave a layout, or -1. */
static int try_level(struct build *b, uint32_t level)
{
	struct scope *list = NULL;
	uint32_t n;
	int found = 0, rc = list_scopes(b, level, &list, &n);

	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		bool here = false;

		if (i == MAX_TRIED || found == ENOUGH || is_enough(b))
			break;
		/* fewer GPUs of more nodes only where more have no place, or
		 * cut tensor groups */
		for (uint32_t k = 0;
		     k < b->n_shares && rc >= 0 && !is_enough(b); k++) {
			rc = try_share(b, list[i].domain, b->share[k]);
			here |= rc > 0;
			if (rc > 0 && keeps_tensor(b->job, b->share[k]))
				break;
		}
		if (rc >= 0)
			rc = try_uneven(b, list[i].domain, true);
		found += here || rc > 0;
	}
	free(list);
	return rc < 0 ? -1 : found;
}

/* Every domain of the widest level that the job may use, and what every node
 * has: finds a layout where there is one. */
static int try_everything(struct build *b)
{
	uint32_t level = b->job->within_level;
	const struct weft_level *l;

	if (level == WEFT_NONE)
		level = b->f->n_levels - 1;
	l = &b->f->levels[level];
	for (uint32_t i = 0; i < l->n_domains && !b->out->n && !is_enough(b);
	     i++) {
		uint32_t d = l->first_domain + i;
		int rc = 0;

		if (!may_hold(b, d))
			continue;
		for (uint32_t k = 0; k < b->n_shares && rc == 0; k++)
			rc = try_share(b, d, b->share[k]);
		if (rc == 0)
			rc = try_uneven(b, d, false);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Whether the job may have as many nodes as its parts have. */
static bool parts_suit(const struct build *b)
{
	const struct weft_job *job = b->job;
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n_parts; i++)
		n += job->spec.split[i];
	return n >= job->min_nodes && n <= job->n_gpus &&
	       (!job->max_nodes || n <= job->max_nodes) &&
	       (!job->gpus_per_node || n * job->gpus_per_node == job->n_gpus);
}

static int build_groups(struct build *b)
{
	uint32_t beyond = 0;
	int found;

	if (b->n_parts && !parts_suit(b))
		return 0;
	find_shares(b);
	find_needs(b);
	for (uint32_t l = limits_level(b->f); l < b->f->n_levels; l++) {
		found = try_level(b, l);
		if (found < 0)
			return -1;
		if (found && beyond++ == LEVELS_BEYOND)
			break;
	}
	return b->out->n ? 0 : try_everything(b);
}

/* Of the layouts those that lose fewest replicas; none where a domain holds
 * them all in any case. */
static int build_spread(struct build *b)
{
	uint32_t least = b->job->spec.dp, lost, n, i;
	struct scope *list = NULL;
	int rc = 0;

	for (uint32_t l = b->f->n_levels; l-- > b->f->node_level && rc >= 0;) {
		rc = list_scopes(b, l, &list, &n);
		for (i = 0; i < n && i < MAX_TRIED && rc >= 0; i++) {
			struct layout layout = {0};

			if (is_enough(b))
				break;
			rc = layout_spread(b->s, list[i].domain, &layout, &lost,
					   b->err);
			if (rc == 1 && lost < least)
				layouts_free(b->out);
			if (rc == 1 && lost < least)
				least = lost;
			if (rc == 1 && lost == least && least < b->job->spec.dp)
				layouts_add(b->out, &layout);
			else
				layout_free(&layout);
		}
		free(list);
		list = NULL;
	}
	return rc < 0 ? -1 : 0;
}

int layouts_build(struct capacity *s, struct effort *effort, struct layouts *l,
		  struct weft_error *err)
{
	struct build b = {
		.s = s,
		.f = s->f,
		.job = s->job,
		.out = l,
		.segment = limits_segment(s->f, s->job),
		.n_parts = limits_parts(s->f, s->job),
		.effort = effort,
		.err = err,
	};

	l->n = 0;
	if (b.segment || b.n_parts)
		return build_groups(&b);
	return build_spread(&b);
}
