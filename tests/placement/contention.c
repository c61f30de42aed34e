/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.c - jobs that share links: how much they slow each other, and that
 * no work gets lost
 */
#include "lab/replay/contention.h"

#include "lab/replay/replay.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>

static struct weft_fabric *synth(const char *shape)
{
	const struct weft_synth_options options = {.profile = "roce-llama3"};

	return test_synth(shape, &options);
}

/* A spec on whole nodes of eight GPUs. */
struct placed {
	struct weft_job job;
	struct weft_schedule schedule;
	uint32_t where[256];
};

static void place(struct placed *p, const struct weft_fabric *f,
		  const char *spec, const uint32_t *nodes)
{
	struct weft_error err = {0};

	case_job(spec, f, &p->job);
	weft_schedule_build(&p->job.spec, &p->job.model, &p->schedule, &err);
	assert_no_error(&err);
	assert_true(p->job.n_gpus <= 256);
	for (uint32_t r = 0; r < p->job.n_gpus; r++)
		p->where[r] = f->nodes[nodes[r / 8]].first_gpu + r % 8;
}

static void placed_free(struct placed *p)
{
	weft_schedule_free(&p->schedule);
	weft_job_free(&p->job);
}

static struct weft_step_job step_job(const struct placed *p,
				     const struct weft_fabric *f)
{
	return (struct weft_step_job){
		.fabric = f,
		.spec = &p->job.spec,
		.model = &p->job.model,
		.where = p->where,
		.schedule = &p->schedule,
	};
}

/* overlap: WEFT_NEVER where all that is sent is to be seen. */
static void add(struct contention *c, uint32_t id, const struct placed *p,
		enum weft_habit overlap)
{
	const struct weft_fabric *f = c->load.fabric;
	const struct weft_step_options options = {
		.gpu = weft_gpu_of_profile(f->profile), .overlap = overlap};
	const struct weft_step_job job = step_job(p, f);
	struct weft_error err = {0};
	struct weft_step_kept *kept = weft_step_keep(&job, &options, &err);

	assert_no_error(&err);
	contention_add(c, id, kept, &err);
	assert_no_error(&err);
}

static void settle(struct contention *c)
{
	struct weft_error err = {0};

	contention_settle(c, &err);
	assert_no_error(&err);
}

static struct contention open_contention(const struct weft_fabric *f,
					 uint32_t n)
{
	struct weft_error err = {0};
	struct contention c;

	contention_build(f, n, &c, &err);
	assert_no_error(&err);
	return c;
}

/* Seconds that all-reduces of dp need on the links alone. */
static double transfer_s(const struct placed *p, const struct weft_fabric *f)
{
	const struct weft_step_job job = step_job(p, f);
	struct weft_error err = {0};
	struct weft_step step;

	weft_step_communication(&job, &step, &err);
	assert_no_error(&err);
	return step.communication_s[WEFT_AXIS_DP];
}

/* One bucket, large enough for its latency not to depend on how fast it moves.
 */
#define RING "nodes=2,gpus_per_node=8,gpus=16,algorithm=ring,zero=0,bucket=32GB"

/* Two rings over one pair of links that holds back both: with a share d of
 * sending, steps are 1 + d * d times as long, exactly for times as in a queue:
 * a call finds the other as if that were alone (mean value analysis, the
 * arrival theorem). */
static void two_equal_jobs_slow_each_other_as_queues_do(void **state)
{
	static const struct {
		const char *spec;
		double least, most; /* share of time that it sends alone */
	} rows[] = {
		{RING ",tp=1,gbs=16,seq=128,model=llama3-8B", 0.5, 1},
		{RING ",tp=1,gbs=16,model=llama3-8B", 0.2, 0.5},
		{RING ",tp=1,gbs=256,model=llama3-8B", 0.01, 0.2},
	};
	/* whose flows spread evenly over uplinks */
	struct weft_fabric *f = case_fabric(
		"weft: fabric/1\nprofile: roce-llama3\nrouting: adaptive\n"
		"nodes:\n  n[0-3]: 8\nlevels:\n  leaf:\n    l[0-1]: n[0-3]\n"
		"  pod:\n    p[0-1]: l[0-1]\n");
	const uint32_t nodes[2][2] = {{0, 2}, {1, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct contention c = open_contention(f, 2);
		struct placed p[2] = {0};
		double alone_s = 0, a, b, d;

		for (uint32_t k = 0; k < 2; k++) {
			place(&p[k], f, rows[i].spec, nodes[k]);
			add(&c, k, &p[k], WEFT_NEVER);
			alone_s = contention_step_s(&c, k);
			settle(&c);
		}
		b = transfer_s(&p[0], f);
		a = alone_s - b;
		d = b / (a + b);
		assert_true(d > rows[i].least && d < rows[i].most);
		for (uint32_t k = 0; k < 2; k++) {
			assert_close(contention_step_s(&c, k),
				     (a + b) * (1 + d * d), 1e-3);
			placed_free(&p[k]);
		}
		contention_free(&c);
	}
	weft_fabric_free(f);
}

/* However many there are, a link carries no more than it can, and jobs that
 * hardly compute fill it. */
static void a_shared_link_is_full_and_no_fuller(void **state)
{
	struct weft_fabric *f = case_fabric(
		"weft: fabric/1\nprofile: roce-llama3\nrouting: adaptive\n"
		"nodes:\n  n[00-15]: 8\nlevels:\n  pod:\n    p0: n[00-07]\n    "
		"p1: n[08-15]\n"
		"  zone:\n    z: p[0-1]\nlinks:\n"
		"  zone: {oversubscription: 16}\n");

	(void)state;
	for (uint32_t n = 2; n <= 8; n++) {
		struct contention c = open_contention(f, n);
		struct placed p[8] = {0};
		double full = 0;

		for (uint32_t k = 0; k < n; k++) {
			const uint32_t nodes[2] = {k, 8 + k};

			place(&p[k], f,
			      RING ",tp=1,gbs=16,seq=128,model=llama3-8B",
			      nodes);
			add(&c, k, &p[k], WEFT_NEVER);
		}
		settle(&c);
		for (uint32_t k = 0; k < n; k++) {
			full += transfer_s(&p[k], f) / contention_step_s(&c, k);
			assert_close(contention_step_s(&c, k),
				     contention_step_s(&c, 0), 1e-3);
		}
		assert_true(full < 1 + 1e-3);
		assert_true(n < 4 || full > 0.9);
		for (uint32_t k = 0; k < n; k++)
			placed_free(&p[k]);
		contention_free(&c);
	}
	weft_fabric_free(f);
}

static void jobs_apart_are_as_fast_as_alone(void **state)
{
	struct weft_fabric *f = synth("pod:2 leaf:2 node:2 gpu:8");
	const uint32_t nodes[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
	struct contention c = open_contention(f, 2);
	struct placed p[2] = {0};
	double alone_s[2];

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		place(&p[k], f, "gpus=32,tp=8,pp=2,gbs=32,model=llama3-8B",
		      nodes[k]);
		add(&c, k, &p[k], WEFT_AS_USUAL);
		alone_s[k] = contention_step_s(&c, k);
	}
	settle(&c);
	for (uint32_t k = 0; k < 2; k++) {
		assert_true(contention_step_s(&c, k) == alone_s[k]);
		placed_free(&p[k]);
	}
	contention_free(&c);
	weft_fabric_free(f);
}

static const char *const specs[] = {
	"gpus=32,tp=8,pp=2,gbs=32,model=llama3-8B",
	"gpus=32,zero=3,gbs=64,model=llama3-8B",
	"gpus=64,tp=8,pp=4,zero=1,gbs=32,model=llama3-70B",
	"gpus=64,tp=8,ep=8,zero=1,gbs=64,model=grok1-314B",
	"gpus=32,tp=4,cp=2,zero=1,gbs=32,model=llama3-8B",
};
#define N_SPECS (sizeof(specs) / sizeof(specs[0]))

/* Random nodes of f. */
static void place_anywhere(struct placed *p, const struct weft_fabric *f,
			   uint64_t *random)
{
	uint32_t nodes[64];

	for (uint32_t k = 0; k < f->n_nodes; k++)
		nodes[k] = k;
	for (uint32_t k = 0; k < f->n_nodes; k++) {
		uint32_t j = k + test_random_below(random, f->n_nodes - k);
		uint32_t node = nodes[j];

		nodes[j] = nodes[k];
		nodes[k] = node;
	}
	place(p, f, specs[test_random_below(random, N_SPECS)], nodes);
}

/* A kept step says, beside any other jobs, what a step from scratch does. */
static void a_kept_step_is_a_step(void **state)
{
	struct weft_fabric *f = synth("pod:2 leaf:2 node:4 gpu:8");
	const struct weft_step_options options = {
		.gpu = weft_gpu_of_profile(f->profile)};
	struct contention c = open_contention(f, 12);
	uint64_t random = test_seed();
	struct weft_error err = {0};
	struct placed p[12] = {0};

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		struct weft_step_kept *kept;
		struct weft_step_job job;
		struct weft_step step;

		place_anywhere(&p[i], f, &random);
		job = step_job(&p[i], f);
		kept = weft_step_keep(&job, &options, &err);
		assert_no_error(&err);
		job.load = &c.load;
		weft_step(&job, &options, &step, &err);
		assert_no_error(&err);
		assert_close(weft_step_again(kept, &c.load), step.step_s,
			     1e-12);
		job.load = NULL;
		weft_step(&job, &options, &step, &err);
		assert_close(weft_step_again(kept, NULL), step.step_s, 1e-12);
		contention_add(&c, i, kept, &err);
		assert_no_error(&err);
		settle(&c);
	}
	for (uint32_t i = 0; i < 12; i++)
		placed_free(&p[i]);
	contention_free(&c);
	weft_fabric_free(f);
}

/* What is left does not depend on who was there before, or came first. */
static void steps_do_not_depend_on_the_past(void **state)
{
	struct weft_fabric *f = synth("pod:2 leaf:2 node:4 gpu:8");
	struct contention c = open_contention(f, 16);
	struct contention fresh = open_contention(f, 16);
	uint64_t random = test_seed();
	struct placed p[16] = {0};
	double alone_s = 0;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		place_anywhere(&p[i], f, &random);
		add(&c, i, &p[i], WEFT_AS_USUAL);
		alone_s = contention_step_s(&c, i);
		settle(&c);
	}
	for (uint32_t i = 0; i < 16; i += 2) {
		contention_remove(&c, i);
		settle(&c);
	}
	for (uint32_t i = 15; i < 16; i -= 2)
		add(&fresh, i, &p[i], WEFT_AS_USUAL);
	settle(&fresh);
	for (uint32_t i = 1; i < 16; i += 2)
		assert_close(contention_step_s(&c, i),
			     contention_step_s(&fresh, i), 5e-3);
	for (uint32_t i = 1; i < 15; i += 2)
		contention_remove(&c, i);
	settle(&c);
	assert_close(contention_step_s(&c, 15), alone_s, CONTENTION_SAME);
	for (uint32_t i = 0; i < 16; i++)
		placed_free(&p[i]);
	contention_free(&fresh);
	contention_free(&c);
	weft_fabric_free(f);
}

/* ---- whole streams ---- */

/* A job's part of a replay, kept by a witness. */
struct part {
	uint32_t *where, n;
	double done; /* work */
	bool runs;
	double step_s;
};

struct witness {
	const struct weft_replay *r;
	struct part *parts; /* [stream->n] */
};

static int witness_started(void *context, uint32_t job, const uint32_t *where,
			   uint32_t n)
{
	struct witness *w = context;
	struct part *part = &w->parts[job];

	part->where = malloc(n * sizeof(*where));
	assert_non_null(part->where);
	memcpy(part->where, where, n * sizeof(*where));
	part->n = n;
	return 0;
}

/* The step of a job beside the others at their present steps, from scratch. */
static double step_of(const struct witness *w, uint32_t job,
		      struct weft_load_parts *all)
{
	const struct weft_replay *r = w->r;
	const struct weft_replay_kind *kind = &r->kinds[r->kind_of[job]];
	const struct weft_step_options options = {.gpu = r->gpu};
	struct weft_error err = {0};
	struct weft_load load;
	struct weft_step step;
	struct weft_step_job placed = {
		.fabric = r->fabric,
		.spec = &kind->job.spec,
		.model = &kind->job.model,
		.where = w->parts[job].where,
		.schedule = &kind->schedule,
		.load = &load,
		.step_s = w->parts[job].step_s,
		.parts = &all[job],
	};

	weft_load_build(r->fabric, &load, &err);
	for (uint32_t i = 0; i < r->stream->n; i++) {
		if (i != job && w->parts[i].runs)
			weft_load_add(&load, &all[i]);
	}
	all[job].n = 0;
	weft_step(&placed, &options, &step, &err);
	assert_no_error(&err);
	weft_load_free(&load);
	return step.step_s;
}

/* All that run, over and over, each time half of the way. */
static void steps_find(struct witness *w, struct weft_load_parts *all)
{
	uint32_t n = w->r->stream->n;

	for (uint32_t round = 0; round < 14; round++) {
		for (uint32_t i = 0; i < n; i++) {
			struct part *part = &w->parts[i];
			double step_s;

			if (!part->runs)
				continue;
			step_s = step_of(w, i, all);
			part->step_s = part->step_s > 0
					       ? (part->step_s + step_s) / 2
					       : step_s;
		}
	}
}

/* Goes through what a replay says happened, event by event, and adds up the
 * work that each job does at the steps found here. */
static void work_check(struct witness *w, const struct weft_replay_outcome *o)
{
	uint32_t n = w->r->stream->n;
	struct weft_load_parts *all = calloc(n, sizeof(*all));
	double now_s = 0;

	assert_non_null(all);
	for (;;) {
		double next_s = (double)INFINITY;

		for (uint32_t i = 0; i < n; i++) {
			const double at[] = {o->jobs[i].start_s,
					     o->jobs[i].end_s};

			for (int e = 0; e < 2; e++)
				if (at[e] > now_s && at[e] < next_s)
					next_s = at[e];
		}
		for (uint32_t i = 0; i < n; i++)
			w->parts[i].runs = o->jobs[i].start_s <= now_s &&
					   o->jobs[i].end_s > now_s;
		if (isinf(next_s))
			break;
		steps_find(w, all);
		for (uint32_t i = 0; i < n; i++) {
			struct part *part = &w->parts[i];
			uint32_t kind = w->r->kind_of[i];

			if (part->runs)
				part->done += (next_s - now_s) / part->step_s *
					      w->r->kinds[kind].ideal_step_s;
		}
		now_s = next_s;
	}
	for (uint32_t i = 0; i < n; i++)
		weft_load_parts_free(&all[i]);
	free(all);
}

/* Every job does its work, no more and no less, found out without the replay's
 * own steps, ends or queues. */
static void work_is_neither_lost_nor_made(void **state)
{
	struct weft_fabric *f = synth("pod:3 leaf:2 node:2 gpu:8");
	uint64_t random = test_seed();
	struct weft_error err = {0};
	struct weft_stream s = {0};
	struct witness w = {0};
	struct weft_replay_options options = {.started = witness_started,
					      .context = &w};
	struct weft_replay_outcome o;
	struct weft_replay r = {0};
	double slowest = 0;

	(void)state;
	for (uint32_t i = 0; i < 30; i++) {
		const struct weft_stream_job job = {
			30.0 * i, 50 + test_random_below(&random, 200),
			16 + 8 * test_random_below(&random, 3), "", ""};

		weft_stream_add(&s, &job, &err);
	}
	weft_replay_build(f, &s, &options, &r, &err);
	assert_no_error(&err);
	w.r = &r;
	w.parts = calloc(s.n, sizeof(*w.parts));
	assert_non_null(w.parts);
	weft_replay_run(&r, weft_policy_find("random", &err), &o, &err);
	assert_no_error(&err);
	work_check(&w, &o);
	for (uint32_t i = 0; i < s.n; i++) {
		assert_close(w.parts[i].done, s.jobs[i].duration_s, 2e-3);
		slowest = fmax(slowest,
			       o.jobs[i].step_s / o.jobs[i].alone_step_s);
		free(w.parts[i].where);
	}
	/* and they did share links */
	assert_true(slowest > 1.05);
	free(w.parts);
	weft_replay_outcome_free(&o);
	weft_replay_free(&r);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

/* On one leaf every job has its own links: it lasts as if the others were not
 * there, under every policy. */
static void without_shared_links_nothing_is_slower(void **state)
{
	struct weft_fabric *f = synth("leaf:1 node:8 gpu:8");
	const struct weft_replay_options options = {0};
	struct weft_error err = {0};
	struct weft_stream s = {0};
	struct weft_replay r = {0};

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		const struct weft_stream_job job = {
			10.0 * i, 100 + 7 * (i % 11), 8 + 8 * (i % 4), "", ""};

		weft_stream_add(&s, &job, &err);
	}
	weft_replay_build(f, &s, &options, &r, &err);
	assert_no_error(&err);
	for (uint32_t p = 0; p < weft_n_policies; p++) {
		struct weft_replay_outcome o;

		weft_replay_run(&r, &weft_policies[p], &o, &err);
		assert_no_error(&err);
		for (uint32_t i = 0; i < s.n; i++) {
			const struct weft_replay_job *job = &o.jobs[i];
			const struct weft_replay_kind *kind =
				&r.kinds[r.kind_of[i]];

			assert_close(job->step_s, job->alone_step_s, 1e-9);
			assert_close(job->end_s - job->start_s,
				     s.jobs[i].duration_s * job->alone_step_s /
					     kind->ideal_step_s,
				     1e-9);
		}
		weft_replay_outcome_free(&o);
	}
	weft_replay_free(&r);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_equal_jobs_slow_each_other_as_queues_do),
		cmocka_unit_test(a_shared_link_is_full_and_no_fuller),
		cmocka_unit_test(jobs_apart_are_as_fast_as_alone),
		cmocka_unit_test(a_kept_step_is_a_step),
		cmocka_unit_test(steps_do_not_depend_on_the_past),
		cmocka_unit_test(work_is_neither_lost_nor_made),
		cmocka_unit_test(without_shared_links_nothing_is_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
