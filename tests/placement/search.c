/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - the local search's own idea of the cost is the cost */
#include "placement/ranks/search.h"

#include "tests/placement/cases.h"

#include <stdlib.h>

/* A search on all free GPUs of a random fabric, and its tally. */
static struct {
	uint32_t n_changes;
	double last, worst; /* last cost told, worst error in proportion */
} seen;

static void compare(const struct search *q, double cost)
{
	double anew = search_cost(q);
	double error = anew > 0 ? (cost - anew) / anew : cost;

	seen.n_changes++;
	seen.last = cost;
	error = error < 0 ? -error : error;
	seen.worst = error > seen.worst ? error : seen.worst;
}

struct board {
	struct sites sites;
	struct graph graph;
	uint32_t *site_of, *item_at, *host_of;
	struct host *hosts;
};

static void set_board(struct board *b, const struct weft_fabric *f,
		      const struct weft_occupancy *o,
		      const struct weft_job *job)
{
	struct weft_error err = {0};
	uint32_t *gpu = calloc(f->n_gpus, sizeof(*gpu)), n = 0;

	b->site_of = calloc(f->n_gpus, sizeof(*b->site_of));
	b->item_at = calloc(f->n_gpus, sizeof(*b->item_at));
	b->host_of = calloc(f->n_gpus, sizeof(*b->host_of));
	b->hosts = calloc(f->n_nodes, sizeof(*b->hosts));
	for (uint32_t g = 0; g < f->n_gpus; g++) {
		uint32_t node = f->gpu_node[g];

		if (!(o->free[node] >> (g - f->nodes[node].first_gpu) & 1))
			continue;
		b->item_at[n] = n < job->n_gpus ? n : WEFT_NONE;
		if (n < job->n_gpus)
			b->site_of[n] = n;
		b->host_of[n] = node;
		b->hosts[node].used += n < job->n_gpus;
		b->hosts[node].most++;
		gpu[n++] = g;
	}
	sites_build(f, gpu, n, true, job->spec.metric, &b->sites, &err);
	assert_no_error(&err);
	graph_build(&job->traffic, &b->graph, &err);
	assert_no_error(&err);
	free(gpu);
}

static void clear_board(struct board *b)
{
	sites_free(&b->sites);
	graph_free(&b->graph);
	free(b->site_of);
	free(b->item_at);
	free(b->host_of);
	free(b->hosts);
}

static void search_once(const struct weft_fabric *f,
			const struct weft_occupancy *o,
			const struct weft_job *job)
{
	struct effort effort = {.work = 200000};
	struct weft_error err = {0};
	struct board b;
	struct search q = {.unit = 1, .watch = compare};
	double before;

	set_board(&b, f, o, job);
	q.g = &b.graph;
	q.s = &b.sites;
	q.site_of = b.site_of;
	q.item_at = b.item_at;
	q.host_of = b.host_of;
	q.hosts = b.hosts;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		q.n_used += b.hosts[i].used > 0;
	before = search_cost(&q);
	search_run(&q, &effort, 0, &err);
	assert_no_error(&err);
	assert_true(search_cost(&q) <= before * (1 + 1e-12));
	for (uint32_t v = 0; v < b.graph.n; v++)
		assert_int_equal(b.item_at[b.site_of[v]], v);
	clear_board(&b);
}

static void the_cost_is_that_of_a_new_count_after_every_change(void **state)
{
	static const struct case_shape shape = {4, 16, 8, true};
	uint64_t random = test_seed();

	(void)state;
	memset(&seen, 0, sizeof(seen));
	for (int round = 0; round < 30; round++) {
		struct text t;
		struct weft_fabric *f;
		struct weft_occupancy o;
		struct weft_job job = {0};
		uint32_t n = 0;

		case_random_fabric(&t, &random, &shape);
		f = case_fabric(t.at);
		case_random_occupancy(&o, f, &random, 20);
		for (uint32_t i = 0; i < f->n_nodes; i++)
			n += weft_mask_count(o.free[i]);
		n = n < 48 ? n : 48;
		if (n >= 4 && f->connected) {
			case_random_spec(&t, &random, n / 4 * 4);
			case_job(t.at, f, &job);
			search_once(f, &o, &job);
		}
		weft_job_free(&job);
		weft_occupancy_free(&o);
		weft_fabric_free(f);
	}
	assert_true(seen.n_changes > 100);
	assert_true(seen.worst < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_cost_is_that_of_a_new_count_after_every_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
