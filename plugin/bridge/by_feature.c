/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_feature.c - how many nodes of each domain, and which of them
 *
 * With c nodes of each domain, as many can be matched with features as the
 * least cut allows (max-flow min-cut over sets A of features):
 *
 *   min over A of  total - count(A) + sum over domains of min(c, having(A))
 *
 * where having(A) is how many nodes of the domain have any feature of A.  There
 * are few features, so this is a sum per set, kept while domains are given
 * their segments or parts, by backtracking, best gain first.
 */
#include "plugin/bridge/by_feature.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "base/compare.h"
#include "costmodel/job/spec.h"
#include "plugin/bridge/constraints.h"

#include <stdlib.h>
#include <string.h>

#define N_SETS (1u << WEFT_MAX_FEATURES)

/* Domains that are tried for one piece. */
#define MAX_CHOICES 16

/* Tried in all: beyond, a search has little hope. */
#define MAX_STEPS 20000

/* A domain of the segment level, or what of it lies in that of within=. */
struct unit {
	uint32_t first, n;     /* nodes of the fabric */
	uint32_t able, needed; /* nodes; those that are required */
	uint32_t having[N_SETS], needed_having[N_SETS]; /* of the others, of
							 * those */
	uint32_t size; /* nodes that it gives */
};

struct choices {
	uint32_t n, at;
	uint32_t unit[MAX_CHOICES];
	int64_t rank[MAX_CHOICES];
};

struct search {
	const struct weft_by_feature *q;
	uint32_t n_sets, total, demand[N_SETS], supply[N_SETS];
	uint32_t n_units;
	struct unit *units;
	uint32_t n_pieces, *pieces; /* nodes of each, largest first */
	bool apart;		    /* each in a domain of its own */
	struct choices *choices;    /* [n_pieces] */
	uint32_t n_steps;
	bool partial; /* not all choices were tried */
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- sums ---- */

/* Nodes that a unit of so many gives the features of a set: required ones have
 * their place in any case. */
static uint32_t gives(const struct unit *u, uint32_t size, uint32_t set)
{
	uint32_t others = size > u->needed ? size - u->needed : 0;

	return smaller(size, u->needed_having[set]) +
	       smaller(others, u->having[set]);
}

static void resize(struct search *s, struct unit *u, uint32_t size)
{
	for (uint32_t a = 0; a < s->n_sets; a++)
		s->supply[a] += gives(u, size, a) - gives(u, u->size, a);
	u->size = size;
}

static uint32_t matched(const struct search *s)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t a = 0; a < s->n_sets; a++)
		least = smaller(least, s->total - s->demand[a] + s->supply[a]);
	return least;
}

/* How many more are matched with a piece in this unit; lack: are not yet. */
static uint32_t gain_of(const struct search *s, const struct unit *u,
			uint32_t piece, uint32_t lack)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t a = 0; a < s->n_sets; a++)
		least = smaller(least, s->total - s->demand[a] + s->supply[a] +
					       gives(u, u->size + piece, a) -
					       gives(u, u->size, a));
	return least - (s->total - lack);
}

/* ---- the question ---- */

static void unit_add_node(struct unit *u, const struct weft_by_feature *q,
			  uint32_t node)
{
	bool needed = q->required && weft_bitset_has(q->required, node);
	uint32_t *having = needed ? u->needed_having : u->having;

	if (!weft_bitset_has(q->able, node))
		return;
	u->able++;
	u->needed += needed;
	for (uint32_t a = 0; a < N_SETS; a++)
		having[a] += (q->having[node] & a) != 0;
}

/* The domains of the segment level, as far as they lie in `within`. */
static void units_make(struct search *s, const struct weft_domain *within)
{
	const struct weft_fabric *f = s->q->fabric;
	const struct weft_level *l = &f->levels[weft_fabric_segment_level(f)];
	uint32_t first = within ? within->first_node : 0;
	uint32_t end = within ? first + within->n_nodes : f->n_nodes;

	s->n_units = 0;
	for (uint32_t d = 0; d < l->n_domains; d++) {
		const struct weft_domain *domain =
			&f->domains[l->first_domain + d];
		uint32_t from =
			domain->first_node > first ? domain->first_node : first;
		uint32_t to =
			smaller(domain->first_node + domain->n_nodes, end);
		struct unit *u = &s->units[s->n_units];

		if (from >= to)
			continue;
		*u = (struct unit){.first = from, .n = to - from};
		for (uint32_t i = from; i < to; i++)
			unit_add_node(u, s->q, i);
		s->n_units += u->able > 0;
	}
	memset(s->supply, 0, sizeof(s->supply));
}

/* Parts of the split, or segments, the last of which may be smaller. */
static int pieces_make(struct search *s)
{
	const struct weft_by_feature *q = s->q;
	struct weft_spec spec;
	uint32_t segment, sum = 0;

	if (weft_spec_parse(q->spec, &spec, NULL) < 0)
		return -1;
	segment = spec.segment > 1 ? spec.segment : 1;
	s->apart = spec.n_split;
	s->n_pieces = spec.n_split ? spec.n_split
				   : (q->n_nodes + segment - 1) / segment;
	s->pieces = weft_calloc(s->n_pieces, sizeof(*s->pieces), NULL);
	s->choices = weft_calloc(s->n_pieces, sizeof(*s->choices), NULL);
	if (!s->pieces || !s->choices)
		return -1;
	for (uint32_t i = 0; i < s->n_pieces; i++) {
		s->pieces[i] = spec.n_split
				       ? spec.split[i]
				       : smaller(segment, q->n_nodes - sum);
		sum += s->pieces[i];
	}
	qsort(s->pieces, s->n_pieces, sizeof(*s->pieces),
	      weft_compare_numbers_down);
	return sum == q->n_nodes ? 0 : -1;
}

static int search_open(struct search *s, const struct weft_by_feature *q)
{
	const struct weft_fabric *f = q->fabric;

	*s = (struct search){.q = q, .n_sets = 1u << q->n_features};
	for (uint32_t k = 0; k < q->n_features; k++)
		s->total += q->count[k];
	for (uint32_t a = 0; a < s->n_sets; a++)
		for (uint32_t k = 0; k < q->n_features; k++)
			s->demand[a] += a >> k & 1 ? q->count[k] : 0;
	s->units =
		weft_calloc(f->levels[weft_fabric_segment_level(f)].n_domains,
			    sizeof(*s->units), NULL);
	return s->units ? pieces_make(s) : -1;
}

static void search_close(struct search *s)
{
	free(s->units);
	free(s->pieces);
	free(s->choices);
}

/* ---- the search ---- */

/* Required nodes that no piece has a place for yet. */
static uint32_t needed_left(const struct search *s)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->n_units; i++)
		if (s->units[i].size < s->units[i].needed)
			left += s->units[i].needed - s->units[i].size;
	return left;
}

/* Required nodes first, then more matches, then the fullest that will do; ties
 * by what else there is, so that units that are alike follow each other. */
static int64_t rank_of(const struct unit *u, uint32_t gain)
{
	int64_t needs = u->size < u->needed;
	int64_t room = u->able - u->size;

	return needs << 60 | (int64_t)gain << 30 | ((1 << 30) - 1 - room);
}

static bool are_alike(const struct unit *a, const struct unit *b)
{
	return a->able == b->able && a->needed == b->needed &&
	       a->size == b->size &&
	       memcmp(a->having, b->having, sizeof(a->having)) == 0 &&
	       memcmp(a->needed_having, b->needed_having,
		      sizeof(a->needed_having)) == 0;
}

static void choice_add(struct search *s, struct choices *c, uint32_t unit,
		       int64_t rank)
{
	uint32_t i = c->n;

	for (uint32_t k = 0; k < c->n; k++)
		if (c->rank[k] == rank &&
		    are_alike(&s->units[c->unit[k]], &s->units[unit]))
			return;
	if (i == MAX_CHOICES) {
		s->partial = true;
		if (rank <= c->rank[i - 1])
			return;
		i--;
	} else {
		c->n++;
	}
	for (; i && c->rank[i - 1] < rank; i--) {
		c->rank[i] = c->rank[i - 1];
		c->unit[i] = c->unit[i - 1];
	}
	c->rank[i] = rank;
	c->unit[i] = unit;
}

/* Gains only become smaller while there is more: with the best of now for each
 * piece to come, none of which is larger, all must be matched.  Required nodes,
 * which have a place first, may be worth more later on. */
static bool may_match(const struct search *s, uint32_t level, uint32_t best,
		      uint32_t lack)
{
	return s->q->required || (uint64_t)best * (s->n_pieces - level) >= lack;
}

static void choices_find(struct search *s, uint32_t level)
{
	struct choices *c = &s->choices[level];
	uint32_t piece = s->pieces[level], lack = s->total - matched(s);
	uint32_t nodes_left = 0, best = 0;
	bool partial = s->partial;

	c->n = c->at = 0;
	for (uint32_t i = level; i < s->n_pieces; i++)
		nodes_left += s->pieces[i];
	if (needed_left(s) > nodes_left)
		return;
	for (uint32_t i = 0; i < s->n_units; i++) {
		const struct unit *u = &s->units[i];
		uint32_t room = u->able - u->size, gain = 0;

		if (!room || (s->apart && u->size))
			continue;
		if (lack)
			gain = gain_of(s, u, smaller(piece, room), lack);
		best = gain > best ? gain : best;
		if (room >= piece)
			choice_add(s, c, i, rank_of(u, gain));
	}
	if (may_match(s, level, best, lack))
		return;
	c->n = 0;
	s->partial = partial;
}

static bool is_late(struct search *s)
{
	if (++s->n_steps > MAX_STEPS)
		return true;
	return s->n_steps % 16 == 0 &&
	       (weft_clock_s() > s->q->deadline_s || weft_deadline_passed());
}

/* Could all be matched with every node of the units, and do these have all that
 * are required? */
static bool has_enough(struct search *s)
{
	const struct weft_by_feature *q = s->q;
	uint32_t able = 0, needed = 0;
	bool enough;

	for (uint32_t i = 0; i < s->n_units; i++) {
		able += s->units[i].able;
		needed += s->units[i].needed;
		resize(s, &s->units[i], s->units[i].able);
	}
	enough = able >= q->n_nodes && matched(s) == s->total &&
		 (!q->required ||
		  needed == weft_bitset_count(q->required, q->fabric->n_nodes));
	for (uint32_t i = 0; i < s->n_units; i++)
		resize(s, &s->units[i], 0);
	return enough;
}

static void undo(struct search *s, uint32_t level)
{
	const struct choices *c = &s->choices[level];
	struct unit *u = &s->units[c->unit[c->at - 1]];

	resize(s, u, u->size - s->pieces[level]);
}

/* Gives the units their sizes. */
static enum weft_by_feature_found pieces_place(struct search *s)
{
	uint32_t level = 0;

	if (!has_enough(s))
		return WEFT_FOUND_NONE;
	choices_find(s, 0);
	while (true) {
		struct choices *c = &s->choices[level];

		if (is_late(s))
			return WEFT_FOUND_NOT_YET;
		if (c->at == c->n) {
			if (!level)
				return s->partial ? WEFT_FOUND_NOT_YET
						  : WEFT_FOUND_NONE;
			undo(s, --level);
			continue;
		}
		resize(s, &s->units[c->unit[c->at]],
		       s->units[c->unit[c->at]].size + s->pieces[level]);
		c->at++;
		if (level + 1 < s->n_pieces) {
			choices_find(s, ++level);
			continue;
		}
		if (matched(s) == s->total && !needed_left(s))
			return WEFT_FOUND_NODES;
		undo(s, level);
	}
}

/* ---- which nodes ---- */

static bool is_needed(const struct search *s, uint32_t node)
{
	return s->q->required && weft_bitset_has(s->q->required, node);
}

/* The node is no longer there to be matched; taken: nor is its place. */
static void node_leave(struct search *s, struct unit *u, uint32_t node,
		       bool taken)
{
	uint32_t *having = is_needed(s, node) ? u->needed_having : u->having;
	uint32_t size = u->size;

	resize(s, u, 0);
	for (uint32_t a = 0; a < N_SETS; a++)
		having[a] -= (s->q->having[node] & a) != 0;
	if (taken && is_needed(s, node))
		u->needed--;
	resize(s, u, size - taken);
}

static void feature_take(struct search *s, uint32_t k, bool back)
{
	s->total += back ? 1 : -1;
	for (uint32_t a = 0; a < s->n_sets; a++)
		if (a >> k & 1)
			s->demand[a] += back ? 1 : -1;
}

/* Matches the node with a feature where all others can be matched then, too. */
static uint32_t node_match(struct search *s, struct unit *u, uint32_t node)
{
	const struct unit before = *u;
	bool has_place = is_needed(s, node) || u->size > u->needed;

	for (uint32_t k = 0; has_place && k < s->q->n_features; k++) {
		uint32_t one = 1u << k;

		if (!(s->q->having[node] & one) || !s->demand[one])
			continue;
		node_leave(s, u, node, true);
		feature_take(s, k, false);
		if (matched(s) == s->total)
			return k;
		feature_take(s, k, true);
		resize(s, u, 0);
		*u = before;
		u->size = 0;
		resize(s, u, before.size);
	}
	node_leave(s, u, node, false);
	return s->q->n_features;
}

struct ordered {
	uint32_t node, weight;
};

static int lighter_first(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Able nodes of the unit, in the order in which they are taken. */
static uint32_t order_nodes(const struct search *s, const struct unit *u,
			    struct ordered *order)
{
	uint32_t n = 0;

	for (uint32_t i = u->first; i < u->first + u->n; i++)
		if (weft_bitset_has(s->q->able, i))
			order[n++] = (struct ordered){
				.node = i,
				.weight = s->q->weight ? s->q->weight[i] : 0,
			};
	qsort(order, n, sizeof(*order), lighter_first);
	return n;
}

static void unit_choose(struct search *s, struct unit *u, struct ordered *order,
			uint8_t *for_what)
{
	uint32_t n = u->size ? order_nodes(s, u, order) : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = order[i].node;
		uint32_t k = node_match(s, u, node);

		if (k < s->q->n_features)
			for_what[node] = (uint8_t)k;
	}
	for (int needed = 1; needed >= 0; needed--)
		for (uint32_t i = 0; i < n && u->size; i++) {
			uint32_t node = order[i].node;

			if (for_what[node] != WEFT_NOT_CHOSEN ||
			    is_needed(s, node) != needed)
				continue;
			for_what[node] = (uint8_t)s->q->n_features;
			resize(s, u, u->size - 1);
		}
}

static enum weft_by_feature_found nodes_choose(struct search *s,
					       uint8_t *for_what)
{
	struct ordered *order =
		weft_calloc(s->q->fabric->n_nodes, sizeof(*order), NULL);

	if (!order)
		return WEFT_FOUND_NOT_YET;
	for (uint32_t i = 0; i < s->n_units; i++)
		unit_choose(s, &s->units[i], order, for_what);
	free(order);
	return WEFT_FOUND_NODES;
}

/* ---- within= ---- */

static enum weft_by_feature_found
find_in(struct search *s, const struct weft_domain *within, uint8_t *for_what)
{
	enum weft_by_feature_found found;

	units_make(s, within);
	found = pieces_place(s);
	return found == WEFT_FOUND_NODES ? nodes_choose(s, for_what) : found;
}

static enum weft_by_feature_found find_anywhere(struct search *s,
						uint8_t *for_what)
{
	const struct weft_fabric *f = s->q->fabric;
	enum weft_by_feature_found found = WEFT_FOUND_NONE, here;
	struct weft_frame frame;
	uint32_t level;

	if (weft_frame_read(s->q->spec, &frame, NULL) < 0)
		return WEFT_FOUND_NOT_YET;
	level = weft_constraints_level(f, &frame);
	if (level == WEFT_NONE)
		return frame.within[0] ? WEFT_FOUND_NOT_YET
				       : find_in(s, NULL, for_what);
	if (level < f->node_level)
		return WEFT_FOUND_NOT_YET;
	for (uint32_t d = 0; d < f->levels[level].n_domains; d++) {
		here = find_in(s,
			       &f->domains[f->levels[level].first_domain + d],
			       for_what);
		if (here == WEFT_FOUND_NODES)
			return here;
		if (here == WEFT_FOUND_NOT_YET)
			found = here;
		if (weft_clock_s() > s->q->deadline_s)
			return WEFT_FOUND_NOT_YET;
	}
	return found;
}

enum weft_by_feature_found
weft_by_feature_find(const struct weft_by_feature *question, uint8_t *for_what)
{
	enum weft_by_feature_found found = WEFT_FOUND_NOT_YET;
	struct search s = {0};

	memset(for_what, WEFT_NOT_CHOSEN, question->fabric->n_nodes);
	if (question->n_features <= WEFT_MAX_FEATURES &&
	    search_open(&s, question) == 0)
		found = s.total <= question->n_nodes
				? find_anywhere(&s, for_what)
				: WEFT_FOUND_NONE;
	search_close(&s);
	return found;
}
