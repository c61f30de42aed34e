/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alignment.c - ranks that talk across nodes put on the same rail
 *
 * With the other nodes fixed, the best order inside a node is an assignment
 * problem, solved by shortest augmenting paths (Jonker and Volgenant 1987).
 * Nodes join one after the other, those first that talk most to the ones that
 * are there, then again in turn until nothing changes.
 */
#include "base/clock.h"
#include "placement/mapping/mapping_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* Larger domains keep their order: the assignment takes size^3. */
#define MAX_SIZE   128
#define MAX_SWEEPS 20
/* One exchange in so many is with any site. */
#define ANYWHERE 32
#define CLOCKED	 128 /* exchanges between two looks at the clock */
/* Losses accepted at last, of those at first. */
#define COLD	    0.03
#define SIGNIFICANT 1e-12

bool alignment_matters(const struct sites *s)
{
	uint32_t top = 0;

	for (uint32_t i = 0; i + 1 < s->n; i++)
		top = s->meet[0][i] > top ? s->meet[0][i] : top;
	for (uint32_t l = 1; l <= top; l++)
		if (s->distance[l][0] != s->distance[l][1])
			for (uint32_t i = 1; i < s->n; i++)
				if (s->rail[i] != s->rail[0])
					return true;
	return false;
}

static int allocate(struct alignment *r, struct weft_error *err)
{
	uint32_t n_bins = r->t.n_bins, size = r->size + 1;

	r->site_of = weft_calloc(r->g->n, sizeof(*r->site_of), err);
	r->best = weft_calloc(r->g->n, sizeof(*r->best), err);
	r->rank_at = weft_calloc(r->s->n, sizeof(*r->rank_at), err);
	r->rail_site =
		weft_calloc(n_bins, r->n_rails * sizeof(*r->rail_site), err);
	r->order = weft_calloc(n_bins, sizeof(*r->order), err);
	r->pull = weft_calloc(n_bins, sizeof(*r->pull), err);
	r->placed = weft_calloc(n_bins, sizeof(*r->placed), err);
	r->matrix = weft_calloc(size, size * sizeof(*r->matrix), err);
	r->price = weft_calloc(size, 3 * sizeof(*r->price), err);
	r->match = weft_calloc(size, 4 * sizeof(*r->match), err);
	return r->site_of && r->best && r->rank_at && r->rail_site &&
			       r->order && r->pull && r->placed && r->matrix &&
			       r->price && r->match
		       ? 0
		       : -1;
}

int alignment_build(const struct graph *g, const struct sites *s,
		    struct effort *effort, struct alignment *r,
		    struct weft_error *err)
{
	memset(r, 0, sizeof(*r));
	r->g = g;
	r->s = s;
	r->effort = effort;
	if (tree_build(s, 1, &r->t, err))
		return -1;
	for (uint32_t b = 0; b < r->t.n_bins; b++)
		if (r->t.first[b + 1] - r->t.first[b] > r->size)
			r->size = r->t.first[b + 1] - r->t.first[b];
	for (uint32_t i = 0; i < s->n; i++)
		if (s->rail[i] >= r->n_rails)
			r->n_rails = s->rail[i] + 1;
	if (allocate(r, err))
		return -1;
	memset(r->rail_site, 0xff,
	       (size_t)r->t.n_bins * r->n_rails * sizeof(*r->rail_site));
	for (uint32_t i = 0; i < s->n; i++)
		r->rail_site[r->t.bin[i] * r->n_rails + s->rail[i]] = i;
	return 0;
}

void alignment_free(struct alignment *r)
{
	void *all[] = {r->site_of, r->best, r->rank_at, r->rail_site,
		       r->order,   r->pull, r->placed,	r->matrix,
		       r->price,   r->match};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	tree_free(&r->t);
	memset(r, 0, sizeof(*r));
}

/* Rows and columns count from 1; price u of rows, v of columns.  Column 0
 * stands for none. */
struct assignment {
	uint32_t n;
	const double *m;
	double *u, *v, *least;
	uint32_t *row_of, *way, *used;
};

/* Extends the tree of cheapest paths from column `at` by the nearest column,
 * which it returns. */
static uint32_t reach(struct assignment *a, uint32_t at)
{
	uint32_t row = a->row_of[at], next = 0;
	const double *m = a->m + (size_t)(row - 1) * a->n;
	double step = (double)INFINITY;

	a->used[at] = 1;
	for (uint32_t j = 1; j <= a->n; j++) {
		double d = m[j - 1] - a->u[row] - a->v[j];

		if (a->used[j])
			continue;
		if (d < a->least[j]) {
			a->least[j] = d;
			a->way[j] = at;
		}
		if (a->least[j] < step) {
			step = a->least[j];
			next = j;
		}
	}
	for (uint32_t j = 0; j <= a->n; j++) {
		if (a->used[j]) {
			a->u[a->row_of[j]] += step;
			a->v[j] -= step;
		} else {
			a->least[j] -= step;
		}
	}
	return next;
}

/* Least sum of r->matrix[row][column], n by n; column_of[row]. */
static void assign(struct alignment *r, uint32_t n, uint32_t *column_of)
{
	uint32_t stride = r->size + 1;
	struct assignment a = {n,
			       r->matrix,
			       r->price,
			       r->price + stride,
			       r->price + 2 * stride,
			       r->match,
			       r->match + stride,
			       r->match + 2 * stride};

	for (uint32_t j = 0; j <= n; j++) {
		a.u[j] = a.v[j] = 0;
		a.row_of[j] = 0;
	}
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t at = 0;

		a.row_of[0] = i;
		for (uint32_t j = 0; j <= n; j++) {
			a.least[j] = (double)INFINITY;
			a.used[j] = 0;
		}
		do
			at = reach(&a, at);
		while (a.row_of[at]);
		for (; at; at = a.way[at])
			a.row_of[at] = a.row_of[a.way[at]];
	}
	for (uint32_t j = 1; j <= n; j++)
		column_of[a.row_of[j] - 1] = j - 1;
}

/* What each rank of a bin costs on each of its sites, as far as its peers are
 * placed; differences between rails only. */
static uint32_t price_bin(struct alignment *r, uint32_t bin)
{
	const struct sites *s = r->s;
	uint32_t first = r->t.first[bin], n = r->t.first[bin + 1] - first;
	uint32_t looked = 0;

	memset(r->matrix, 0, (size_t)n * n * sizeof(*r->matrix));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rank = r->rank_at[first + i];
		double *row = r->matrix + (size_t)i * n;

		if (rank == NONE)
			continue;
		for (uint32_t e = r->g->row[rank]; e < r->g->row[rank + 1];
		     e++) {
			uint32_t to = r->site_of[r->g->peer[e]];
			uint32_t own = r->t.bin[to];
			const double *d;
			double extra;

			looked++;
			if (own == bin || !r->placed[own])
				continue;
			d = s->distance[sites_meet(s, first, to)];
			extra = r->g->weight[e] * (d[1] - d[0]);
			for (uint32_t k = 0; k < n; k++)
				row[k] += s->rail[first + k] == s->rail[to]
						  ? 0
						  : extra;
		}
	}
	effort_spend(r->effort, 2 * looked + n * n);
	return n;
}

/* True if the bin changed for the better. */
static bool arrange_bin(struct alignment *r, uint32_t bin)
{
	uint32_t first = r->t.first[bin];
	uint32_t n = r->t.first[bin + 1] - first;
	uint32_t *column_of = r->match + 3 * (r->size + 1);
	double before = 0, after = 0;

	if (n > MAX_SIZE)
		return false;
	price_bin(r, bin);
	assign(r, n, column_of);
	for (uint32_t i = 0; i < n; i++) {
		before += r->matrix[(size_t)i * n + i];
		after += r->matrix[(size_t)i * n + column_of[i]];
	}
	if (!(after < before * (1 - SIGNIFICANT)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		/* the prices are done with: room for the ranks */
		r->match[i] = r->rank_at[first + i];
	}
	for (uint32_t i = 0; i < n; i++) {
		r->rank_at[first + column_of[i]] = r->match[i];
		if (r->match[i] != NONE)
			r->site_of[r->match[i]] = first + column_of[i];
	}
	return true;
}

/* Adds to the pull of each bin what the ranks of this one exchange with it. */
static void join(struct alignment *r, uint32_t bin)
{
	r->placed[bin] = true;
	for (uint32_t i = r->t.first[bin]; i < r->t.first[bin + 1]; i++) {
		uint32_t rank = r->rank_at[i];

		if (rank == NONE)
			continue;
		for (uint32_t e = r->g->row[rank]; e < r->g->row[rank + 1]; e++)
			r->pull[r->t.bin[r->site_of[r->g->peer[e]]]] +=
				r->g->weight[e];
	}
}

static void read_sites(struct alignment *r)
{
	memset(r->rank_at, 0xff, r->s->n * sizeof(*r->rank_at));
	for (uint32_t v = 0; v < r->g->n; v++)
		r->rank_at[r->site_of[v]] = v;
}

void alignment_solve(struct alignment *r)
{
	uint32_t n = r->t.n_bins;
	bool changed = true;

	read_sites(r);
	memset(r->pull, 0, n * sizeof(*r->pull));
	memset(r->placed, 0, n * sizeof(*r->placed));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = NONE;

		for (uint32_t b = 0; b < n; b++)
			if (!r->placed[b] &&
			    (next == NONE || r->pull[b] > r->pull[next]))
				next = b;
		if (!effort_spent(r->effort))
			arrange_bin(r, next);
		r->order[i] = next;
		join(r, next);
	}
	for (int sweep = 0; changed && sweep < MAX_SWEEPS; sweep++) {
		changed = false;
		for (uint32_t i = 0; i < n && !effort_spent(r->effort); i++)
			changed |= arrange_bin(r, r->order[i]);
	}
}

/* Change of cost when the rank goes from a site to another, but for its edge
 * to the rank it changes places with. */
static double change(const struct alignment *r, uint32_t rank, uint32_t from,
		     uint32_t to, uint32_t other)
{
	const struct graph *g = r->g;
	double sum = 0;

	for (uint32_t e = g->row[rank]; e < g->row[rank + 1]; e++) {
		uint32_t site;

		if (g->peer[e] == other)
			continue;
		site = r->site_of[g->peer[e]];
		sum += g->weight[e] *
		       ((site == to ? 0 : sites_distance(r->s, to, site)) -
			(site == from ? 0 : sites_distance(r->s, from, site)));
	}
	return sum;
}

static double change_of_swap(const struct alignment *r, uint32_t from,
			     uint32_t to)
{
	uint32_t rank = r->rank_at[from], other = r->rank_at[to];
	double sum = change(r, rank, from, to, other);

	if (other != NONE)
		sum += change(r, other, to, from, rank);
	return sum;
}

static void swap(struct alignment *r, uint32_t from, uint32_t to)
{
	uint32_t rank = r->rank_at[from], other = r->rank_at[to];

	r->rank_at[from] = other;
	r->rank_at[to] = rank;
	r->site_of[rank] = to;
	if (other != NONE)
		r->site_of[other] = from;
}

/* Mostly this one, else one of the domain just above. */
static uint32_t random_bin_around(struct alignment *r, uint32_t bin)
{
	const struct tree *t = &r->t;
	uint32_t first, end;

	if (t->height < 2 || effort_below(r->effort, 8) < 5)
		return bin;
	first = t->domain[(size_t)bin * t->height + 1];
	for (end = first + 1; end < t->n_bins; end++)
		if (t->domain[(size_t)end * t->height + 1] != first)
			break;
	return first + effort_below(r->effort, end - first);
}

/* Where a rank would be on the rail of one of its peers, seldom anywhere; NONE
 * if there is no such site. */
static uint32_t better_site(struct alignment *r, uint32_t rank)
{
	const struct graph *g = r->g;
	uint32_t degree = g->row[rank + 1] - g->row[rank], peer, bin, to;

	if (degree == 0)
		return NONE;
	if (effort_below(r->effort, ANYWHERE) == 0)
		return effort_below(r->effort, r->s->n);
	peer = g->peer[g->row[rank] + effort_below(r->effort, degree)];
	bin = random_bin_around(r, r->t.bin[r->site_of[rank]]);
	to = r->rail_site[bin * r->n_rails + r->s->rail[r->site_of[peer]]];
	return to;
}

static double mean_extra(const struct alignment *r)
{
	double sum = 0, most = 0;

	for (uint32_t l = 1; l < WEFT_MAX_LEVELS; l++) {
		const double *d = r->s->distance[l];

		if (isfinite(d[0]) && isfinite(d[1]))
			most = d[1] - d[0] > most ? d[1] - d[0] : most;
	}
	for (uint32_t e = 0; e < r->g->n_edges; e++)
		sum += r->g->weight[e];
	return r->g->n_edges ? sum / r->g->n_edges * most : 0;
}

/* Part of the work or of the time that is over; 1 at the end. */
static double how_far(const struct alignment *r, const struct effort *from,
		      double from_s, uint64_t work)
{
	struct effort *e = r->effort;
	double far = (double)(from->work - e->work) / (double)work;

	if (effort_spent(e))
		return 1;
	if (e->deadline_s > 0)
		far = fmax(far, (weft_budget_clock_s() - from_s) /
					(e->deadline_s - from_s));
	return far;
}

void alignment_anneal(struct alignment *r, double heat, uint64_t work)
{
	struct effort *effort = r->effort, from = *effort;
	double from_s = weft_budget_clock_s(), far = 0, cost = 0, best = 0;
	double hot = heat * mean_extra(r), cooling = log(COLD);

	read_sites(r);
	memcpy(r->best, r->site_of, r->g->n * sizeof(*r->best));
	for (uint32_t i = 0; far < 1; i++) {
		uint32_t rank = effort_below(effort, r->g->n);
		uint32_t site = r->site_of[rank], to = better_site(r, rank);
		double more, chance;

		if (i % CLOCKED == 0) {
			far = how_far(r, &from, from_s, work);
			heat = hot * exp(cooling * far);
			effort_spend(effort, CLOCKED);
		}
		if (to == NONE || to == site)
			continue;
		more = change_of_swap(r, site, to);
		effort_spend(effort,
			     2 * (r->g->row[rank + 1] - r->g->row[rank]));
		chance =
			(1 + effort_below(effort, 1 << 24)) / (double)(1 << 24);
		if (more > -heat * log(chance))
			continue;
		swap(r, site, to);
		cost += more;
		if (cost < best - hot * 1e-9) {
			best = cost;
			memcpy(r->best, r->site_of, r->g->n * sizeof(*r->best));
		}
	}
	memcpy(r->site_of, r->best, r->g->n * sizeof(*r->best));
}
