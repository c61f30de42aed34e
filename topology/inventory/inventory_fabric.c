/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory_fabric.c - a inventory made back from a fabric, as if it were a
 * source
 *
 * Hosts, racks and NVLink domains are the fabric's.  Switches and cables are
 * those of its cabling; what cables do not say, the tree of domains does, as
 * edges between switches of the domains' names.
 */
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/cabling.h"
#include "topology/inventory/inventory.h"

#include <stdlib.h>
#include <string.h>

struct maker {
	const struct weft_fabric *f;
	struct weft_inventory *s;
	struct weft_place where;
	uint32_t *host;		      /* [n_nodes] */
	struct weft_uplinks *uplinks; /* [n_domains], or NULL: no cabling */
	uint32_t *first_switch;	      /* [n_domains + 1] of switches */
	uint32_t *switches;	      /* inventory's, of each domain */
	uint32_t n_switches, switches_room;
	struct weft_arena memory; /* of what is of a known size */
	struct weft_error *err;
};

/* ---- hosts ---- */

static int host_texts(struct maker *m, uint32_t node, uint32_t host)
{
	const struct weft_fabric *f = m->f;
	const struct weft_node *n = &f->nodes[node];
	const struct weft_domain *inner =
		&f->domains[f->gpu_domain[0][n->first_gpu]];

	if (n->kind != WEFT_NONE &&
	    weft_inventory_set_text(m->s, host, WEFT_HOST_GPU_KIND,
				    f->kinds[n->kind], m->where, m->err))
		return -1;
	if (n->rack != WEFT_NONE &&
	    weft_inventory_set_text(m->s, host, WEFT_HOST_RACK,
				    f->racks[n->rack], m->where, m->err))
		return -1;
	if (!f->node_level && strcmp(inner->name, n->name) != 0 &&
	    weft_inventory_set_text(m->s, host, WEFT_HOST_NVLINK, inner->name,
				    m->where, m->err))
		return -1;
	return weft_inventory_set_gpus(m->s, host, n->n_gpus, m->where, m->err);
}

/* In the order of the file, which a file made from the inventory then has. */
static int hosts_make(struct maker *m)
{
	const struct weft_fabric *f = m->f;
	uint32_t *at;

	if (WEFT_ARRAY(at, f->n_nodes, &m->memory, m->err))
		return -1;
	for (uint32_t k = 0; k < f->n_nodes; k++)
		at[f->nodes[k].order] = k;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t node = at[i];
		uint32_t host = weft_inventory_host(m->s, f->nodes[node].name,
						    m->where, m->err);

		m->host[node] = host;
		if (host == WEFT_NONE || host_texts(m, node, host))
			return -1;
	}
	return 0;
}

/* A node, to be put beside those of the same NVLink domains. */
struct patterned {
	const struct weft_fabric *f;
	uint32_t node;
};

static uint32_t island_size(const struct weft_fabric *f, uint32_t gpu)
{
	return f->domains[f->gpu_domain[0][gpu]].n_gpus;
}

static int compare_patterned(const void *pa, const void *pb)
{
	const struct patterned *a = pa, *b = pb;
	uint32_t n = a->f->nodes[a->node].n_gpus;
	uint32_t m = b->f->nodes[b->node].n_gpus;

	if (n != m)
		return n < m ? -1 : 1;
	for (uint32_t g = 0; g < n; g++) {
		uint32_t ga = a->f->nodes[a->node].first_gpu + g;
		uint32_t gb = b->f->nodes[b->node].first_gpu + g;
		uint32_t x = island_size(a->f, ga), y = island_size(b->f, gb);

		if (x == y) {
			x = weft_fabric_number(a->f, ga);
			y = weft_fabric_number(b->f, gb);
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* The same, in the order of nodes. */
WEFT_COMPARATOR(compare_listed, struct patterned,
		WEFT_BY(compare_patterned) WEFT_UP(node));

/* One description for nodes of the same NVLink domains. */
static int inside_make(struct maker *m, const struct patterned *list,
		       uint32_t n, const char **names)
{
	const struct weft_fabric *f = m->f;
	const struct weft_node *node = &f->nodes[list->node];
	struct weft_inventory_inside *in = weft_calloc(1, sizeof(*in), m->err);
	uint32_t index = WEFT_NONE;
	char *hosts = NULL;

	for (uint32_t k = 0; k < n; k++)
		names[k] = f->nodes[list[k].node].name;
	if (in)
		hosts = weft_hostlist_encode(names, n);
	if (hosts) {
		in->hosts = hosts;
		in->n_gpus = node->n_gpus;
		in->where = m->where;
		for (uint32_t g = 0; g < node->n_gpus; g++) {
			uint32_t gpu = weft_fabric_numbered(f, list->node, g);

			in->gpus[g].nvlink_group =
				f->gpu_domain[0][gpu] -
				f->gpu_domain[0][node->first_gpu];
			in->gpus[g].numa = -1;
		}
		index = weft_inventory_add_inside(m->s, in, m->err);
	} else if (in) {
		weft_fail(m->err, WEFT_ENOMEM, "out of memory");
	}
	free(hosts);
	free(in);
	for (uint32_t k = 0; index != WEFT_NONE && k < n; k++)
		m->s->hosts[m->host[list[k].node]].inside = index;
	return index == WEFT_NONE ? -1 : 0;
}

static int insides_make(struct maker *m)
{
	uint32_t n = m->f->n_nodes, end;
	struct patterned *list;
	const char **names;

	if (!m->f->node_level)
		return 0;
	if (WEFT_ARRAY(names, n, &m->memory, m->err) ||
	    WEFT_ARRAY(list, n, &m->memory, m->err))
		return -1;
	for (uint32_t k = 0; k < n; k++)
		list[k] = (struct patterned){m->f, k};
	WEFT_SORT(list, n, compare_listed);
	for (uint32_t k = 0; k < n; k = end) {
		for (end = k + 1;
		     end < n && compare_patterned(&list[k], &list[end]) == 0;
		     end++)
			;
		if (inside_make(m, &list[k], end - k, names))
			return -1;
	}
	return 0;
}

/* ---- switches ---- */

static int switch_keep(struct maker *m, uint32_t index)
{
	if (index == WEFT_NONE)
		return -1;
	if (WEFT_GROW(m->switches, m->n_switches, m->switches_room, m->err))
		return -1;
	m->switches[m->n_switches++] = index;
	return 0;
}

/* A switch that the cabling knows. */
static uint32_t switch_known(struct maker *m, uint32_t k)
{
	const struct weft_cabling *c = m->f->cabling;
	const struct weft_cabling_switch *from = &c->switches[k];
	uint32_t index =
		weft_inventory_switch(m->s, from->name, m->where, m->err);
	struct weft_inventory_switch *to;
	const char *network = c->networks[from->network];

	if (index == WEFT_NONE)
		return index;
	to = &m->s->switches[index];
	to->tier = from->tier;
	to->n_ports = from->n_ports;
	if (from->network == WEFT_COMPUTE)
		return index;
	to->network = weft_arena_copy(&m->s->arena, network, m->err);
	return to->network ? index : WEFT_NONE;
}

bool weft_inventory_passes(const struct weft_fabric *f, uint32_t domain)
{
	const struct weft_domain *d = &f->domains[domain];

	return d->n_children == 1 &&
	       strcmp(d->name, f->domains[d->first_child].name) == 0;
}

static bool is_pass_through(const struct weft_fabric *f, uint32_t domain)
{
	return f->domains[domain].level > f->node_level &&
	       weft_inventory_passes(f, domain);
}

/* Switches of a domain that has none in the cabling: of its own name, or the
 * leafs of a bundle, whose names the domain's joins. */
static int switches_named(struct maker *m, uint32_t domain)
{
	const struct weft_domain *d = &m->f->domains[domain];
	struct weft_hostlist list = {0};
	int rc = weft_hostlist_decode(d->name, WEFT_MAX_GPUS_PER_NODE, &list,
				      m->err);

	for (uint32_t i = 0; !rc && i < list.n; i++) {
		uint32_t index = weft_inventory_switch(m->s, list.names[i],
						       m->where, m->err);

		rc = switch_keep(m, index);
		if (!rc)
			m->s->switches[index].tier =
				d->level - m->f->node_level;
	}
	weft_hostlist_free(&list);
	return rc;
}

static int domain_switches(struct maker *m, uint32_t domain)
{
	const struct weft_fabric *f = m->f;
	const struct weft_domain *d = &f->domains[domain];
	const uint32_t *of = NULL;
	uint32_t n = 0;

	m->first_switch[domain] = m->n_switches;
	if (d->level <= f->node_level || is_pass_through(f, domain))
		return 0;
	if (f->cabling)
		of = weft_cabling_of_domain(f->cabling, domain, &n);
	for (uint32_t i = 0; i < n; i++)
		if (switch_keep(m, switch_known(m, of[i])))
			return -1;
	/* Groups are joined by the cables of what is in them. */
	if (n || (f->cabling && f->levels[d->level].shape == WEFT_SHAPE_GROUPS))
		return 0;
	return switches_named(m, domain);
}

static int switches_make(struct maker *m)
{
	const struct weft_fabric *f = m->f;
	uint32_t n = f->cabling ? f->cabling->n_switches : 0;

	for (uint32_t k = 0; k < n; k++)
		if (switch_known(m, k) == WEFT_NONE)
			return -1;
	for (uint32_t d = 0; d < f->n_domains; d++)
		if (domain_switches(m, d))
			return -1;
	m->first_switch[f->n_domains] = m->n_switches;
	return 0;
}

/* ---- cables ---- */

static int node_end(struct maker *m, const struct weft_cable *cable,
		    struct weft_end *end)
{
	const char *port = weft_cabling_port(m->f->cabling, cable);

	*end = (struct weft_end){.kind = WEFT_END_HOST,
				 .index = m->host[cable->a],
				 .hca = WEFT_NONE};
	if (!port)
		return 0;
	end->hca = weft_inventory_hca(m->s, end->index, port, NULL, m->where,
				      m->err);
	if (end->hca == WEFT_NONE)
		return -1;
	if (cable->rail != WEFT_NO_RAIL)
		m->s->hcas[end->hca].rail = cable->rail;
	return 0;
}

static struct weft_end switch_end(struct maker *m, uint32_t end)
{
	const char *name = weft_cabling_end_name(m->f, end);

	return (struct weft_end){.kind = WEFT_END_SWITCH,
				 .index =
					 weft_inventory_find_switch(m->s, name),
				 .hca = WEFT_NONE};
}

static int cables_make(struct maker *m)
{
	const struct weft_cabling *c = m->f->cabling;
	uint32_t n = c ? c->n_cables : 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct weft_cable *from = &c->cables[k];
		struct weft_inventory_cable cable = {
			.b = switch_end(m, from->b),
			.n = from->n,
			.rate_bytes_per_s = from->rate_bytes_per_s,
			.width = from->width,
			.down = !from->up,
			.where = m->where,
		};

		if (from->a >= c->n_nodes)
			cable.a = switch_end(m, from->a);
		else if (node_end(m, from, &cable.a))
			return -1;
		if (weft_inventory_add_cable(m->s, &cable, m->err))
			return -1;
	}
	return 0;
}

/* ---- the tree ---- */

/* The domain above that is more than a pass-through, or WEFT_NONE. */
static uint32_t parent_of(const struct weft_fabric *f, uint32_t domain)
{
	uint32_t parent = f->domains[domain].parent;

	while (parent != WEFT_NONE && is_pass_through(f, parent))
		parent = f->domains[parent].parent;
	return parent;
}

static int edges_below(struct maker *m, uint32_t parent,
		       enum weft_end_kind kind, uint32_t child)
{
	for (uint32_t p = m->first_switch[parent];
	     p < m->first_switch[parent + 1]; p++)
		if (weft_inventory_add_edge(m->s, m->switches[p], kind, child,
					    m->where, m->err) == WEFT_NONE)
			return -1;
	return 0;
}

/* What is attached to the switches of the domain above: its nodes, or its own
 * switches. */
static int domain_edges(struct maker *m, uint32_t domain)
{
	const struct weft_fabric *f = m->f;
	const struct weft_domain *d = &f->domains[domain];
	uint32_t parent = parent_of(f, domain);

	if (parent == WEFT_NONE || d->level < f->node_level ||
	    is_pass_through(f, domain))
		return 0;
	for (uint32_t k = 0; d->level == f->node_level && k < d->n_nodes; k++)
		if (edges_below(m, parent, WEFT_END_HOST,
				m->host[d->first_node + k]))
			return -1;
	for (uint32_t s = m->first_switch[domain];
	     s < m->first_switch[domain + 1]; s++)
		if (edges_below(m, parent, WEFT_END_SWITCH, m->switches[s]))
			return -1;
	return 0;
}

static int tree_make(struct maker *m)
{
	const struct weft_fabric *f = m->f;

	for (uint32_t d = 0; d < f->n_domains; d++) {
		const struct weft_uplinks *u =
			m->uplinks ? &m->uplinks[d] : NULL;

		if (u && u->n_up + u->n_down > 0)
			continue;
		if (domain_edges(m, d))
			return -1;
	}
	return 0;
}

/* ---- all of it ---- */

static int maker_alloc(struct maker *m)
{
	const struct weft_fabric *f = m->f;

	if (WEFT_ARRAY(m->host, f->n_nodes, &m->memory, m->err) ||
	    WEFT_ARRAY(m->first_switch, (size_t)f->n_domains + 1, &m->memory,
		       m->err))
		return -1;
	if (!f->cabling)
		return 0;
	if (WEFT_ARRAY(m->uplinks, f->n_domains, &m->memory, m->err))
		return -1;
	weft_cabling_uplinks(f, m->uplinks);
	return 0;
}

static int inventory_fill(struct maker *m, const char *source)
{
	const char *name = m->f->name;

	m->where.source =
		weft_inventory_add_source(m->s, source, "fabric", m->err);
	if (m->where.source == WEFT_NONE || maker_alloc(m))
		return -1;
	if (*name) {
		m->s->name = weft_arena_copy(&m->s->arena, name, m->err);
		if (!m->s->name)
			return -1;
	}
	if (hosts_make(m) || insides_make(m) || switches_make(m) ||
	    cables_make(m) || tree_make(m))
		return -1;
	return 0;
}

struct weft_inventory *weft_inventory_from_fabric(const struct weft_fabric *f,
						  const char *source,
						  struct weft_error *err)
{
	struct maker m = {.f = f, .err = err};
	int rc = -1;

	m.s = weft_calloc(1, sizeof(*m.s), err);
	if (m.s)
		rc = inventory_fill(&m, source);
	weft_arena_free(&m.memory);
	free(m.switches);
	if (rc) {
		weft_inventory_free(m.s);
		free(m.s);
		return NULL;
	}
	return m.s;
}
