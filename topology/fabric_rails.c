/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_rails.c - which rail a node's port is on, where the file does not say
 *
 * Nodes of one kind and GPU count have the same ports.  The ports by which at
 * least half of such nodes are cabled to the compute network, in the order in
 * which people count, are dealt out to the rails evenly: so a node that lacks
 * one keeps the rails of the others, and a port that only one node has is on no
 * rail.
 */
#include "base/compare.h"
#include "topology/fabric_wiring.h"

#include <stdlib.h>

/* A port of a kind of node, at one node. */
struct use {
	uint32_t group; /* kind and number of GPUs */
	uint32_t node;
	uint16_t port;
	uint8_t rail;
};

static uint32_t group_of(const struct weft_node *node)
{
	uint32_t kind = node->kind == WEFT_NONE ? WEFT_MAX_KINDS : node->kind;

	return kind * (WEFT_MAX_GPUS_PER_NODE + 1) + node->n_gpus;
}

WEFT_COMPARATOR(use_compare, struct use,
		WEFT_UP(group) WEFT_UP(port) WEFT_UP(node));

static bool is_rail_cable(const struct weft_cabling *c,
			  const struct weft_cable *cable)
{
	return cable->a < c->n_nodes && cable->port != WEFT_NO_PORT &&
	       weft_cabling_is_compute(c, cable);
}

static struct use use_of(const struct weft_wiring *w,
			 const struct weft_cable *cable)
{
	return (struct use){.group = group_of(&w->f->nodes[cable->a]),
			    .node = cable->a,
			    .port = cable->port,
			    .rail = WEFT_NO_RAIL};
}

/* Uses of ports, sorted, each once. */
static uint32_t uses_fill(const struct weft_wiring *w, struct use *uses)
{
	const struct weft_cabling *c = w->c;
	uint32_t n = 0, kept = 0;

	for (uint32_t k = 0; k < c->n_cables; k++) {
		const struct weft_cable *cable = &c->cables[k];

		if (is_rail_cable(c, cable))
			uses[n++] = use_of(w, cable);
	}
	WEFT_SORT(uses, n, use_compare);
	for (uint32_t i = 0; i < n; i++)
		if (!i || use_compare(&uses[i], &uses[i - 1]) != 0)
			uses[kept++] = uses[i];
	return kept;
}

/* End of the run of uses of one group (and port) that begins at first. */
static uint32_t run_end(const struct use *uses, uint32_t n, uint32_t first,
			bool of_port)
{
	uint32_t end = first;

	while (end < n && uses[end].group == uses[first].group &&
	       (!of_port || uses[end].port == uses[first].port))
		end++;
	return end;
}

/* Nodes of a group that have any port; they are marked. */
static uint32_t nodes_count(const struct use *uses, uint32_t first,
			    uint32_t end, bool *mark)
{
	uint32_t n = 0;

	for (uint32_t i = first; i < end; i++) {
		n += !mark[uses[i].node];
		mark[uses[i].node] = true;
	}
	return n;
}

/* Shares the ports of uses[first..end) out to the rails. */
static void group_deal(const struct weft_wiring *w, struct use *uses,
		       uint32_t first, uint32_t end, bool *mark)
{
	uint32_t n_nodes = nodes_count(uses, first, end, mark);
	uint32_t n_rails = w->f->n_rails, n_ports = 0, position = 0;

	for (uint32_t i = first, next; i < end; i = next) {
		next = run_end(uses, end, i, true);
		n_ports += 2 * (next - i) >= n_nodes;
	}
	if (!n_ports || (n_ports % n_rails && n_rails % n_ports))
		return;
	for (uint32_t i = first, next; i < end; i = next) {
		next = run_end(uses, end, i, true);
		if (2 * (next - i) < n_nodes)
			continue;
		for (uint32_t k = i; k < next; k++)
			uses[k].rail = (uint8_t)(position * n_rails / n_ports);
		position++;
	}
}

static void rails_write(struct weft_wiring *w, const struct use *uses,
			uint32_t n)
{
	struct weft_cabling *c = w->c;

	for (uint32_t k = 0; k < c->n_cables; k++) {
		struct weft_cable *cable = &c->cables[k];
		struct use key;
		const struct use *use;

		if (cable->rail != WEFT_NO_RAIL || !is_rail_cable(c, cable))
			continue;
		key = use_of(w, cable);
		use = bsearch(&key, uses, n, sizeof(*uses), use_compare);
		if (use)
			cable->rail = use->rail;
	}
}

int weft_wiring_rails(struct weft_wiring *w)
{
	struct use *uses;
	bool *mark;
	uint32_t n;

	if (w->f->n_rails < 2)
		return 0;
	uses = weft_calloc(w->c->n_cables, sizeof(*uses), w->d->err);
	mark = weft_calloc(w->f->n_nodes, sizeof(*mark), w->d->err);
	if (!uses || !mark) {
		free(uses);
		free(mark);
		return -1;
	}
	n = uses_fill(w, uses);
	for (uint32_t first = 0, end; first < n; first = end) {
		end = run_end(uses, n, first, false);
		group_deal(w, uses, first, end, mark);
	}
	rails_write(w, uses, n);
	free(uses);
	free(mark);
	return 0;
}
