/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout_spread.c - replicas of the model over what fails together
 *
 * With at most m replicas in each failure domain, replicas go whole into the
 * domains that have fewest, and those that fit nowhere whole are cut into as
 * few pieces as can be; the least m for which that works is taken.  Where all
 * can stay whole, no placement that keeps them whole loses fewer.
 */
#include "placement/nodes/layouts.h"

#include "base/clock.h"
#include "base/compare.h"
#include "placement/nodes/groups.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>

/* Ranks that are sorted in some 3 ms: more are not where there is a deadline.
 */
#define HASTY_GPUS 32768

/* Every number of lots in a domain is tried up to this many, then growing
 * steps. */
#define CUT_TRIES 8

/* A failure domain. */
struct pile {
	uint32_t failure;
	uint32_t first, n;  /* its members */
	uint32_t all, left; /* GPUs */
	uint32_t n_lots;    /* dealt to it */
};

/* A lot or a part of one in a pile. */
struct piece {
	uint32_t pile, lot, n_gpus;
};

/* A lot is the fewest replicas that are whole nodes' shares together, where
 * these are fixed; else one replica. */
struct spread {
	struct capacity *s;
	const struct weft_job *job;
	uint32_t n_lots, lot_gpus, lot_replicas;
	uint32_t n_members, n_piles, n_pieces;
	struct member *member; /* by pile */
	struct pile *pile;     /* by lowest node */
	struct piece *piece;   /* [n_lots + n_piles] */
	uint32_t *pile_of;     /* [failure] index + 1 */
	struct weft_error *err;
};

static void spread_free(struct spread *x)
{
	free(x->member);
	free(x->pile);
	free(x->piece);
	free(x->pile_of);
}

static void find_lots(struct spread *x)
{
	uint32_t replicas = x->job->spec.dp, fixed = x->job->gpus_per_node;
	uint32_t size = x->job->n_gpus / replicas, together = 1;

	if (fixed)
		together = fixed / node_set_divisor(size, fixed);
	x->lot_replicas = together;
	x->lot_gpus = size * together;
	x->n_lots = replicas / together;
}

/* GPUs of each node, where the number of nodes settles it. */
static uint32_t find_share(const struct weft_job *job)
{
	if (job->gpus_per_node)
		return job->gpus_per_node;
	if (job->max_nodes && job->min_nodes == job->max_nodes &&
	    job->n_gpus % job->max_nodes == 0)
		return job->n_gpus / job->max_nodes;
	return 0;
}

static int list_piles(struct spread *x, const struct weft_domain *d)
{
	const struct weft_fabric *f = x->s->f;
	uint32_t share = find_share(x->job), at = 0;

	x->member = weft_calloc(d->n_nodes, sizeof(*x->member), x->err);
	x->pile = weft_calloc(d->n_nodes, sizeof(*x->pile), x->err);
	x->pile_of =
		weft_calloc(limits_n_failures(f), sizeof(*x->pile_of), x->err);
	if (!x->member || !x->pile || !x->pile_of)
		return -1;
	for (uint32_t k = 0; k < d->n_nodes; k++) {
		uint32_t failure = limits_failure(f, d->first_node + k);
		struct member m = groups_member(x->s, d->first_node + k, share);

		if (!x->pile_of[failure]) {
			x->pile[x->n_piles].failure = failure;
			x->pile_of[failure] = ++x->n_piles;
		}
		x->pile[x->pile_of[failure] - 1].n += m.give > 0;
		x->pile[x->pile_of[failure] - 1].all += m.give;
	}
	for (uint32_t i = 0; i < x->n_piles; i++) {
		x->pile[i].first = at;
		at += x->pile[i].n;
		x->pile[i].n = 0;
	}
	for (uint32_t k = 0; k < d->n_nodes; k++) {
		uint32_t failure = limits_failure(f, d->first_node + k);
		struct pile *pile = &x->pile[x->pile_of[failure] - 1];
		struct member m = groups_member(x->s, d->first_node + k, share);

		if (m.give)
			x->member[pile->first + pile->n++] = m;
	}
	for (uint32_t i = 0; i < x->n_piles; i++)
		groups_sort(x->member + x->pile[i].first, x->pile[i].n);
	x->piece = weft_calloc((size_t)x->n_lots + x->n_piles,
			       sizeof(*x->piece), x->err);
	return x->piece ? 0 : -1;
}

/* The pile with fewest lots of those that hold one more whole; the first of its
 * equals. */
static struct pile *find_whole(struct spread *x, uint32_t most)
{
	struct pile *best = NULL;

	for (uint32_t i = 0; i < x->n_piles; i++) {
		struct pile *p = &x->pile[i];

		if (p->n_lots < most && p->left >= x->lot_gpus &&
		    (!best || p->n_lots < best->n_lots))
			best = p;
	}
	return best;
}

/* The tightest pile that holds what is left of a lot, else the fullest. */
static struct pile *find_part(struct spread *x, uint32_t most, uint32_t need)
{
	struct pile *best = NULL;

	for (uint32_t i = 0; i < x->n_piles; i++) {
		struct pile *p = &x->pile[i];

		if (p->n_lots >= most || !p->left)
			continue;
		if (!best || (best->left < need ? p->left > best->left
						: p->left >= need &&
							  p->left < best->left))
			best = p;
	}
	return best;
}

static void put(struct spread *x, struct pile *pile, uint32_t lot, uint32_t n)
{
	x->piece[x->n_pieces++] =
		(struct piece){(uint32_t)(pile - x->pile), lot, n};
	pile->left -= n;
}

/* Deals all lots with at most `most` in a pile. */
static bool distribute_lots(struct spread *x, uint32_t most)
{
	uint32_t n_whole = 0, lot = 0;
	struct pile *pile;

	x->n_pieces = 0;
	for (uint32_t i = 0; i < x->n_piles; i++) {
		x->pile[i].left = x->pile[i].all;
		x->pile[i].n_lots = 0;
	}
	while (n_whole < x->n_lots && !weft_deadline_passed() &&
	       (pile = find_whole(x, most))) {
		pile->left -= x->lot_gpus;
		pile->n_lots++;
		n_whole++;
	}
	/* neighbours in the ring of replicas are neighbours in the fabric */
	for (uint32_t i = 0; i < x->n_piles; i++) {
		x->pile[i].left += x->pile[i].n_lots * x->lot_gpus;
		for (uint32_t k = 0; k < x->pile[i].n_lots; k++)
			put(x, &x->pile[i], lot++, x->lot_gpus);
	}
	for (; lot < x->n_lots; lot++) {
		uint32_t need = x->lot_gpus;

		if (weft_deadline_passed())
			return false;
		while (need) {
			uint32_t n;

			pile = find_part(x, most, need);
			if (!pile)
				return false;
			n = pile->left < need ? pile->left : need;
			pile->n_lots++;
			put(x, pile, lot, n);
			need -= n;
		}
	}
	return true;
}

/* The least number of lots in a pile with which all of them stay whole; more
 * than n_lots: they cannot. */
static uint32_t fewest_whole(const struct spread *x)
{
	uint32_t low = 1, high = x->n_lots + 1;

	while (low < high) {
		uint32_t most = (low + high) / 2;
		uint64_t sum = 0;

		for (uint32_t i = 0; i < x->n_piles; i++) {
			uint32_t n = x->pile[i].all / x->lot_gpus;

			sum += n < most ? n : most;
		}
		if (sum >= x->n_lots)
			high = most;
		else
			low = most + 1;
	}
	return low;
}

/* The least number of lots in a pile for which dealing works; 0: none.  A few
 * tries with less than keeps all whole, which cutting may allow. */
static uint32_t distribute_fewest(struct spread *x)
{
	uint32_t n = 0, tries = 0, most, whole = fewest_whole(x);

	for (uint32_t i = 0; i < x->n_piles; i++)
		n += x->pile[i].all > 0;
	if (!n)
		return 0;
	if (whole > x->n_lots)
		whole = x->n_lots;
	for (most = (x->n_lots + n - 1) / n; most < whole;
	     most += tries++ < CUT_TRIES ? 1 : 1 + most / 4)
		if (distribute_lots(x, most))
			return most;
	return distribute_lots(x, whole) ? whole : 0;
}

/* The first members of each pile give what it has been dealt. */
static int choose(struct spread *x, const struct weft_domain *d,
		  struct layout *out)
{
	uint32_t *count = weft_calloc(d->n_nodes, sizeof(*count), x->err);
	struct node_set *c = &out->node_set;

	c->node = weft_calloc(x->job->n_gpus, sizeof(*c->node), x->err);
	c->count = weft_calloc(x->job->n_gpus, sizeof(*c->count), x->err);
	out->fence = weft_calloc(x->job->n_gpus, sizeof(*out->fence), x->err);
	if (!count || !c->node || !c->count || !out->fence) {
		free(count);
		return -1;
	}
	for (uint32_t i = 0; i < x->n_piles; i++) {
		const struct pile *p = &x->pile[i];
		uint32_t need = p->all - p->left;

		for (uint32_t k = 0; need; k++) {
			const struct member *m = &x->member[p->first + k];
			uint32_t n = m->give < need ? m->give : need;

			count[m->node - d->first_node] = n;
			need -= n;
		}
	}
	for (uint32_t k = 0; k < d->n_nodes; k++) {
		uint32_t node = d->first_node + k;

		if (!count[k])
			continue;
		out->fence[c->n_nodes] =
			x->pile_of[limits_failure(x->s->f, node)] - 1;
		node_set_add(c, node, count[k]);
	}
	free(count);
	return node_set_valid(c, x->s);
}

struct dealt {
	uint32_t pile, rank;
};

WEFT_COMPARATOR(compare_dealt, struct dealt, WEFT_UP(pile) WEFT_UP(rank));

/* Which rank is in which pile: the ranks of a cut lot go to its pieces in
 * ascending order. */
static void list_ranks(const struct spread *x, struct dealt *list)
{
	uint32_t n = x->job->n_gpus, at = 0;

	/* by lot at first, in place of the pile */
	for (uint32_t r = 0; r < n; r++)
		list[r] = (struct dealt){
			limits_replica(x->job, r) / x->lot_replicas, r};
	qsort(list, n, sizeof(*list), compare_dealt);
	/* pieces are in the order of their lots */
	for (uint32_t i = 0; i < x->n_pieces; i++)
		for (uint32_t k = 0; k < x->piece[i].n_gpus; k++)
			list[at++].pile = x->piece[i].pile;
	qsort(list, n, sizeof(*list), compare_dealt);
}

/* Each pile's ranks on its GPUs, in ascending order. */
static int set_ranks(struct spread *x, struct layout *out)
{
	uint32_t n = x->job->n_gpus, gpu = 0;
	struct dealt *list = weft_calloc(n, sizeof(*list), x->err);
	uint32_t *next = weft_calloc(x->n_piles + 1, sizeof(*next), x->err);

	out->rank = weft_calloc(n, sizeof(*out->rank), x->err);
	if (!list || !next || !out->rank) {
		free(list);
		free(next);
		return -1;
	}
	list_ranks(x, list);
	for (uint32_t r = n; r-- > 0;)
		next[list[r].pile] = r;
	for (uint32_t i = 0; i < out->node_set.n_nodes; i++)
		for (uint32_t k = 0; k < out->node_set.count[i]; k++)
			out->rank[gpu++] = list[next[out->fence[i]]++].rank;
	free(list);
	free(next);
	return 0;
}

int layout_spread(struct capacity *s, uint32_t scope, struct layout *out,
		  uint32_t *lost, struct weft_error *err)
{
	const struct weft_domain *d = &s->f->domains[scope];
	struct spread x = {.s = s, .job = s->job, .err = err};
	uint32_t most;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	if (weft_deadline() > 0 && x.job->n_gpus > HASTY_GPUS)
		return weft_fail(err, WEFT_ELATE, "no time was left");
	find_lots(&x);
	if (list_piles(&x, d))
		goto out;
	most = distribute_fewest(&x);
	*lost = most * x.lot_replicas;
	if (weft_deadline_check(err))
		goto out;
	rc = most ? choose(&x, d, out) : 0;
	if (rc == 1 && set_ranks(&x, out))
		rc = -1;
out:
	spread_free(&x);
	return rc;
}
