/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_group.c - the hosts of a group of ranks */
#include "costmodel/time/flows/flows_tour.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct flow_group *flow_group_alloc(const struct weft_fabric *f,
				    uint32_t n_ranks, struct weft_error *err)
{
	size_t ranks = n_ranks, rails = f->n_rails ? f->n_rails : 1;
	size_t words = 8 * ranks + 1 + 2 * (size_t)f->n_domains + 2 * rails;
	struct flow_group *g = weft_calloc(1, sizeof(*g), err);
	uint32_t *next;

	if (!g)
		return NULL;
	g->memory = next = weft_realloc(NULL, words, sizeof(*next), err);
	if (!next) {
		free(g);
		return NULL;
	}
	g->rank = next;
	g->gpu = g->rank + ranks;
	g->lead = g->gpu + ranks;
	g->host = g->lead + ranks;
	g->member = g->host + ranks;
	g->out = g->member + ranks;
	g->in = g->out + ranks;
	g->first = g->in + ranks;
	g->count = g->first + ranks + 1;
	g->on_rail = g->count + f->n_domains;
	g->here = g->on_rail + rails;
	/* 0: no number, else one more than it */
	g->number = g->here + rails;
	/* a group has few of the ranks that there is room for */
	memset(g->count, 0, (next + words - g->count) * sizeof(*next));
	return g;
}

void flow_group_free(struct flow_group *group)
{
	int saved = errno;

	if (group)
		free(group->memory);
	free(group);
	errno = saved;
}

uint32_t flow_group_size(const struct weft_grid *grid, const char *token)
{
	uint32_t n = 1;

	while (*token) {
		size_t length = strcspn(token, "-");

		for (uint32_t a = 0; a < grid->n_axes; a++)
			if (strlen(grid->name[a]) == length &&
			    memcmp(grid->name[a], token, length) == 0)
				n *= grid->size[a];
		token += length + (token[length] == '-');
	}
	return n;
}

/* Numbers the hosts and sorts the members by them. */
static void hosts_read(const struct weft_fabric *f, struct flow_group *g)
{
	g->n_hosts = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t host = flow_host_of(f, g->gpu[i]);

		if (g->number[host] == 0) {
			g->host[g->n_hosts++] = host;
			g->number[host] = g->n_hosts;
		}
		/* the host's number, at first */
		g->lead[i] = g->number[host] - 1;
		g->count[host]++;
	}
	g->first[0] = 0;
	for (uint32_t h = 0; h < g->n_hosts; h++)
		g->first[h + 1] = g->first[h] + g->count[g->host[h]];
	for (uint32_t i = g->n; i-- > 0;) {
		uint32_t h = g->lead[i];

		g->lead[i] = g->first[h];
		g->member[g->first[h] + --g->count[g->host[h]]] = g->gpu[i];
	}
	for (uint32_t h = 0; h < g->n_hosts; h++)
		g->number[g->host[h]] = 0;
}

void flow_group_read(const struct weft_flows *flows,
		     const struct weft_grid *grid,
		     const struct weft_grid_groups *groups, uint32_t index)
{
	struct flow_group *g = flows->group;

	g->n = groups->n;
	weft_grid_members(grid, groups, index, g->rank);
	for (uint32_t i = 0; i < g->n; i++)
		g->gpu[i] = flows->where[g->rank[i]];
	hosts_read(flows->fabric, g);
}

/* On rails members share NICs or send through others'. */
bool flow_one_nic(const struct weft_flows *flows,
		  const struct weft_flow_kind *kind)
{
	return flows->one_nic && flows->fabric->n_rails < 2 &&
	       kind->way < WEFT_WAY_NEXT;
}

struct weft_flow_twins weft_flows_nics(const struct weft_flows *flows,
				       uint32_t kind)
{
	const struct flow_group *g = flows->group;
	bool one = flow_one_nic(flows, &flows->kinds[kind]);
	bool own = flows->fabric->n_rails < 2 && g->n_hosts > 1;

	return (struct weft_flow_twins){one ? g->lead : NULL, g->rank, 0,
					own ? g->n : 0};
}

/* Whether as many bytes are sent by the ranks `by` above those of the group:
 * on the grid of the stages each member is in its own or all are in one. */
static bool same_stages(const struct weft_flows *flows,
			const struct weft_flow_kind *kind, uint32_t by)
{
	const struct flow_group *g = flows->group;
	bool one = kind->way < WEFT_WAY_NEXT ||
		   kind->grid == &flows->schedule->dense;

	for (uint32_t i = 0; i < (one ? 1 : g->n); i++)
		if (weft_flows_stage(flows, g->rank[i]) !=
		    weft_flows_stage(flows, g->rank[i] + by))
			return false;
	return true;
}

bool weft_flows_twin(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, struct weft_flow_twins *twins)
{
	const struct weft_fabric *f = flows->fabric;
	const struct weft_flow_kind *k = &flows->kinds[kind];
	const struct flow_group *g = flows->group;
	const uint32_t *host = f->gpu_domain[f->node_level];
	uint32_t by;

	if (f->node_level > 0 || f->n_rails > 1 || k->groups.n != g->n)
		return false;
	by = weft_grid_lowest(k->grid, &k->groups, index) - g->rank[0];
	if (!same_stages(flows, k, by))
		return false;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t like = g->n_hosts > 1 ? g->gpu[i]
					       : flows->where[g->rank[0] + by];

		if (host[flows->where[g->rank[i] + by]] != host[like])
			return false;
	}
	*twins = weft_flows_nics(flows, kind);
	twins->by = by;
	return true;
}
