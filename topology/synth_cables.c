/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synth_cables.c - switches and cables of a synthetic fabric
 *
 * Every node has a port per GPU (per rail, where there are more), port k on the
 * leaf of its rail.  Each domain above the leafs is made up of a few switches,
 * to each of which every switch of its children has equally many cables: as
 * many as bring out the rate and oversubscription of the profile's level,
 * rounded to whole cables.
 */
#include "topology/profile.h"
#include "topology/synth_parts.h"

#include <math.h>

/* Switches of a domain above the leafs, at most: few, of many ports, as one
 * sees the shape of a cluster best. */
#define MAX_SPREAD 8
#define CORE	   "core"

/* A switch level: 0 are the leafs. */
struct tier {
	const struct part *part; /* NULL: core, the level that joins all */
	uint32_t n_switches;	 /* of each domain */
	uint32_t up;		 /* cables of one switch to the tier above */
};

struct plan {
	const struct synth *s;
	uint32_t n_ports; /* of a node */
	uint32_t n_rails;
	double rate_gbps; /* of a cable */
	struct tier tiers[WEFT_MAX_LEVELS];
	uint32_t n_tiers;
};

/* The port rate that is sold and carries this, bytes per second. */
static double line_rate_gbps(double rate_bytes_per_s)
{
	static const double sold[] = {10, 25, 40, 50, 100, 200, 400, 800};
	double need = rate_bytes_per_s * 8e-9;

	for (size_t k = 0; k < WEFT_N_OF(sold); k++)
		if (sold[k] >= need)
			return sold[k];
	return ceil(need / 100) * 100;
}

/* Link of the network level with tier `k`, 0 the innermost. */
static const struct weft_link *link_of(const struct weft_profile *profile,
				       uint32_t k)
{
	uint32_t last = profile->n_links - 1;

	return &profile->link[k + 1 < last ? k + 1 : last];
}

static uint32_t divisor_at_most(uint32_t n, uint32_t most)
{
	uint32_t k = n < most ? n : most;

	while (n % k)
		k--;
	return k;
}

/* Whether a level core comes on top: several domains of the outermost. */
static bool has_core(const struct synth *s)
{
	const struct part *top = &s->parts[0];

	return synth_next_alive(top, synth_next_alive(top, 0, top->total) + 1,
				top->total) < top->total;
}

/* Sizes every tier from the one below.  A cable carries what a port of a node
 * does, hence (cables above a domain) / (ports in it) is
 * (rate above / rate of the first level) / oversubscription above. */
static void tiers_size(struct plan *p)
{
	const struct weft_profile *profile = weft_profile_find(p->s->profile);
	const struct part *nodes = &p->s->parts[p->s->n_parts - 1];
	double first = link_of(profile, 0)->rate_bytes_per_s;

	for (uint32_t k = 0; k + 1 < p->n_tiers; k++) {
		struct tier *tier = &p->tiers[k];
		const struct weft_link *above = link_of(profile, k + 1);
		double ports =
			(double)(nodes->total / tier->part->total) * p->n_ports;
		double cables = ports * above->rate_bytes_per_s / first /
				above->oversubscription / tier->n_switches;

		tier->up = cables < 1 ? 1 : (uint32_t)(cables + 0.5);
		p->tiers[k + 1].n_switches =
			divisor_at_most(tier->up, MAX_SPREAD);
	}
}

static void plan_make(struct plan *p, const struct synth *s)
{
	const struct weft_profile *profile = weft_profile_find(s->profile);
	uint32_t n_network = synth_n_network(s);

	p->s = s;
	p->n_rails = s->options->rails > 1 ? s->options->rails : 1;
	p->n_ports = p->n_rails > s->n_gpus ? p->n_rails : s->n_gpus;
	p->rate_gbps = line_rate_gbps(link_of(profile, 0)->rate_bytes_per_s *
				      s->n_gpus / p->n_ports);
	for (uint32_t k = n_network; k-- > 0;)
		p->tiers[p->n_tiers++].part = &s->parts[k];
	if (has_core(s))
		p->n_tiers++;
	p->tiers[0].n_switches = p->n_rails;
	tiers_size(p);
}

/* Behind the name of a domain of tier k: the names of its switches. */
static void tail_write(const struct plan *p, uint32_t k, char *tail,
		       size_t size)
{
	uint32_t n = p->tiers[k].n_switches;

	if (k > 0 || !p->tiers[0].part)
		snprintf(tail, size, n > 1 ? "-switch[0-%u]" : "-switch%u",
			 n - 1);
	else if (n > 1)
		snprintf(tail, size, "-rail[0-%u]", n - 1);
	else
		tail[0] = '\0';
}

/* Switches of the domains first..end-1 of tier k, as a hostlist. */
static void switches_name(FILE *out, const struct plan *p, uint32_t k,
			  uint32_t first, uint32_t end)
{
	char tail[32];

	tail_write(p, k, tail, sizeof(tail));
	if (p->tiers[k].part)
		synth_set_write(out, p->tiers[k].part, first, end, UINT32_MAX,
				tail);
	else
		fprintf(out, CORE "%s", tail);
}

static uint32_t domains_of(const struct plan *p, uint32_t k)
{
	return p->tiers[k].part ? p->tiers[k].part->total : 1;
}

static bool is_alive(const struct plan *p, uint32_t k, uint32_t domain)
{
	const struct part *part = p->tiers[k].part;

	return !part || synth_next_alive(part, domain, domain + 1) == domain;
}

/* A line for each domain that its switches make up; leafs need none. */
static void switches_write(FILE *out, const struct plan *p)
{
	bool begun = false;

	for (uint32_t k = 0; k < p->n_tiers; k++) {
		const struct part *part = p->tiers[k].part;

		if (k == 0 && part)
			continue;
		fputs(begun ? "" : "switches:\n", out);
		begun = true;
		for (uint32_t i = 0; i < domains_of(p, k); i++) {
			if (!is_alive(p, k, i))
				continue;
			fputs("  ", out);
			switches_name(out, p, k, i, i + 1);
			fputs(": {domain: ", out);
			if (part)
				synth_set_write(out, part, i, i + 1, 1, "");
			else
				fputs(CORE, out);
			fputs("}\n", out);
		}
	}
}

/* Cables of the nodes of leaf domain i, a line for each port. */
static void ports_write(FILE *out, const struct plan *p, uint32_t i)
{
	const struct part *nodes = &p->s->parts[p->s->n_parts - 1];
	uint32_t share = nodes->total / domains_of(p, 0);

	for (uint32_t port = 0; port < p->n_ports; port++) {
		fputs("  - {from: \"", out);
		synth_set_write(out, nodes, i * share, (i + 1) * share,
				UINT32_MAX, "");
		fprintf(out, "\", port: mlx5_%u, to: ", port);
		if (p->tiers[0].part)
			synth_set_write(out, p->tiers[0].part, i, i + 1, 1, "");
		else
			fputs(CORE "-switch0", out);
		if (p->n_rails > 1)
			fprintf(out, "-rail%u", port * p->n_rails / p->n_ports);
		fprintf(out, ", rate: %g Gbps}\n", p->rate_gbps);
	}
}

/* Cables from the children of domain i of tier k to its own switches. */
static void uplinks_write(FILE *out, const struct plan *p, uint32_t k,
			  uint32_t i)
{
	uint32_t share = domains_of(p, k - 1) / domains_of(p, k);

	fputs("  - {from: \"", out);
	switches_name(out, p, k - 1, i * share, (i + 1) * share);
	fputs("\", to: \"", out);
	switches_name(out, p, k, i, i + 1);
	fprintf(out, "\", n: %u, rate: %g Gbps}\n",
		p->tiers[k - 1].up / p->tiers[k].n_switches, p->rate_gbps);
}

void synth_cables_write(FILE *out, const struct synth *s)
{
	struct plan p = {0};

	plan_make(&p, s);
	if (!p.n_tiers)
		return;
	switches_write(out, &p);
	fputs("cables:\n", out);
	for (uint32_t k = 0; k < p.n_tiers; k++)
		for (uint32_t i = 0; i < domains_of(&p, k); i++) {
			if (!is_alive(&p, k, i))
				continue;
			if (k)
				uplinks_write(out, &p, k, i);
			else
				ports_write(out, &p, i);
		}
}
