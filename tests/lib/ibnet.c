/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet.c - the text that ibnetdiscover would print of a made-up fabric */
#include "tests/lib/ibnet.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>

const char *const test_ibnet_faults[TEST_IBNET_N_FAULTS] = {
	[TEST_IBNET_SOUND] = "sound",
	[TEST_IBNET_CABLE_MOVED] = "cable moved",
	[TEST_IBNET_UPLINK_MOVED] = "uplink moved",
	[TEST_IBNET_RAIL_SWAPPED] = "rail swapped",
	[TEST_IBNET_LINK_SLOW] = "link slow",
	[TEST_IBNET_LINK_NARROW] = "link narrow",
	[TEST_IBNET_LINK_DOWN] = "link down",
	[TEST_IBNET_HOST_RENAMED] = "host renamed",
	[TEST_IBNET_LEAF_ORPHANED] = "leaf orphaned",
	[TEST_IBNET_HCA_LOST] = "adapter lost",
};

#define NO_HOST UINT32_MAX /* whose adapter is a storage server's */

enum kind { LEAF, SPINE, CORE, STORE, HCA };

struct node {
	enum kind kind;
	char name[40], part[16];
	uint32_t pod, bundle, host; /* of the cluster, as far as it has them */
	uint64_t guid;
	uint32_t ports; /* used so far */
	bool gone;
};

struct end {
	uint32_t node, port;
};

struct link {
	struct end a, b; /* a is nearer to the hosts */
	const char *rate;
	bool gone;
};

struct net {
	const struct test_ibnet *spec;
	struct test_ibnet_truth *truth;
	struct node *nodes;
	struct link *links;
	uint32_t n_nodes, n_links, nodes_room, links_room;
	uint32_t pods, rails, parallel;
	uint64_t random;
	bool failed; /* out of memory */
};

/* ---- building ---- */

static void *room_make(void *array, uint32_t n, uint32_t *room, size_t size)
{
	void *grown;

	if (n < *room)
		return array;
	grown = realloc(array, (*room ? 2 * *room : 64) * size);
	if (!grown)
		return NULL;
	*room = *room ? 2 * *room : 64;
	return grown;
}

static uint32_t node_add(struct net *n, enum kind kind, const char *name)
{
	void *grown = room_make(n->nodes, n->n_nodes, &n->nodes_room,
				sizeof(*n->nodes));
	uint64_t mix = n->spec->seed + 1;

	if (!grown) {
		n->failed = true;
		return 0;
	}
	n->nodes = grown;
	mix ^= UINT64_C(0x9e3779b97f4a7c15) * (n->n_nodes + 1);
	n->nodes[n->n_nodes] = (struct node){
		.kind = kind,
		/* other seeds, other numbers; never one twice */
		.guid = UINT64_C(0x0c42a00000000000) |
			(test_random(&mix) & 0xffff) << 28 | n->n_nodes,
	};
	snprintf(n->nodes[n->n_nodes].name, sizeof(n->nodes->name), "%s", name);
	return n->n_nodes++;
}

static void link_add(struct net *n, uint32_t a, uint32_t b, const char *rate)
{
	void *grown = room_make(n->links, n->n_links, &n->links_room,
				sizeof(*n->links));

	if (!grown) {
		n->failed = true;
		return;
	}
	n->links = grown;
	n->links[n->n_links++] = (struct link){
		.a = {a, ++n->nodes[a].ports},
		.b = {b, ++n->nodes[b].ports},
		.rate = rate,
	};
}

static void adapter_add(struct net *n, uint32_t host, uint32_t k, uint32_t leaf,
			const char *rate)
{
	char name[40];
	uint32_t hca;

	snprintf(name, sizeof(name), "gpu%04u", host);
	hca = node_add(n, HCA, name);
	if (n->failed)
		return;
	n->nodes[hca].host = host;
	n->nodes[hca].pod = n->nodes[leaf].pod;
	n->nodes[hca].bundle = n->nodes[leaf].bundle;
	snprintf(n->nodes[hca].part, sizeof(n->nodes[hca].part), "mlx5_%u", k);
	link_add(n, hca, leaf, rate);
}

static uint32_t hosts_of(const struct net *n, uint32_t pod, uint32_t bundle)
{
	bool last = pod == n->pods - 1 && bundle == n->spec->bundles - 1;

	return last && n->spec->uneven && n->spec->hosts > 1
		       ? n->spec->hosts / 2
		       : n->spec->hosts;
}

static void bundle_add(struct net *n, uint32_t pod, uint32_t bundle,
		       uint32_t first_host)
{
	char name[40];
	uint32_t first = n->n_nodes;

	for (uint32_t r = 0; r < n->rails && !n->failed; r++) {
		uint32_t leaf;

		snprintf(name, sizeof(name), "p%ub%u-leaf%u", pod, bundle, r);
		leaf = node_add(n, LEAF, name);
		if (n->failed)
			return;
		n->nodes[leaf].pod = pod;
		n->nodes[leaf].bundle = bundle;
	}
	for (uint32_t h = 0; h < hosts_of(n, pod, bundle); h++)
		for (uint32_t r = 0; r < n->rails && !n->failed; r++)
			adapter_add(n, first_host + h, r, first + r, "4xNDR");
}

static void spines_add(struct net *n, uint32_t pod)
{
	char name[40];

	for (uint32_t s = 0; s < n->spec->spines && !n->failed; s++) {
		uint32_t spine;

		snprintf(name, sizeof(name), "p%u-spine%u", pod, s);
		spine = node_add(n, SPINE, name);
		if (n->failed)
			return;
		n->nodes[spine].pod = pod;
		n->nodes[spine].bundle = s;
		for (uint32_t i = 0; i < spine && !n->failed; i++)
			for (uint32_t k = 0;
			     k < n->parallel && n->nodes[i].kind == LEAF &&
			     n->nodes[i].pod == pod;
			     k++)
				link_add(n, i, spine, "4xNDR");
	}
}

static void cores_add(struct net *n)
{
	char name[40];

	for (uint32_t c = 0;
	     n->spec->spines && c < n->spec->cores && !n->failed; c++) {
		uint32_t core;

		snprintf(name, sizeof(name), "core%u", c);
		core = node_add(n, CORE, name);
		for (uint32_t i = 0; i < core && !n->failed; i++)
			if (n->nodes[i].kind == SPINE &&
			    n->nodes[i].bundle == c % n->spec->spines)
				link_add(n, i, core, "4xNDR");
	}
}

static void storage_add(struct net *n, uint32_t hosts)
{
	uint32_t leafs = n->spec->storage_leafs, spine, first;
	char name[40];

	if (!leafs)
		return;
	spine = node_add(n, STORE, "store-spine0");
	first = n->n_nodes;
	for (uint32_t i = 0; i < leafs && !n->failed; i++) {
		snprintf(name, sizeof(name), "store-leaf%u", i);
		link_add(n, node_add(n, STORE, name), spine, "4xHDR");
	}
	for (uint32_t i = 0; i < 2 * leafs && !n->failed; i++) {
		uint32_t hca;

		snprintf(name, sizeof(name), "data%03u", i);
		hca = node_add(n, HCA, name);
		n->nodes[hca].host = NO_HOST;
		snprintf(n->nodes[hca].part, sizeof(n->nodes[hca].part),
			 "mlx5_0");
		link_add(n, hca, first + i % leafs, "4xHDR");
	}
	for (uint32_t h = 0; h < hosts && !n->failed; h++)
		adapter_add(n, h, n->rails, first + h % leafs, "4xHDR");
}

static void net_build(struct net *n)
{
	uint32_t hosts = 0;

	for (uint32_t p = 0; p < n->pods; p++) {
		for (uint32_t b = 0; b < n->spec->bundles; b++) {
			bundle_add(n, p, b, hosts);
			hosts += hosts_of(n, p, b);
		}
		spines_add(n, p);
	}
	cores_add(n);
	storage_add(n, hosts);
}

/* ---- faults ---- */

static bool is_host_link(const struct net *n, const struct link *link)
{
	return n->nodes[link->a.node].kind == HCA &&
	       n->nodes[link->b.node].kind == LEAF;
}

static bool is_uplink(const struct net *n, const struct link *link)
{
	return n->nodes[link->a.node].kind == LEAF;
}

static bool is_either(const struct net *n, const struct link *link)
{
	return is_host_link(n, link) || is_uplink(n, link);
}

/* A random link of that sort, or NULL. */
static struct link *link_pick(struct net *n, bool (*fits)(const struct net *,
							  const struct link *))
{
	uint32_t count = 0, pick;

	for (uint32_t i = 0; i < n->n_links; i++)
		count += fits(n, &n->links[i]);
	if (!count)
		return NULL;
	pick = test_random_below(&n->random, count);
	for (uint32_t i = 0; i < n->n_links; i++)
		if (fits(n, &n->links[i]) && pick-- == 0)
			return &n->links[i];
	return NULL;
}

static void truth_tell(struct net *n, const struct link *link)
{
	const struct node *a = &n->nodes[link->a.node];
	const struct node *b = &n->nodes[link->b.node];

	snprintf(n->truth->place[0], sizeof(n->truth->place[0]), "%s", a->name);
	snprintf(n->truth->place[1], sizeof(n->truth->place[1]), "%s", b->name);
	snprintf(n->truth->part, sizeof(n->truth->part), "%s", a->part);
	snprintf(n->truth->line, sizeof(n->truth->line), "%s: %s %s - %s",
		 test_ibnet_faults[n->spec->fault], a->name, a->part, b->name);
}

/* A random switch of that kind elsewhere, or the number of nodes. */
static uint32_t elsewhere(struct net *n, enum kind kind,
			  const struct node *here)
{
	uint32_t count = 0, pick;

	for (int look = 0; look < 2; look++) {
		pick = look && count ? test_random_below(&n->random, count) : 0;
		for (uint32_t i = 0; i < n->n_nodes && (!look || count); i++) {
			const struct node *node = &n->nodes[i];

			if (node->kind != kind ||
			    (node->pod == here->pod &&
			     (kind == SPINE || node->bundle == here->bundle)))
				continue;
			if (look && pick-- == 0)
				return i;
			count += !look;
		}
	}
	return n->n_nodes;
}

static bool fault_move(struct net *n, bool uplink)
{
	struct link *link = link_pick(n, uplink ? is_uplink : is_host_link);
	uint32_t to;

	if (!link)
		return false;
	to = elsewhere(n, uplink ? SPINE : LEAF, &n->nodes[link->a.node]);
	if (to == n->n_nodes)
		return false;
	truth_tell(n, link);
	link->b = (struct end){to, ++n->nodes[to].ports};
	return true;
}

static bool fault_swap(struct net *n)
{
	struct link *link = link_pick(n, is_host_link);
	const struct node *mine;
	uint32_t skip;

	if (!link || n->rails < 2)
		return false;
	mine = &n->nodes[link->a.node];
	skip = test_random_below(&n->random, n->rails - 1);
	for (uint32_t i = 0; i < n->n_links; i++) {
		struct link *other = &n->links[i];
		struct end b = link->b;

		if (other == link || !is_host_link(n, other) ||
		    n->nodes[other->a.node].host != mine->host || skip-- > 0)
			continue;
		truth_tell(n, link);
		n->truth->place[1][0] = '\0';
		link->b = other->b;
		other->b = b;
		return true;
	}
	return false;
}

static bool fault_link(struct net *n, const char *rate)
{
	struct link *link = link_pick(n, is_either);

	if (!link)
		return false;
	truth_tell(n, link);
	link->gone = !rate;
	link->rate = rate;
	return true;
}

static bool fault_rename(struct net *n)
{
	struct link *link = link_pick(n, is_host_link);
	uint32_t host;

	if (!link)
		return false;
	host = n->nodes[link->a.node].host;
	truth_tell(n, link);
	n->truth->place[1][0] = n->truth->part[0] = '\0';
	snprintf(n->truth->was, sizeof(n->truth->was), "%s",
		 n->truth->place[0]);
	snprintf(n->truth->place[0], sizeof(n->truth->place[0]), "spare%u",
		 host % 100);
	for (uint32_t i = 0; i < n->n_nodes; i++)
		if (n->nodes[i].kind == HCA && n->nodes[i].host == host)
			snprintf(n->nodes[i].name, sizeof(n->nodes[i].name),
				 "spare%u", host % 100);
	return true;
}

static bool fault_orphan(struct net *n)
{
	struct link *link = link_pick(n, is_uplink);
	uint32_t leaf;

	if (!link)
		return false;
	leaf = link->a.node;
	truth_tell(n, link);
	n->truth->place[1][0] = '\0';
	for (uint32_t i = 0; i < n->n_links; i++)
		if (n->links[i].a.node == leaf)
			n->links[i].gone = true;
	return true;
}

static bool fault_lose(struct net *n)
{
	struct link *link = link_pick(n, is_host_link);

	if (!link)
		return false;
	truth_tell(n, link);
	link->gone = true;
	n->nodes[link->a.node].gone = true;
	return true;
}

static bool fault_make(struct net *n)
{
	switch (n->spec->fault) {
	case TEST_IBNET_CABLE_MOVED:
		return fault_move(n, false);
	case TEST_IBNET_UPLINK_MOVED:
		return fault_move(n, true);
	case TEST_IBNET_RAIL_SWAPPED:
		return fault_swap(n);
	case TEST_IBNET_LINK_SLOW:
		return fault_link(n, "4xHDR");
	case TEST_IBNET_LINK_NARROW:
		return fault_link(n, "1xNDR");
	case TEST_IBNET_LINK_DOWN:
		return fault_link(n, NULL);
	case TEST_IBNET_HOST_RENAMED:
		return fault_rename(n);
	case TEST_IBNET_LEAF_ORPHANED:
		return fault_orphan(n);
	case TEST_IBNET_HCA_LOST:
		return fault_lose(n);
	default:
		return true;
	}
}

/* ---- printing ---- */

static void desc_print(FILE *out, const struct node *node)
{
	if (node->kind == HCA)
		fprintf(out, "\"%s %s\"", node->name, node->part);
	else
		fprintf(out, "\"MF0;%s:MQM9700/U1\"", node->name);
}

static char letter(const struct node *node)
{
	return node->kind == HCA ? 'H' : 'S';
}

static void port_print(FILE *out, const struct net *n, const struct link *link,
		       const struct end *near, const struct end *far)
{
	const struct node *me = &n->nodes[near->node];
	const struct node *peer = &n->nodes[far->node];

	fprintf(out, "[%u]", near->port);
	if (me->kind == HCA)
		fprintf(out, "(%lx) ", (unsigned long)me->guid);
	fprintf(out, "\t\"%c-%016lx\"[%u]", letter(peer),
		(unsigned long)peer->guid, far->port);
	if (peer->kind == HCA)
		fprintf(out, "(%lx) ", (unsigned long)peer->guid);
	fprintf(out, "\t\t# ");
	if (me->kind == HCA)
		fprintf(out, "lid %u lmc 0 ", near->node + 1);
	desc_print(out, peer);
	fprintf(out, " lid %u %s\n", far->node + 1, link->rate);
}

static void node_print(FILE *out, const struct net *n, uint32_t i,
		       const uint32_t *links, uint32_t n_links)
{
	const struct node *node = &n->nodes[i];
	unsigned long guid = (unsigned long)node->guid;

	fprintf(out, "vendid=0x2c9\ndevid=0x%x\nsysimgguid=0x%lx\n",
		node->kind == HCA ? 0x1021 : 0xd2f2, guid);
	if (node->kind == HCA)
		fprintf(out, "caguid=0x%lx\nCa\t1 \"H-%016lx\"\t\t# ", guid,
			guid);
	else
		fprintf(out,
			"switchguid=0x%lx(%lx)\nSwitch\t65 "
			"\"S-%016lx\"\t\t# ",
			guid, guid, guid);
	desc_print(out, node);
	if (node->kind != HCA)
		fprintf(out, " enhanced port 0 lid %u lmc 0", i + 1);
	fputc('\n', out);
	for (uint32_t k = 0; k < n_links; k++) {
		const struct link *link = &n->links[links[k]];

		if (link->gone)
			continue;
		if (link->a.node == i)
			port_print(out, n, link, &link->a, &link->b);
		if (link->b.node == i)
			port_print(out, n, link, &link->b, &link->a);
	}
	fputc('\n', out);
}

/* Links of each node behind each other: first[i] to first[i + 1]. */
static uint32_t *links_list(const struct net *n, uint32_t *first)
{
	uint32_t *list = calloc(2 * (size_t)n->n_links + 1, sizeof(*list));

	for (uint32_t i = 0; list && i < n->n_links; i++) {
		first[n->links[i].a.node + 2]++;
		first[n->links[i].b.node + 2]++;
	}
	for (uint32_t i = 0; list && i < n->n_nodes; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; list && i < n->n_links; i++) {
		list[first[n->links[i].a.node + 1]++] = i;
		list[first[n->links[i].b.node + 1]++] = i;
	}
	return list;
}

/* Sections in the order of the nodes, or in any. */
static void order_make(struct net *n, uint32_t *order)
{
	for (uint32_t i = 0; i < n->n_nodes; i++)
		order[i] = i;
	for (uint32_t i = n->n_nodes; n->spec->shuffled && i > 1; i--) {
		uint32_t k = test_random_below(&n->random, i);
		uint32_t other = order[i - 1];

		order[i - 1] = order[k];
		order[k] = other;
	}
}

static char *net_print(struct net *n, size_t *size)
{
	uint32_t *first = calloc((size_t)n->n_nodes + 2, sizeof(*first));
	uint32_t *order = calloc((size_t)n->n_nodes + 1, sizeof(*order));
	uint32_t *links = first ? links_list(n, first) : NULL;
	char *text = NULL;
	FILE *out =
		first && order && links ? open_memstream(&text, size) : NULL;

	if (out) {
		order_make(n, order);
		fprintf(out, "#\n# Topology file: generated on Mon Mar  2 "
			     "09:00:00 2026\n#\n\n");
		for (uint32_t k = 0; k < n->n_nodes; k++)
			if (!n->nodes[order[k]].gone)
				node_print(out, n, order[k],
					   links + first[order[k]],
					   first[order[k] + 1] -
						   first[order[k]]);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	free(first);
	free(order);
	free(links);
	return text;
}

char *test_ibnet_text(const struct test_ibnet *spec,
		      struct test_ibnet_truth *truth, size_t *size)
{
	struct test_ibnet_truth ignored;
	struct net n = {
		.spec = spec,
		.truth = truth ? truth : &ignored,
		.pods = spec->pods ? spec->pods : 1,
		.rails = spec->rails ? spec->rails : 1,
		.parallel = spec->parallel ? spec->parallel : 1,
		.random = spec->seed,
	};
	char *text = NULL;

	*n.truth = (struct test_ibnet_truth){0};
	net_build(&n);
	if (!n.failed && fault_make(&n))
		text = net_print(&n, size);
	free(n.nodes);
	free(n.links);
	return text;
}
