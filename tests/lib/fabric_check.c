/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_check.c - every invariant that fabric.h promises, verified */
#include "tests/lib/fabric_check.h"

#include "base/hostlist.h"
#include "topology/cabling.h"

#include <math.h>
#include <string.h>

/* Fails, in `err`, with the condition's own text: the reader is a developer. */
#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			return weft_fail(err, WEFT_EINVAL,                     \
					 "fabric invariant broken: %s",        \
					 #condition);                          \
	} while (0)

static int counts_check(const struct weft_fabric *f, struct weft_error *err)
{
	uint32_t n_domains = 0;

	REQUIRE(f->name && f->profile);
	REQUIRE(f->n_gpus >= 1 && f->n_gpus <= WEFT_MAX_GPUS);
	REQUIRE(f->n_nodes >= 1 && f->n_nodes <= f->n_gpus);
	REQUIRE(f->n_levels >= 1 && f->n_levels <= WEFT_MAX_LEVELS);
	REQUIRE(f->n_rails >= 1 && f->n_rails <= WEFT_MAX_GPUS_PER_NODE);
	REQUIRE(f->node_level <= 1 && f->node_level < f->n_levels);
	for (uint32_t l = 0; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];

		REQUIRE(level->name[0] &&
			memchr(level->name, '\0', sizeof(level->name)));
		REQUIRE(level->first_domain == n_domains);
		REQUIRE(level->n_domains >= 1);
		REQUIRE(!l || level->n_domains <= level[-1].n_domains);
		REQUIRE(!l || level->hops >= level[-1].hops);
		n_domains += level->n_domains;
	}
	REQUIRE(n_domains == f->n_domains);
	REQUIRE(f->connected == (f->levels[f->n_levels - 1].n_domains == 1));
	return 0;
}

static int nodes_check(const struct weft_fabric *f, struct weft_error *err)
{
	uint32_t n_gpus = 0;

	for (uint32_t k = 0; k < f->n_nodes; k++) {
		const struct weft_node *node = &f->nodes[k];

		REQUIRE(node->name && strlen(node->name) < WEFT_NAME_SIZE);
		REQUIRE(node->first_gpu == n_gpus);
		REQUIRE(node->n_gpus >= 1);
		REQUIRE(node->n_gpus <= WEFT_MAX_GPUS_PER_NODE);
		REQUIRE(node->rack == WEFT_NONE || node->rack < f->n_racks);
		REQUIRE(node->order < f->n_nodes);
		REQUIRE(node->kind == WEFT_NONE || node->kind < f->n_kinds);
		REQUIRE(weft_fabric_node(f, node->name) == k);
		for (uint32_t g = 0; g < node->n_gpus; g++) {
			REQUIRE(weft_fabric_number(f, n_gpus + g) <
				node->n_gpus);
			REQUIRE(weft_fabric_numbered(
					f, k,
					weft_fabric_number(f, n_gpus + g)) ==
				n_gpus + g);
			REQUIRE(f->gpu_node[n_gpus + g] == k);
			REQUIRE(weft_fabric_rail(f, n_gpus + g) < f->n_rails);
		}
		n_gpus += node->n_gpus;
	}
	REQUIRE(n_gpus == f->n_gpus);
	for (uint32_t k = 1; k < f->n_nodes; k++)
		REQUIRE(strcmp(f->nodes[f->by_name[k - 1]].name,
			       f->nodes[f->by_name[k]].name) < 0);
	for (uint32_t k = 1; k < f->n_nodes; k++)
		REQUIRE(weft_name_compare(f->nodes[f->counted[k - 1]].name,
					  f->nodes[f->counted[k]].name) < 0);
	return 0;
}

/* Steps are those of levels above the node, and a torus is full. */
static int shapes_check(const struct weft_fabric *f, struct weft_error *err)
{
	bool has_steps = false;

	for (uint32_t l = 0; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];
		bool is_torus = level->shape == WEFT_SHAPE_TORUS;
		uint64_t size = (uint64_t)level->dims[0] * level->dims[1] *
				level->dims[2];

		REQUIRE(level->shape <= WEFT_SHAPE_GROUPS);
		REQUIRE(level->shape == WEFT_SHAPE_SWITCHED ||
			l > f->node_level);
		for (uint32_t k = 0; is_torus && k < level->n_domains; k++)
			REQUIRE(f->domains[level->first_domain + k]
					.n_children == size);
		REQUIRE(isfinite(level->hop_latency_s));
		REQUIRE(level->hop_latency_s >= 0);
		has_steps = has_steps || is_torus ||
			    level->shape == WEFT_SHAPE_RING;
	}
	REQUIRE(f->has_steps == has_steps);
	return 0;
}

/* The children of a domain cover exactly its GPUs, in order. */
static int children_check(const struct weft_fabric *f, uint32_t index,
			  struct weft_error *err)
{
	const struct weft_domain *domain = &f->domains[index];
	uint32_t next_gpu = domain->first_gpu;

	if (domain->level == 0) {
		REQUIRE(domain->n_children == 0);
		return 0;
	}
	REQUIRE(domain->n_children >= 1);
	for (uint32_t k = 0; k < domain->n_children; k++) {
		const struct weft_domain *child =
			&f->domains[domain->first_child + k];

		REQUIRE(domain->first_child + k < f->n_domains);
		REQUIRE(child->parent == index);
		REQUIRE(child->level + 1 == domain->level);
		REQUIRE(child->first_gpu == next_gpu);
		next_gpu += child->n_gpus;
	}
	REQUIRE(next_gpu == domain->first_gpu + domain->n_gpus);
	return 0;
}

static int domain_check(const struct weft_fabric *f, uint32_t index,
			struct weft_error *err)
{
	const struct weft_domain *domain = &f->domains[index];
	const struct weft_node *first = &f->nodes[domain->first_node];
	const struct weft_node *last = first + domain->n_nodes - 1;
	uint32_t end = domain->first_gpu + domain->n_gpus;

	REQUIRE(domain->name && *domain->name);
	REQUIRE(domain->level < f->n_levels);
	REQUIRE(domain->n_gpus >= 1 && end <= f->n_gpus);
	REQUIRE(domain->n_nodes >= 1);
	REQUIRE(domain->first_node + domain->n_nodes <= f->n_nodes);
	if (domain->level >= f->node_level) {
		REQUIRE(first->first_gpu == domain->first_gpu);
		REQUIRE(last->first_gpu + last->n_gpus == end);
	} else {
		REQUIRE(domain->n_nodes == 1);
		REQUIRE(first->first_gpu <= domain->first_gpu);
		REQUIRE(first->first_gpu + first->n_gpus >= end);
	}
	REQUIRE((domain->parent == WEFT_NONE) ==
		(domain->level + 1 == f->n_levels));
	for (uint32_t g = domain->first_gpu; g < end; g++)
		REQUIRE(f->gpu_domain[domain->level][g] == index);
	return children_check(f, index, err);
}

static int domains_check(const struct weft_fabric *f, struct weft_error *err)
{
	for (uint32_t l = 0; l < f->n_levels; l++) {
		uint32_t next_gpu = 0;

		for (uint32_t k = 0; k < f->levels[l].n_domains; k++) {
			uint32_t index = f->levels[l].first_domain + k;

			REQUIRE(f->domains[index].level == l);
			REQUIRE(f->domains[index].first_gpu == next_gpu);
			if (domain_check(f, index, err))
				return -1;
			next_gpu += f->domains[index].n_gpus;
		}
		REQUIRE(next_gpu == f->n_gpus);
	}
	return 0;
}

static int distances_check(const struct weft_fabric *f, struct weft_error *err)
{
	for (uint32_t l = 0; l < f->n_levels; l++)
		for (int rail = 0; rail < 2; rail++) {
			const struct weft_distance *d = &f->distance[l][rail];
			const struct weft_distance *inner =
				l ? &f->distance[l - 1][rail] : NULL;

			REQUIRE(isfinite(d->latency_s));
			REQUIRE(isfinite(d->time_s_per_byte));
			REQUIRE(d->latency_s >= 0);
			REQUIRE(d->time_s_per_byte > 0);
			REQUIRE(!rail || d->hops >= f->distance[l][0].hops);
			REQUIRE(!inner || d->hops >= inner->hops);
			REQUIRE(!inner || d->latency_s >= inner->latency_s);
			REQUIRE(!inner ||
				d->time_s_per_byte >= inner->time_s_per_byte);
		}
	return 0;
}

static int switches_check(const struct weft_fabric *f, struct weft_error *err)
{
	const struct weft_cabling *c = f->cabling;
	uint32_t n_named = 0;

	REQUIRE(c->n_networks >= 1 && c->n_networks <= WEFT_MAX_NETWORKS);
	REQUIRE(c->n_switches <= WEFT_MAX_SWITCHES);
	for (uint32_t k = 0; k < c->n_switches; k++) {
		const struct weft_cabling_switch *s = &c->switches[k];

		REQUIRE(s->name && strlen(s->name) < WEFT_NAME_SIZE);
		REQUIRE(s->network < c->n_networks);
		REQUIRE(s->rail == WEFT_NO_RAIL || s->rail < f->n_rails);
		REQUIRE(weft_cabling_find(c, s->name) == k);
		REQUIRE(weft_fabric_node(f, s->name) == WEFT_NONE);
		if (s->domain == WEFT_NONE)
			continue;
		REQUIRE(s->domain < f->n_domains);
		REQUIRE(f->domains[s->domain].level > f->node_level);
		REQUIRE(s->network == WEFT_COMPUTE);
		n_named++;
	}
	for (uint32_t d = 0; d < f->n_domains; d++) {
		uint32_t n;
		const uint32_t *of = weft_cabling_of_domain(c, d, &n);

		for (uint32_t i = 0; i < n; i++)
			REQUIRE(c->switches[of[i]].domain == d);
		n_named -= n;
	}
	REQUIRE(n_named == 0);
	return 0;
}

/* Whether a cable is among those of an end. */
static bool end_has(const struct weft_cabling *c, uint32_t end, uint32_t cable)
{
	uint32_t n, low = 0;
	const uint32_t *of = weft_cabling_of_end(c, end, &n);

	while (n > 1) {
		uint32_t half = n / 2;

		low = of[low + half] <= cable ? low + half : low;
		n -= half;
	}
	return n && of[low] == cable;
}

static int cables_check(const struct weft_fabric *f, struct weft_error *err)
{
	const struct weft_cabling *c = f->cabling;
	uint32_t n_ends = f->n_nodes + c->n_switches;

	REQUIRE(c->n_nodes == f->n_nodes);
	REQUIRE(c->n_cables <= WEFT_MAX_CABLES);
	for (uint32_t k = 0; k < c->n_cables; k++) {
		const struct weft_cable *cable = &c->cables[k];
		bool is_node = cable->a < f->n_nodes;

		REQUIRE(cable->a < n_ends && cable->b < n_ends);
		REQUIRE(cable->a != cable->b && cable->b >= f->n_nodes);
		REQUIRE(end_has(c, cable->a, k) && end_has(c, cable->b, k));
		REQUIRE(cable->n >= 1);
		REQUIRE(isfinite(cable->rate_bytes_per_s));
		REQUIRE(cable->rate_bytes_per_s >= 0);
		REQUIRE(cable->port == WEFT_NO_PORT ||
			(is_node && cable->port < c->n_ports));
		REQUIRE(cable->rail == WEFT_NO_RAIL ||
			(is_node &&
			 (f->n_rails < 2 || cable->rail < f->n_rails)));
	}
	for (uint32_t p = 1; p < c->n_ports; p++)
		REQUIRE(weft_name_compare(c->ports[p - 1], c->ports[p]) < 0);
	return 0;
}

static int uplinks_check(const struct weft_fabric *f, struct weft_error *err)
{
	const double *rate = f->uplink_rate_bytes_per_s;

	for (uint32_t d = 0; rate && d < f->n_domains; d++)
		REQUIRE(isfinite(rate[d]) && rate[d] >= 0);
	return 0;
}

static int routing_check(const struct weft_fabric *f, struct weft_error *err)
{
	REQUIRE(f->routing < WEFT_N_ROUTINGS);
	REQUIRE(f->n_flows >= 1 && f->n_flows <= WEFT_MAX_FLOWS);
	REQUIRE(!f->n_uplinks || f->cabling);
	for (uint32_t l = 0; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];

		REQUIRE(isfinite(level->queue_bytes) &&
			level->queue_bytes >= 0);
		REQUIRE(level->n_shares <= WEFT_MAX_SHARES);
		for (uint32_t k = 0; k < level->n_shares; k++) {
			const struct weft_rate_share *s = &level->shares[k];

			REQUIRE(s->share > 0 && s->share <= 1);
			REQUIRE(s->size_bytes > 0 && isfinite(s->size_bytes));
			REQUIRE(!k || s->size_bytes > s[-1].size_bytes);
		}
	}
	return 0;
}

int fabric_check(const struct weft_fabric *f, struct weft_error *err)
{
	if (counts_check(f, err) || nodes_check(f, err) ||
	    domains_check(f, err) || shapes_check(f, err) ||
	    distances_check(f, err) || uplinks_check(f, err) ||
	    routing_check(f, err))
		return -1;
	if (f->cabling && (switches_check(f, err) || cables_check(f, err)))
		return -1;
	return 0;
}
