/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cluster_text.c - a inventory as the texts that other programs would print of
 * it
 */
#include "tests/lib/cluster_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* One of the parallel cables, with the ports at its ends. */
struct strand {
	const struct weft_inventory_cable *cable;
	uint32_t port[2];
};

struct net {
	const struct weft_inventory *s;
	struct strand *strands;
	uint32_t n;
	uint32_t *n_ports; /* [n_switches] */
	FILE *out;
};

static uint64_t switch_guid(uint32_t k)
{
	return UINT64_C(0xaa00000000000000) + k;
}

static uint64_t hca_guid(uint32_t k)
{
	return UINT64_C(0xbb00000000000000) + k;
}

static void strands_list(struct net *net)
{
	const struct weft_inventory *s = net->s;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_cables; i++)
		n += s->cables[i].n;
	net->strands = calloc(n + 1, sizeof(*net->strands));
	net->n_ports = calloc(s->n_switches + 1, sizeof(*net->n_ports));
	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];

		for (uint32_t k = 0; k < c->n && !c->down; k++) {
			struct strand *x = &net->strands[net->n++];

			x->cable = c;
			x->port[0] = c->a.kind == WEFT_END_HOST
					     ? 1
					     : ++net->n_ports[c->a.index];
			x->port[1] = ++net->n_ports[c->b.index];
		}
	}
}

static const struct weft_end *strand_end(const struct strand *x, int e)
{
	return e ? &x->cable->b : &x->cable->a;
}

static const char *speed(double rate)
{
	return rate > 45e9 ? "4xNDR" : rate > 20e9 ? "4xHDR" : "4xEDR";
}

static void hca_label(const struct net *net, uint32_t hca, char *text,
		      size_t size)
{
	const struct weft_inventory_hca *h = &net->s->hcas[hca];

	snprintf(text, size, "%s %s", net->s->hosts[h->host].name, h->name);
}

/* What a line at end e tells of the other end. */
static void peer_print(const struct net *net, const struct strand *x, int e)
{
	const struct weft_end *peer = strand_end(x, !e);
	const char *rate = speed(x->cable->rate_bytes_per_s);
	char label[160];

	if (peer->kind == WEFT_END_SWITCH) {
		fprintf(net->out,
			"[%u]\t\"S-%016" PRIx64 "\"[%u]\t\t# \"MF0;%s:MQM9700/"
			"U1\" lid %u %s\n",
			x->port[e], switch_guid(peer->index), x->port[!e],
			net->s->switches[peer->index].name, peer->index + 1,
			rate);
		return;
	}
	hca_label(net, peer->hca, label, sizeof(label));
	fprintf(net->out,
		"[%u]\t\"H-%016" PRIx64 "\"[1](%" PRIx64 ") \t\t# \"%s\" lid "
		"%u %s\n",
		x->port[e], hca_guid(peer->hca), hca_guid(peer->hca), label,
		peer->hca + 1000, rate);
}

static void switch_print(const struct net *net, uint32_t k)
{
	uint64_t guid = switch_guid(k);

	fprintf(net->out,
		"vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x%" PRIx64
		"\nswitchguid=0x%" PRIx64 "(%" PRIx64
		")\nSwitch\t%u \"S-%016" PRIx64
		"\"\t\t# \"MF0;%s:MQM9700/U1\" enhanced port 0 lid %u lmc 0\n",
		guid, guid, guid, net->n_ports[k] + 1, guid,
		net->s->switches[k].name, k + 1);
	for (uint32_t i = 0; i < net->n; i++)
		for (int e = 0; e < 2; e++) {
			const struct weft_end *end =
				strand_end(&net->strands[i], e);

			if (end->kind == WEFT_END_SWITCH && end->index == k)
				peer_print(net, &net->strands[i], e);
		}
	fputc('\n', net->out);
}

static void adapter_print(const struct net *net, const struct strand *x)
{
	uint32_t hca = x->cable->a.hca, sw = x->cable->b.index;
	uint64_t guid = hca_guid(hca);
	char label[160];

	hca_label(net, hca, label, sizeof(label));
	fprintf(net->out,
		"vendid=0x2c9\ndevid=0x1021\nsysimgguid=0x%" PRIx64
		"\ncaguid=0x%" PRIx64 "\nCa\t1 \"H-%016" PRIx64
		"\"\t\t# \"%s\"\n[1](%" PRIx64 ") \t\"S-%016" PRIx64
		"\"[%u]\t\t# lid %u lmc 0 \"MF0;%s:MQM9700/U1\" lid %u %s\n\n",
		guid, guid, guid, label, guid, switch_guid(sw), x->port[1],
		hca + 1000, net->s->switches[sw].name, sw + 1,
		speed(x->cable->rate_bytes_per_s));
}

char *test_ibnetdiscover(const struct weft_inventory *s)
{
	struct net net = {.s = s};
	char *text = NULL;
	size_t size;

	strands_list(&net);
	net.out = open_memstream(&text, &size);
	fprintf(net.out,
		"#\n# Topology file: generated on Mon Mar  2 09:00:00 2026\n"
		"#\n\n");
	for (uint32_t k = 0; k < s->n_switches; k++)
		switch_print(&net, k);
	for (uint32_t i = 0; i < net.n; i++)
		if (net.strands[i].cable->a.kind == WEFT_END_HOST)
			adapter_print(&net, &net.strands[i]);
	fclose(net.out);
	free(net.strands);
	free(net.n_ports);
	return text;
}

/* ---- Slurm ---- */

static void domain_print(const struct weft_inventory *s,
			 const struct weft_hierarchy *hierarchy, uint32_t d,
			 FILE *out)
{
	const char *before = "";

	fprintf(out, "SwitchName=d%u %s=", d,
		hierarchy->domains[d].level ? "Switches" : "Nodes");
	for (uint32_t h = 0; h < s->n_hosts && !hierarchy->domains[d].level;
	     h++) {
		if (hierarchy->host_domain[h] != d)
			continue;
		fprintf(out, "%s%s", before, s->hosts[h].name);
		before = ",";
	}
	for (uint32_t k = 0; k < hierarchy->n_domains; k++) {
		if (hierarchy->domains[k].parent != d)
			continue;
		fprintf(out, "%sd%u", before, k);
		before = ",";
	}
	fputc('\n', out);
}

char *test_topology_conf(const struct weft_inventory *s,
			 const struct weft_hierarchy *hierarchy)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		domain_print(s, hierarchy, d, out);
	fclose(out);
	return text;
}

char *test_slurm_nodes(const struct weft_inventory *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t h = 0; h < s->n_hosts; h++)
		fprintf(out,
			"NodeName=%s Arch=x86_64 CoresPerSocket=56 CPUAlloc=0 "
			"CPUTot=224 AvailableFeatures=(null) "
			"ActiveFeatures=(null) Gres=gpu:h100:%.0f State=IDLE "
			"CfgTRES=cpu=224,mem=2000G,gres/gpu=%.0f\n",
			s->hosts[h].name, s->hosts[h].gpus.value,
			s->hosts[h].gpus.value);
	fclose(out);
	return text;
}
