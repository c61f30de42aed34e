/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift_tree.c - hosts that are attached to another leaf, NVLink domain or rack
 * than they should
 *
 * Two sources often name the same domain differently, so domains are matched by
 * their hosts: a domain stands for the one that most of its hosts are in, if
 * that holds both ways.  Hosts that do not go with the rest have moved.
 */
#include "base/compare.h"
#include "topology/audit/drift/drift.h"

#include <stdlib.h>
#include <string.h>

/* Below this share of hosts in step the two trees are different trees. */
#define LEAST_AGREEMENT 0.7

struct vote {
	uint32_t label[2], n;
};

WEFT_COMPARATOR(compare_votes, struct vote,
		WEFT_UP(label[0]) WEFT_UP(label[1]));

static uint32_t votes_count(const struct drift_partition *p, struct vote *v)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->n; i++)
		v[i] = (struct vote){{p->label[0][i], p->label[1][i]}, 1};
	WEFT_SORT(v, p->n, compare_votes);
	for (uint32_t i = 0; i < p->n; i++) {
		if (kept && compare_votes(&v[kept - 1], &v[i]) == 0)
			v[kept - 1].n++;
		else
			v[kept++] = v[i];
	}
	return kept;
}

static uint32_t label_most(const struct drift_partition *p, int side)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->label[side][i] > most)
			most = p->label[side][i];
	return most;
}

/* best[side][label]: the vote with most hosts for that label of that side. */
static void votes_elect(const struct vote *v, uint32_t n, uint32_t *best[2])
{
	for (uint32_t i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			uint32_t *b = &best[side][v[i].label[side]];

			if (*b == WEFT_NONE || v[i].n > v[*b].n)
				*b = i;
		}
}

int drift_partition_compare(struct drift_partition *p, struct weft_error *err)
{
	struct vote *v = weft_calloc(p->n, sizeof(*v), err);
	uint32_t *best[2] = {NULL, NULL}, n;
	int rc = -1;

	for (int side = 0; side < 2; side++) {
		size_t room = (size_t)label_most(p, side) + 1;

		best[side] = weft_calloc(room, sizeof(**best), err);
		if (!best[side] || !v)
			goto out;
		memset(best[side], 0xff, room * sizeof(**best));
	}
	n = votes_count(p, v);
	votes_elect(v, n, best);
	p->n_agree = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t mine = best[0][p->label[0][i]];
		uint32_t theirs = best[1][p->label[1][i]];

		p->meant[i] = v[mine].label[1];
		p->agrees[i] = mine == theirs;
		p->n_agree += p->agrees[i];
	}
	rc = 0;
out:
	free(v);
	free(best[0]);
	free(best[1]);
	return rc;
}

int drift_partition_build(struct drift *d, struct drift_partition *p)
{
	uint32_t n = d->s[0]->n_hosts;

	return WEFT_ARRAY(p->host, n, &d->memory, d->err) ||
			       WEFT_ARRAY(p->label[0], n, &d->memory, d->err) ||
			       WEFT_ARRAY(p->label[1], n, &d->memory, d->err) ||
			       WEFT_ARRAY(p->meant, n, &d->memory, d->err) ||
			       WEFT_ARRAY(p->agrees, n, &d->memory, d->err)
		       ? -1
		       : 0;
}

/* ---- domains ---- */

static uint32_t domain_at(const struct weft_hierarchy *s, uint32_t host,
			  uint32_t level)
{
	uint32_t d = s->host_domain[host];

	while (d != WEFT_NONE && s->domains[d].level < level)
		d = s->domains[d].parent;
	return d;
}

bool drift_label_domains(const struct drift *d, struct drift_partition *p,
			 uint32_t level0, uint32_t level1)
{
	p->n = 0;
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++) {
		uint32_t a, b;

		if (d->host[0][h] == WEFT_NONE)
			continue;
		a = domain_at(d->side[0]->hierarchy, h, level0);
		b = domain_at(d->side[1]->hierarchy, d->host[0][h], level1);
		if (a == WEFT_NONE || b == WEFT_NONE)
			continue;
		p->host[p->n] = h;
		p->label[0][p->n] = a;
		p->label[1][p->n++] = b;
	}
	return p->n > 0;
}

/* All hosts in one domain: two such levels agree and say nothing. */
static bool is_trivial(const struct drift_partition *p)
{
	for (uint32_t i = 1; i < p->n; i++)
		if (p->label[0][i] != p->label[0][0] ||
		    p->label[1][i] != p->label[1][0])
			return false;
	return true;
}

/* Two levels, and the share of hosts in step between them. */
struct alignment {
	uint32_t level[2];
	double share; /* < 0: none yet */
};

static int levels_try(struct drift *d, struct drift_partition *p, uint32_t a,
		      uint32_t b, struct alignment *best)
{
	double share;

	if (!drift_label_domains(d, p, a, b) || is_trivial(p))
		return 0;
	if (drift_partition_compare(p, d->err))
		return -1;
	share = (double)p->n_agree / p->n;
	if (share > best->share)
		*best = (struct alignment){{a, b}, share};
	return 0;
}

/* The innermost pair of levels from these on whose domains stand for each other
 * mostly, else the pair that comes nearest: one tree may have a level more.
 * Leaves p filled for it.  1: found; 0: no such levels; -1: d->err. */
static int levels_align(struct drift *d, struct drift_partition *p,
			uint32_t from[2])
{
	uint32_t n[2] = {d->side[0]->hierarchy->n_levels,
			 d->side[1]->hierarchy->n_levels};
	struct alignment best = {{0, 0}, -1};

	for (uint32_t out = from[0] + from[1]; out < n[0] + n[1]; out++) {
		for (uint32_t a = from[0]; a < n[0] && a <= out; a++) {
			uint32_t b = out - a;

			if (b >= from[1] && b < n[1] &&
			    levels_try(d, p, a, b, &best))
				return -1;
		}
		if (best.share >= LEAST_AGREEMENT)
			break;
	}
	if (best.share < 0)
		return 0;
	drift_label_domains(d, p, best.level[0], best.level[1]);
	if (drift_partition_compare(p, d->err))
		return -1;
	from[0] = best.level[0];
	from[1] = best.level[1];
	return 1;
}

static int moved_tell(struct drift *d, const struct drift_partition *p)
{
	const struct weft_hierarchy *now = d->side[1]->hierarchy;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t h = p->host[i];
		const struct weft_inventory_host *is =
			&d->s[1]->hosts[d->host[0][h]];

		if (!p->agrees[i] &&
		    drift_note(d, 1, WEFT_FINDING_DRIFT_HOST_MOVED,
			       d->s[0]->hosts[h].name, is->where,
			       WEFT_WEIGHT_HOST,
			       "is attached to %s; by %s it should be attached "
			       "to %s",
			       now->domains[p->label[1][i]].name,
			       drift_side_name(d, 0),
			       now->domains[p->meant[i]].name))
			return -1;
	}
	return 0;
}

/* A domain of the level within whose hosts have all moved together. */
static int branches_tell(struct drift *d, const struct drift_partition *p)
{
	const struct weft_hierarchy *was = d->side[0]->hierarchy;
	const struct weft_hierarchy *now = d->side[1]->hierarchy;
	bool *told;

	if (WEFT_ARRAY(told, was->n_domains, &d->memory, d->err))
		return -1;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t at = was->host_domain[p->host[i]];

		if (p->agrees[i] || told[at])
			continue;
		told[at] = true;
		if (drift_note(d, 0, WEFT_FINDING_DRIFT_SWITCH_MOVED,
			       was->domains[at].name, (struct weft_place){0},
			       WEFT_WEIGHT_DOMAIN,
			       "hangs below %s in %s; it should below %s",
			       now->domains[p->label[1][i]].name,
			       drift_side_name(d, 1),
			       now->domains[p->meant[i]].name))
			return -1;
	}
	return 0;
}

static int differs_note(struct drift *d, const struct drift_partition *p)
{
	return drift_note(d, 1, WEFT_FINDING_DRIFT_TREE_DIFFERS, "",
			  (struct weft_place){0}, WEFT_WEIGHT_DOMAIN,
			  "the tree is another one: only %u of %u nodes are "
			  "with the same neighbours as in %s",
			  p->n_agree, p->n, drift_side_name(d, 0));
}

static int tree_compare(struct drift *d, struct drift_partition *p)
{
	uint32_t from[2] = {0, 0};
	int rc = levels_align(d, p, from);

	if (rc <= 0)
		return rc;
	if (p->n_agree < LEAST_AGREEMENT * p->n)
		return differs_note(d, p);
	if (p->n_agree < p->n)
		return moved_tell(d, p);
	from[0]++;
	from[1]++;
	rc = levels_align(d, p, from);
	if (rc <= 0 || p->n_agree < LEAST_AGREEMENT * p->n)
		return rc < 0 ? -1 : 0;
	return branches_tell(d, p);
}

int drift_tree(struct drift *d)
{
	struct drift_partition p;

	return drift_partition_build(d, &p) ? -1 : tree_compare(d, &p);
}

/* ---- NVLink domains and racks ---- */

static const char *nvlink_of(const struct weft_inventory_host *host)
{
	return host->nvlink.text;
}

static const char *rack_of(const struct weft_inventory_host *host)
{
	return host->rack.text;
}

static const struct group {
	const char *(*label)(const struct weft_inventory_host *host);
	enum weft_finding_id id;
	const char *noun;
} groups[] = {
	{nvlink_of, WEFT_FINDING_DRIFT_NVLINK, "NVLink domain"},
	{rack_of, WEFT_FINDING_DRIFT_RACK, "rack"},
};

struct name {
	const char *text; /* first: weft_compare_texts looks at nothing else */
	uint32_t at;
};

/* Numbers the labels of one side: equal texts, equal numbers. */
static void labels_number(struct drift_partition *p, int side,
			  struct name *name)
{
	uint32_t number = 0;

	WEFT_SORT(name, p->n, weft_compare_texts);
	for (uint32_t i = 0; i < p->n; i++) {
		if (i && weft_compare_texts(&name[i - 1], &name[i]) != 0)
			number++;
		p->label[side][name[i].at] = number;
	}
}

static int group_tell(struct drift *d, const struct group *g,
		      const struct drift_partition *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct weft_inventory_host *was =
			&d->s[0]->hosts[p->host[i]];
		const struct weft_inventory_host *is =
			&d->s[1]->hosts[d->host[0][p->host[i]]];

		if (!p->agrees[i] &&
		    drift_note(d, 1, g->id, was->name, is->where,
			       WEFT_WEIGHT_HOST,
			       "is in %s %s; %s has it in %s, with others",
			       g->noun, g->label(is), drift_side_name(d, 0),
			       g->label(was)))
			return -1;
	}
	return 0;
}

static int group_look(struct drift *d, const struct group *g,
		      struct drift_partition *p, struct name *name[2])
{
	p->n = 0;
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++) {
		const char *a = g->label(&d->s[0]->hosts[h]), *b;

		if (!a || d->host[0][h] == WEFT_NONE)
			continue;
		b = g->label(&d->s[1]->hosts[d->host[0][h]]);
		if (!b)
			continue;
		name[0][p->n] = (struct name){a, p->n};
		name[1][p->n] = (struct name){b, p->n};
		p->host[p->n++] = h;
	}
	for (int side = 0; side < 2; side++)
		labels_number(p, side, name[side]);
	if (drift_partition_compare(p, d->err))
		return -1;
	return group_tell(d, g, p);
}

int drift_groups(struct drift *d)
{
	struct drift_partition p;
	struct name *name[2];

	if (WEFT_ARRAY(name[0], d->s[0]->n_hosts, &d->memory, d->err) ||
	    WEFT_ARRAY(name[1], d->s[0]->n_hosts, &d->memory, d->err) ||
	    drift_partition_build(d, &p))
		return -1;
	for (size_t i = 0; i < WEFT_N_OF(groups); i++)
		if (group_look(d, &groups[i], &p, name))
			return -1;
	return 0;
}
