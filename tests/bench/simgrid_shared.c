/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_shared.c - two and three jobs on the same links
 *
 * Each job sends all of its calls in a burst and then pauses, so that it sends
 * always, half or a quarter of its time when it is alone.
 */
#include "tests/bench/simgrid_shared.h"

#include "costmodel/time/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_JOBS 3

struct sharer {
	char spec[256];
	struct weft_job job;
	struct weft_schedule schedule;
	uint32_t *where;
	double duty, alone_s;
	struct weft_load_parts parts;
};

struct shared {
	struct scene *s;
	struct sharer jobs[MAX_JOBS];
	uint32_t n_jobs;
	uint32_t n, close; /* of slow-downs; within 15 % */
	uint32_t n_idle;   /* below 2 %, by both */
	uint32_t n_of_duty[3], close_of_duty[3];
	double least, most;
	bool verbose;
};

static const double duties[] = {1, 0.5, 0.25};

static void sharers_free(struct shared *h)
{
	for (uint32_t k = 0; k < MAX_JOBS; k++) {
		weft_load_parts_free(&h->jobs[k].parts);
		weft_schedule_free(&h->jobs[k].schedule);
		weft_job_free(&h->jobs[k].job);
		free(h->jobs[k].where);
	}
	memset(h->jobs, 0, sizeof(h->jobs));
}

/* What one job needs for its communication, beside a load. */
static int communication(const struct shared *h, struct sharer *j,
			 const struct weft_load *load,
			 struct weft_load_parts *parts, double *time_s)
{
	const struct weft_step_job job = {
		.fabric = h->s->f,
		.spec = &j->job.spec,
		.model = &j->job.model,
		.where = j->where,
		.schedule = &j->schedule,
		.load = load,
		.parts = parts,
		.step_s = j->alone_s / j->duty,
	};
	struct weft_step step = {0};

	if (weft_step_communication(&job, &step, &h->s->err))
		return -1;
	*time_s = 0;
	for (uint32_t a = 0; a < WEFT_N_AXES; a++)
		*time_s += step.communication_s[a];
	return 0;
}

/* A job on the nodes given, in one of three layouts. */
static int sharer_make(struct shared *h, struct sharer *j,
		       const uint32_t *nodes, uint32_t n_nodes)
{
	struct scene *s = h->s;
	uint32_t n = n_nodes * s->f->nodes[0].n_gpus, k = 0;

	s->spec[0] = '\0';
	weft_append(s->spec, sizeof(s->spec), "gpus=%u,algorithm=ring,zero=1,",
		    n);
	weft_append(s->spec, sizeof(s->spec), "%s",
		    (const char *const[]){
			    "tp=1,model=llama3-8B", "tp=8,model=llama3-70B",
			    "ep=8,model=deepseek-v3"}[below(s, 3)]);
	if (job_build(s, &s->err))
		return -1;
	memcpy(j->spec, s->spec, sizeof(j->spec));
	j->job = s->job;
	j->schedule = s->schedule;
	memset(&s->job, 0, sizeof(s->job));
	memset(&s->schedule, 0, sizeof(s->schedule));
	j->duty = duties[below(s, 3)];
	j->where = weft_calloc(n, sizeof(*j->where), &s->err);
	if (!j->where)
		return -1;
	for (uint32_t i = 0; i < n_nodes; i++)
		for (uint32_t g = 0; g < s->f->nodes[nodes[i]].n_gpus; g++)
			j->where[k++] = s->f->nodes[nodes[i]].first_gpu + g;
	s->job.spec.algorithm = j->job.spec.algorithm;
	s->schedule = j->schedule;
	s->where = j->where;
	k = (uint32_t)calls_write(s, (uint32_t)(j - h->jobs));
	memset(&s->schedule, 0, sizeof(s->schedule));
	s->where = NULL;
	if (k || communication(h, j, NULL, NULL, &j->alone_s))
		return -1;
	return communication(h, j, NULL, &j->parts, &j->alone_s);
}

static int slowdown_predict(struct shared *h, uint32_t who, double *slowdown)
{
	struct weft_load load = {0};
	int rc = weft_load_build(h->s->f, &load, &h->s->err);

	for (uint32_t k = 0; rc == 0 && k < h->n_jobs; k++)
		if (k != who)
			weft_load_add(&load, &h->jobs[k].parts);
	if (rc == 0)
		rc = communication(h, &h->jobs[who], &load, NULL, slowdown);
	*slowdown /= h->jobs[who].alone_s;
	weft_load_free(&load);
	return rc;
}

static void count(struct shared *h, uint32_t who, double predicted,
		  double simulated)
{
	double ratio = predicted / simulated;
	bool close = fabs(ratio - 1) <= 0.15;

	/* jobs that do not meet on a full link say nothing */
	if (fmax(predicted, simulated) < 1.02) {
		h->n_idle++;
		return;
	}
	h->least = h->n == 0 || ratio < h->least ? ratio : h->least;
	h->most = h->n == 0 || ratio > h->most ? ratio : h->most;
	h->n++;
	h->close += close;
	for (uint32_t d = 0; d < 3; d++) {
		if (h->jobs[who].duty < duties[d] ||
		    h->jobs[who].duty > duties[d])
			continue;
		h->n_of_duty[d]++;
		h->close_of_duty[d] += close;
	}
	if (close && !h->verbose)
		return;
	printf("%s: slow-down %.2f, simulated %.2f;", h->s->fabric_spec,
	       predicted, simulated);
	for (uint32_t k = 0; k < h->n_jobs; k++)
		printf(" %s%s at %g", k == who ? "*" : "", h->jobs[k].spec,
		       h->jobs[k].duty);
	putchar('\n');
}

static int jobs_compare(struct shared *h)
{
	char arguments[256] = "--bursts 30 --duty ";
	json_t *answer, *item;
	size_t index;
	int rc = 0;

	for (uint32_t k = 0; k < h->n_jobs; k++)
		weft_append(arguments, sizeof(arguments), "%s%g", k ? "," : "",
			    h->jobs[k].duty);
	weft_append(arguments, sizeof(arguments), " platform.xml");
	for (uint32_t k = 0; k < h->n_jobs; k++)
		weft_append(arguments, sizeof(arguments), " calls%u.csv", k);
	answer = simulate(h->s, arguments);
	if (!answer)
		return -1;
	json_array_foreach(json_object_get(answer, "jobs"), index, item)
	{
		double simulated =
			json_number_value(json_object_get(item, "slowdown"));
		double predicted = 0;

		rc = rc || slowdown_predict(h, (uint32_t)index, &predicted);
		if (rc == 0)
			count(h, (uint32_t)index, predicted, simulated);
	}
	json_decref(answer);
	return rc;
}

/* Two or three jobs that share a fabric's nodes, dealt out at random. */
static int case_run(struct shared *h, uint32_t number)
{
	struct scene *s = h->s;
	uint32_t *nodes, each;
	int rc = 0;

	do {
		weft_fabric_free(s->f);
		s->f = NULL;
		if (fabric_make(s, &kinds[number % 2 ? 2 : 0], 512))
			return -1;
	} while (s->f->n_nodes < 12 || s->f->n_nodes > 64);
	h->n_jobs = PICK(s, 2, 2, 3);
	for (each = 2; 2 * each * h->n_jobs <= s->f->n_nodes && each < 8;)
		each *= 2;
	nodes = weft_calloc(s->f->n_nodes, sizeof(*nodes), &s->err);
	if (!nodes || platform_write(s))
		rc = -1;
	for (uint32_t i = 0; rc == 0 && i < s->f->n_nodes; i++)
		nodes[i] = i;
	if (rc == 0)
		shuffle(s, nodes, s->f->n_nodes);
	for (uint32_t k = 0; rc == 0 && k < h->n_jobs; k++)
		rc = sharer_make(h, &h->jobs[k], nodes + k * each, each);
	free(nodes);
	if (rc == 0)
		rc = jobs_compare(h);
	sharers_free(h);
	scene_clear(s);
	return rc;
}

int shared_run(struct scene *s, uint32_t n, bool verbose)
{
	struct shared h = {.s = s, .verbose = verbose};
	uint64_t seed = s->e.random;

	for (uint32_t i = 0; i < n; i++) {
		s->e.random = seed + i;
		if (case_run(&h, i))
			return -1;
	}
	printf("\n%u slow-downs by other jobs, beside %u without any: %.1f %% "
	       "within 15 %%, %.2f to %.2f\n",
	       h.n, h.n_idle, 100.0 * h.close / (h.n ? h.n : 1), h.least,
	       h.most);
	for (uint32_t d = 0; d < 3; d++)
		printf("  of those that send %g of the time: %u of %u\n",
		       duties[d], h.close_of_duty[d], h.n_of_duty[d]);
	return 0;
}
