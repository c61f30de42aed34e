/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cabling.c - asking the cabling: names, neighbours, what leaves a domain */
#include "topology/cabling.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

void weft_cabling_free(struct weft_cabling *c)
{
	if (!c)
		return;
	free(c->switches);
	free(c->cables);
	free(c->ports);
	free(c->by_name);
	free(c->first_of_end);
	free(c->of_end);
	free(c->first_of_domain);
	free(c->of_domain);
	free(c);
}

struct named {
	const char *name; /* first: weft_compare_texts looks at nothing else */
	uint32_t index;
};

static int names_index(struct weft_cabling *c, struct weft_error *err)
{
	struct named *named = weft_calloc(c->n_switches, sizeof(*named), err);

	c->by_name = weft_calloc(c->n_switches, sizeof(*c->by_name), err);
	if (!named || !c->by_name) {
		free(named);
		return -1;
	}
	for (uint32_t s = 0; s < c->n_switches; s++)
		named[s] = (struct named){c->switches[s].name, s};
	WEFT_SORT(named, c->n_switches, weft_compare_texts);
	for (uint32_t s = 0; s < c->n_switches; s++)
		c->by_name[s] = named[s].index;
	free(named);
	return 0;
}

/* Counts become the place where each begins: first[k] of first[0..n]. */
static void counts_sum(uint32_t *first, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		first[k + 1] += first[k];
}

/* Filling moves each beginning to its end; this moves them back. */
static void starts_restore(uint32_t *first, uint32_t n)
{
	for (uint32_t k = n; k > 0; k--)
		first[k] = first[k - 1];
	first[0] = 0;
}

static int ends_index(struct weft_cabling *c, struct weft_error *err)
{
	uint32_t n = c->n_nodes + c->n_switches;
	uint32_t *first = weft_calloc((size_t)n + 1, sizeof(*first), err);

	c->first_of_end = first;
	c->of_end = weft_calloc(c->n_cables, 2 * sizeof(*c->of_end), err);
	if (!first || !c->of_end)
		return -1;
	for (uint32_t k = 0; k < c->n_cables; k++) {
		first[c->cables[k].a + 1]++;
		first[c->cables[k].b + 1]++;
	}
	counts_sum(first, n);
	for (uint32_t k = 0; k < c->n_cables; k++) {
		c->of_end[first[c->cables[k].a]++] = k;
		c->of_end[first[c->cables[k].b]++] = k;
	}
	starts_restore(first, n);
	return 0;
}

static int domains_index(struct weft_cabling *c, uint32_t n_domains,
			 struct weft_error *err)
{
	uint32_t *first =
		weft_calloc((size_t)n_domains + 1, sizeof(*first), err);

	c->first_of_domain = first;
	c->of_domain = weft_calloc(c->n_switches, sizeof(*c->of_domain), err);
	if (!first || !c->of_domain)
		return -1;
	for (uint32_t s = 0; s < c->n_switches; s++)
		if (c->switches[s].domain != WEFT_NONE)
			first[c->switches[s].domain + 1]++;
	counts_sum(first, n_domains);
	for (uint32_t s = 0; s < c->n_switches; s++)
		if (c->switches[s].domain != WEFT_NONE)
			c->of_domain[first[c->switches[s].domain]++] = s;
	starts_restore(first, n_domains);
	return 0;
}

int weft_cabling_index(struct weft_cabling *c, uint32_t n_domains,
		       struct weft_error *err)
{
	if (names_index(c, err) || ends_index(c, err) ||
	    domains_index(c, n_domains, err))
		return -1;
	return 0;
}

uint32_t weft_cabling_find(const struct weft_cabling *c, const char *name)
{
	uint32_t low = 0, high = c->n_switches;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t s = c->by_name[middle];
		int order = strcmp(name, c->switches[s].name);

		if (!order)
			return s;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return WEFT_NONE;
}

const char *weft_cabling_end_name(const struct weft_fabric *f, uint32_t end)
{
	return end < f->n_nodes ? f->nodes[end].name
				: f->cabling->switches[end - f->n_nodes].name;
}

bool weft_cabling_is_compute(const struct weft_cabling *c,
			     const struct weft_cable *cable)
{
	if (c->switches[cable->b - c->n_nodes].network != WEFT_COMPUTE)
		return false;
	return cable->a < c->n_nodes ||
	       c->switches[cable->a - c->n_nodes].network == WEFT_COMPUTE;
}

uint32_t weft_cabling_end_domain(const struct weft_fabric *f, uint32_t end)
{
	if (end >= f->n_nodes)
		return f->cabling->switches[end - f->n_nodes].domain;
	return f->gpu_domain[f->node_level][f->nodes[end].first_gpu];
}

static void cable_count(const struct weft_cable *cable, struct weft_uplinks *u)
{
	if (cable->up) {
		u->line_rate_bytes_per_s += cable->n * cable->rate_bytes_per_s;
		u->n_up += cable->n;
	} else {
		u->n_down += cable->n;
	}
	u->whole &= cable->rate_bytes_per_s > 0;
}

/* Domains are numbered level by level: of two different ones the lower number
 * cannot hold the other. */
void weft_cabling_uplinks(const struct weft_fabric *f,
			  struct weft_uplinks *uplinks)
{
	const struct weft_cabling *c = f->cabling;

	for (uint32_t d = 0; d < f->n_domains; d++)
		uplinks[d] = (struct weft_uplinks){.whole = true};
	for (uint32_t k = 0; k < c->n_cables; k++) {
		const struct weft_cable *cable = &c->cables[k];
		uint32_t a = weft_cabling_end_domain(f, cable->a);
		uint32_t b = weft_cabling_end_domain(f, cable->b);

		if (!weft_cabling_is_compute(c, cable))
			continue;
		while (a != b) {
			uint32_t *inner = a < b ? &a : &b;

			cable_count(cable, &uplinks[*inner]);
			*inner = f->domains[*inner].parent;
		}
	}
}
