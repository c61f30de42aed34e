/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise.c - findings about bandwidth measured between pairs of nodes */
#include "costmodel/measured/pairwise.h"
#include "base/compare.h"
#include "costmodel/measured/pairwise_fit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A pair that no node or link explains: so much slower than its class, */
#define PAIR_SLOW 0.2231 /* log 1.25 */
/* and by so many standard deviations. */
#define PAIR_ERRORS 5.0
/* Below this share of the model's bandwidth it is worth a word. */
#define MODEL_SHARE 0.7
/* An end of so many failed pairs, and of this multiple of its share. */
#define FAILED_ENDS  3
#define FAILED_TIMES 3.0

/* Beside the findings of weft audit: a whole node or link before one pair. */
#define WEIGHT_CAUSE 500.0
#define WEIGHT_PAIR  50.0

struct audit {
	const struct weft_pairwise *p;
	const struct weft_fabric *f;
	struct weft_findings *findings;
	struct weft_error *err;
	struct pairwise_cause *causes; /* merged over tests */
	uint32_t *cause_tests;	       /* in how many tests */
	uint32_t *cause_test;	       /* that of the largest gain */
	uint32_t n_causes;
	double *pair_rest; /* [n_pairs] of a slow pair, or 0 */
};

static const char *node_name(const struct audit *a, uint32_t node)
{
	return a->f->nodes[node].name;
}

/* "alltoall with 4 GPUs a node" */
static const char *test_name(const struct audit *a, uint32_t test, char *text,
			     size_t size)
{
	const struct weft_pairwise_test *t = &a->p->tests[test];
	const char *name = t->name[0] ? t->name : "the test";

	if (t->gpus)
		snprintf(text, size, "%s with %u GPU%s a node", name, t->gpus,
			 t->gpus == 1 ? "" : "s");
	else
		snprintf(text, size, "%s", name);
	return text;
}

static int add(const struct audit *a, enum weft_finding_id id,
	       const char *place, const struct weft_pairwise_pair *pair,
	       double weight, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

static int add(const struct audit *a, enum weft_finding_id id,
	       const char *place, const struct weft_pairwise_pair *pair,
	       double weight, const char *format, ...)
{
	struct weft_finding_at at = {.place = place, .weight = weight};
	char text[400];
	va_list args;

	if (pair) {
		at.source = a->p->sources[pair->source];
		at.line = (int)pair->line;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return weft_findings_add(a->findings, id, at, a->err, "%s", text);
}

/* ---- nodes and links ---- */

static void cause_merge(struct audit *a, const struct pairwise_cause *cause,
			uint32_t test)
{
	uint32_t i = 0;

	while (i < a->n_causes && (a->causes[i].part != cause->part ||
				   a->causes[i].index != cause->index))
		i++;
	if (i == a->n_causes) {
		a->causes[a->n_causes++] = *cause;
		a->cause_tests[i] = 1;
		a->cause_test[i] = test;
		return;
	}
	if (cause->effect > a->causes[i].effect) {
		a->causes[i].effect = cause->effect;
		a->cause_test[i] = test;
	}
	a->causes[i].gain += cause->gain;
	a->causes[i].n_pairs += cause->n_pairs;
	a->cause_tests[i]++;
}

static int cause_note(const struct audit *a, uint32_t i)
{
	const struct pairwise_cause *c = &a->causes[i];
	double times = exp(c->effect);
	char test[96];
	const char *name;

	test_name(a, a->cause_test[i], test, sizeof(test));
	if (c->part == PAIRWISE_NODE)
		return add(a, WEFT_FINDING_NODE_SLOW, node_name(a, c->index),
			   NULL, WEIGHT_CAUSE + c->gain,
			   "pairs with it take %.2f times as long as others "
			   "(%s; %u of %u tests)",
			   times, test, a->cause_tests[i], a->p->n_tests);
	name = a->f->domains[c->index].name;
	return add(
		a, WEFT_FINDING_PATH_SLOW, name, NULL, WEIGHT_CAUSE + c->gain,
		"pairs %s %s take %.2f times as long as others (%s; %u of "
		"%u tests)",
		c->part == PAIRWISE_UPLINK ? "across the uplinks of" : "inside",
		name, times, test, a->cause_tests[i], a->p->n_tests);
}

/* ---- against the model ---- */

/* Bus bandwidth that nccl-tests would print for two nodes of g GPUs each, over
 * the bandwidth of one GPU to the network: an all-to-all keeps g - 1 of 2g - 1
 * parts inside the node, send-recv crosses it once, the others use all GPUs'
 * links at once. */
static double busbw_factor(enum weft_collective collective, uint32_t g)
{
	switch (collective) {
	case WEFT_ALL_TO_ALL:
		return (2.0 * g - 1) / g;
	case WEFT_SEND_RECV:
		return 1;
	case WEFT_ALL_REDUCE:
	case WEFT_ALL_GATHER:
	case WEFT_REDUCE_SCATTER:
		return g;
	default:
		return 0;
	}
}

static int model_compare(const struct audit *a, const struct pairwise_fit *fit,
			 uint32_t test)
{
	const struct weft_pairwise_test *t = &a->p->tests[test];
	uint32_t g = t->gpus ? t->gpus : 1;
	double factor = t->collective < WEFT_N_COLLECTIVES
				? busbw_factor(t->collective, g)
				: 1;
	char name[96];

	test_name(a, test, name, sizeof(name));
	for (uint32_t l = a->f->node_level + 1; l < a->f->n_levels; l++) {
		double model, measured;

		if (fit->size[l] == 0 || factor == 0)
			continue;
		model = factor / a->f->distance[l][0].time_s_per_byte;
		measured = exp(fit->center[l]);
		if (measured >= MODEL_SHARE * model)
			continue;
		if (add(a, WEFT_FINDING_BANDWIDTH_BELOW_MODEL,
			a->f->levels[l].name, NULL, log(model / measured),
			"%s: pairs that meet at %s reach %.1f GB/s (median of "
			"%u), the model says %.1f GB/s",
			name, a->f->levels[l].name, measured / 1e9,
			fit->size[l], model / 1e9))
			return -1;
	}
	return 0;
}

/* ---- one test ---- */

static int test_audit(struct audit *a, uint32_t test)
{
	struct pairwise_fit fit;
	int rc = pairwise_fit_build(a->p, test, a->f, &fit, a->err);

	for (uint32_t i = 0; rc == 0 && i < fit.n_causes; i++)
		cause_merge(a, &fit.causes[i], test);
	for (uint32_t i = 0; rc == 0 && i < fit.n; i++) {
		double rest = pairwise_rest(&fit, i);

		if (rest > PAIR_SLOW &&
		    rest > PAIR_ERRORS * fit.scale[fit.points[i].level])
			a->pair_rest[fit.points[i].pair] = rest;
	}
	if (rc == 0)
		rc = model_compare(a, &fit, test);
	pairwise_fit_free(&fit);
	return rc;
}

/* ---- pairs ---- */

/* What one pair did in all tests. */
struct summary {
	uint32_t a, b;
	uint32_t failed, slow, n; /* tests */
	uint32_t at;		  /* of the first failed or slowest */
	double rest;
};

WEFT_COMPARATOR(compare_pairs, struct summary,
		WEFT_UP(a) WEFT_UP(b) WEFT_UP(at));

/* One summary for each pair of nodes, in order; returns their number. */
static uint32_t pairs_sum(const struct audit *a, struct summary *sums)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->p->n_pairs; i++) {
		const struct weft_pairwise_pair *pair = &a->p->pairs[i];

		sums[i] = (struct summary){
			.a = pair->a,
			.b = pair->b,
			.failed = !(pair->rate_bytes_per_s > 0),
			.slow = a->pair_rest[i] > 0,
			.n = 1,
			.at = i,
			.rest = a->pair_rest[i],
		};
	}
	qsort(sums, a->p->n_pairs, sizeof(*sums), compare_pairs);
	for (uint32_t i = 0; i < a->p->n_pairs; i++) {
		struct summary *last = kept ? &sums[kept - 1] : NULL;

		if (!last || last->a != sums[i].a || last->b != sums[i].b) {
			sums[kept++] = sums[i];
			continue;
		}
		if ((sums[i].failed && !last->failed) ||
		    (!last->failed && sums[i].rest > last->rest))
			last->at = sums[i].at;
		last->rest = fmax(last->rest, sums[i].rest);
		last->failed += sums[i].failed;
		last->slow += sums[i].slow;
		last->n++;
	}
	return kept;
}

static int pair_note(const struct audit *a, const struct summary *s)
{
	const struct weft_pairwise_pair *pair = &a->p->pairs[s->at];
	char place[2 * WEFT_NAME_SIZE], test[96];

	test_name(a, pair->test, test, sizeof(test));
	snprintf(place, sizeof(place), "%s-%s", node_name(a, s->a),
		 node_name(a, s->b));
	if (s->failed &&
	    add(a, WEFT_FINDING_PAIR_FAILED, place, pair, s->failed,
		"no result in %u of %u tests, first in %s", s->failed, s->n,
		test))
		return -1;
	if (!s->slow)
		return 0;
	return add(a, WEFT_FINDING_PAIR_SLOW, place, s->failed ? NULL : pair,
		   WEIGHT_PAIR + s->rest,
		   "%.2f times as long as its nodes and links explain, in %u "
		   "of %u tests",
		   exp(s->rest), s->slow, s->n);
}

/* Nodes that are an end of most failed pairs. */
static int failed_ends_note(const struct audit *a, const struct summary *sums,
			    uint32_t n, uint32_t n_nodes)
{
	uint32_t *ends = weft_calloc(a->f->n_nodes, sizeof(*ends), a->err);
	uint32_t failed = 0;
	int rc = ends ? 0 : -1;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		if (!sums[i].failed)
			continue;
		failed++;
		ends[sums[i].a]++;
		ends[sums[i].b]++;
	}
	for (uint32_t k = 0; rc == 0 && k < a->f->n_nodes; k++)
		if (ends[k] >= FAILED_ENDS &&
		    ends[k] >= FAILED_TIMES * 2 * failed / n_nodes)
			rc = add(a, WEFT_FINDING_PAIR_FAILED, node_name(a, k),
				 NULL, 2 * WEIGHT_PAIR + ends[k],
				 "it is an end of %u of the %u pairs that "
				 "failed",
				 ends[k], failed);
	free(ends);
	return rc;
}

/* Where every pair was meant to be measured. */
static int missing_note(const struct audit *a, uint32_t n, uint32_t n_nodes)
{
	uint64_t all = (uint64_t)n_nodes * (n_nodes - 1) / 2;

	if (n_nodes < 4 || n >= all || 2 * (uint64_t)n < all)
		return 0;
	return add(a, WEFT_FINDING_PAIR_MISSING, NULL, NULL, 0,
		   "%llu of the %llu pairs of the %u nodes were not measured",
		   (unsigned long long)(all - n), (unsigned long long)all,
		   n_nodes);
}

static uint32_t nodes_count(const struct audit *a, bool *seen)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->p->n_pairs; i++) {
		n += !seen[a->p->pairs[i].a];
		seen[a->p->pairs[i].a] = true;
		n += !seen[a->p->pairs[i].b];
		seen[a->p->pairs[i].b] = true;
	}
	return n;
}

static int pairs_note(const struct audit *a)
{
	struct summary *sums =
		weft_calloc(a->p->n_pairs, sizeof(*sums), a->err);
	bool *seen = weft_calloc(a->f->n_nodes, sizeof(*seen), a->err);
	int rc = sums && seen ? 0 : -1;

	if (rc == 0) {
		uint32_t n = pairs_sum(a, sums);
		uint32_t n_nodes = nodes_count(a, seen);

		for (uint32_t i = 0; rc == 0 && i < n; i++)
			rc = pair_note(a, &sums[i]);
		if (rc == 0)
			rc = failed_ends_note(a, sums, n, n_nodes);
		if (rc == 0)
			rc = missing_note(a, n, n_nodes);
	}
	free(sums);
	free(seen);
	return rc;
}

/* ---- the whole ---- */

static int audit_run(struct audit *a)
{
	for (uint32_t t = 0; t < a->p->n_tests; t++)
		if (test_audit(a, t))
			return -1;
	for (uint32_t i = 0; i < a->n_causes; i++)
		if (cause_note(a, i))
			return -1;
	return pairs_note(a);
}

int weft_pairwise_audit(const struct weft_pairwise *p,
			const struct weft_fabric *f,
			struct weft_findings *findings, struct weft_error *err)
{
	struct audit a = {.p = p, .f = f, .findings = findings, .err = err};
	size_t most = f->n_nodes + 2 * (size_t)f->n_domains;
	int rc = -1;

	if (p->n_pairs == 0)
		return 0;
	a.causes = weft_calloc(most, sizeof(*a.causes), err);
	a.cause_tests = weft_calloc(most, sizeof(*a.cause_tests), err);
	a.cause_test = weft_calloc(most, sizeof(*a.cause_test), err);
	a.pair_rest = weft_calloc(p->n_pairs, sizeof(*a.pair_rest), err);
	if (a.causes && a.cause_tests && a.cause_test && a.pair_rest)
		rc = audit_run(&a);
	free(a.causes);
	free(a.cause_tests);
	free(a.cause_test);
	free(a.pair_rest);
	return rc;
}
