/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_paths.c - the flows from host to host one by one, with their links */
#include "costmodel/time/flows/flows_parts.h"

uint32_t flow_rail_nic(const struct weft_fabric *f, uint32_t host,
		       uint32_t rail)
{
	const struct weft_node *node = &f->nodes[f->domains[host].first_node];
	uint32_t local = rail * node->n_gpus / f->n_rails;

	if (node->n_gpus > f->n_rails)
		local = (rail * node->n_gpus + f->n_rails - 1) / f->n_rails;
	return weft_fabric_numbered(f, f->domains[host].first_node, local);
}

/* The next place from x towards y on a ring of n, the shorter way. */
static uint32_t ring_next(uint32_t x, uint32_t y, uint32_t n)
{
	uint32_t ahead = y > x ? y - x : y + n - x;

	return 2 * ahead <= n ? (x + 1) % n : (x + n - 1) % n;
}

uint32_t flow_passed(const struct weft_fabric *f, uint32_t level, uint32_t a,
		     uint32_t b, uint32_t *passed, uint32_t most)
{
	const struct weft_level *l = &f->levels[level];
	const struct weft_domain *domain = &f->domains[f->gpu_domain[level][a]];
	uint32_t x = f->gpu_domain[level - 1][a] - domain->first_child;
	uint32_t y = f->gpu_domain[level - 1][b] - domain->first_child;
	bool ring = l->shape == WEFT_SHAPE_RING;
	uint32_t n = 0, stride = 1;

	if (!ring && l->shape != WEFT_SHAPE_TORUS)
		return 0;
	for (uint32_t k = 0; k < (ring ? 1 : 3); k++) {
		uint32_t side = ring ? domain->n_children : l->dims[k];
		uint32_t to = y / stride % side;

		for (uint32_t at = x / stride % side; at != to && n < most;) {
			uint32_t next = ring_next(at, to, side);

			x = x - at * stride + next * stride;
			at = next;
			if (x != y)
				passed[n++] = domain->first_child + x;
		}
		stride *= side;
	}
	return n;
}

static void link_add(struct weft_flow_path *path, uint32_t thing, bool up)
{
	path->link[path->n_links++] = 2 * thing + !up;
}

/* The NIC of a host for what leaves or enters on the rail of a GPU, which need
 * not be of this host. */
static void nic_add(const struct weft_fabric *f, struct weft_flow_path *path,
		    uint32_t host, uint32_t gpu, bool up)
{
	uint32_t nic = gpu;

	if (flow_has_rails(f, host))
		nic = flow_rail_nic(f, host, weft_fabric_rail(f, gpu));
	link_add(path, f->n_domains + nic, up);
}

int flow_path_pair(const struct flow_sink *sink, uint32_t a, uint32_t b,
		   double bytes)
{
	const struct weft_fabric *f = sink->f;
	struct weft_flow_path path = {.stage = sink->stage, .bytes = bytes};
	uint32_t leaf = f->node_level + 1, cross;
	uint32_t meet = weft_fabric_relation(f, a, b, &cross);
	uint32_t from = f->gpu_domain[f->node_level][a];
	uint32_t to = f->gpu_domain[f->node_level][b];

	nic_add(f, &path, from, cross && flow_passes(f, from, to) ? b : a,
		true);
	nic_add(f, &path, to, b, false);
	for (uint32_t l = f->node_level; l < meet; l++) {
		link_add(&path, f->gpu_domain[l][a], true);
		link_add(&path, f->gpu_domain[l][b], false);
	}
	if (f->has_steps) {
		uint32_t passed[WEFT_FLOW_PASSED];
		uint32_t n =
			flow_passed(f, meet, a, b, passed, WEFT_FLOW_PASSED);

		for (uint32_t i = 0; i < n; i++) {
			link_add(&path, passed[i], false);
			link_add(&path, passed[i], true);
		}
	}
	if (cross && !f->pxn && meet == leaf && leaf + 1 < f->n_levels) {
		link_add(&path, f->gpu_domain[leaf][a], true);
		link_add(&path, f->gpu_domain[leaf][b], false);
	}
	return sink->visit(sink->data, &path);
}

static bool is_before(const struct weft_fabric *f, uint32_t a, uint32_t b)
{
	uint32_t rail_a = weft_fabric_rail(f, a);
	uint32_t rail_b = weft_fabric_rail(f, b);

	return rail_a < rail_b || (rail_a == rail_b && a < b);
}

void flow_group_sort(const struct weft_fabric *f, struct flow_group *g)
{
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		for (uint32_t i = g->first[h] + 1; i < g->first[h + 1]; i++) {
			uint32_t gpu = g->member[i], k = i;

			for (; k > g->first[h] &&
			       is_before(f, gpu, g->member[k - 1]);
			     k--)
				g->member[k] = g->member[k - 1];
			g->member[k] = gpu;
		}
	}
}

/* unit: bytes of one that g->out and g->in count. */
static int pieces_visit(const struct flow_sink *sink,
			const struct flow_group *g, uint32_t a, uint32_t b,
			double unit, bool any_rail)
{
	uint32_t i = g->first[a], k = g->first[b];

	while (i < g->first[a + 1] && k < g->first[b + 1]) {
		uint32_t from = g->member[i], to = g->member[k];
		uint32_t rail_from = weft_fabric_rail(sink->f, from);
		uint32_t rail_to = weft_fabric_rail(sink->f, to);
		uint32_t n = g->out[i] < g->in[k] ? g->out[i] : g->in[k];

		if (!any_rail && rail_from != rail_to) {
			i += rail_from < rail_to;
			k += rail_from > rail_to;
			continue;
		}
		if (n && flow_path_pair(sink, from, to, n * unit))
			return -1;
		g->out[i] -= n;
		g->in[k] -= n;
		if (g->out[i] == 0)
			i++;
		else
			k++;
	}
	return 0;
}

int flow_path_hop(const struct flow_sink *sink, const struct flow_group *g,
		  uint32_t a, uint32_t b, double bytes)
{
	uint32_t n_a = g->first[a + 1] - g->first[a];
	uint32_t n_b = g->first[b + 1] - g->first[b];
	double unit = bytes / n_a / n_b;

	for (uint32_t i = 0; i < n_a; i++)
		g->out[g->first[a] + i] = n_b;
	for (uint32_t i = 0; i < n_b; i++)
		g->in[g->first[b] + i] = n_a;
	if (sink->f->n_rails > 1 && pieces_visit(sink, g, a, b, unit, false))
		return -1;
	return pieces_visit(sink, g, a, b, unit, true);
}
