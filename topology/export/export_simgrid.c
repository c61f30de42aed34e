/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_simgrid.c - the network as a platform file of SimGrid
 *
 * GPUs are hosts.  A domain of the node level is a zone in which each GPU has
 * an edge to the NVSwitch and one to the network; the domains above are zones
 * whose children are joined to one switch.  A zone without more than a few
 * hundred children computes its routes when it is loaded (Floyd), a larger one
 * when they are asked for (Dijkstra).  weft-export(1) says what is assumed.
 */
#include "topology/cabling.h"
#include "topology/export/export.h"
#include "topology/inventory/inventory.h"

#include <string.h>

/* Children from which on a cube of their number takes too long. */
#define MANY 400

struct writer {
	const struct weft_fabric *f;
	FILE *out;
	int depth;
	bool routes; /* they come after all else of their zone: what writes a
			zone runs twice */
};

/* Domains that stand for one that skips their level have its name, too. */
static void zone_name(const struct weft_fabric *f, uint32_t domain,
		      char text[2 * WEFT_NAME_SIZE])
{
	const struct weft_domain *d = &f->domains[domain];
	bool passed =
		d->level > f->node_level && weft_inventory_passes(f, domain);

	snprintf(text, (size_t)2 * WEFT_NAME_SIZE, "%s%s%s", d->name,
		 passed ? "@" : "", passed ? f->levels[d->level].name : "");
}

static void indent(const struct writer *w)
{
	fprintf(w->out, "%*s", 2 * w->depth, "");
}

/* One link for each direction. */
static void link_write(const struct writer *w, const char *name,
		       double rate_bytes_per_s, double latency_s)
{
	static const char *const ways[] = {"up", "down"};

	for (int i = 0; i < 2 && !w->routes; i++) {
		indent(w);
		fprintf(w->out,
			"<link id=\"%s/%s\" bandwidth=\"%.12gBps\" "
			"latency=\"%.12gs\"/>\n",
			name, ways[i], rate_bytes_per_s, latency_s);
	}
}

/* As weft_cost_uplink_rate, which is in a layer above. */
static double rate_above(const struct weft_fabric *f, uint32_t domain)
{
	const struct weft_domain *d = &f->domains[domain];
	const struct weft_link *link = &f->levels[d->level + 1].link;

	if (f->uplink_rate_bytes_per_s &&
	    f->uplink_rate_bytes_per_s[domain] > 0)
		return f->uplink_rate_bytes_per_s[domain];
	return d->n_gpus * link->rate_bytes_per_s / link->oversubscription;
}

/* GPUs that meet at a level cross one link up and one down for each level below
 * it; together these have the level's latency. */
static double latency_above(const struct weft_fabric *f, uint32_t level)
{
	double below_s =
		level > f->node_level ? f->distance[level][0].latency_s : 0;

	return (f->distance[level + 1][0].latency_s - below_s) / 2;
}

static void gpu_name(const struct weft_fabric *f, uint32_t gpu,
		     char text[2 * WEFT_NAME_SIZE])
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];

	snprintf(text, (size_t)2 * WEFT_NAME_SIZE, "%s:%u", node->name,
		 weft_fabric_number(f, gpu));
}

/* ---- inside of a domain of the node level ---- */

/* A GPU's edges to a switch and back.  The pipe of a domain limits nothing; it
 * makes ways longer, since the shortest is taken: over NVLink, else between
 * NVLink domains of the node (once through it), else to the network (twice). */
struct edge {
	const char *switch_name, *link, *pipe;
	bool pipe_down; /* as well as up */
};

static void edge_write(const struct writer *w, uint32_t gpu,
		       const struct edge *e)
{
	char name[2 * WEFT_NAME_SIZE];

	if (!w->routes)
		return;
	gpu_name(w->f, gpu, name);
	indent(w);
	fprintf(w->out,
		"<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">"
		"<link_ctn id=\"%s/up\"/>",
		name, e->switch_name, e->link);
	if (e->pipe)
		fprintf(w->out, "<link_ctn id=\"%s\"/>", e->pipe);
	fputs("</route>\n", w->out);
	indent(w);
	fprintf(w->out, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">",
		e->switch_name, name);
	if (e->pipe && e->pipe_down)
		fprintf(w->out, "<link_ctn id=\"%s\"/>", e->pipe);
	fprintf(w->out, "<link_ctn id=\"%s/down\"/></route>\n", e->link);
}

static void router_write(const struct writer *w, const char *name)
{
	if (w->routes)
		return;
	indent(w);
	fprintf(w->out, "<router id=\"%s\"/>\n", name);
}

static void hosts_write(const struct writer *w, const struct weft_domain *d)
{
	const struct weft_fabric *f = w->f;
	char name[2 * WEFT_NAME_SIZE];

	for (uint32_t g = d->first_gpu; g < d->first_gpu + d->n_gpus; g++) {
		gpu_name(f, g, name);
		indent(w);
		fprintf(w->out,
			"<host id=\"%s\" speed=\"1Gf\">"
			"<prop id=\"nvlink\" value=\"%s\"/>"
			"<prop id=\"rail\" value=\"%u\"/></host>\n",
			name, f->domains[f->gpu_domain[0][g]].name,
			weft_fabric_rail(f, g));
	}
}

static void nvlink_write(const struct writer *w, const struct weft_domain *d)
{
	const struct weft_fabric *f = w->f;
	char name[2 * WEFT_NAME_SIZE], gpu[2 * WEFT_NAME_SIZE];
	char link[3 * WEFT_NAME_SIZE];
	struct edge edge = {.switch_name = name, .link = link};

	if (d->n_gpus < 2)
		return;
	snprintf(name, sizeof(name), "%s/nvswitch", d->name);
	router_write(w, name);
	for (uint32_t g = d->first_gpu; g < d->first_gpu + d->n_gpus; g++) {
		gpu_name(f, g, gpu);
		snprintf(link, sizeof(link), "%s/nvlink", gpu);
		link_write(w, link, f->levels[0].link.rate_bytes_per_s,
			   f->distance[0][0].latency_s / 2);
		edge_write(w, g, &edge);
	}
}

/* Between the NVLink domains of a node that has several. */
static void bus_write(const struct writer *w, const struct weft_domain *d,
		      const char *pipe)
{
	const struct weft_fabric *f = w->f;
	char name[2 * WEFT_NAME_SIZE];
	struct edge edge = {.switch_name = name, .pipe = pipe};

	snprintf(name, sizeof(name), "%s/bus", d->name);
	router_write(w, name);
	for (uint32_t c = d->first_child; c < d->first_child + d->n_children;
	     c++) {
		const struct weft_domain *child = &f->domains[c];

		edge.link = child->name;
		link_write(w, edge.link, rate_above(f, c),
			   f->distance[1][0].latency_s / 2);
		for (uint32_t i = 0; i < child->n_gpus; i++)
			edge_write(w, child->first_gpu + i, &edge);
	}
}

/* NICs: one a GPU, or one a rail for all GPUs of the node on it.  Where NVLink
 * joins several nodes each GPU has its own. */
static void nics_write(const struct writer *w, const struct weft_domain *d,
		       const char *pipe)
{
	const struct weft_fabric *f = w->f;
	double rate = f->levels[f->node_level + 1].link.rate_bytes_per_s;
	uint32_t n_of_rail[WEFT_MAX_GPUS_PER_NODE] = {0};
	char name[2 * WEFT_NAME_SIZE], gpu[2 * WEFT_NAME_SIZE];
	char link[3 * WEFT_NAME_SIZE];
	struct edge edge = {name, link, pipe, true};
	bool rails = f->n_rails > 1 && d->n_nodes == 1;

	snprintf(name, sizeof(name), "%s/nic", d->name);
	router_write(w, name);
	for (uint32_t i = 0; i < d->n_gpus; i++)
		n_of_rail[weft_fabric_rail(f, d->first_gpu + i)]++;
	for (uint32_t r = 0; rails && r < f->n_rails; r++) {
		snprintf(link, sizeof(link), "%s/rail%u", d->name, r);
		if (n_of_rail[r])
			link_write(w, link, n_of_rail[r] * rate, 0);
	}
	for (uint32_t g = d->first_gpu; g < d->first_gpu + d->n_gpus; g++) {
		gpu_name(f, g, gpu);
		snprintf(link, sizeof(link), "%s/nic", gpu);
		if (rails)
			snprintf(link, sizeof(link), "%s/rail%u", d->name,
				 weft_fabric_rail(f, g));
		else
			link_write(w, link, rate, 0);
		edge_write(w, g, &edge);
	}
}

static void node_join(const struct writer *w, const struct weft_domain *d)
{
	const struct weft_fabric *f = w->f;
	char pipe[2 * WEFT_NAME_SIZE];

	snprintf(pipe, sizeof(pipe), "%s/pipe", d->name);
	if (f->node_level == 0)
		nvlink_write(w, d);
	for (uint32_t k = 0; f->node_level > 0 && k < d->n_children; k++)
		nvlink_write(w, &f->domains[d->first_child + k]);
	if (f->node_level > 0 && d->n_children > 1)
		bus_write(w, d, pipe);
	if (f->node_level + 1 < f->n_levels)
		nics_write(w, d, pipe);
}

static void node_write(struct writer *w, const struct weft_domain *d)
{
	hosts_write(w, d);
	indent(w);
	fprintf(w->out,
		"<link id=\"%s/pipe\" bandwidth=\"1e15Bps\" latency=\"0s\" "
		"sharing_policy=\"FATPIPE\"/>\n",
		d->name);
	node_join(w, d);
	w->routes = true;
	node_join(w, d);
	w->routes = false;
}

/* ---- above ---- */

static void zone_open(struct writer *w, const char *name, uint32_t n_children)
{
	indent(w);
	fprintf(w->out, "<zone id=\"%s\" routing=\"%s\">\n", name,
		n_children > MANY ? "Dijkstra" : "Floyd");
	w->depth++;
	if (w->depth == 2 && w->f->n_rails > 1) {
		indent(w);
		fprintf(w->out,
			"<prop id=\"rails\" value=\"%u\"/>"
			"<prop id=\"pxn\" value=\"%s\"/>\n",
			w->f->n_rails, w->f->pxn ? "yes" : "no");
	}
}

static void zone_close(struct writer *w)
{
	w->depth--;
	indent(w);
	fputs("</zone>\n", w->out);
}

/* What a zone is reached by: the NICs of a node, the switch of a domain. */
static void gateway_name(const struct weft_fabric *f, uint32_t domain,
			 char text[3 * WEFT_NAME_SIZE])
{
	char name[2 * WEFT_NAME_SIZE];

	zone_name(f, domain, name);
	snprintf(text, (size_t)3 * WEFT_NAME_SIZE, "%s/%s", name,
		 f->domains[domain].level > f->node_level ? "switch" : "nic");
}

static void child_join(const struct writer *w, uint32_t domain, uint32_t child)
{
	const struct weft_fabric *f = w->f;
	char zone[2 * WEFT_NAME_SIZE], own[2 * WEFT_NAME_SIZE];
	char gateway[3 * WEFT_NAME_SIZE], own_switch[3 * WEFT_NAME_SIZE];

	zone_name(f, domain, own);
	zone_name(f, child, zone);
	gateway_name(f, domain, own_switch);
	gateway_name(f, child, gateway);
	link_write(w, zone, rate_above(f, child),
		   latency_above(f, f->domains[child].level));
	if (!w->routes)
		return;
	indent(w);
	fprintf(w->out,
		"<zoneRoute src=\"%s\" dst=\"%s/sw\" gw_src=\"%s\" "
		"gw_dst=\"%s\" symmetrical=\"NO\">"
		"<link_ctn id=\"%s/up\"/></zoneRoute>\n",
		zone, own, gateway, own_switch, zone);
	indent(w);
	fprintf(w->out,
		"<zoneRoute src=\"%s/sw\" dst=\"%s\" gw_src=\"%s\" "
		"gw_dst=\"%s\" symmetrical=\"NO\">"
		"<link_ctn id=\"%s/down\"/></zoneRoute>\n",
		own, zone, own_switch, gateway, zone);
}

/* Whether messages between rails turn around at this level's switches; flows go
 * in two parts then, and only hosts can be the end of one. */
static bool turns(const struct weft_fabric *f, uint32_t level)
{
	return f->n_rails > 1 && !f->pxn && level == f->node_level + 2;
}

static void domain_write(struct writer *w, uint32_t domain)
{
	const struct weft_fabric *f = w->f;
	const struct weft_domain *d = &f->domains[domain];
	char name[2 * WEFT_NAME_SIZE], gateway[3 * WEFT_NAME_SIZE];

	zone_name(f, domain, name);
	if (d->level <= f->node_level) {
		zone_open(w, name, d->n_gpus);
		node_write(w, d);
		zone_close(w);
		return;
	}
	zone_open(w, name, d->n_children);
	for (uint32_t k = 0; k < d->n_children; k++)
		domain_write(w, d->first_child + k);
	gateway_name(f, domain, gateway);
	indent(w);
	/* beside zones it must be in a zone, too, to have routes to them */
	fprintf(w->out,
		"<zone id=\"%s/sw\" routing=\"None\"><%s id=\"%s\"%s/>"
		"</zone>\n",
		name, turns(f, d->level) ? "host" : "router", gateway,
		turns(f, d->level) ? " speed=\"1Gf\"" : "");
	for (int i = 0; i < 2; i++) {
		w->routes = i == 1;
		for (uint32_t k = 0; k < d->n_children; k++)
			child_join(w, domain, d->first_child + k);
	}
	w->routes = false;
	zone_close(w);
}

static int note(struct weft_findings *findings, enum weft_finding_id id,
		const char *place, const char *text, struct weft_error *err)
{
	return weft_findings_add(findings, id,
				 (struct weft_finding_at){.place = place}, err,
				 "%s", text);
}

static int lost(const struct weft_fabric *f, struct weft_findings *findings,
		struct weft_error *err)
{
	for (uint32_t l = 0; l < f->n_levels; l++)
		if (f->levels[l].shape != WEFT_SHAPE_SWITCHED &&
		    note(findings, WEFT_FINDING_EXPORT_CHANGED,
			 f->levels[l].name,
			 "written as one switch for each domain", err))
			return -1;
	if (f->cabling && f->cabling->n_cables &&
	    note(findings, WEFT_FINDING_EXPORT_LOST, "",
		 "not in this format: single cables; the links above a domain "
		 "are one",
		 err))
		return -1;
	return 0;
}

int weft_export_simgrid(const struct weft_fabric *f,
			const struct weft_export_options *options, FILE *out,
			struct weft_findings *findings, struct weft_error *err)
{
	const struct weft_level *top = &f->levels[f->n_levels - 1];
	struct writer w = {.f = f, .out = out};

	(void)options;
	fputs("<?xml version='1.0'?>\n"
	      "<!DOCTYPE platform SYSTEM "
	      "\"https://simgrid.org/simgrid.dtd\">\n"
	      "<platform version=\"4.1\">\n",
	      out);
	w.depth++;
	if (top->n_domains > 1) {
		indent(&w);
		fputs("<zone id=\"islands:\" routing=\"None\">\n", out);
		w.depth++;
	}
	for (uint32_t i = 0; i < top->n_domains; i++)
		domain_write(&w, top->first_domain + i);
	if (top->n_domains > 1)
		zone_close(&w);
	fputs("</platform>\n", out);
	return lost(f, findings, err);
}
