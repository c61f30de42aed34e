/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.c - sites as a tree of uneven domains */
#include "placement/mapping/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sites that do not reach each other are this many times as far apart as those
 * that are farthest: a finite number, so that differences stay numbers. */
#define UNREACHABLE 1e4

/* Fabric level -> level of the tree, and the distances there. */
struct levels {
	uint32_t of[WEFT_MAX_LEVELS + 1];
	uint32_t n;
};

static struct levels find_levels(const struct sites *s, struct tree *t)
{
	bool used[WEFT_MAX_LEVELS + 1] = {false};
	struct levels levels = {.n = 0};
	double far = 0;

	for (uint32_t i = 0; i + 1 < s->n; i++)
		used[s->meet[0][i]] = true;
	for (uint32_t l = 0; l <= WEFT_MAX_LEVELS; l++) {
		double d = s->distance[l][0];

		if (l && !used[l]) {
			levels.of[l] = levels.n ? levels.n - 1 : 0;
			continue;
		}
		if (!isfinite(d))
			d = far > 0 ? far * UNREACHABLE : UNREACHABLE;
		far = d > far ? d : far;
		if (levels.n == 0 || d > t->distance[levels.n - 1])
			t->distance[levels.n++] = far;
		levels.of[l] = levels.n - 1;
	}
	return levels;
}

static int allocate(struct tree *t, struct weft_error *err)
{
	t->first = weft_calloc(t->n_bins + 1, sizeof(*t->first), err);
	t->bin = weft_calloc(t->n_slots, sizeof(*t->bin), err);
	t->kind = weft_calloc(t->n_slots, sizeof(*t->kind), err);
	t->site = weft_calloc(t->n_slots, sizeof(*t->site), err);
	t->domain = weft_calloc(t->n_bins, t->height * sizeof(*t->domain), err);
	return t->first && t->bin && t->kind && t->site && t->domain ? 0 : -1;
}

/* Sites from `begin` on that share its lowest domain. */
static uint32_t run_of(const struct sites *s, const struct levels *levels,
		       uint32_t begin)
{
	uint32_t end = begin + 1;

	while (end < s->n && levels->of[s->meet[0][end - 1]] == 0)
		end++;
	return end - begin;
}

static void name_domains(const struct sites *s, const struct levels *levels,
			 struct tree *t)
{
	for (uint32_t b = 0; b < t->n_bins; b++) {
		uint32_t *own = t->domain + (size_t)b * t->height;
		uint32_t meet = t->height;

		own[0] = b;
		if (b)
			meet = levels->of[sites_meet(s,
						     t->site[t->first[b - 1]],
						     t->site[t->first[b]])];
		/* named by its first bin */
		for (uint32_t l = 1; l < t->height; l++)
			own[l] = l < meet ? b : own[l - (size_t)t->height];
	}
}

int tree_build(const struct sites *s, uint32_t unit, struct tree *t,
	       struct weft_error *err)
{
	struct levels levels;
	uint32_t slot = 0, bin = 0, run;

	memset(t, 0, sizeof(*t));
	levels = find_levels(s, t);
	t->height = levels.n;
	for (uint32_t i = 0; i < s->n; i += run) {
		run = run_of(s, &levels, i);
		t->n_slots += run / unit;
		t->n_bins += run >= unit;
	}
	if (allocate(t, err))
		return -1;
	for (uint32_t i = 0; i < s->n; i += run) {
		run = run_of(s, &levels, i);
		if (run < unit)
			continue;
		t->first[bin] = slot;
		for (uint32_t k = 0; k < run / unit; k++) {
			t->site[slot] = i + k * unit;
			t->bin[slot++] = bin;
		}
		bin++;
	}
	t->first[bin] = slot;
	t->n_kinds = 1;
	name_domains(s, &levels, t);
	return 0;
}

static uint32_t size_of(const struct tree *t, uint32_t bin)
{
	return t->first[bin + 1] - t->first[bin];
}

static bool same_shape(const struct tree *t, uint32_t a, uint32_t b)
{
	return size_of(t, a) == size_of(t, b) &&
	       memcmp(t->kind + t->first[a], t->kind + t->first[b],
		      size_of(t, a) * sizeof(*t->kind)) == 0;
}

/* Bins of one shape are slots of one kind. */
static int find_kinds(const struct tree *t, struct tree *up,
		      struct weft_error *err)
{
	uint32_t *sample = weft_calloc(t->n_bins, sizeof(*sample), err);

	if (!sample)
		return -1;
	for (uint32_t b = 0; b < t->n_bins; b++) {
		uint32_t k = 0;

		while (k < up->n_kinds && !same_shape(t, sample[k], b))
			k++;
		if (k == up->n_kinds)
			sample[up->n_kinds++] = b;
		up->kind[b] = k;
	}
	free(sample);
	return 0;
}

/* Names the domains of a bin of `up`, one level above those of its first bin
 * below, each by its own first bin. */
static void adopt_domains(const uint32_t *below, struct tree *up, uint32_t bin)
{
	uint32_t *own = up->domain + (size_t)bin * up->height;

	own[0] = bin;
	for (uint32_t l = 1; l < up->height; l++) {
		bool first = below[l + 1] == below[0];

		own[l] = first ? bin : own[l - (size_t)up->height];
	}
}

int tree_raise(const struct tree *t, struct tree *up, struct weft_error *err)
{
	uint32_t bin = 0;

	memset(up, 0, sizeof(*up));
	up->height = t->height - 1;
	up->n_slots = t->n_bins;
	memcpy(up->distance, t->distance + 1, up->height * sizeof(double));
	for (uint32_t b = 0; b < t->n_bins; b++)
		up->n_bins += t->domain[(size_t)b * t->height + 1] == b;
	if (allocate(up, err) || find_kinds(t, up, err))
		return -1;
	for (uint32_t b = 0; b < t->n_bins; b++) {
		const uint32_t *own = t->domain + (size_t)b * t->height;

		if (own[1] == b) {
			up->first[bin] = b;
			adopt_domains(own, up, bin++);
		}
		up->bin[b] = bin - 1;
		up->site[b] = t->first[b];
	}
	up->first[bin] = t->n_bins;
	return 0;
}

void tree_free(struct tree *t)
{
	free(t->first);
	free(t->bin);
	free(t->kind);
	free(t->site);
	free(t->domain);
	memset(t, 0, sizeof(*t));
}
