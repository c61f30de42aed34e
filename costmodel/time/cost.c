/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - sum of d(i,j) * M(i,j), and the busiest link */
#include "costmodel/time/cost.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "costmodel/time/cost_parts.h"
#include "costmodel/time/load.h"
#include "costmodel/traffic/traffic_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_cost_scratch_free(struct weft_cost_scratch *scratch)
{
	if (!scratch)
		return;
	free(scratch->up);
	free(scratch->down);
	free(scratch->touched);
	free(scratch->seen);
	free(scratch->nic_up);
	free(scratch->nic_down);
	free(scratch->used);
	memset(scratch, 0, sizeof(*scratch));
}

/* What is needed besides where links are asked for. */
static int links_reserve(struct weft_cost_scratch *s, struct weft_error *err)
{
	s->up = weft_calloc(s->n_domains, sizeof(*s->up), err);
	s->down = weft_calloc(s->n_domains, sizeof(*s->down), err);
	s->touched = weft_calloc(s->n_domains, sizeof(*s->touched), err);
	s->nic_up = weft_calloc(s->n_ranks, sizeof(*s->nic_up), err);
	s->nic_down = weft_calloc(s->n_ranks, sizeof(*s->nic_down), err);
	return s->up && s->down && s->touched && s->nic_up && s->nic_down ? 0
									  : -1;
}

/* Grows the scratch where it is too small for this evaluation. */
static int scratch_reserve(struct weft_cost_scratch *s,
			   const struct evaluation *e, struct weft_error *err)
{
	uint32_t n_domains = e->f->n_domains, n_gpus = e->f->n_gpus;

	if (s->n_domains < n_domains || s->n_gpus < n_gpus ||
	    s->n_ranks < e->t->n_ranks) {
		weft_cost_scratch_free(s);
		s->n_domains = n_domains;
		s->n_gpus = n_gpus;
		s->n_ranks = e->t->n_ranks;
		s->seen = weft_calloc(n_domains, sizeof(*s->seen), err);
		s->used = weft_calloc(weft_bitset_words(n_gpus),
				      sizeof(*s->used), err);
	}
	if (s->seen && s->used &&
	    (!e->links || s->up || links_reserve(s, err) == 0))
		return 0;
	weft_cost_scratch_free(s);
	return -1;
}

static void adapters_clear(const struct evaluation *e)
{
	const struct weft_cost_scratch *s = e->scratch;

	memset(s->nic_up, 0, e->t->n_ranks * sizeof(*s->nic_up));
	memset(s->nic_down, 0, e->t->n_ranks * sizeof(*s->nic_down));
}

/* Restores "all zero" in the time it took to fill it. */
static void scratch_clear(const struct evaluation *e, uint32_t n_marked)
{
	struct weft_cost_scratch *s = e->scratch;

	for (uint32_t i = 0; i < s->n_touched; i++) {
		s->up[s->touched[i]] = 0;
		s->down[s->touched[i]] = 0;
		s->seen[s->touched[i]] = 0;
	}
	s->n_touched = 0;
	for (uint32_t r = 0; r < n_marked; r++)
		weft_bitset_remove(s->used, e->where[r]);
}

/* Marks the GPUs of all ranks; *n_marked says how many, also on failure. */
static int gpus_mark(const struct evaluation *e, uint32_t *n_marked,
		     struct weft_error *err)
{
	for (uint32_t r = 0; r < e->t->n_ranks; r++) {
		uint32_t gpu = e->where[r];

		*n_marked = r;
		if (gpu >= e->f->n_gpus)
			return weft_fail(err, WEFT_EINVAL,
					 "rank %u runs on GPU %u, but the "
					 "fabric has %u",
					 r, gpu, e->f->n_gpus);
		if (weft_bitset_has(e->scratch->used, gpu))
			return weft_fail(err, WEFT_EINVAL,
					 "rank %u runs on GPU %u, as another "
					 "rank does",
					 r, gpu);
		weft_bitset_add(e->scratch->used, gpu);
	}
	*n_marked = e->t->n_ranks;
	return 0;
}

int cost_unconnected(const struct evaluation *e, uint32_t rank, uint32_t peer,
		     struct weft_error *err)
{
	const struct weft_fabric *f = e->f;

	return weft_fail(err, WEFT_EINVAL,
			 "ranks %u and %u exchange bytes, but no link joins "
			 "their nodes %s and %s",
			 rank, peer, f->nodes[f->gpu_node[e->where[rank]]].name,
			 f->nodes[f->gpu_node[e->where[peer]]].name);
}

/* Adds bytes of GPU a for b, which meet at a level, to the links between. */
static void pair_add_links(struct evaluation *e, uint32_t rank, uint32_t peer,
			   uint32_t level, double bytes)
{
	const struct weft_fabric *f = e->f;
	struct weft_cost_scratch *s = e->scratch;

	for (uint32_t l = 0; l < level; l++) {
		const uint32_t *domain = f->gpu_domain[l];

		cost_load_add(s, s->up, domain[e->where[rank]], bytes);
		cost_load_add(s, s->down, domain[e->where[peer]], bytes);
	}
	if (level > f->node_level) {
		s->nic_up[rank] += bytes;
		s->nic_down[peer] += bytes;
	}
}

/* rank_add where the level alone tells, and sums are all that is asked for. */
static int rank_sum(struct evaluation *e, const struct weft_traffic *t,
		    uint32_t rank, uint32_t first, uint32_t end,
		    struct weft_error *err)
{
	const struct weft_fabric *f = e->f;
	const uint32_t *where = e->where;
	uint32_t a = where[rank], n_levels = f->n_levels;

	for (uint32_t k = first; k < end; k++) {
		uint32_t b = where[t->peer[k]], level = 0;

		while (level < n_levels &&
		       f->gpu_domain[level][a] != f->gpu_domain[level][b])
			level++;
		if (level == n_levels)
			return cost_unconnected(e, rank, t->peer[k], err);
		e->sums.bytes[t->axis[k]][level][0] += t->bytes[k];
	}
	return 0;
}

/* Adds up what `rank` sends: edges first .. end - 1 of traffic t. */
static int rank_add(struct evaluation *e, const struct weft_traffic *t,
		    uint32_t rank, uint32_t first, uint32_t end,
		    struct weft_error *err)
{
	const struct weft_fabric *f = e->f;
	uint32_t a = e->where[rank];

	if (f->n_rails < 2 && !f->has_steps && !e->links)
		return rank_sum(e, t, rank, first, end, err);
	for (uint32_t k = first; k < end; k++) {
		uint32_t peer = t->peer[k], b = e->where[peer], cross;
		uint32_t level = weft_fabric_relation(f, a, b, &cross);
		double bytes = t->bytes[k];

		if (level >= f->n_levels)
			return cost_unconnected(e, rank, peer, err);
		e->sums.bytes[t->axis[k]][level][cross] += bytes;
		if (f->has_steps)
			e->sums.further[t->axis[k]][level] +=
				bytes * weft_fabric_further(f, level, a, b);
		if (e->links)
			pair_add_links(e, rank, peer, level, bytes);
	}
	return 0;
}

/* ---- groups that reduce in the network ---- */

/* Where the members of a switch meet: the outermost level that the first and
 * another one share, and whether any of them changes rails on the way, be it
 * further in. */
static int switch_level(const struct evaluation *e, const uint32_t *member,
			uint32_t n, uint32_t *level, uint32_t *cross,
			struct weft_error *err)
{
	const struct weft_fabric *f = e->f;
	uint32_t first = e->where[member[0]];

	*level = *cross = 0;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t gpu = e->where[member[i]], c;
		uint32_t l = weft_fabric_relation(f, first, gpu, &c);

		if (l >= f->n_levels)
			return weft_fail(err, WEFT_EINVAL,
					 "ranks %u and %u reduce in the "
					 "network, but no link joins their "
					 "nodes %s and %s",
					 member[0], member[i],
					 f->nodes[f->gpu_node[first]].name,
					 f->nodes[f->gpu_node[gpu]].name);
		*cross |= c;
		*level = l > *level ? l : *level;
	}
	return 0;
}

/* Adds what the ranks of switch k send up to it and get back. */
static int switch_add(struct evaluation *e, uint32_t k, struct weft_error *err)
{
	const struct weft_switch *sw = &e->t->switches[k];
	const uint32_t *member = e->t->member + sw->first_member;
	const struct weft_fabric *f = e->f;
	struct weft_cost_scratch *s = e->scratch;
	uint32_t level, cross;

	if (switch_level(e, member, sw->n_members, &level, &cross, err))
		return -1;
	e->sums.bytes[sw->axis][level][cross] += sw->bytes * sw->n_members;
	for (uint32_t i = 0; e->links && i < sw->n_members; i++) {
		uint32_t gpu = e->where[member[i]];

		for (uint32_t l = 0; l < level; l++) {
			uint32_t domain = f->gpu_domain[l][gpu];

			if (s->seen[domain] == k + 1)
				continue;
			cost_load_add(s, s->up, domain, sw->bytes);
			cost_load_add(s, s->down, domain, sw->bytes);
			s->seen[domain] = k + 1;
		}
		if (level > f->node_level) {
			s->nic_up[member[i]] += sw->bytes;
			s->nic_down[member[i]] += sw->bytes;
		}
	}
	return 0;
}

static void cost_add(struct weft_cost *cost, uint32_t axis, uint32_t level,
		     const double by_metric[WEFT_N_METRICS])
{
	for (uint32_t m = 0; m < WEFT_N_METRICS; m++) {
		cost->by_axis[axis][m] += by_metric[m];
		cost->by_level[level][m] += by_metric[m];
		cost->total[m] += by_metric[m];
	}
}

static void cost_sum(const struct evaluation *e, struct weft_cost *cost)
{
	uint32_t n_cells = e->f->n_levels * 2;

	for (uint32_t axis = 0; axis < WEFT_N_AXES; axis++) {
		for (uint32_t cell = 0; cell < n_cells; cell++) {
			uint32_t level = cell / 2, cross = cell % 2;
			double bytes = e->sums.bytes[axis][level][cross];
			const struct weft_distance *d =
				&e->f->distance[level][cross];
			const double by_metric[WEFT_N_METRICS] = {
				bytes * d->hops,
				bytes * d->latency_s,
				bytes * d->time_s_per_byte,
			};

			/* The distance of a relation that no pair has may be
			 * INFINITY. */
			if (bytes == 0)
				continue;
			cost->bytes_by_level[level] += bytes;
			cost_add(cost, axis, level, by_metric);
		}
	}
}

/* What rings and tori add to the distance of neighbours. */
static void cost_sum_further(const struct evaluation *e, struct weft_cost *cost)
{
	for (uint32_t axis = 0; axis < WEFT_N_AXES; axis++) {
		for (uint32_t l = 0; l < e->f->n_levels; l++) {
			double bytes = e->sums.further[axis][l];
			const double by_metric[WEFT_N_METRICS] = {
				bytes,
				bytes * e->f->levels[l].hop_latency_s,
				0,
			};

			cost_add(cost, axis, l, by_metric);
		}
	}
}

double weft_cost_uplink_rate(const struct weft_fabric *f, uint32_t domain)
{
	uint32_t above = f->domains[domain].level + 1;
	const struct weft_link *link;

	if (above >= f->n_levels)
		return (double)INFINITY;
	if (f->uplink_rate_bytes_per_s &&
	    f->uplink_rate_bytes_per_s[domain] > 0)
		return f->uplink_rate_bytes_per_s[domain];
	link = &f->levels[above].link;
	return f->domains[domain].n_gpus * link->rate_bytes_per_s /
	       link->oversubscription;
}

/* Seconds of a domain's link for its share of the step. */
static double link_s(const struct evaluation *e, uint32_t domain, bool up)
{
	const struct weft_cost_scratch *s = e->scratch;
	double bytes = up ? s->up[domain] : s->down[domain];

	if (e->load)
		return bytes / weft_load_rate(e->load, domain, up);
	return bytes / weft_cost_uplink_rate(e->f, domain);
}

static void busiest_domain(const struct evaluation *e, struct weft_cost *cost)
{
	const struct weft_cost_scratch *s = e->scratch;

	for (uint32_t i = 0; i < s->n_touched; i++) {
		uint32_t domain = s->touched[i];
		double up_s = link_s(e, domain, true);
		double down_s = link_s(e, domain, false);
		bool up = up_s >= down_s;
		double bytes = up ? s->up[domain] : s->down[domain];
		double time_s = up ? up_s : down_s;
		uint32_t level = e->f->domains[domain].level;

		if (time_s < cost->busiest.time_s)
			continue;
		if (time_s == cost->busiest.time_s &&
		    (level < cost->busiest.level ||
		     (level == cost->busiest.level &&
		      domain > cost->busiest.domain)))
			continue;
		cost->busiest.time_s = time_s;
		cost->busiest.bytes = bytes;
		cost->busiest.level = level;
		cost->busiest.domain = domain;
		cost->busiest.up = up;
	}
}

static void busiest_nic(const struct evaluation *e, uint32_t rank,
			struct weft_cost *cost)
{
	const struct weft_fabric *f = e->f;
	const struct weft_cost_scratch *s = e->scratch;
	uint32_t gpu = e->where[rank];
	bool up = s->nic_up[rank] >= s->nic_down[rank];
	double bytes = up ? s->nic_up[rank] : s->nic_down[rank];
	double time_s;

	if (bytes == 0)
		return;
	time_s = bytes / f->levels[f->node_level + 1].link.rate_bytes_per_s;
	if (time_s < cost->busiest.time_s ||
	    (time_s == cost->busiest.time_s &&
	     (cost->busiest.gpu == WEFT_NONE || gpu >= cost->busiest.gpu)))
		return;
	cost->busiest.time_s = time_s;
	cost->busiest.bytes = bytes;
	cost->busiest.level = f->node_level;
	cost->busiest.domain = f->gpu_domain[f->node_level][gpu];
	cost->busiest.gpu = gpu;
	cost->busiest.up = up;
}

/* What all ranks send, of traffic that has rows. */
static int rows_add(struct evaluation *e, const struct weft_traffic *t,
		    struct weft_error *err)
{
	for (uint32_t rank = 0; rank < t->n_ranks; rank++) {
		if (weft_deadline_check_turn(rank, err) ||
		    rank_add(e, t, rank, t->row[rank], t->row[rank + 1], err))
			return -1;
	}
	return 0;
}

/* The same of traffic that has none. */
static int merged_rows_add(struct evaluation *e, struct weft_error *err)
{
	struct traffic_rows rows;
	int rc = traffic_rows_open(e->t, &rows, err);

	for (uint32_t rank = 0; rank < e->t->n_ranks && rc == 0; rank++) {
		rc = weft_deadline_check_turn(rank, err);
		if (rc)
			break;
		traffic_rows_read(&rows, rank);
		rc = rank_add(e, &rows.one, rank, 0, rows.one.n_edges, err);
	}
	traffic_rows_close(&rows);
	return rc;
}

/* All bytes of the step, summed by relation and on the links. */
static int add_all(struct evaluation *e, struct weft_error *err)
{
	const struct weft_traffic *t = e->t;
	bool counts = t->loose && cost_counts_tell(e->f);

	if (counts || t->row || !t->loose) {
		if (rows_add(e, counts ? t->loose : t, err))
			return -1;
	} else if (merged_rows_add(e, err)) {
		return -1;
	}
	for (uint32_t k = 0; counts && k < t->n_cliques; k++) {
		if (weft_deadline_check_turn(k, err) ||
		    cost_clique_add(e, &t->cliques[k], err))
			return -1;
	}
	for (uint32_t k = 0; k < e->t->n_switches; k++) {
		if (weft_deadline_check_turn(k, err) || switch_add(e, k, err))
			return -1;
	}
	return 0;
}

static void busiest_find(const struct evaluation *e, struct weft_cost *cost)
{
	busiest_domain(e, cost);
	for (uint32_t rank = 0; rank < e->t->n_ranks; rank++)
		busiest_nic(e, rank, cost);
}

static int evaluate(struct evaluation *e, struct weft_cost *cost,
		    struct weft_error *err)
{
	uint32_t n_marked = 0;
	int rc = -1;

	memset(cost, 0, sizeof(*cost));
	cost->busiest.domain = WEFT_NONE;
	cost->busiest.gpu = WEFT_NONE;
	if (scratch_reserve(e->scratch, e, err))
		return -1;
	if (e->links)
		adapters_clear(e);
	if (gpus_mark(e, &n_marked, err) || add_all(e, err))
		goto out;
	cost_sum(e, cost);
	if (e->f->has_steps)
		cost_sum_further(e, cost);
	if (e->links)
		busiest_find(e, cost);
	rc = 0;
out:
	scratch_clear(e, n_marked);
	return rc;
}

/* With the caller's scratch, or one of its own. */
static int evaluate_with(struct evaluation e, struct weft_cost_scratch *scratch,
			 struct weft_cost *cost, struct weft_error *err)
{
	struct weft_cost_scratch own = {0};
	int rc;

	e.scratch = scratch ? scratch : &own;
	rc = evaluate(&e, cost, err);
	weft_cost_scratch_free(&own);
	return rc;
}

int weft_cost(const struct weft_fabric *f, const struct weft_traffic *t,
	      const uint32_t *where, struct weft_cost_scratch *scratch,
	      struct weft_cost *cost, struct weft_error *err)
{
	const struct evaluation e = {
		.f = f, .t = t, .where = where, .links = true};

	return evaluate_with(e, scratch, cost, err);
}

int weft_cost_sums(const struct weft_fabric *f, const struct weft_traffic *t,
		   const uint32_t *where, struct weft_cost_scratch *scratch,
		   struct weft_cost *cost, struct weft_error *err)
{
	const struct evaluation e = {.f = f, .t = t, .where = where};

	return evaluate_with(e, scratch, cost, err);
}

int weft_cost_shared(const struct weft_load *load, const struct weft_traffic *t,
		     const uint32_t *where, struct weft_cost_scratch *scratch,
		     struct weft_cost *cost, struct weft_error *err)
{
	const struct evaluation e = {
		.f = load->fabric,
		.t = t,
		.where = where,
		.load = load,
		.links = true,
	};

	return evaluate_with(e, scratch, cost, err);
}

int weft_cost_links(const struct weft_fabric *f, const struct weft_traffic *t,
		    const uint32_t *where, double *up, double *down,
		    struct weft_error *err)
{
	struct weft_cost_scratch own = {0};
	struct evaluation e = {
		.f = f, .t = t, .where = where, .links = true, .scratch = &own};
	uint32_t n_marked = 0;
	int rc = -1;

	if (scratch_reserve(&own, &e, err) || gpus_mark(&e, &n_marked, err) ||
	    add_all(&e, err))
		goto out;
	for (uint32_t i = 0; i < own.n_touched; i++) {
		up[own.touched[i]] += own.up[own.touched[i]];
		down[own.touched[i]] += own.down[own.touched[i]];
	}
	rc = 0;
out:
	weft_cost_scratch_free(&own);
	return rc;
}
