/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows.c - the links that a step loads, against every flow by itself */
#include "costmodel/time/flows.h"

#include "tests/costmodel/flows_scene.h"

/* ---- the same bytes ---- */

/* Calls of a kind are made one after the other, by the same flows. */
static double kind_calls(const struct scene *s, uint32_t kind)
{
	const struct weft_schedule *schedule = &s->schedule;
	const struct weft_call *first =
		&schedule->calls[s->flows.kinds[kind].call];
	double n = 0;

	for (uint32_t i = 0; i < schedule->n_calls; i++)
		n += s->flows.kind_of[i] == kind &&
		     schedule->calls[i].first_stage == first->first_stage;
	return n;
}

static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-3;
}

static const char *link_name(const struct weft_fabric *f, uint32_t link)
{
	static char name[96];
	struct weft_flow_end end = weft_flows_end(f, link);

	if (end.what == WEFT_LINK_DOMAIN)
		snprintf(name, sizeof(name), "domain %s of level %u, %s",
			 f->domains[end.domain].name,
			 f->domains[end.domain].level, end.up ? "up" : "down");
	else
		snprintf(name, sizeof(name), "%s of GPU %u, %s",
			 end.what == WEFT_LINK_NIC ? "NIC" : "port", end.gpu,
			 end.up ? "out" : "in");
	return name;
}

/* Pieces of a message are not told apart inside hosts. */
static bool counts_flows(const struct scene *s, uint32_t link)
{
	return link / 2 < s->f->n_domains
		       ? s->f->domains[link / 2].level >= s->f->node_level
		       : link / 2 < s->f->n_domains + s->f->n_gpus;
}

static void kind_check(const struct scene *s, uint32_t kind)
{
	struct sums told = kind_sums(s, kind), sum = sums_open(s);
	struct explicit_flows x = kind_flows(s, kind);
	double calls = kind_calls(s, kind);

	explicit_sum(&x, &sum);
	for (uint32_t i = 0; i < weft_flows_n_links(s->f); i++) {
		bool flows = counts_flows(s, i);

		if (same(told.bytes[i], sum.bytes[i]) &&
		    (!flows || same(told.flows[i], sum.flows[i] / calls)))
			continue;
		scene_print(s, kind);
		fail_msg("%s: %.12g bytes in %g flows, should be %.12g in %g",
			 link_name(s->f, i), told.bytes[i], told.flows[i],
			 sum.bytes[i], sum.flows[i] / calls);
	}
	explicit_free(&x);
	sums_close(&sum);
	sums_close(&told);
}

static void links_carry_what_every_flow_by_itself_adds_up_to(void **state)
{
	uint32_t n_of[WEFT_WAY_ENDS + 1] = {0}, n_scenes = 0;
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 600; i++) {
		struct scene s;

		if (!scene_random(&seed, &s))
			continue;
		n_scenes++;
		for (uint32_t k = 0; k < s.flows.n_kinds; k++) {
			kind_check(&s, k);
			n_of[s.flows.kinds[k].way]++;
		}
		scene_close(&s);
	}
	print_message("%u scenes; kinds by way:", n_scenes);
	for (int w = 0; w <= WEFT_WAY_ENDS; w++)
		print_message(" %u", n_of[w]);
	print_message("\n");
	assert_true(n_scenes > 200);
	for (int w = 0; w <= WEFT_WAY_ENDS; w++)
		assert_true(n_of[w] > 20);
}

/* ---- by hand ---- */

/* The kind of the first such call. */
static uint32_t kind_of(const struct scene *s, enum weft_axis axis,
			enum weft_collective collective, enum weft_phase phase)
{
	for (uint32_t i = 0; i < s->schedule.n_calls; i++) {
		const struct weft_call *call = &s->schedule.calls[i];

		if (call->axis == axis && call->collective == collective &&
		    call->phase == phase)
			return s->flows.kind_of[i];
	}
	fail_msg("%s has no such call", s->spec_text);
	return WEFT_NONE;
}

static uint32_t nic_of(const struct scene *s, uint32_t gpu)
{
	return s->f->n_domains + gpu;
}

static uint32_t port_of(const struct scene *s, uint32_t gpu)
{
	return s->f->n_domains + s->f->n_gpus + gpu;
}

/* What leaves leaf 0 for one byte that a rank of a ring of eight sends. */
static double ring_leaves(const uint32_t *where)
{
	struct scene s;
	struct sums sums;
	uint32_t kind, leaf;
	double out, sent;

	scene_open(&s, two_pods, "dp=8,zero=1,model=llama3-8B", where);
	kind = kind_of(&s, WEFT_AXIS_DP, WEFT_REDUCE_SCATTER, WEFT_STEP_END);
	sums = kind_sums(&s, kind);
	leaf = leaf_of(&s, 0);
	out = sums.bytes[2 * leaf];
	sent = s.flows.kinds[kind].sent[0];
	assert_close(sums.bytes[2 * leaf + 1], out, 1e-12);
	assert_close(sums.flows[2 * leaf], out / sent, 1e-12);
	sums_close(&sums);
	scene_close(&s);
	return out / sent;
}

/* What nodes 0 and 3 of a ring exchange passes 1 and 2; what 0 and 4 of a torus
 * of three by three do passes 1 on the way there, and 3 on the way back. */
static const struct {
	const char *fabric;
	uint32_t where[2], n;
	double passed[9];
} passing[] = {
	{"weft: fabric/1\nnodes:\n  n[0-7]: 1\nlevels:\n"
	 "  r:\n    R: n[0-7]\nshapes:\n  r: ring\n",
	 {0, 3},
	 8,
	 {0, 2, 2}},
	{"weft: fabric/1\nnodes:\n  n[0-8]: 1\nlevels:\n"
	 "  t:\n    T: n[0-8]\nshapes:\n  t: [3, 3]\n",
	 {0, 4},
	 9,
	 {0, 1, 0, 1}},
};

static void what_passes_a_node_loads_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		const uint32_t *where = passing[i].where;
		struct scene s;
		struct sums sums;
		uint32_t kind;

		scene_open(&s, passing[i].fabric, "dp=2,zero=1,model=llama3-8B",
			   where);
		kind = kind_of(&s, WEFT_AXIS_DP, WEFT_REDUCE_SCATTER,
			       WEFT_STEP_END);
		sums = kind_sums(&s, kind);
		for (uint32_t n = 0; n < passing[i].n; n++) {
			uint32_t node = domain_at(s.f, s.f->node_level, n);
			bool end = n == where[0] || n == where[1];
			double want = (end + passing[i].passed[n]) *
				      s.flows.kinds[kind].sent[0];

			assert_close(sums.bytes[2 * node], want, 1e-12);
			assert_close(sums.bytes[2 * node + 1], want, 1e-12);
		}
		sums_close(&sums);
		scene_close(&s);
	}
}

static void
a_ring_that_alternates_pods_crosses_the_link_at_every_hop(void **state)
{
	static const uint32_t blocks[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint32_t alternating[] = {0, 4, 1, 5, 2, 6, 3, 7};
	static const uint32_t pairs[] = {0, 1, 4, 5, 2, 3, 6, 7};

	(void)state;
	assert_close(ring_leaves(blocks), 1, 1e-12);
	assert_close(ring_leaves(pairs), 2, 1e-12);
	assert_close(ring_leaves(alternating), 4, 1e-12);
}

/* Ranks go to and fro between two NVLink domains of two nodes each, but a
 * library visits each domain once, and leaves it by four NICs. */
static void nvlink_domains_over_nodes_are_visited_once(void **state)
{
	static const uint32_t where[] = {0, 4, 2, 6, 1, 5, 3, 7};
	struct scene s;
	struct sums sums;
	uint32_t kind;
	double sent;

	(void)state;
	scene_open(&s,
		   "weft: fabric/1\nnodes:\n  n[0-3]: 2\nnvlink:\n"
		   "  v0: n0,n1\n  v1: n2,n3\nlevels:\n  leaf:\n"
		   "    L0: v0\n    L1: v1\n  pod:\n    P: L[0-1]\n",
		   "dp=8,zero=1,model=llama3-8B", where);
	kind = kind_of(&s, WEFT_AXIS_DP, WEFT_REDUCE_SCATTER, WEFT_STEP_END);
	sums = kind_sums(&s, kind);
	sent = s.flows.kinds[kind].sent[0];
	assert_close(sums.bytes[2 * leaf_of(&s, 0)], sent, 1e-12);
	assert_close(sums.flows[2 * leaf_of(&s, 0)], 4, 1e-12);
	for (uint32_t gpu = 0; gpu < 8; gpu++) {
		assert_close(sums.bytes[2 * nic_of(&s, gpu)], sent / 4, 1e-12);
		assert_close(sums.bytes[2 * nic_of(&s, gpu) + 1], sent / 4,
			     1e-12);
	}
	sums_close(&sums);
	scene_close(&s);
}

/* Four stages on a GPU each: bytes that the last one sends forward. */
static double last_sends(const char *spec)
{
	struct scene s;
	struct sums sums;
	double bytes;

	scene_open(&s, two_pods, spec, NULL);
	sums = kind_sums(
		&s, kind_of(&s, WEFT_AXIS_PP, WEFT_SEND_RECV, WEFT_FORWARD));
	bytes = sums.bytes[2 * nic_of(&s, 3)];
	assert_close(bytes, sums.bytes[2 * nic_of(&s, 0) + 1], 0);
	assert_true(sums.bytes[2 * nic_of(&s, 2)] > 0);
	sums_close(&sums);
	scene_close(&s);
	return bytes;
}

static void
a_pipeline_of_one_chunk_sends_nothing_from_last_to_first(void **state)
{
	(void)state;
	assert_close(last_sends("pp=4,gbs=8,model=llama3-8B"), 0, 0);
	/* between the two chunks: eight sequences of 8192 tokens of 4096
	 * numbers in 16 bits */
	assert_close(last_sends("pp=4,vpp=2,gbs=8,model=llama3-8B"),
		     8.0 * 8192 * 4096 * 2, 1e-12);
}

/* GPU 0, on rail 0, and GPU 3, on rail 3, each send to rail 3 of another node.
 * What leaves by their NICs, for one that a rank sends. */
static void rails_leave(const char *pxn, double *rail_0, double *rail_3)
{
	static const uint32_t where[] = {0, 3, 7, 11};
	char text[256];
	struct scene s;
	struct sums sums;
	double sent;
	uint32_t kind;

	snprintf(text, sizeof(text),
		 "weft: fabric/1\nrails: 4\npxn: %s\nnodes:\n  n[0-2]: 4\n"
		 "levels:\n  leaf:\n    L-[0-3]: n[0-2]\n"
		 "  pod:\n    P: L-[0-3]\n",
		 pxn);
	scene_open(&s, text, "pp=2,dp=2,gbs=8,model=llama3-8B", where);
	kind = kind_of(&s, WEFT_AXIS_PP, WEFT_SEND_RECV, WEFT_FORWARD);
	sums = kind_sums(&s, kind);
	sent = s.flows.kinds[kind].sent[0];
	*rail_0 = sums.bytes[2 * nic_of(&s, 0)] / sent;
	*rail_3 = sums.bytes[2 * nic_of(&s, 3)] / sent;
	sums_close(&sums);
	scene_close(&s);
}

static void with_pxn_flows_share_the_nic_of_the_destinations_rail(void **state)
{
	double rail_0, rail_3;

	(void)state;
	rails_leave("yes", &rail_0, &rail_3);
	assert_close(rail_0, 0, 0);
	assert_close(rail_3, 2, 1e-12);
	rails_leave("no", &rail_0, &rail_3);
	assert_close(rail_0, 1, 1e-12);
	assert_close(rail_3, 1, 1e-12);
}

/* Edges at each host over both trees of NCCL, written down from its
 * src/graph/trees.cc: half of the data goes each way over each.
 *	4 hosts	0-2 2-1 2-3, mirrored 3-1 1-2 1-0
 *	5 hosts	0-4 4-2 2-1 2-3, shifted 1-0 0-3 3-2 3-4
 */
static void trees_load_what_nccls_double_trees_send(void **state)
{
	static const struct {
		const char *spec;
		uint32_t edges[5];
	} cases[] = {
		{"dp=4,model=llama3-8B,algorithm=tree", {2, 4, 4, 2}},
		{"dp=5,gbs=5,model=llama3-8B,algorithm=tree", {3, 2, 4, 4, 3}},
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scene s;
		struct sums sums;
		uint32_t kind;

		scene_open(&s, two_pods, cases[i].spec, NULL);
		kind = kind_of(&s, WEFT_AXIS_DP, WEFT_ALL_REDUCE,
			       WEFT_STEP_END);
		sums = kind_sums(&s, kind);
		for (uint32_t gpu = 0; gpu < s.spec.gpus; gpu++) {
			double bytes = s.flows.kinds[kind].sent[0] / 2 *
				       cases[i].edges[gpu];

			assert_close(sums.bytes[2 * nic_of(&s, gpu)], bytes,
				     1e-12);
			assert_close(sums.bytes[2 * nic_of(&s, gpu) + 1], bytes,
				     1e-12);
		}
		sums_close(&sums);
		scene_close(&s);
	}
}

/* On one host all channels repeat the chain that was found first (NCCL,
 * src/graph/search.cc): GPUs inside it send and receive all of the data twice,
 * those at its ends once, and so do NVLink domains. */
static void trees_in_one_node_are_a_single_chain(void **state)
{
	static const uint32_t where[] = {5, 1, 3, 0};
	static const char *const nodes[] = {"", "nvlink: 2\n"};
	static const double port[][6] = {{1, 2, 0, 2, 0, 1}, {1, 1}};
	static const double pair[] = {1, 2, 1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scene s;
		struct sums sums;
		char text[128];
		uint32_t kind;
		double sent;

		snprintf(text, sizeof(text),
			 "weft: fabric/1\n%snodes:\n  n[0-1]: 6\n"
			 "levels:\n  leaf:\n    L: n[0-1]\n",
			 nodes[i]);
		scene_open(&s, text, "dp=4,model=llama3-8B,algorithm=tree",
			   where);
		kind = kind_of(&s, WEFT_AXIS_DP, WEFT_ALL_REDUCE,
			       WEFT_STEP_END);
		sums = kind_sums(&s, kind);
		sent = s.flows.kinds[kind].sent[0];
		for (uint32_t gpu = 0; gpu < 12; gpu++) {
			uint32_t out = 2 * port_of(&s, gpu);
			double bytes = gpu < 6 ? sent * port[i][gpu] : 0;

			assert_close(sums.bytes[out], bytes, 1e-12);
			assert_close(sums.bytes[out + 1], bytes, 1e-12);
		}
		for (uint32_t k = 0; i && k < 3; k++) {
			uint32_t up = 2 * s.f->gpu_domain[0][2 * k];

			assert_close(sums.bytes[up], sent * pair[k], 1e-12);
			assert_close(sums.bytes[up + 1], sent * pair[k], 1e-12);
		}
		sums_close(&sums);
		scene_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			links_carry_what_every_flow_by_itself_adds_up_to),
		cmocka_unit_test(what_passes_a_node_loads_it),
		cmocka_unit_test(
			a_ring_that_alternates_pods_crosses_the_link_at_every_hop),
		cmocka_unit_test(nvlink_domains_over_nodes_are_visited_once),
		cmocka_unit_test(
			a_pipeline_of_one_chunk_sends_nothing_from_last_to_first),
		cmocka_unit_test(
			with_pxn_flows_share_the_nic_of_the_destinations_rail),
		cmocka_unit_test(trees_load_what_nccls_double_trees_send),
		cmocka_unit_test(trees_in_one_node_are_a_single_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
