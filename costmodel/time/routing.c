/* SPDX-License-Identifier: GPL-3.0-or-later */
/* routing.c - the fullest of hashed uplinks: multinomial maxima */
#include "costmodel/time/routing.h"

#include "costmodel/time/cost.h"
#include "topology/cabling.h"

#include <math.h>

/* Mean loads beyond this are taken as this; how far the fullest is above the
 * mean goes with the root of the mean, and errs by less than 1e-3 there. */
#define MAX_MEAN 4096
/* So many flows, or so many on average, are counted exactly. */
#define EXACT_FLOWS 64
#define EXACT_FEW   16
#define EXACT_MEAN  4
/* Where all uplinks together have this chance to be fuller, two of them at once
 * are too rare to count. */
#define RARE	   0.05
#define NEGLIGIBLE 1e-7
#define N_MOMENTS  5
#define N_CELLS	   256

/* Loads of one of the uplinks, added up from the lowest that can occur. */
struct bins {
	uint32_t n_flows, n_uplinks, n_draws;
	double mean;
	double spread;	  /* of what is above the mean, for long means */
	uint32_t load;	  /* the last that was added */
	double poisson;	  /* chances of it: of a Poisson variable, */
	double binomial;  /* and of a binomial one */
	double below;	  /* sum of the latter */
	double log_total; /* of the chance that a Poisson variable of mean
			   * n_flows is n_flows */
	double moment[N_MOMENTS]; /* sums of poisson (load - mean)^j */
};

static void bins_add(struct bins *b)
{
	double d = b->load - b->mean, power = b->poisson;

	for (uint32_t j = 0; j < N_MOMENTS; j++) {
		b->moment[j] += power;
		power *= d;
	}
	b->below += b->binomial;
}

static void bins_step(struct bins *b)
{
	double left = (double)b->n_flows - b->load;

	b->load++;
	b->poisson *= b->mean / b->load;
	b->binomial *= left / b->load / (b->n_uplinks - 1.0);
	bins_add(b);
}

/* Adds all loads below the mean.  Two uplinks at least. */
static void bins_start(struct bins *b, const struct weft_hashed_link *link)
{
	double k = link->n_uplinks, f = link->n_flows, low, least;

	*b = (struct bins){
		.n_uplinks = link->n_uplinks,
		.n_draws = link->n_draws,
		.spread = 1,
	};
	if (f > k * MAX_MEAN) {
		b->spread = sqrt(k * MAX_MEAN / f);
		f = k * MAX_MEAN;
	}
	b->n_flows = (uint32_t)f;
	b->mean = f / k;
	b->log_total = f * log(f) - f - lgamma(f + 1);
	low = fmax(0, floor(b->mean - 9 * sqrt(b->mean) - 9));
	b->load = (uint32_t)low;
	b->poisson = exp(low * log(b->mean) - b->mean - lgamma(low + 1));
	b->binomial =
		exp(lgamma(f + 1) - lgamma(low + 1) - lgamma(f - low + 1) -
		    low * log(k) + (f - low) * log1p(-1 / k));
	bins_add(b);
	least = ceil(b->mean);
	while (b->load < least)
		bins_step(b);
}

/* Chance that no uplink has more than `most` flows: n! / k^n times the n-th
 * coefficient of (sum of x^j / j! up to most)^k, by the recurrence that a
 * power's derivative gives, with x scaled by the mean. */
static double exact_chance(const struct bins *b, uint32_t most)
{
	double term[EXACT_FLOWS + 1], sum[EXACT_FLOWS + 1];
	double k = b->n_uplinks, n = b->n_flows;

	term[0] = sum[0] = 1;
	for (uint32_t j = 1; j <= most && j <= b->n_flows; j++)
		term[j] = term[j - 1] * b->mean / j;
	for (uint32_t i = 1; i <= b->n_flows; i++) {
		sum[i] = 0;
		for (uint32_t j = 1; j <= most && j <= i; j++)
			sum[i] += ((k + 1) * j - i) * term[j] * sum[i - j];
		sum[i] /= i;
	}
	return sum[b->n_flows] / exp(n * log(n) - lgamma(n + 1));
}

/* The same by truncated Poisson variables: the chance that each is at most the
 * load, times the density of their sum at n_flows, over that of the sum of
 * whole ones. */
static double levin_chance(const struct bins *b)
{
	const double *sum = b->moment;
	double k = b->n_uplinks, all = sum[0], density, root, skew, flat, z;
	double m1 = sum[1] / all, m2 = sum[2] / all, m3 = sum[3] / all;
	double m4 = sum[4] / all, variance = m2 - m1 * m1;

	if (!(variance > 1e-12))
		return 0;
	root = sqrt(k * variance);
	skew = (m3 - 3 * m1 * m2 + 2 * m1 * m1 * m1) / (variance * root);
	flat = (m4 - 4 * m1 * m3 + 6 * m1 * m1 * m2 - 3 * m1 * m1 * m1 * m1 -
		3 * variance * variance) /
	       (k * variance * variance);
	z = -k * m1 / root;
	density = exp(-z * z / 2) / (root * sqrt(2 * acos(-1)));
	density *=
		1 + skew / 6 * z * (z * z - 3) +
		flat / 24 * (z * z * (z * z - 6) + 3) +
		skew * skew / 72 * (z * z * (z * z * (z * z - 15) + 45) - 15);
	return exp(k * log(all) - b->log_total) * fmax(density, 0);
}

/* Chance that one uplink has more flows than the load that was added last.  Far
 * out the sum is no longer exact, and the geometric bound is close. */
static double above_chance(const struct bins *b)
{
	double left = (double)b->n_flows - b->load;
	double ratio = left / (b->load + 1.0) / (b->n_uplinks - 1.0);
	double bound = ratio < 1 ? b->binomial * ratio / (1 - ratio) : 1;

	return fmin(fmax(0, 1 - b->below), bound);
}

/* Chance that no uplink has more. */
static double fullest_chance(const struct bins *b)
{
	double above = above_chance(b), any = b->n_uplinks * above;
	bool few = b->n_flows <= EXACT_FEW ||
		   b->n_flows <= EXACT_MEAN * (double)b->n_uplinks;
	double chance;

	if (b->load >= b->n_flows)
		return 1;
	/* Two uplinks are never both above the mean. */
	if (b->n_uplinks == 2 || any < RARE)
		return fmax(0, 1 - any);
	chance = few && b->n_flows <= EXACT_FLOWS ? exact_chance(b, b->load)
						  : levin_chance(b);
	/* Bonferroni's bound below, and above that loads exclude each other
	 * (C. L. Mallows, Biometrika 55, 1968). */
	chance = fmax(chance, 1 - any);
	return fmin(chance, pow(1 - above, b->n_uplinks));
}

/* Seconds when the fullest uplink has that many flows. */
static double load_s(const struct bins *b, const struct weft_hashed_link *link,
		     uint32_t load)
{
	double above = (load / b->mean - 1) * b->spread;

	return fmax(link->floor_s, link->pooled_s * (1 + above));
}

/* Nothing to choose, or the floor is above all that can happen. */
static bool is_certain(const struct weft_hashed_link *link)
{
	return link->n_flows == 0 || link->n_uplinks < 2 ||
	       link->n_draws == 0 ||
	       link->pooled_s * link->n_uplinks <= link->floor_s;
}

/* Steps of the distribution of the fullest, from the lowest on. */
struct walk {
	struct bins bins;
	const struct weft_hashed_link *link;
	double from_s, to_s; /* the fullest takes at most from_s ... */
	double chance;	     /* ... with this chance, and else to_s or more */
};

static void walk_fill(struct walk *w)
{
	w->from_s = load_s(&w->bins, w->link, w->bins.load);
	w->to_s = load_s(&w->bins, w->link, w->bins.load + 1);
	/* Below the floor no chance counts. */
	w->chance = w->to_s > w->link->floor_s
			    ? pow(fullest_chance(&w->bins), w->bins.n_draws)
			    : 0;
}

static void walk_start(struct walk *w, const struct weft_hashed_link *link)
{
	w->link = link;
	bins_start(&w->bins, link);
	walk_fill(w);
}

/* False once all that is left is negligible. */
static bool walk_next(struct walk *w)
{
	if (w->chance > 1 - NEGLIGIBLE || w->bins.load >= w->bins.n_flows)
		return false;
	bins_step(&w->bins);
	walk_fill(w);
	return true;
}

/* Expected seconds, and those that are hardly ever exceeded. */
static double link_expect(const struct weft_hashed_link *link, double *most_s)
{
	double sum;
	struct walk w;

	*most_s = fmax(link->pooled_s, link->floor_s);
	if (is_certain(link))
		return *most_s;
	walk_start(&w, link);
	sum = w.from_s;
	do {
		sum += (1 - w.chance) * (w.to_s - w.from_s);
		*most_s = w.from_s;
	} while (walk_next(&w));
	return sum;
}

/* Links from `first` on that are alike, as one; returns how many. */
static uint32_t run_take(const struct weft_hashed_link *links, uint32_t first,
			 uint32_t n, struct weft_hashed_link *run)
{
	uint32_t i = first;

	*run = links[first];
	while (++i < n && links[i].n_flows == run->n_flows &&
	       links[i].n_uplinks == run->n_uplinks &&
	       links[i].pooled_s == run->pooled_s &&
	       links[i].floor_s == run->floor_s)
		run->n_draws += links[i].n_draws;
	return i - first;
}

/* Seconds cut into cells; log_chance of each that no link takes longer. */
struct cells {
	double low_s, width_s;
	double log_chance[N_CELLS];
};

static void cells_add(struct cells *cells, const struct weft_hashed_link *link)
{
	struct walk w;
	bool more = true;

	walk_start(&w, link);
	for (uint32_t c = 0; c < N_CELLS && more; c++) {
		double at_s = cells->low_s + (c + 0.5) * cells->width_s;

		while (more && w.to_s <= at_s)
			more = walk_next(&w);
		if (more)
			cells->log_chance[c] += log(fmax(w.chance, 1e-300));
	}
}

static double cells_expect(const struct cells *cells)
{
	double sum = 0;

	for (uint32_t c = 0; c < N_CELLS; c++)
		sum -= expm1(cells->log_chance[c]);
	return cells->low_s + sum * cells->width_s;
}

double weft_routing_links_s(const struct weft_hashed_link *links, uint32_t n)
{
	struct cells cells = {0};
	struct weft_hashed_link run;
	double high_s = 0, expected_s = 0;
	uint32_t n_runs = 0;

	for (uint32_t i = 0; i < n; n_runs++) {
		double most_s, run_s;

		i += run_take(links, i, n, &run);
		run_s = link_expect(&run, &most_s);
		expected_s = fmax(expected_s, run_s);
		high_s = fmax(high_s, most_s);
		cells.low_s =
			fmax(cells.low_s, fmax(run.floor_s, run.pooled_s));
	}
	if (n_runs < 2 || high_s <= cells.low_s)
		return expected_s;
	cells.width_s = (high_s - cells.low_s) / N_CELLS;
	for (uint32_t i = 0; i < n;) {
		i += run_take(links, i, n, &run);
		if (!is_certain(&run) &&
		    run.pooled_s * run.n_uplinks > cells.low_s)
			cells_add(&cells, &run);
	}
	return fmax(expected_s, cells_expect(&cells));
}

bool weft_routing_hashed(const struct weft_fabric *f, uint32_t domain)
{
	const struct weft_domain *d = &f->domains[domain];
	uint32_t n_parallel;

	return f->routing != WEFT_ROUTING_ADAPTIVE &&
	       d->level > f->node_level && d->parent != WEFT_NONE &&
	       f->levels[d->level + 1].shape == WEFT_SHAPE_SWITCHED &&
	       weft_routing_uplinks(f, domain, &n_parallel) > 1;
}

uint32_t weft_routing_flows(const struct weft_fabric *f)
{
	return f->routing == WEFT_ROUTING_ECMP ? f->n_flows : 1;
}

uint32_t weft_routing_uplinks(const struct weft_fabric *f, uint32_t domain,
			      uint32_t *n_parallel)
{
	uint32_t level = f->domains[domain].level, first = f->node_level + 1;
	double rate, n;

	*n_parallel = level == first ? f->n_rails : 1;
	if (level + 1 >= f->n_levels)
		return 1;
	if (f->n_uplinks && f->n_uplinks[domain])
		n = f->n_uplinks[domain];
	else {
		rate = weft_cost_uplink_rate(f, domain);
		n = rate / f->levels[first].link.rate_bytes_per_s;
	}
	n = round(n / *n_parallel);
	return n < 1 ? 1 : n > WEFT_MAX_CABLES ? WEFT_MAX_CABLES : (uint32_t)n;
}
