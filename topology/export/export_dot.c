/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_dot.c - a graph for graphviz: switches and cables where the fabric has
 * them, else its tree of domains
 */
#include "topology/cabling.h"
#include "topology/export/export.h"
#include "topology/inventory/inventory.h"

/* Names of a fabric need no escapes. */
static void tree_dot(const struct weft_fabric *f, FILE *out)
{
	for (uint32_t d = 0; d < f->n_domains; d++) {
		const struct weft_domain *domain = &f->domains[d];

		if (domain->level <= f->node_level)
			continue;
		if (weft_inventory_passes(f, d))
			continue;
		fprintf(out, "  d%u [label=\"%s\\n%s, %u GPUs\", shape=box];\n",
			d, domain->name, f->levels[domain->level].name,
			domain->n_gpus);
		for (uint32_t k = 0; k < domain->n_children; k++) {
			uint32_t c = domain->first_child + k;

			while (f->domains[c].level > f->node_level &&
			       weft_inventory_passes(f, c))
				c = f->domains[c].first_child;
			if (f->domains[c].level > f->node_level)
				fprintf(out, "  d%u -- d%u;\n", d, c);
			for (uint32_t i = 0;
			     f->domains[c].level <= f->node_level &&
			     i < f->domains[c].n_nodes;
			     i++)
				fprintf(out, "  d%u -- n%u;\n", d,
					f->domains[c].first_node + i);
		}
	}
}

/* Line width grows with the number of cables; one that is down is dashed. */
static void cables_dot(const struct weft_fabric *f, FILE *out)
{
	const struct weft_cabling *c = f->cabling;

	for (uint32_t i = 0; i < c->n_switches; i++)
		fprintf(out, "  s%u [label=\"%s\\n%s\", shape=box];\n", i,
			c->switches[i].name,
			c->networks[c->switches[i].network]);
	for (uint32_t i = 0; i < c->n_cables; i++) {
		const struct weft_cable *k = &c->cables[i];
		bool node = k->a < c->n_nodes;

		fprintf(out, "  %c%u -- s%u [penwidth=%u", node ? 'n' : 's',
			node ? k->a : k->a - c->n_nodes, k->b - c->n_nodes,
			k->n < 8 ? k->n : 8);
		if (k->n > 1 || k->rate_bytes_per_s > 0)
			fprintf(out, ", tooltip=\"%u x %g Gb/s\"", k->n,
				k->rate_bytes_per_s * 8 / 1e9);
		fprintf(out, "%s];\n", k->up ? "" : ", style=dashed");
	}
}

int weft_export_dot(const struct weft_fabric *f,
		    const struct weft_export_options *options, FILE *out,
		    struct weft_findings *findings, struct weft_error *err)
{
	(void)options;
	(void)findings;
	(void)err;
	fprintf(out, "graph fabric {\n  rankdir=BT;\n  node [fontsize=10];\n");
	for (uint32_t n = 0; n < f->n_nodes; n++)
		fprintf(out, "  n%u [label=\"%s\\n%u GPUs\"];\n", n,
			f->nodes[n].name, f->nodes[n].n_gpus);
	if (f->cabling && f->cabling->n_cables)
		cables_dot(f, out);
	else
		tree_dot(f, out);
	fputs("}\n", out);
	return 0;
}
