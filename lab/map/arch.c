/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arch.c - places to map a graph onto, as a tree with distances */
#include "lab/map/arch.h"

#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SLOTS (1u << 20)
/* Numbers of domains on a node line. */
#define MAX_DOMAINS (WEFT_MAX_LEVELS - 2)

struct place {
	uint32_t domain[MAX_DOMAINS]; /* outermost first */
	uint32_t n_gpus, listed;      /* as the listed-th node */
	uint32_t first_slot;
};

struct draft {
	struct scan *s;
	struct arch *a;
	double distance[WEFT_MAX_LEVELS];
	uint32_t n_levels; /* distances; 0: not seen yet */
	double rail;
	bool rail_seen;
	uint64_t slots_said; /* 0: not said */
	struct place *nodes;
	uint32_t n_nodes, room, n_slots;
};

static int dist_read(struct draft *d)
{
	struct scan *s = d->s;

	if (d->n_levels)
		return scan_fail(s, "dist a second time");
	while (!scan_at_line_end(s)) {
		const struct scan before = *s;
		double distance;

		if (scan_number(s, "a distance, 0 or above", &distance))
			return -1;
		if (d->n_levels == WEFT_MAX_LEVELS)
			return scan_fail(&before, "more than %d distances",
					 WEFT_MAX_LEVELS);
		if (d->n_levels && distance < d->distance[d->n_levels - 1])
			return scan_fail(&before,
					 "distances must not fall: what meets "
					 "further out is no closer");
		d->distance[d->n_levels++] = distance;
		scan_blanks(s);
	}
	if (d->n_levels < 2)
		return scan_fail(s, "expected at least two distances: inside a "
				    "node and between nodes");
	return 0;
}

static int rail_read(struct draft *d)
{
	if (d->rail_seen)
		return scan_fail(d->s, "rail a second time");
	d->rail_seen = true;
	return scan_number(d->s, "a distance, 0 or above", &d->rail);
}

static int slots_read(struct draft *d)
{
	return scan_count(d->s, 1, MAX_SLOTS, "a number of slots",
			  &d->slots_said);
}

static int ranks_read(struct draft *d)
{
	uint64_t ranks;

	if (scan_count(d->s, 1, MAX_SLOTS, "a number of ranks", &ranks))
		return -1;
	d->a->ranks = (uint32_t)ranks;
	return 0;
}

static int node_read(struct draft *d)
{
	struct scan *s = d->s;
	struct place *node;
	uint64_t value;

	if (!d->n_levels)
		return scan_fail(s, "expected a line \"dist\" before the first "
				    "node");
	if (WEFT_GROW(d->nodes, d->n_nodes, d->room, d->s->err))
		return -1;
	node = &d->nodes[d->n_nodes];
	memset(node, 0, sizeof(*node));
	for (uint32_t k = 0; k + 2 < d->n_levels; k++) {
		if (scan_count(s, 0, UINT32_MAX, "the number of a domain",
			       &value))
			return -1;
		node->domain[k] = (uint32_t)value;
		scan_blanks(s);
	}
	if (scan_count(s, 1, MAX_SLOTS - d->n_slots,
		       "the node's slots, 1 or more, 1,048,576 in all", &value))
		return -1;
	node->n_gpus = (uint32_t)value;
	node->first_slot = d->n_slots;
	node->listed = d->n_nodes++;
	d->n_slots += node->n_gpus;
	return 0;
}

static const struct keyword {
	const char *name;
	int (*read)(struct draft *d);
} keywords[] = {
	{"dist", dist_read},   {"node", node_read},   {"rail", rail_read},
	{"ranks", ranks_read}, {"slots", slots_read},
};
#define N_KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

/* A remark that is one letter from a keyword is a slip of the pen, and what it
 * was to say would be missing. */
static int remark_check(const struct scan *s, const char *word)
{
	const char *known[N_KEYWORDS];
	const char *near;
	size_t length = strlen(word), same = 0;

	for (size_t i = 0; i < N_KEYWORDS; i++)
		known[i] = keywords[i].name;
	near = weft_suggest(word, known, N_KEYWORDS);
	while (same < length && word[same] == near[same])
		same++;
	if (same < 3 || length > strlen(near) + 1)
		return 0;
	return scan_fail(s, "unknown word \"%.40s\"; did you mean \"%s\"?",
			 word, near);
}

static int line_read(struct draft *d)
{
	struct scan *s = d->s;
	const struct scan before = *s;
	char word[64];

	scan_word(s, word, sizeof(word));
	scan_blanks(s);
	for (size_t i = 0; i < N_KEYWORDS; i++) {
		if (strcmp(word, keywords[i].name))
			continue;
		if (keywords[i].read(d))
			return -1;
		scan_blanks(s);
		if (!scan_at_line_end(s) && *s->at != '#')
			return scan_fail(s,
					 "expected the end of the line after "
					 "what \"%s\" says",
					 word);
		return 0;
	}
	return remark_check(&before, word);
}

static int lines_read(struct draft *d)
{
	struct scan *s = d->s;

	for (scan_space(s); !scan_at_end(s); scan_space(s)) {
		if (*s->at != '#' && line_read(d))
			return -1;
		scan_line(s);
	}
	if (!d->n_nodes)
		return scan_fail(s, "expected lines \"dist ...\" and \"node "
				    "...\", found no node");
	if (d->slots_said && d->slots_said != d->n_slots)
		return scan_fail(s,
				 "the nodes have %u slots, but \"slots\" says "
				 "%llu",
				 d->n_slots, (unsigned long long)d->slots_said);
	return 0;
}

/* Domains' numbers mean nothing but "the same one". */
static int compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	for (uint32_t k = 0; k < MAX_DOMAINS; k++) {
		if (a->domain[k] != b->domain[k])
			return a->domain[k] < b->domain[k] ? -1 : 1;
	}
	return a->listed < b->listed ? -1 : a->listed > b->listed;
}

/* Level at which two nodes meet. */
static uint8_t places_meet(const struct draft *d, const struct place *a,
			   const struct place *b)
{
	uint32_t level = d->n_levels - 1;

	for (uint32_t k = 0; k + 2 < d->n_levels; k++) {
		if (a->domain[k] != b->domain[k])
			break;
		level--;
	}
	return (uint8_t)level;
}

/* What sites_from_tree asks for, [n_slots] each. */
struct columns {
	uint8_t *meet;
	uint32_t *node, *rail;
};

static void columns_fill(struct draft *d, struct columns *c)
{
	struct arch *a = d->a;
	uint32_t site = 0;

	for (uint32_t i = 0; i < d->n_nodes; i++) {
		const struct place *node = &d->nodes[i];

		for (uint32_t k = 0; k < node->n_gpus; k++, site++) {
			c->meet[site] = 0;
			c->node[site] = i;
			c->rail[site] = k;
			a->slot[site] = node->first_slot + k;
			a->site[node->first_slot + k] = site;
		}
		if (i + 1 < d->n_nodes)
			c->meet[site - 1] = places_meet(d, node, node + 1);
	}
}

static int sites_make(struct draft *d)
{
	struct arch *a = d->a;
	struct weft_error *err = d->s->err;
	struct columns c = {
		weft_calloc(d->n_slots, sizeof(*c.meet), err),
		weft_calloc(d->n_slots, sizeof(*c.node), err),
		weft_calloc(d->n_slots, sizeof(*c.rail), err),
	};
	int rc = -1;

	a->n_nodes = d->n_nodes;
	a->slot = weft_calloc(d->n_slots, sizeof(*a->slot), err);
	a->site = weft_calloc(d->n_slots, sizeof(*a->site), err);
	if (c.meet && c.node && c.rail && a->slot && a->site) {
		struct sites_tree tree = {
			.n = d->n_slots,
			.meet = c.meet,
			.node = c.node,
			.rail = d->rail > 0 ? c.rail : NULL,
			.n_levels = d->n_levels,
			.distance = d->distance,
			.rail_distance = d->rail,
		};

		columns_fill(d, &c);
		rc = sites_from_tree(&tree, &a->sites, err);
	}
	free(c.meet);
	free(c.node);
	free(c.rail);
	return rc;
}

int arch_read(struct scan *s, struct arch *a)
{
	struct draft d = {.s = s, .a = a};
	int rc = -1;

	memset(a, 0, sizeof(*a));
	if (lines_read(&d) == 0) {
		qsort(d.nodes, d.n_nodes, sizeof(*d.nodes), compare_places);
		rc = sites_make(&d);
	}
	free(d.nodes);
	return rc;
}

void arch_free(struct arch *a)
{
	sites_free(&a->sites);
	free(a->slot);
	free(a->site);
	memset(a, 0, sizeof(*a));
}
