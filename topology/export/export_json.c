/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_json.c - everything that a fabric holds, in JSON
 *
 * SI units named in the keys; domains and ends of cables by name.
 */
#include "topology/cabling.h"
#include "topology/export/export.h"

#include <jansson.h>

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *rate_or_null(double rate)
{
	return rate > 0 ? json_real(rate) : json_null();
}

static json_t *level_json(const struct weft_level *level)
{
	json_t *dims = json_array(), *shares = json_array();

	for (uint32_t k = 0; k < level->n_shares; k++)
		json_array_append_new(
			shares, json_pack("[f,f]", level->shares[k].size_bytes,
					  level->shares[k].share));
	for (int a = 0; a < 3 && level->dims[a]; a++)
		json_array_append_new(dims, json_integer(level->dims[a]));
	return json_pack(
		"{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:s, s:o, s:o}", "name",
		level->name, "domains", (json_int_t)level->n_domains, "hops",
		(json_int_t)level->hops, "rate_bytes_per_s",
		level->link.rate_bytes_per_s, "latency_s",
		level->link.latency_s, "oversubscription",
		level->link.oversubscription, "hop_latency_s",
		level->hop_latency_s, "shape", weft_shape_names[level->shape],
		"dims", dims, "shares", shares);
}

static json_t *domain_json(const struct weft_fabric *f, uint32_t index)
{
	const struct weft_domain *d = &f->domains[index];
	const double *rate = f->uplink_rate_bytes_per_s;
	json_t *nodes = json_array();

	for (uint32_t i = 0; i < d->n_nodes; i++)
		json_array_append_new(
			nodes, json_string(f->nodes[d->first_node + i].name));
	return json_pack("{s:s, s:s, s:o, s:I, s:I, s:o, s:I, s:o}", "name",
			 d->name, "level", f->levels[d->level].name, "parent",
			 d->parent == WEFT_NONE
				 ? json_null()
				 : json_string(f->domains[d->parent].name),
			 "first_gpu", (json_int_t)d->first_gpu, "gpus",
			 (json_int_t)d->n_gpus, "uplink_rate_bytes_per_s",
			 rate_or_null(rate ? rate[index] : 0), "uplinks",
			 (json_int_t)(f->n_uplinks ? f->n_uplinks[index] : 0),
			 "nodes", nodes);
}

static json_t *node_json(const struct weft_fabric *f, uint32_t index)
{
	const struct weft_node *n = &f->nodes[index];

	return json_pack(
		"{s:s, s:I, s:I, s:o, s:o}", "name", n->name, "first_gpu",
		(json_int_t)n->first_gpu, "gpus", (json_int_t)n->n_gpus, "rack",
		text_or_null(n->rack == WEFT_NONE ? NULL : f->racks[n->rack]),
		"kind",
		text_or_null(n->kind == WEFT_NONE ? NULL : f->kinds[n->kind]));
}

static json_t *switch_json(const struct weft_fabric *f,
			   const struct weft_cabling_switch *s)
{
	return json_pack(
		"{s:s, s:o, s:s, s:I, s:I, s:o}", "name", s->name, "domain",
		text_or_null(s->domain == WEFT_NONE
				     ? NULL
				     : f->domains[s->domain].name),
		"network", f->cabling->networks[s->network], "ports",
		(json_int_t)s->n_ports, "tier", (json_int_t)s->tier, "rail",
		s->rail == WEFT_NO_RAIL ? json_null() : json_integer(s->rail));
}

static json_t *cable_json(const struct weft_fabric *f,
			  const struct weft_cable *c)
{
	return json_pack(
		"{s:s, s:s, s:I, s:o, s:o, s:o, s:I, s:b}", "from",
		weft_cabling_end_name(f, c->a), "to",
		weft_cabling_end_name(f, c->b), "n", (json_int_t)c->n, "port",
		text_or_null(weft_cabling_port(f->cabling, c)), "rail",
		c->rail == WEFT_NO_RAIL ? json_null() : json_integer(c->rail),
		"rate_bytes_per_s", rate_or_null(c->rate_bytes_per_s), "width",
		(json_int_t)c->width, "up", c->up);
}

static json_t *fabric_json(const struct weft_fabric *f)
{
	json_t *levels = json_array(), *domains = json_array();
	json_t *nodes = json_array(), *switches = json_array();
	json_t *cables = json_array();

	for (uint32_t l = 0; l < f->n_levels; l++)
		json_array_append_new(levels, level_json(&f->levels[l]));
	for (uint32_t d = 0; d < f->n_domains; d++)
		json_array_append_new(domains, domain_json(f, d));
	for (uint32_t n = 0; n < f->n_nodes; n++)
		json_array_append_new(nodes, node_json(f, n));
	for (uint32_t i = 0; f->cabling && i < f->cabling->n_switches; i++)
		json_array_append_new(switches,
				      switch_json(f, &f->cabling->switches[i]));
	for (uint32_t i = 0; f->cabling && i < f->cabling->n_cables; i++)
		json_array_append_new(cables,
				      cable_json(f, &f->cabling->cables[i]));
	return json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:b, s:o, s:o, s:o, s:o, "
		"s:o}",
		"schema", "weft.export/1", "name", f->name, "profile",
		f->profile, "gpus", (json_int_t)f->n_gpus, "rails",
		(json_int_t)f->n_rails, "routing",
		weft_routing_names[f->routing], "flows", (json_int_t)f->n_flows,
		"connected", f->connected, "levels", levels, "domains", domains,
		"nodes", nodes, "switches", switches, "cables", cables);
}

int weft_export_json(const struct weft_fabric *f,
		     const struct weft_export_options *options, FILE *out,
		     struct weft_findings *findings, struct weft_error *err)
{
	json_t *root = fabric_json(f);
	int rc;

	(void)options;
	(void)findings;
	if (!root)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	rc = json_dumpf(root, out, JSON_INDENT(2));
	json_decref(root);
	fputc('\n', out);
	return rc ? weft_fail(err, WEFT_ENOMEM, "out of memory") : 0;
}
