/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline.c - where else a job could have gone */
#include "placement/objective/baseline.h"

#include "placement/objective/slurm_rule.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void weft_baselines_free(struct weft_baselines *b)
{
	int saved = errno;

	if (b) {
		free(b->stock);
		free(b->spread);
		memset(b, 0, sizeof(*b));
	}
	errno = saved;
}

/* ---- spread ---- */

/* Nodes left to take, in each domain from the nodes' level up, and the child
 * whose turn it is. */
struct turns {
	const struct rule_request *q;
	uint32_t *left, *next; /* [n_domains] */
	uint64_t *taken;       /* bitset of nodes */
};

static void turns_count(struct turns *t)
{
	const struct weft_fabric *f = t->q->fabric;
	const uint32_t *host = f->gpu_domain[f->node_level];

	for (uint32_t i = 0; i < f->n_nodes; i++)
		t->left[host[f->nodes[i].first_gpu]] += rule_gives(t->q, i);
	for (uint32_t l = f->node_level; l + 1 < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];

		for (uint32_t d = level->first_domain;
		     d < level->first_domain + level->n_domains; d++)
			t->left[f->domains[d].parent] += t->left[d];
	}
}

/* The child of a domain whose turn it is; one of them has nodes left. */
static uint32_t child_next(struct turns *t, uint32_t domain)
{
	const struct weft_domain *d = &t->q->fabric->domains[domain];
	uint32_t k = t->next[domain];

	while (!t->left[d->first_child + k])
		k = (k + 1) % d->n_children;
	t->next[domain] = (k + 1) % d->n_children;
	return d->first_child + k;
}

/* One more node below a domain that has some left. */
static uint32_t node_next(struct turns *t, uint32_t domain)
{
	const struct weft_fabric *f = t->q->fabric;
	const struct weft_domain *d;
	uint32_t node;

	t->left[domain]--;
	while (f->domains[domain].level > f->node_level) {
		domain = child_next(t, domain);
		t->left[domain]--;
	}
	d = &f->domains[domain];
	for (node = d->first_node; node < d->first_node + d->n_nodes; node++) {
		if (rule_gives(t->q, node) && !weft_bitset_has(t->taken, node))
			break;
	}
	weft_bitset_add(t->taken, node);
	return node;
}

/* The first part of the fabric that has nodes enough. */
static uint32_t part_find(const struct turns *t)
{
	const struct weft_fabric *f = t->q->fabric;
	const struct weft_level *top = &f->levels[f->n_levels - 1];

	for (uint32_t i = 0; i < top->n_domains; i++) {
		if (t->left[top->first_domain + i] >= t->q->n_nodes)
			return top->first_domain + i;
	}
	return WEFT_NONE;
}

static int spread_take(const struct rule_request *q, uint32_t *where, bool *yes,
		       struct weft_error *err)
{
	const struct weft_fabric *f = q->fabric;
	struct turns t = {
		.q = q,
		.left = weft_calloc(f->n_domains, 2 * sizeof(*t.left), err),
		.taken = weft_calloc(weft_bitset_words(f->n_nodes),
				     sizeof(*t.taken), err),
	};
	uint32_t *nodes = weft_calloc(q->n_nodes, sizeof(*nodes), err);
	uint32_t part;
	int rc = -1;

	if (!t.left || !t.taken || !nodes)
		goto out;
	t.next = t.left + f->n_domains;
	turns_count(&t);
	part = part_find(&t);
	*yes = part != WEFT_NONE;
	for (uint32_t i = 0; *yes && i < q->n_nodes; i++) {
		*yes = i % 64 || !weft_deadline_passed();
		nodes[i] = node_next(&t, part);
	}
	if (*yes)
		rule_fill(q, nodes, where);
	rc = 0;
out:
	free(t.left);
	free(t.taken);
	free(nodes);
	return rc;
}

/* ---- shapes ---- */

static uint32_t most_gpus(const struct weft_fabric *f)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (f->nodes[i].n_gpus > most)
			most = f->nodes[i].n_gpus;
	}
	return most;
}

/* The next shape of the job after *q, of more nodes; false: there is none. */
static bool shape_next(const struct weft_job *job, struct rule_request *q)
{
	uint32_t n = q->n_nodes, before = q->per_node;
	uint32_t most = job->max_nodes ? job->max_nodes : job->n_gpus;

	if (job->gpus_per_node) {
		q->per_node = job->gpus_per_node;
		q->n_nodes = job->n_gpus / job->gpus_per_node;
		return n == 0 && q->n_nodes > 0;
	}
	if (n == 0) {
		before = most_gpus(q->fabric);
		n = (job->n_gpus + before - 1) / before;
		n = n < job->min_nodes ? job->min_nodes : n;
		before = 0;
	} else {
		n++;
	}
	for (; n <= most && n <= q->fabric->n_nodes; n++) {
		q->n_nodes = n;
		q->per_node = (job->n_gpus + n - 1) / n;
		/* none of the nodes may come away empty */
		if (q->per_node != before &&
		    (n - 1) * q->per_node < job->n_gpus)
			return true;
	}
	return false;
}

int weft_baselines_build(const struct weft_fabric *f,
			 const struct weft_job *job,
			 const struct weft_occupancy *o,
			 struct weft_baselines *b, struct weft_error *err)
{
	struct rule_request q = {
		.fabric = f, .occupancy = o, .n_gpus = job->n_gpus};
	bool stock = false, spread = false;

	memset(b, 0, sizeof(*b));
	b->stock = weft_calloc(job->n_gpus, sizeof(*b->stock), err);
	b->spread = weft_calloc(job->n_gpus, sizeof(*b->spread), err);
	if (!b->stock || !b->spread)
		return -1;
	/* by a deadline, there is none that is not found in time */
	while (!stock && !weft_deadline_passed() && shape_next(job, &q)) {
		if (rule_tree(&q, b->stock, &stock, err) ||
		    spread_take(&q, b->spread, &spread, err))
			return -1;
	}
	if (!stock) {
		free(b->stock);
		b->stock = NULL;
	}
	if (!spread) {
		free(b->spread);
		b->spread = NULL;
	}
	return 0;
}
