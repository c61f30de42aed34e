/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bisect.c - a graph cut in two parts of given sizes */
#include "placement/mapping/bisect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECES 40 /* halvings of 2^32 vertices, and some to spare */
#define SLACK	   4  /* room for coarser pieces, times the finest */
#define COARSEST   48
#define GROWTHS	   8
#define SCANNED	   64 /* vertices up to which no tree is kept */
/* Work of some 20 microseconds. */
#define BETWEEN_LOOKS 2000
#define MAX_PASSES    8
#define MIN_PATIENCE  24 /* moves without gain that end a pass */
/* Gain of a vertex that cannot move. */
#define GONE (-(double)INFINITY)

static int allocate_pieces(struct bisector *s, struct weft_error *err)
{
	size_t n = s->max_vertices, m = s->max_edges;

	s->row = weft_calloc(n + MAX_PIECES, sizeof(*s->row), err);
	s->size = weft_calloc(n, sizeof(*s->size), err);
	s->into = weft_calloc(n, sizeof(*s->into), err);
	s->bias = weft_calloc(n, sizeof(*s->bias), err);
	s->side = weft_calloc(n, sizeof(*s->side), err);
	s->peer = weft_calloc(m, sizeof(*s->peer), err);
	s->weight = weft_calloc(m, sizeof(*s->weight), err);
	s->pieces = weft_calloc(MAX_PIECES, sizeof(*s->pieces), err);
	return s->row && s->size && s->into && s->bias && s->side && s->peer &&
			       s->weight && s->pieces
		       ? 0
		       : -1;
}

int bisector_build(uint32_t n, uint32_t n_edges, struct bisector *s,
		   struct weft_error *err)
{
	uint32_t leaves = SCANNED;

	memset(s, 0, sizeof(*s));
	while (leaves < n)
		leaves *= 2;
	s->max_vertices = SLACK * n + COARSEST;
	s->max_edges = SLACK * n_edges;
	for (int side = 0; side < 2; side++) {
		s->gain[side] = weft_calloc(leaves, sizeof(double), err);
		s->winner[side] =
			weft_calloc(leaves, 2 * sizeof(uint32_t), err);
		if (!s->gain[side] || !s->winner[side])
			return -1;
	}
	s->moved = weft_calloc(n, sizeof(*s->moved), err);
	s->order = weft_calloc(n, sizeof(*s->order), err);
	s->seen = weft_calloc(n, sizeof(*s->seen), err);
	s->kept = weft_calloc(n, sizeof(*s->kept), err);
	if (!s->moved || !s->order || !s->seen || !s->kept)
		return -1;
	return allocate_pieces(s, err);
}

void bisector_free(struct bisector *s)
{
	void *all[] = {s->row,	     s->size,	 s->into,   s->bias,
		       s->side,	     s->peer,	 s->weight, s->pieces,
		       s->gain[0],   s->gain[1], s->moved,  s->winner[0],
		       s->winner[1], s->order,	 s->seen,   s->kept};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	memset(s, 0, sizeof(*s));
}

bool bisect_due(const struct effort *e, uint64_t *looked)
{
	if (e->work > 0 && *looked - e->work < BETWEEN_LOOKS)
		return false;
	*looked = e->work;
	return true;
}

bool bisector_spent(struct bisector *s)
{
	if (bisect_due(s->effort, &s->looked))
		s->spent = effort_spent(s->effort);
	return s->spent;
}

/* A piece behind those in use. */
static void take_piece(struct bisector *s, struct piece *p)
{
	uint32_t number = (uint32_t)(p - s->pieces);

	p->n = p->n_edges = 0;
	p->row = s->row + s->vertices_used + number;
	p->row[0] = 0;
	p->peer = s->peer + s->edges_used;
	p->weight = s->weight + s->edges_used;
	p->size = s->size + s->vertices_used;
	p->bias = s->bias + s->vertices_used;
	p->side = s->side + s->vertices_used;
	p->into = s->into + s->vertices_used;
}

struct piece *bisector_piece(struct bisector *s)
{
	s->vertices_used = s->edges_used = 0;
	take_piece(s, s->pieces);
	return s->pieces;
}

/* The first of the greatest of gain[0..n-1], n a multiple of 4. */
static uint32_t scan(const double *gain, uint32_t n)
{
	double a = gain[0], b = gain[1], c = gain[2], d = gain[3];
	uint32_t v = 0;

	for (uint32_t i = 4; i < n; i += 4) {
		a = gain[i] > a ? gain[i] : a;
		b = gain[i + 1] > b ? gain[i + 1] : b;
		c = gain[i + 2] > c ? gain[i + 2] : c;
		d = gain[i + 3] > d ? gain[i + 3] : d;
	}
	a = a > b ? a : b;
	c = c > d ? c : d;
	a = a > c ? a : c;
	while (gain[v] != a)
		v++;
	return v;
}

static void sort_leaf(struct bisector *s, int side, uint32_t leaves, uint32_t v)
{
	const double *gain = s->gain[side];
	uint32_t *winner = s->winner[side];

	for (uint32_t i = (leaves + v) / 2; i > 0; i /= 2) {
		uint32_t left = winner[2 * i], right = winner[2 * i + 1];
		uint32_t best = gain[left] >= gain[right] ? left : right;

		if (winner[i] == best && best != v)
			return;
		winner[i] = best;
	}
}

static void sort_all(struct bisector *s, int side, uint32_t leaves)
{
	const double *gain = s->gain[side];
	uint32_t *winner = s->winner[side];

	for (uint32_t v = 0; v < leaves; v++)
		winner[leaves + v] = v;
	for (uint32_t i = leaves - 1; i > 0; i--) {
		uint32_t left = winner[2 * i], right = winner[2 * i + 1];

		winner[i] = gain[left] >= gain[right] ? left : right;
	}
}

struct pass {
	struct bisector *s;
	struct piece *p;
	uint32_t leaves, slack;
	int64_t excess; /* size of side 0 beyond the target */
	uint32_t n_moved, n_kept;
	double fall, best;
};

/* The vertex of a side that gains most by moving. */
static uint32_t top(const struct pass *a, int side)
{
	if (a->leaves <= SCANNED)
		return scan(a->s->gain[side], a->leaves);
	return a->s->winner[side][1];
}

static void touch(struct pass *a, int side, uint32_t v)
{
	if (a->leaves > SCANNED)
		sort_leaf(a->s, side, a->leaves, v);
}

static uint32_t begin_pass(struct pass *a)
{
	struct bisector *s = a->s;
	const struct piece *p = a->p;

	a->leaves = (p->n + 3) / 4 * 4;
	if (a->leaves > SCANNED)
		for (a->leaves = SCANNED; a->leaves < p->n;)
			a->leaves *= 2;
	for (uint32_t v = 0; v < p->n; v++) {
		uint8_t side = p->side[v];
		double gain = side ? p->bias[v] : -p->bias[v];

		for (uint32_t e = p->row[v]; e < p->row[v + 1]; e++)
			gain += p->side[p->peer[e]] == side ? -p->weight[e]
							    : p->weight[e];
		s->gain[side][v] = gain;
		s->gain[!side][v] = GONE;
	}
	for (uint32_t v = p->n; v < a->leaves; v++)
		s->gain[0][v] = s->gain[1][v] = GONE;
	if (a->leaves > SCANNED) {
		sort_all(s, 0, a->leaves);
		sort_all(s, 1, a->leaves);
	}
	effort_spend(s->effort, p->n + p->n_edges);
	return MIN_PATIENCE + p->n / 16;
}

/* The vertex that moves next: of the side that has too much, else of the one
 * whose best gains more. */
static uint32_t choose(const struct pass *a, int *from)
{
	const struct bisector *s = a->s;
	uint32_t zero, one;

	if (a->excess) {
		*from = a->excess < 0;
		return top(a, *from);
	}
	zero = top(a, 0);
	one = top(a, 1);
	*from = s->gain[1][one] > s->gain[0][zero];
	return *from ? one : zero;
}

static void move(struct pass *a, int from, uint32_t v)
{
	struct bisector *s = a->s;
	struct piece *p = a->p;

	a->fall += s->gain[from][v];
	a->excess += from ? p->size[v] : -(int64_t)p->size[v];
	p->side[v] = (uint8_t)!from;
	s->gain[from][v] = GONE;
	touch(a, from, v);
	s->moved[a->n_moved++] = v;
	for (uint32_t e = p->row[v]; e < p->row[v + 1]; e++) {
		uint32_t u = p->peer[e];
		int side = p->side[u];

		if (s->gain[side][u] == GONE)
			continue; /* moved already */
		s->gain[side][u] +=
			side == from ? 2 * p->weight[e] : -2 * p->weight[e];
		touch(a, side, u);
	}
}

/* Each vertex moves at most once; then all moves after the best balanced state
 * are taken back.  True if that state is better than the first. */
static bool run_pass(struct pass *a)
{
	struct bisector *s = a->s;
	uint32_t patience = begin_pass(a);
	bool balanced = (uint64_t)llabs(a->excess) <= a->slack;
	int64_t excess = a->excess;

	a->n_moved = a->n_kept = 0;
	a->fall = 0;
	a->best = balanced ? 0 : GONE;
	while (a->n_moved < a->p->n) {
		int from;
		uint32_t v = choose(a, &from);

		if (s->gain[from][v] == GONE)
			break;
		move(a, from, v);
		if ((uint64_t)llabs(a->excess) <= a->slack &&
		    a->fall > a->best + s->epsilon) {
			a->best = a->fall;
			a->n_kept = a->n_moved;
			excess = a->excess;
		} else if (a->best > GONE &&
			   a->n_moved - a->n_kept > patience) {
			break;
		}
	}
	for (uint32_t i = a->n_kept; i < a->n_moved; i++)
		a->p->side[s->moved[i]] ^= 1;
	a->excess = excess;
	return a->n_kept > 0;
}

static double refine(struct bisector *s, struct piece *p, uint32_t target,
		     uint32_t slack)
{
	struct pass a = {.s = s, .p = p, .slack = slack};
	double fall = 0;

	a.excess = -(int64_t)target;
	for (uint32_t v = 0; v < p->n; v++)
		a.excess += p->side[v] ? 0 : p->size[v];
	for (int i = 0; i < MAX_PASSES && run_pass(&a); i++) {
		fall += a.best;
		if (bisector_spent(s))
			break;
	}
	return fall;
}

double bisect_refine(struct bisector *s, struct piece *p, uint32_t target)
{
	return refine(s, p, target, 0);
}

static void shuffle(struct bisector *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = effort_below(s->effort, i + 1);

		s->order[i] = s->order[j];
		s->order[j] = i;
	}
}

/* Pairs vertices along their heaviest edges, for their sizes; those of the
 * coarser piece are numbered in p->into. */
static uint32_t match(struct bisector *s, struct piece *p, uint32_t max_size)
{
	uint32_t n = 0;

	shuffle(s, p->n);
	memset(p->into, 0xff, p->n * sizeof(*p->into));
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t v = s->order[i], best = v;
		double heaviest = 0;

		if (p->into[v] != UINT32_MAX)
			continue;
		for (uint32_t e = p->row[v]; e < p->row[v + 1]; e++) {
			uint32_t u = p->peer[e];
			double w = p->weight[e] / p->size[u];

			if (w > heaviest && p->into[u] == UINT32_MAX &&
			    p->size[v] + p->size[u] <= max_size) {
				heaviest = w;
				best = u;
			}
		}
		p->into[v] = p->into[best] = n++;
	}
	return n;
}

/* Appends the edges of fine vertex v to the last row of c, summing those to
 * one peer; seen[] tells where each peer is in this row. */
static void pour(struct bisector *s, const struct piece *p, uint32_t v,
		 struct piece *c, uint32_t begin)
{
	uint32_t own = p->into[v];

	for (uint32_t e = p->row[v]; e < p->row[v + 1]; e++) {
		uint32_t u = p->into[p->peer[e]], at = s->seen[u];

		if (u == own)
			continue;
		if (at >= begin && at < c->n_edges && c->peer[at] == u) {
			c->weight[at] += p->weight[e];
			continue;
		}
		s->seen[u] = c->n_edges;
		c->peer[c->n_edges] = u;
		c->weight[c->n_edges++] = p->weight[e];
	}
}

static void contract(struct bisector *s, const struct piece *p, struct piece *c,
		     uint32_t n)
{
	uint32_t *one = s->moved, *other = s->order;

	memset(one, 0xff, n * sizeof(*one));
	memset(other, 0xff, n * sizeof(*other));
	for (uint32_t v = 0; v < p->n; v++) {
		uint32_t *member = one[p->into[v]] == UINT32_MAX ? one : other;

		member[p->into[v]] = v;
	}
	take_piece(s, c);
	c->n = n;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t begin = c->n_edges, twin = other[v];

		c->size[v] = p->size[one[v]];
		c->bias[v] = p->bias[one[v]];
		pour(s, p, one[v], c, begin);
		if (twin != UINT32_MAX) {
			c->size[v] += p->size[twin];
			c->bias[v] += p->bias[twin];
			pour(s, p, twin, c, begin);
		}
		c->row[v + 1] = c->n_edges;
	}
	effort_spend(s->effort, p->n_edges);
}

/* Contracts until few vertices are left or no edge can be contracted; returns
 * the last piece. */
static uint32_t coarsen(struct bisector *s)
{
	uint32_t last = 0, total = 0;

	for (uint32_t v = 0; v < s->pieces->n; v++)
		total += s->pieces->size[v];
	for (; last + 1 < MAX_PIECES; last++) {
		struct piece *p = s->pieces + last;
		uint32_t n;

		s->vertices_used = (uint32_t)(p->size - s->size) + p->n;
		s->edges_used = (uint32_t)(p->peer - s->peer) + p->n_edges;
		if (p->n <= COARSEST || bisector_spent(s))
			break;
		n = match(s, p, 1 + 3 * total / (2 * COARSEST));
		if (n > p->n - p->n / 16 ||
		    s->vertices_used + n > s->max_vertices ||
		    s->edges_used + p->n_edges > s->max_edges)
			break;
		contract(s, p, p + 1, n);
	}
	return last;
}

static uint32_t largest(const struct piece *p)
{
	uint32_t size = 1;

	for (uint32_t v = 0; v < p->n; v++)
		size = p->size[v] > size ? p->size[v] : size;
	return size;
}

static double cut_of(const struct piece *p)
{
	double cut = 0;

	for (uint32_t v = 0; v < p->n; v++) {
		cut += p->side[v] ? p->bias[v] : 0;
		for (uint32_t e = p->row[v]; e < p->row[v + 1]; e++)
			if (p->side[v] != p->side[p->peer[e]])
				cut += p->weight[e] / 2;
	}
	return cut;
}

/* Side 0 grows from a random vertex to its size. */
static void grow(struct bisector *s, struct piece *p, uint32_t target)
{
	uint32_t slack = largest(p) - 1;
	double best = (double)INFINITY;

	for (int i = 0; i < GROWTHS; i++) {
		double cut;

		if (i > 0 && bisector_spent(s))
			break;
		memset(p->side, 1, p->n);
		p->side[effort_below(s->effort, p->n)] = 0;
		refine(s, p, target, slack);
		cut = cut_of(p);
		if (cut < best) {
			best = cut;
			memcpy(s->kept, p->side, p->n);
		}
	}
	memcpy(p->side, s->kept, p->n);
}

bool bisect_cut(struct bisector *s, uint32_t target)
{
	uint32_t last = coarsen(s);

	grow(s, s->pieces + last, target);
	while (last > 0 && !bisector_spent(s)) {
		struct piece *coarse = s->pieces + last--;
		struct piece *fine = s->pieces + last;

		for (uint32_t v = 0; v < fine->n; v++)
			fine->side[v] = coarse->side[fine->into[v]];
		refine(s, fine, target, last ? largest(fine) - 1 : 0);
	}
	return last == 0 && !s->spent;
}
