/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bisection.c - items dealt out to bins from nothing, by repeated cuts
 *
 * A list of bins is cut in two where its neighbours are farthest from each
 * other, nearest to its middle, and its items with it, until one bin is left.
 * As whole domains part first, what lies beyond a cut is equally far from both
 * sides of the next, and needs no attention there.
 */
#include "placement/mapping/local_search.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* Of the size of a bin or domain by which it is passed over when spare slots
 * are handed out: it gets them late if it is large. */
#define NOISE 3.0
/* One start in so many has this noise instead. */
#define WILD 8.0

int bisection_build(struct assignment *assignment, struct bisector *bisector,
		    struct bisection *m, struct weft_error *err)
{
	uint32_t n = assignment->g->n, n_bins = assignment->t->n_bins;

	*m = (struct bisection){.assignment = assignment, .bisector = bisector};
	m->items = weft_calloc(n, sizeof(*m->items), err);
	m->local = weft_calloc(n, sizeof(*m->local), err);
	m->buffer = weft_calloc(n, sizeof(*m->buffer), err);
	m->bins = weft_calloc(n_bins, sizeof(*m->bins), err);
	m->quota = weft_calloc(n_bins, sizeof(*m->quota), err);
	m->open = weft_calloc(n_bins, sizeof(*m->open), err);
	m->key = weft_calloc(n_bins, 2 * sizeof(*m->key), err);
	m->weight = weft_calloc(n_bins, sizeof(*m->weight), err);
	if (!m->weight || !m->items || !m->local || !m->buffer || !m->bins ||
	    !m->quota || !m->open || !m->key)
		return -1;
	memset(m->local, 0xff, n * sizeof(*m->local));
	return 0;
}

void bisection_free(struct bisection *m)
{
	free(m->items);
	free(m->local);
	free(m->buffer);
	free(m->bins);
	free(m->quota);
	free(m->open);
	free(m->key);
	free(m->weight);
	memset(m, 0, sizeof(*m));
}

static uint32_t size_of(const struct tree *t, uint32_t bin)
{
	return t->first[bin + 1] - t->first[bin];
}

struct keyed {
	uint64_t key;
	uint32_t bin;
};

WEFT_COMPARATOR(by_key, struct keyed, WEFT_UP(key) WEFT_UP(bin));

/* A number for a domain that differs in every order drawn. */
static uint64_t draw(uint64_t seed, uint32_t domain, uint32_t level)
{
	struct effort e = {.random = seed ^ ((uint64_t)domain << 8 | level)};

	return effort_random(&e);
}

/* Bins in tree order with the domains shuffled at each level.  A few bits of
 * random key per level; equal ones only mix two domains. */
static void order_bins(struct bisection *m, uint32_t n_bins)
{
	const struct tree *t = m->assignment->t;
	uint64_t seed = effort_random(m->bisector->effort);
	struct keyed *keyed = (struct keyed *)(void *)m->key;
	uint32_t bits = 64 / t->height;

	for (uint32_t i = 0; i < n_bins; i++) {
		const uint32_t *own =
			t->domain + (size_t)m->bins[i] * t->height;

		keyed[i] = (struct keyed){.bin = m->bins[i]};
		for (uint32_t l = t->height; l-- > 0;) {
			uint64_t part = draw(seed, own[l], l);

			keyed[i].key = bits < 64 ? keyed[i].key << bits |
							   part >> (64 - bits)
						 : part;
		}
	}
	qsort(keyed, n_bins, sizeof(*keyed), by_key);
	for (uint32_t i = 0; i < n_bins; i++)
		m->bins[i] = keyed[i].bin;
}

/* Slots of the domain of a bin at a level that are among those to be filled. */
static void count_domains(struct bisection *m, uint32_t n_bins, uint32_t level)
{
	const struct tree *t = m->assignment->t;

	for (uint32_t i = 0; i < n_bins; i++)
		m->weight[t->domain[(size_t)m->bins[i] * t->height + level]] =
			0;
	for (uint32_t i = 0; i < n_bins; i++)
		m->weight[t->domain[(size_t)m->bins[i] * t->height + level]] +=
			size_of(t, m->bins[i]);
}

/* Leaves `spare` slots of the bins out of their quotas: whole bins as long as
 * possible, of small domains rather than of large ones. */
static void hand_out(struct bisection *m, uint32_t n_bins, uint32_t spare)
{
	const struct tree *t = m->assignment->t;
	uint64_t seed = effort_random(m->bisector->effort);
	struct keyed *keyed = (struct keyed *)(void *)m->key;
	uint32_t bits = 64 / t->height < 24 ? 64 / t->height : 24;
	double most = effort_below(m->bisector->effort, (uint32_t)WILD) ? NOISE
									: WILD;

	for (uint32_t i = 0; i < n_bins; i++) {
		m->quota[m->bins[i]] = size_of(t, m->bins[i]);
		keyed[i] = (struct keyed){.bin = m->bins[i]};
	}
	if (spare == 0)
		return;
	for (uint32_t l = t->height; l-- > 0;) {
		count_domains(m, n_bins, l);
		for (uint32_t i = 0; i < n_bins; i++) {
			uint32_t domain =
				t->domain[(size_t)keyed[i].bin * t->height + l];
			double noise =
				(double)(draw(seed, domain, l) >> 40) / 0x1p24;
			double size = m->weight[domain] * (1 + most * noise);

			/* relative to the most that it can be */
			keyed[i].key =
				keyed[i].key << bits |
				(uint64_t)(size / ((1 + WILD) * t->n_slots) *
					   (double)((1u << bits) - 1));
		}
	}
	qsort(keyed, n_bins, sizeof(*keyed), by_key);
	for (uint32_t i = 0; i < n_bins && spare > 0; i++) {
		uint32_t *quota = &m->quota[keyed[i].bin];
		uint32_t taken = *quota < spare ? *quota : spare;

		*quota -= taken;
		spare -= taken;
	}
}

/* Mean distance of a bin beyond from the bins of a list, by what they hold. */
static double mean_distance(const struct bisection *m, uint32_t from,
			    uint32_t begin, uint32_t end)
{
	const struct tree *t = m->assignment->t;
	double sum = 0, total = 0;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t bin = m->bins[i];

		sum += m->quota[bin] * t->distance[tree_meet(t, bin, from)];
		total += m->quota[bin];
	}
	return total > 0 ? sum / total : 0;
}

struct range {
	uint32_t begin, end;
};

static struct piece *extract(struct bisection *m, struct range bins,
			     uint32_t middle, struct range items, bool partial)
{
	const struct graph *g = m->assignment->g;
	const uint32_t *bin_of = m->assignment->bin_of;
	struct piece *p = bisector_piece(m->bisector);

	for (uint32_t i = items.begin; i < items.end; i++)
		m->local[m->items[i]] = i - items.begin;
	for (uint32_t i = items.begin; i < items.end; i++) {
		uint32_t v = m->items[i], own = p->n;

		p->bias[own] = 0;
		p->size[own] = 1;
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			uint32_t u = g->peer[e];

			if (m->local[u] != NONE) {
				p->peer[p->n_edges] = m->local[u];
				p->weight[p->n_edges++] = g->weight[e];
			} else if (partial && !m->open[bin_of[u]]) {
				p->bias[own] +=
					g->weight[e] *
					(mean_distance(m, bin_of[u], middle,
						       bins.end) -
					 mean_distance(m, bin_of[u], bins.begin,
						       middle));
			}
		}
		p->row[++p->n] = p->n_edges;
	}
	for (uint32_t i = items.begin; i < items.end; i++)
		m->local[m->items[i]] = NONE;
	return p;
}

/* What an edge costs more when it is cut here than when it is cut next. */
static double cost_of_cut(const struct bisection *m, struct range bins,
			  uint32_t middle)
{
	const struct tree *t = m->assignment->t;
	uint32_t here = tree_meet(t, m->bins[middle - 1], m->bins[middle]);
	uint32_t inside = 0;

	for (uint32_t i = bins.begin + 1; i < bins.end; i++) {
		uint32_t l = tree_meet(t, m->bins[i - 1], m->bins[i]);

		if (i != middle && l < here && l > inside)
			inside = l;
	}
	return t->distance[here] - t->distance[inside];
}

/* Where to cut the list: among its farthest neighbours, nearest to half of the
 * items; *left: items of the first part. */
static uint32_t find_middle(const struct bisection *m, struct range bins,
			    uint32_t n_items, uint32_t *left)
{
	const struct tree *t = m->assignment->t;
	uint32_t sum = 0, best = bins.begin + 1, level = 0, distance = NONE;

	for (uint32_t i = bins.begin + 1; i < bins.end; i++) {
		uint32_t l = tree_meet(t, m->bins[i - 1], m->bins[i]), d;

		sum += m->quota[m->bins[i - 1]];
		d = 2 * sum > n_items ? 2 * sum - n_items : n_items - 2 * sum;
		if (l > level || (l == level && d < distance)) {
			level = l;
			distance = d;
			best = i;
			*left = sum;
		}
	}
	return best;
}

/* Items of side 0 first. */
static void part(struct bisection *m, struct range items, const struct piece *p)
{
	uint32_t *out = m->items + items.begin, n = 0, n_other = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		if (p->side[i])
			m->buffer[n_other++] = out[i];
		else
			out[n++] = out[i];
	}
	memcpy(out + n, m->buffer, n_other * sizeof(*out));
}

static bool distribution(struct bisection *m, struct range bins,
			 struct range items, bool partial)
{
	uint32_t middle, left = 0;
	double scale;

	if (bins.end - bins.begin <= 1)
		return true;
	middle = find_middle(m, bins, items.end - items.begin, &left);
	if (left > 0 && left < items.end - items.begin) {
		struct piece *p = extract(m, bins, middle, items, partial);

		if (partial) {
			scale = cost_of_cut(m, bins, middle);
			for (uint32_t e = 0; e < p->n_edges; e++)
				p->weight[e] *= scale;
		}
		if (!bisect_cut(m->bisector, left))
			return false;
		part(m, items, p);
	}
	return distribution(m, (struct range){bins.begin, middle},
			    (struct range){items.begin, items.begin + left},
			    partial) &&
	       distribution(m, (struct range){middle, bins.end},
			    (struct range){items.begin + left, items.end},
			    partial);
}

/* Items by quota to the slots of the bins, empty ones behind. */
static void seat(struct bisection *m, uint32_t n_bins, uint32_t n_items)
{
	const struct tree *t = m->assignment->t;
	uint32_t next = 0, empty = n_items;

	for (uint32_t i = 0; i < n_bins; i++) {
		uint32_t bin = m->bins[i], slot = t->first[bin];

		for (uint32_t k = 0; k < size_of(t, bin); k++)
			assignment_put(
				m->assignment,
				m->items[k < m->quota[bin] ? next++ : empty++],
				slot++);
	}
}

/* Items of the bins of the list, those with traffic first; returns how many
 * those are. */
static uint32_t collect(struct bisection *m, uint32_t n_bins, uint32_t *n_empty)
{
	const struct assignment *s = m->assignment;
	uint32_t n = 0;

	*n_empty = 0;
	for (uint32_t i = 0; i < n_bins; i++) {
		uint32_t bin = m->bins[i];

		for (uint32_t k = s->t->first[bin]; k < s->t->first[bin + 1];
		     k++) {
			uint32_t v = s->item_at[k];

			if (s->g->row[v] < s->g->row[v + 1])
				m->items[n++] = v;
			else
				m->buffer[(*n_empty)++] = v;
		}
	}
	memcpy(m->items + n, m->buffer, *n_empty * sizeof(*m->items));
	return n;
}

/* Equal gains are resolved by order: let that be another one every time. */
static void shuffle(struct bisection *m, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t j = effort_below(m->bisector->effort, i + 1);
		uint32_t item = m->items[i];

		m->items[i] = m->items[j];
		m->items[j] = item;
	}
}

static bool run(struct bisection *m, uint32_t n_bins, bool partial)
{
	uint32_t n_empty, n = collect(m, n_bins, &n_empty);

	shuffle(m, n);
	order_bins(m, n_bins);
	hand_out(m, n_bins, n_empty);
	if (!distribution(m, (struct range){0, n_bins}, (struct range){0, n},
			  partial))
		return false;
	seat(m, n_bins, n);
	return true;
}

bool bisection_all(struct bisection *m)
{
	for (uint32_t b = 0; b < m->assignment->t->n_bins; b++)
		m->bins[b] = b;
	if (!run(m, m->assignment->t->n_bins, false))
		return false;
	m->assignment->cost = assignment_cost(m->assignment);
	return true;
}

bool bisection_some(struct bisection *m, const uint32_t *bins, uint32_t n_bins)
{
	bool done;

	memcpy(m->bins, bins, n_bins * sizeof(*bins));
	for (uint32_t i = 0; i < n_bins; i++)
		m->open[bins[i]] = true;
	done = run(m, n_bins, true);
	for (uint32_t i = 0; i < n_bins; i++)
		m->open[bins[i]] = false;
	return done;
}
