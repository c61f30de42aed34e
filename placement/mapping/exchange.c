/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c - items of two bins exchanged for the better */
#include "placement/mapping/local_search.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

int exchange_build(struct assignment *assignment, struct bisector *bisector,
		   struct exchange *x, struct weft_error *err)
{
	uint32_t n = assignment->g->n, n_bins = assignment->t->n_bins;

	*x = (struct exchange){.assignment = assignment, .bisector = bisector};
	x->slots = weft_calloc(n, sizeof(*x->slots), err);
	x->local = weft_calloc(n, sizeof(*x->local), err);
	x->queue = weft_calloc(n_bins, sizeof(*x->queue), err);
	x->queued = weft_calloc(n_bins, sizeof(*x->queued), err);
	x->seen = weft_calloc(n_bins, sizeof(*x->seen), err);
	x->around = weft_calloc(n_bins, sizeof(*x->around), err);
	if (!x->slots || !x->local || !x->queue || !x->queued || !x->seen ||
	    !x->around)
		return -1;
	memset(x->local, 0xff, n * sizeof(*x->local));
	return 0;
}

void exchange_free(struct exchange *x)
{
	free(x->slots);
	free(x->local);
	free(x->queue);
	free(x->queued);
	free(x->seen);
	free(x->around);
	memset(x, 0, sizeof(*x));
}

/* Slots of that kind in bin, appended to x->slots. */
static uint32_t gather(struct exchange *x, uint32_t bin, uint32_t kind,
		       uint32_t n)
{
	const struct assignment *s = x->assignment;

	for (uint32_t i = s->t->first[bin]; i < s->t->first[bin + 1]; i++) {
		if (s->t->kind[i] != kind)
			continue;
		x->local[s->item_at[i]] = n;
		x->slots[n++] = i;
	}
	return n;
}

/* Edges of an item that leave the piece: how much more it costs in b. */
static double bias_of(const struct tree *t, uint32_t a, uint32_t b, uint32_t to)
{
	uint32_t level_a = tree_meet(t, a, to), level_b = tree_meet(t, b, to);

	return t->distance[level_b] - t->distance[level_a];
}

static struct piece *extract(struct exchange *x, uint32_t a, uint32_t b,
			     uint32_t n_a, uint32_t n)
{
	const struct assignment *s = x->assignment;
	const struct tree *t = s->t;
	const struct graph *g = s->g;
	struct piece *p = bisector_piece(x->bisector);
	uint32_t apart = tree_meet(t, a, b), edge = 0;
	double scale = t->distance[apart] - t->distance[0];
	/* bins outside of the domain that holds both are equally far */
	const uint32_t *domain = t->domain + apart;
	uint32_t common = domain[(size_t)a * t->height];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = s->item_at[x->slots[i]];
		double bias = 0;

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			uint32_t u = g->peer[e], bin = s->bin_of[u];

			if (x->local[u] != NONE) {
				p->peer[edge] = x->local[u];
				p->weight[edge++] = g->weight[e] * scale;
			} else if (domain[(size_t)bin * t->height] == common) {
				bias += g->weight[e] * bias_of(t, a, b, bin);
			}
		}
		p->row[i + 1] = edge;
		p->bias[i] = bias;
		p->size[i] = 1;
		p->side[i] = i >= n_a;
	}
	p->n = n;
	p->n_edges = edge;
	for (uint32_t i = 0; i < n; i++)
		x->local[s->item_at[x->slots[i]]] = NONE;
	return p;
}

/* Every other item of side 1 goes to the slots of a and the other way round. */
static void apply(struct exchange *x, const struct piece *p, uint32_t n_a)
{
	struct assignment *s = x->assignment;
	uint32_t to_b = 0, to_a = n_a;

	for (;;) {
		uint32_t slot_a, slot_b, item;

		while (to_b < n_a && !p->side[to_b])
			to_b++;
		while (to_a < p->n && p->side[to_a])
			to_a++;
		if (to_b == n_a || to_a == p->n)
			return;
		slot_a = x->slots[to_b++];
		slot_b = x->slots[to_a++];
		item = s->item_at[slot_a];
		assignment_put(s, s->item_at[slot_b], slot_a);
		assignment_put(s, item, slot_b);
	}
}

static double cost_of(const struct piece *p)
{
	double cost = 0, cut = 0;

	for (uint32_t v = 0; v < p->n; v++) {
		if (!p->side[v])
			continue;
		cost += p->bias[v];
		for (uint32_t e = p->row[v]; e < p->row[v + 1]; e++)
			cut += p->side[p->peer[e]] ? 0 : p->weight[e];
	}
	return cost + cut;
}

static void disturb(struct exchange *x, struct piece *p, uint32_t n_a,
		    enum exchange_mode mode)
{
	struct effort *effort = x->bisector->effort;
	uint32_t n_b = p->n - n_a, n;

	if (mode == EXCHANGE_REGROW) {
		memset(p->side, 1, p->n);
		p->side[effort_below(effort, p->n)] = 0;
		return;
	}
	n = 1 + effort_below(effort, 1 + (n_a < n_b ? n_a : n_b) / 3);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = effort_below(effort, n_a);
		uint32_t u = n_a + effort_below(effort, n_b);
		uint8_t side = p->side[v];

		p->side[v] = p->side[u];
		p->side[u] = side;
	}
}

bool exchange_pair(struct exchange *x, uint32_t a, uint32_t b, uint32_t kind,
		   enum exchange_mode mode, double tolerance)
{
	struct bisector *bisector = x->bisector;
	uint32_t n_a = gather(x, a, kind, 0), n = gather(x, b, kind, n_a);
	struct piece *p = extract(x, a, b, n_a, n);
	double fall;

	effort_spend(bisector->effort, n + p->n_edges);
	if (n_a == 0 || n == n_a)
		return false;
	if (mode == EXCHANGE_REFINE) {
		fall = bisect_refine(bisector, p, n_a);
	} else {
		fall = cost_of(p);
		disturb(x, p, n_a, mode);
		bisect_refine(bisector, p, n_a);
		fall -= cost_of(p);
	}
	if (mode == EXCHANGE_REFINE ? fall <= bisector->epsilon
				    : fall < -tolerance - bisector->epsilon)
		return false;
	apply(x, p, n_a);
	x->assignment->cost -= fall;
	if (fall > bisector->epsilon) {
		exchange_queue(x, a);
		exchange_queue(x, b);
	}
	return fall > bisector->epsilon;
}

void exchange_queue(struct exchange *x, uint32_t bin)
{
	uint32_t n_bins = x->assignment->t->n_bins;

	if (x->queued[bin])
		return;
	x->queued[bin] = true;
	x->queue[(x->head + x->n_queued++) % n_bins] = bin;
}

static uint32_t pop(struct exchange *x)
{
	uint32_t bin = x->queue[x->head];

	x->head = (x->head + 1) % x->assignment->t->n_bins;
	x->n_queued--;
	x->queued[bin] = false;
	return bin;
}

void exchange_forget(struct exchange *x)
{
	while (x->n_queued > 0)
		pop(x);
}

/* Other bins that a bin's items have edges to. */
static uint32_t look_around(struct exchange *x, uint32_t bin)
{
	const struct assignment *s = x->assignment;
	const struct graph *g = s->g;
	uint32_t n = 0;

	x->stamp++;
	x->seen[bin] = x->stamp;
	for (uint32_t i = s->t->first[bin]; i < s->t->first[bin + 1]; i++) {
		uint32_t v = s->item_at[i];

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			uint32_t other = s->bin_of[g->peer[e]];

			if (x->seen[other] == x->stamp)
				continue;
			x->seen[other] = x->stamp;
			x->around[n++] = other;
		}
	}
	return n;
}

/* Every kind of slot that bin a has. */
static bool refine_kinds(struct exchange *x, uint32_t a, uint32_t b)
{
	const struct tree *t = x->assignment->t;
	bool fell = false;

	for (uint32_t i = t->first[a]; i < t->first[a + 1]; i++) {
		uint32_t k = t->first[a];

		while (t->kind[k] != t->kind[i])
			k++;
		if (k == i)
			fell |= exchange_pair(x, a, b, t->kind[i],
					      EXCHANGE_REFINE, 0);
	}
	return fell;
}

bool exchange_settle(struct exchange *x)
{
	while (x->n_queued > 0) {
		uint32_t bin = pop(x), n = look_around(x, bin);

		for (uint32_t i = 0; i < n; i++) {
			if (bisector_spent(x->bisector))
				return false;
			refine_kinds(x, bin, x->around[i]);
		}
	}
	return true;
}
