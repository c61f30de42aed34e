/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pursuit.c - improving a placement by a goal that is not the cost */
#include "placement/ranks/pursuit.h"

#include "placement/nodes/limits.h"
#include "placement/nodes/node_set.h"
#include "placement/ranks/links.h"

#include <stdlib.h>
#include <string.h>

/* Moves in vain, one after the other, after which nothing more is expected:
 * some, and this many for each node. */
#define VAIN	      400
#define VAIN_PER_NODE 16
/* Steps that are predicted at most, and the work on them. */
#define MAX_STEPS      64
#define MOST_PREDICTED 300000
/* Work on the pressure: where the links decide, and where the step does, of
 * which they are but one side; 30 and 1 ms. */
#define MOST_BUSIEST 8000000
#define MOST_STEP    300000
/* A move that raises pressure and cost by more than this is not worth
 * predicting the step for. */
#define HOPELESS 1.02

#define MAX_MOVED (2 * WEFT_MAX_GPUS_PER_NODE)

struct pursuit {
	const struct capacity *s;
	struct effort *effort;
	struct links links;
	struct busy_link busiest;
	uint32_t *n_on;	  /* [n_nodes] ranks there */
	uint32_t n_nodes; /* that have ranks */
	uint32_t bounds;  /* level that ranks do not leave */
	bool swaps_only;
	bool grouped; /* segment= and split= are to be kept to */
	/* the move at hand */
	uint32_t n, rank[MAX_MOVED], gpu[MAX_MOVED];
};

static uint32_t node_of(const struct pursuit *p, uint32_t rank)
{
	return p->s->f->gpu_node[p->links.where[rank]];
}

static bool is_required(const struct pursuit *p, uint32_t node)
{
	const uint64_t *required = p->s->o->required;

	return required && weft_bitset_has(required, node);
}

/* ---- moves ---- */

static void move_add(struct pursuit *p, uint32_t rank, uint32_t gpu)
{
	p->rank[p->n] = rank;
	p->gpu[p->n++] = gpu;
}

/* Ranks of a node and their GPUs, ascending. */
static uint32_t list_node(const struct pursuit *p, uint32_t node, uint32_t *gpu)
{
	const struct weft_node *n = &p->s->f->nodes[node];
	uint32_t count = 0;

	for (uint32_t k = n->first_gpu; k < n->first_gpu + n->n_gpus; k++)
		if (p->links.rank_at[k] != WEFT_NONE)
			gpu[count++] = k;
	return count;
}

static bool swap_nodes(struct pursuit *p, uint32_t rank)
{
	uint32_t other = effort_below(p->effort, p->links.t->n_ranks);
	uint32_t a = node_of(p, rank), b = node_of(p, other);
	uint32_t here[WEFT_MAX_GPUS_PER_NODE], there[WEFT_MAX_GPUS_PER_NODE];

	if (a == b || p->n_on[a] != p->n_on[b])
		return false;
	list_node(p, a, here);
	list_node(p, b, there);
	for (uint32_t i = 0; i < p->n_on[a]; i++) {
		move_add(p, p->links.rank_at[here[i]], there[i]);
		move_add(p, p->links.rank_at[there[i]], here[i]);
	}
	return true;
}

static bool swap_ranks(struct pursuit *p, uint32_t rank)
{
	uint32_t other = effort_below(p->effort, p->links.t->n_ranks);

	if (node_of(p, rank) == node_of(p, other))
		return false;
	move_add(p, rank, p->links.where[other]);
	move_add(p, other, p->links.where[rank]);
	return true;
}

/* Any node around: in the same domain of any level, but of none that the job
 * does not leave. */
static uint32_t node_around(struct pursuit *p, uint32_t node)
{
	const struct weft_fabric *f = p->s->f;
	uint32_t n_levels = p->bounds - f->node_level + 1;
	uint32_t level = f->node_level + effort_below(p->effort, n_levels);
	uint32_t gpu = f->nodes[node].first_gpu;
	const struct weft_domain *d = &f->domains[f->gpu_domain[level][gpu]];

	return d->first_node + effort_below(p->effort, d->n_nodes);
}

static bool move_node(struct pursuit *p, uint32_t rank)
{
	const struct weft_fabric *f = p->s->f;
	uint32_t a = node_of(p, rank), b = node_around(p, a), k, i = 0;
	uint32_t here[WEFT_MAX_GPUS_PER_NODE];
	uint64_t rest;

	if (p->swaps_only || p->n_on[b] || p->s->give[b] < p->n_on[a] ||
	    is_required(p, a))
		return false;
	list_node(p, a, here);
	rest = node_set_gpus(p->s->o, b, p->n_on[a]);
	weft_mask_foreach (k, rest)
		move_add(p, p->links.rank_at[here[i++]],
			 f->nodes[b].first_gpu + k);
	return true;
}

/* Leaving a's last GPU and taking b's first one keep to the numbers of nodes.
 */
static bool may_move_rank(const struct pursuit *p, uint32_t a, uint32_t b)
{
	const struct weft_job *job = p->s->job;
	uint32_t n = p->n_nodes - (p->n_on[a] == 1) + (p->n_on[b] == 0);

	return !p->swaps_only && !job->gpus_per_node && a != b &&
	       p->n_on[b] < p->s->give[b] &&
	       (p->n_on[a] > 1 || !is_required(p, a)) && n >= job->min_nodes &&
	       (!job->max_nodes || n <= job->max_nodes);
}

static bool move_rank(struct pursuit *p, uint32_t rank)
{
	const struct weft_fabric *f = p->s->f;
	uint32_t a = node_of(p, rank), b = node_around(p, a), k;
	uint64_t rest = p->s->o->free[b];

	if (!may_move_rank(p, a, b))
		return false;
	weft_mask_foreach (k, rest) {
		uint32_t gpu = f->nodes[b].first_gpu + k;

		if (p->links.rank_at[gpu] != WEFT_NONE)
			continue;
		move_add(p, rank, gpu);
		return true;
	}
	return false;
}

/* How often of 20 each kind is tried: whole nodes mostly, since groups that
 * exchange much rather stay on theirs. */
static const struct {
	bool (*propose)(struct pursuit *p, uint32_t rank);
	uint32_t until;
} kinds[] = {
	{swap_nodes, 9},
	{move_node, 13},
	{swap_ranks, 17},
	{move_rank, 20},
};

/* A rank below the busiest link, or any: one in four may, so that what stands
 * in the way elsewhere moves, too. */
static uint32_t pick_rank(struct pursuit *p)
{
	const struct weft_domain *d;

	if (p->busiest.rank != WEFT_NONE && effort_below(p->effort, 4))
		return p->busiest.rank;
	if (p->busiest.domain != WEFT_NONE && effort_below(p->effort, 4)) {
		d = &p->s->f->domains[p->busiest.domain];
		for (int i = 0; i < 16; i++) {
			uint32_t gpu = d->first_gpu +
				       effort_below(p->effort, d->n_gpus);

			if (p->links.rank_at[gpu] != WEFT_NONE)
				return p->links.rank_at[gpu];
		}
	}
	return effort_below(p->effort, p->links.t->n_ranks);
}

static bool propose(struct pursuit *p)
{
	uint32_t roll = effort_below(p->effort, 20), kind = 0;

	while (kinds[kind].until <= roll)
		kind++;
	p->n = 0;
	return kinds[kind].propose(p, pick_rank(p));
}

/* Makes the move at hand, after which it is the one that undoes it. */
static void move(struct pursuit *p)
{
	uint32_t from[MAX_MOVED], edges;

	for (uint32_t i = 0; i < p->n; i++)
		from[i] = p->links.where[p->rank[i]];
	edges = links_move(&p->links, p->rank, p->gpu, p->n);
	memcpy(p->gpu, from, p->n * sizeof(*from));
	effort_spend(p->effort, 1 + (uint64_t)edges * p->s->f->n_levels / 2);
}

static void count_nodes(struct pursuit *p)
{
	memset(p->n_on, 0, p->s->f->n_nodes * sizeof(*p->n_on));
	p->n_nodes = 0;
	for (uint32_t r = 0; r < p->links.t->n_ranks; r++)
		p->n_nodes += p->n_on[node_of(p, r)]++ == 0;
}

/* After a move that is kept. */
static void take_stock(struct pursuit *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t from = p->s->f->gpu_node[p->gpu[i]];
		uint32_t to = node_of(p, p->rank[i]);

		p->n_nodes -= --p->n_on[from] == 0;
		p->n_nodes += p->n_on[to]++ == 0;
	}
	p->busiest = links_busiest(&p->links);
	effort_spend(p->effort, p->links.t->n_ranks);
}

/* True when the ranks lie as they must; moves keep to all other limits by
 * themselves. */
static int lies_well(const struct pursuit *p, const uint32_t *where, bool *well,
		     struct weft_error *err)
{
	int rc = p->grouped ? limits_keep(p->s, where, err) : 1;

	*well = rc == 1;
	return rc < 0 ? -1 : 0;
}

/* ---- searches ---- */

static bool spent(struct pursuit *p, uint32_t vain)
{
	return vain > VAIN + VAIN_PER_NODE * p->n_nodes ||
	       effort_spent(p->effort);
}

/* Downhill by pressure, between equals by cost.  best[]: the placement with the
 * least busy busiest link on the way. */
static int lower_pressure(struct pursuit *p, uint32_t *best,
			  struct weft_error *err)
{
	size_t size = p->links.t->n_ranks * sizeof(*best);
	double least = p->busiest.pressure;

	memcpy(best, p->links.where, size);
	for (uint32_t vain = 0; !spent(p, vain); vain++) {
		double pressure = p->links.pressure, cost = p->links.cost;
		double same = COMPARISON_SAME * pressure;
		bool well;

		if (!propose(p))
			continue;
		move(p);
		if (p->links.pressure > pressure + same ||
		    (p->links.pressure > pressure - same &&
		     p->links.cost >= cost * (1 - COMPARISON_SAME))) {
			move(p);
			continue;
		}
		if (lies_well(p, p->links.where, &well, err))
			return -1;
		if (!well) {
			move(p);
			continue;
		}
		vain = 0;
		take_stock(p);
		if (p->busiest.pressure <= least) {
			least = p->busiest.pressure;
			memcpy(best, p->links.where, size);
		}
	}
	return 0;
}

/* Keeps where[] when it ranks before the best so far. */
static int consider(const struct pursuit *p, const uint32_t *where,
		    uint32_t *best_where, struct comparison *best, bool *better,
		    struct weft_error *err)
{
	struct comparison comparison;
	bool well;

	*better = false;
	if (lies_well(p, where, &well, err))
		return -1;
	if (!well)
		return 0;
	if (comparison_measure(p->s, where, &comparison, err))
		return -1;
	effort_spend(p->effort, weft_judge_work(p->s->judge));
	if (comparison_compare(&comparison, best) >= 0)
		return 0;
	*best = comparison;
	memcpy(best_where, where, p->links.t->n_ranks * sizeof(*where));
	*better = true;
	return 0;
}

/* Downhill by the objective's value itself. */
static int lower_value(struct pursuit *p, uint32_t *where,
		       struct comparison *best, bool *better,
		       struct weft_error *err)
{
	uint32_t n_steps = 0;

	for (uint32_t vain = 0; n_steps < MAX_STEPS && !spent(p, vain);
	     vain++) {
		double pressure = p->links.pressure, cost = p->links.cost;
		bool good = false;

		if (!propose(p))
			continue;
		move(p);
		if (p->links.pressure < pressure * HOPELESS ||
		    p->links.cost < cost * HOPELESS) {
			n_steps++;
			if (consider(p, p->links.where, where, best, &good,
				     err))
				return -1;
		}
		if (good) {
			*better = true;
			take_stock(p);
		} else {
			move(p);
		}
	}
	return 0;
}

/* ---- all together ---- */

static int start(struct pursuit *p, const uint32_t *where,
		 const struct comparison *best, struct weft_error *err)
{
	double reference_s = best->measure.cost.busiest.time_s;

	links_free(&p->links);
	if (links_build(p->s->judge, where, reference_s, &p->links, err))
		return -1;
	count_nodes(p);
	p->busiest = links_busiest(&p->links);
	return 0;
}

/* The domains of this level are what ranks stay in: those of within=, of
 * prefer= where that is kept, of the outermost level, beyond which nothing is
 * connected. */
static uint32_t find_bounds(const struct capacity *s,
			    const struct comparison *best)
{
	const struct weft_job *job = s->job;
	uint32_t level = s->f->n_levels - 1;

	if (job->within_level < level)
		level = job->within_level;
	if (job->prefer_level < level && best->prefers)
		level = job->prefer_level;
	return level > s->f->node_level ? level : s->f->node_level;
}

/* Ranks may only change places where there are links between all of them. */
static bool is_connected(const struct capacity *s, const uint32_t *where)
{
	const uint32_t *part = s->f->gpu_domain[s->f->n_levels - 1];

	for (uint32_t r = 1; r < s->job->n_gpus; r++)
		if (part[where[r]] != part[where[0]])
			return false;
	return true;
}

/* Whether no link above hosts slows the job by as much as counts: links need no
 * relief. */
static bool has_room(const struct weft_judge *judge,
		     const struct comparison *best)
{
	const struct weft_measure *m = &best->measure;

	return judge->objective.goal == WEFT_GOAL_STEP &&
	       !(judge->objective.fragmentation > 0) && best->even &&
	       m->to_gain <= judge->same / 2 * m->value;
}

/* True when nothing can be gained: no byte leaves a domain, no link is too busy
 * or no placement is better; or it cannot be known move by move. */
static bool nothing_to_gain(const struct capacity *s, const uint32_t *where,
			    const struct comparison *best)
{
	return !(best->measure.cost.busiest.time_s > 0) ||
	       s->job->traffic.n_switches || !is_connected(s, where) ||
	       s->judge->indifferent || has_room(s->judge, best) ||
	       comparison_suffices(s, best);
}

/* What predictions of the step may take. */
static uint64_t prediction_work(const struct weft_judge *judge)
{
	uint64_t work = MAX_STEPS * weft_judge_work(judge);
	uint64_t most = effort_share(MOST_PREDICTED, judge->job->n_gpus);

	return work < most ? work : most;
}

static int search(struct pursuit *p, uint32_t *where, uint32_t *scratch,
		  struct comparison *best, bool *better, struct weft_error *err)
{
	bool step = p->s->judge->objective.goal == WEFT_GOAL_STEP;
	uint64_t predictions = prediction_work(p->s->judge), first;
	struct effort all = *p->effort, part = all;
	int rc;

	/* of the step, the pressure is but one side; what its predictions
	 * take is theirs */
	if (step)
		part.work = all.work > predictions ? all.work - predictions
						   : all.work / 4;
	first = part.work;
	p->effort = &part;
	if (start(p, where, best, err) || lower_pressure(p, scratch, err) ||
	    consider(p, scratch, where, best, better, err))
		return -1;
	if (!step)
		return 0;
	part.work += all.work - first;
	rc = start(p, where, best, err);
	if (rc == 0)
		rc = lower_value(p, where, best, better, err);
	return rc;
}

int pursuit_run(const struct capacity *s, struct effort *effort,
		uint32_t *where, struct comparison *best, bool *better,
		struct weft_error *err)
{
	struct pursuit p = {
		.s = s,
		.effort = effort,
		.bounds = find_bounds(s, best),
		.grouped = limits_segment(s->f, s->job) ||
			   limits_parts(s->f, s->job),
		.swaps_only = s->judge->objective.fragmentation > 0,
	};
	uint32_t *scratch = NULL;
	int rc = -1;

	*better = false;
	if (nothing_to_gain(s, where, best) || effort_spent(effort))
		return 0;
	scratch = weft_calloc(s->job->n_gpus, sizeof(*scratch), err);
	p.n_on = weft_calloc(s->f->n_nodes, sizeof(*p.n_on), err);
	if (scratch && p.n_on)
		rc = search(&p, where, scratch, best, better, err);
	links_free(&p.links);
	free(p.n_on);
	free(scratch);
	return rc;
}

/* Some hundred moves of each rank.  None where one step takes longer to predict
 * than all of them may. */
uint64_t pursuit_work(const struct weft_judge *judge)
{
	const struct weft_traffic *t = &judge->job->traffic;
	uint64_t work =
		200 * ((uint64_t)t->n_edges + t->n_ranks) * judge->f->n_levels;
	bool step = judge->objective.goal == WEFT_GOAL_STEP;
	uint64_t most =
		effort_share(step ? MOST_STEP : MOST_BUSIEST, t->n_ranks);

	if (step &&
	    weft_judge_work(judge) > effort_share(MOST_PREDICTED, t->n_ranks))
		return 0;
	if (work > most)
		work = most;
	return step ? work + prediction_work(judge) : work;
}
