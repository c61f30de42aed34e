/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_scene.h - jobs on fabrics, given or random, and what their links carry
 */
#ifndef WEFT_TESTS_COSTMODEL_FLOWS_SCENE_H
#define WEFT_TESTS_COSTMODEL_FLOWS_SCENE_H

#include "tests/costmodel/flows_explicit.h"

#include <stdio.h>

/* A job on a fabric. */
struct scene {
	char fabric_text[1024], spec_text[256];
	struct weft_fabric *f;
	struct weft_spec spec;
	struct weft_model model;
	struct weft_schedule schedule;
	uint32_t where[EXPLICIT_MAX_RANKS];
	struct weft_flows flows;
};

static inline void scene_close(struct scene *s)
{
	weft_flows_free(&s->flows);
	weft_schedule_free(&s->schedule);
	weft_fabric_free(s->f);
}

static inline void fabric_open(struct scene *s)
{
	struct weft_error err = {0};

	s->f = weft_fabric_parse(s->fabric_text, strlen(s->fabric_text), "test",
				 &err);
	if (err.code)
		print_error("%s", s->fabric_text);
	assert_no_error(&err);
}

/* Whether there is such a job. */
static inline bool job_open(struct scene *s)
{
	struct weft_error err = {0};

	return weft_spec_parse(s->spec_text, &s->spec, &err) == 0 &&
	       weft_spec_resolve(&s->spec, 0, &err) == 0 &&
	       weft_model_find(s->spec.model, &s->model, &err) == 0 &&
	       weft_schedule_build(&s->spec, &s->model, &s->schedule, &err) ==
		       0;
}

static inline void flows_open(struct scene *s)
{
	struct weft_error err = {0};

	weft_flows_build(s->f, &s->schedule, s->where, s->spec.algorithm,
			 &s->flows, &err);
	assert_no_error(&err);
}

/* The named job with rank r on GPU where[r]; NULL: on GPU r. */
static inline void scene_open(struct scene *s, const char *fabric,
			      const char *spec, const uint32_t *where)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->fabric_text, sizeof(s->fabric_text), "%s", fabric);
	snprintf(s->spec_text, sizeof(s->spec_text), "%s", spec);
	fabric_open(s);
	assert_true(job_open(s));
	for (uint32_t r = 0; r < s->spec.gpus; r++)
		s->where[r] = where ? where[r] : r;
	flows_open(s);
}

/* ---- random scenes ---- */

static inline char *append(char *at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline char *append(char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	at += vsprintf(at, format, args);
	va_end(args);
	return at;
}

/* Leafs of 1 to n nodes each under pods, all but the innermost links thinner by
 * a random factor. */
static inline void fabric_random(uint64_t *seed, struct scene *s)
{
	static const uint32_t sizes[] = {1, 2, 4, 6, 8};
	uint32_t gpus = sizes[test_random_below(seed, 5)];
	uint32_t n_nodes = 4 + test_random_below(seed, 5);
	uint32_t kind = test_random_below(seed, 4), rails = 1, n_leafs = 0;
	uint32_t first, n_pods;
	char *at = s->fabric_text;

	at = append(at, "weft: fabric/1\n");
	if (kind != 2 && gpus == 6)
		rails = "\2\3\6\14"[test_random_below(seed, 4)];
	else if (kind != 2)
		rails = 1u << test_random_below(seed, 4);
	if (rails > 1)
		at = append(at, "rails: %u\npxn: %s\n", rails,
			    kind == 1 || (kind == 3 && n_nodes % 2) ? "yes"
								    : "no");
	if (kind == 2 && gpus % 2 == 0)
		at = append(at, "nvlink: %u\n", gpus / 2);
	at = append(at, "nodes:\n  n[0-%u]: %u\n", n_nodes - 1, gpus);
	if (kind == 3)
		at = append(at, "nvlink:\n  v0: n0,n1,n2\n");
	at = append(at, "levels:\n  leaf:\n");
	for (first = 0; first < n_nodes; n_leafs++) {
		uint32_t last = first + test_random_below(seed, 3);

		if (kind == 3 && first == 0)
			last = 2;
		if (last >= n_nodes)
			last = n_nodes - 1;
		at = append(at, "    L%u", n_leafs);
		if (rails > 1)
			at = append(at, "-[0-%u]", rails - 1);
		at = append(at, ": n[%u-%u]\n", first, last);
		first = last + 1;
	}
	n_pods = n_leafs < 3 ? 1 : 2;
	at = append(at, "  pod:\n");
	for (uint32_t p = 0; p < n_pods; p++) {
		uint32_t low = p * n_leafs / n_pods;
		uint32_t high = (p + 1) * n_leafs / n_pods - 1;

		at = append(at, "    P%u: L[%u-%u]", p, low, high);
		if (rails > 1)
			at = append(at, "-[0-%u]", rails - 1);
		at = append(at, "\n");
	}
	at = append(at, "  top:\n    T: P[0-%u]\n", n_pods - 1);
	append(at,
	       "links:\n  pod: {oversubscription: %u}\n"
	       "  top: {oversubscription: %u}\n",
	       1 + test_random_below(seed, 4), 1 + test_random_below(seed, 8));
	fabric_open(s);
}

static inline void spec_random(uint64_t *seed, struct scene *s, uint32_t n_gpus)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp",
					     "pp-dp-tp-cp", "dp-tp-cp-pp",
					     "pp/dp/cp/tp"};
	static const char *const ways[] = {"ring", "tree", "hierarchical",
					   "halving-doubling"};
	static const char *const heads[] = {"p2p", "allgather", "a2a"};
	uint32_t size[4] = {1, 1, 1, 1}, n = 1; /* tp, pp, dp, cp */
	uint32_t order = test_random_below(seed, 5);
	char *at = s->spec_text;

	while (n < 2 || test_random_below(seed, 8)) {
		uint32_t p = test_random_below(seed, 4) ? 2 : 3;

		if (n * p > n_gpus || n * p > EXPLICIT_MAX_RANKS)
			break;
		size[test_random_below(seed, 10) * 4 / 10] *= p;
		n *= p;
	}
	at = append(at, "gpus=%u,tp=%u,pp=%u,dp=%u,cp=%u,order=%s", n, size[0],
		    size[1], size[2], size[3], orders[order]);
	at = append(at, ",zero=%u,algorithm=%s", test_random_below(seed, 4),
		    ways[test_random_below(seed, 4)]);
	if (size[1] > 1 && test_random_below(seed, 2))
		at = append(at, ",vpp=2,gbs=%u", 4 * size[1] * size[2]);
	if (size[3] > 1)
		at = append(at, ",cp_comm=%s",
			    heads[test_random_below(seed, 3)]);
	if (order == 0 && size[2] * size[3] > 1 && test_random_below(seed, 2)) {
		at = append(at, ",model=grok1-314B,ep=%u",
			    2u << test_random_below(seed, 2));
		if (test_random_below(seed, 2))
			append(at, ",etp=%u", size[0]);
	} else {
		append(at, ",model=%s",
		       test_random_below(seed, 2) ? "llama3-8B" : "gpt3-175B");
	}
}

/* Random GPUs; in every other scene neighbours, as planned jobs have them. */
static inline void where_draw(uint64_t *seed, struct scene *s)
{
	bool planned = test_random_below(seed, 2);
	uint32_t all[1024];

	for (uint32_t i = 0; i < s->f->n_gpus; i++)
		all[i] = i;
	for (uint32_t i = 0; i < s->spec.gpus; i++) {
		uint32_t left = s->f->n_gpus - i;
		uint32_t j = planned ? i : i + test_random_below(seed, left);

		s->where[i] = all[j];
		all[j] = all[i];
	}
}

/* Whether the scene has a job. */
static inline bool scene_random(uint64_t *seed, struct scene *s)
{
	memset(s, 0, sizeof(*s));
	fabric_random(seed, s);
	spec_random(seed, s, s->f->n_gpus);
	if (!job_open(s)) {
		scene_close(s);
		return false;
	}
	where_draw(seed, s);
	flows_open(s);
	return true;
}

/* ---- bytes ---- */

struct sums {
	double *bytes, *flows; /* [links] */
};

static inline struct sums sums_open(const struct scene *s)
{
	uint32_t n = weft_flows_n_links(s->f);
	struct sums sums = {.bytes = calloc(n, sizeof(double)),
			    .flows = calloc(n, sizeof(double))};

	assert_non_null(sums.bytes);
	assert_non_null(sums.flows);
	return sums;
}

static inline void sums_close(struct sums *sums)
{
	free(sums->bytes);
	free(sums->flows);
}

static inline void sums_visit(void *data, const struct weft_flow_visited *v)
{
	struct sums *sums = data;

	assert_true(v->bytes > 0 && v->n_flows > 0);
	for (uint32_t i = v->link; i <= v->link + v->both; i++) {
		sums->bytes[i] += v->bytes;
		sums->flows[i] += v->n_flows;
	}
}

static inline struct sums kind_sums(const struct scene *s, uint32_t kind)
{
	struct sums sums = sums_open(s);
	struct weft_error err = {0};

	for (uint32_t i = 0; i < s->flows.kinds[kind].n_groups; i++)
		weft_flows_group(&s->flows, kind, i, sums_visit, &sums, NULL,
				 &err);
	assert_no_error(&err);
	return sums;
}

/* Every flow of the calls that are of the kind. */
static inline struct explicit_flows kind_flows(const struct scene *s,
					       uint32_t kind)
{
	struct explicit_flows x = {
		.f = s->f,
		.schedule = &s->schedule,
		.where = s->where,
		.algorithm = s->spec.algorithm,
	};

	for (uint32_t i = 0; i < s->schedule.n_calls; i++)
		if (s->flows.kind_of[i] == kind)
			explicit_call(&x, &s->schedule.calls[i]);
	return x;
}

static inline void explicit_sum(const struct explicit_flows *x,
				struct sums *sums)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct explicit_flow *flow = &x->flow[i];

		for (uint32_t k = 0; k < flow->n_path; k++) {
			sums->bytes[flow->path[k]] += flow->bytes;
			sums->flows[flow->path[k]] += flow->weight;
		}
	}
}

static inline void scene_print(const struct scene *s, uint32_t kind)
{
	const struct weft_flow_kind *k = &s->flows.kinds[kind];

	print_error("%s# %s\n# call \"%s\", way %d, where", s->fabric_text,
		    s->spec_text, s->schedule.calls[k->call].what, (int)k->way);
	for (uint32_t r = 0; r < s->spec.gpus; r++)
		print_error(" %u", s->where[r]);
	print_error("\n");
}

static inline uint32_t leaf_of(const struct scene *s, uint32_t gpu)
{
	return domain_at(s->f, s->f->node_level + 1, gpu);
}

static const char two_pods[] =
	"weft: fabric/1\nnodes:\n  n[0-7]: 1\nlevels:\n"
	"  leaf:\n    L[0-1]: n[0-7]\n  pod:\n    P: L[0-1]\n"
	"links:\n  pod: {oversubscription: 4}\n";

#endif
