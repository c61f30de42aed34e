/* SPDX-License-Identifier: GPL-3.0-or-later */
/* specs.c - how long slurmctld waits at most, whatever users write
 *
 * Random specs with every key, absurd values among them, put to the bridge as
 * the plugin does while a job starts: read the spec, build the job, plan, find
 * where else it could have gone; then order the ranks, compare and explain, and
 * heed what the job sends from now on.  In every other state the last jobs that
 * were placed run, and plans heed them, as is the default.  Prints how many
 * decisions took how long, and the worst ones.  All time, budgets too, is that
 * of the processor, which other work on this machine does not lengthen.
 *
 * With --compare: what the answers are worth, in those of twenty times the
 * budget, by the number of nodes; no time is measured.
 *
 * Usage: specs [--json | --compare] [--nvl72] [DECISIONS [SEED [BUDGET_MS]]]
 */
#include "base/clock.h"
#include "placement/mapping/effort.h"
#include "placement/objective/judge.h"
#include "plugin/bridge/decision.h"
#include "plugin/bridge/gain.h"
#include "plugin/bridge/launch/ranks.h"
#include "plugin/bridge/running/link_load.h"
#include "plugin/bridge/running/loads_worker.h"
#include "plugin/bridge/watchdog.h"
#include "topology/synth.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUSY_PCT    30
#define ALLOWANCE_S 2e-3 /* beyond the budget */
#define PLACE_SHARE 0.7	 /* of it, for planning */
#define N_WORST	    5
#define N_BUCKETS   16
#define PER_STATE   16 /* questions */
#define N_RUNNING   64

static const struct fabric {
	const char *text, *profile;
	uint32_t per_node;
} fabrics[] = {
	{"pod:14 leaf:28 node:32 gpu:8", NULL, 8},
	{"pod:12 leaf:8 nvlink:14 node:18 gpu:4", "gb200-nvl72", 4},
};

enum phase { READ, PLACE, ELSEWHERE, RANKS, EXPLAIN, LOAD, N_PHASES };
static const char *const phase_names[N_PHASES] = {
	"read", "place", "elsewhere", "ranks", "explain", "load"};

struct question {
	char spec[WEFT_SPEC_MAX_BYTES + 1];
	uint32_t n_nodes;
	double took_s, phase_s[N_PHASES];
	double asked_s; /* until the answer; the rest when the job begins */
	bool placed, no_time, compared;
	double ratio; /* of values, --compare; 0: there are not both */
};

struct world {
	const struct fabric *fabric;
	struct weft_bridge *bridge;
	struct weft_occupancy o;
	struct weft_settings *settings;
	struct weft_link_load loads;
	struct weft_loads_worker *working; /* on one more; NULL: none */
	struct weft_loads_jobs found;
	uint32_t n_jobs;
	struct effort random;
	double budget_s, granted_s;
};

/* ---- specs ---- */

static void put(struct question *q, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct question *q, const char *format, ...)
{
	size_t used = strlen(q->spec);
	va_list args;

	if (used && used < sizeof(q->spec) - 1)
		q->spec[used++] = ',';
	q->spec[used] = '\0';
	va_start(args, format);
	vsnprintf(q->spec + used, sizeof(q->spec) - used, format, args);
	va_end(args);
}

static bool chance(struct effort *e, uint32_t percent)
{
	return effort_below(e, 100) < percent;
}

/* A divisor of *left by powers of two, which it is divided by; now and then
 * anything. */
static uint32_t axis(struct effort *e, uint32_t *left, uint32_t most_log)
{
	uint32_t log = effort_below(e, most_log + 1), value = 1;

	if (chance(e, 1))
		return 1 + effort_below(e, 1u << effort_below(e, 21));
	while (log-- && *left % 2 == 0) {
		value *= 2;
		*left /= 2;
	}
	return value;
}

static void put_axes(struct effort *e, uint32_t per_node, struct question *q)
{
	uint32_t left = q->n_nodes * per_node;
	uint32_t tp = axis(e, &left, 4);
	uint32_t cp = chance(e, 30) ? axis(e, &left, 6) : 1;
	uint32_t pp = chance(e, 70) ? axis(e, &left, 6) : 1;

	put(q, "tp=%u", tp);
	if (cp > 1)
		put(q, "cp=%u,cp_comm=%s", cp,
		    effort_below(e, 2) ? "a2a" : "allgather");
	if (pp > 1)
		put(q, "pp=%u", pp);
	if (pp > 1 && chance(e, 30))
		put(q, "vpp=%u", 1u << effort_below(e, 8));
	if (chance(e, 50)) {
		left = left * tp * cp;
		put(q, "ep=%u", axis(e, &left, 10));
		if (chance(e, 20))
			put(q, "etp=%u", axis(e, &left, 3));
	}
}

/* Keys that take one of a few words, and numbers that are mostly left out. */
static void put_words(struct effort *e, struct question *q)
{
	static const struct {
		const char *key, *words[8];
	} keys[] = {
		{"model",
		 {"llama3-70B", "deepseek-v3", "mixtral-8x7B", "gpt3-175B",
		  "llama3-8B", "nonesuch", "llama3-405B", "deepseek-v3"}},
		{"algorithm",
		 {"auto", "ring", "tree", "hierarchical", "halving-doubling",
		  "in-network", "tree", "halving-doubling"}},
		{"metric",
		 {"hops", "latency", "time", "time", "time", "time", "time",
		  "time"}},
		{"spread",
		 {"pack", "balance", "failure-domain", "pack", "pack", "pack",
		  "balance", "failure-domain"}},
		{"within",
		 {"pod", "leaf", "node", "pod", "pod", "pod", "leaf", "gpu"}},
		{"prefer",
		 {"pod", "leaf", "node", "pod", "pod", "pod", "leaf", "gpu"}},
		{"order",
		 {"tp-cp-ep-dp-pp", "pp-dp-ep-cp-tp", "tp-pp-cp-ep-dp",
		  "dp-tp-pp-ep-cp", "tp-cp-ep-dp-pp", "ep-tp-dp-cp-pp",
		  "pp-tp-cp-ep-dp", "tp-cp-ep-dp-pp"}},
		{"recompute",
		 {"none", "selective", "full", "none", "none", "none", "full",
		  "full"}},
		{"dtype",
		 {"bf16", "fp16", "fp32", "fp8", "bf16", "bf16", "fp8",
		  "fp32"}},
		{"sp", {"on", "off", "on", "on", "on", "on", "on", "on"}},
	};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		if (chance(e, k == 0 ? 60 : 25))
			put(q, "%s=%s", keys[k].key,
			    keys[k].words[effort_below(e, 8)]);
	}
}

static void put_numbers(struct effort *e, struct question *q)
{
	static const struct {
		const char *key;
		uint32_t most_log;
	} keys[] = {
		{"zero", 1},	     {"mbs", 4},      {"gbs", 30},
		{"seq", 27},	     {"shard", 16},   {"capacity", 6},
		{"route_nodes", 10}, {"bucket", 35},  {"compress", 12},
		{"sync_every", 12},  {"channels", 5},
	};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		if (chance(e, 15))
			put(q, "%s=%llu", keys[k].key,
			    1ull << effort_below(e, keys[k].most_log + 1));
	}
	if (chance(e, 15))
		put(q, "segment=%u", 1u << effort_below(e, 10));
	else if (chance(e, 10))
		put(q, "split=%ux%u", q->n_nodes / 2, 2);
	else if (chance(e, 5))
		put(q, "split=%ux%u", 1 + q->n_nodes / 256, 256);
}

static void question_draw(struct world *w, struct question *q)
{
	struct effort *e = &w->random;
	uint32_t n = 1u << effort_below(e, 14);

	memset(q, 0, sizeof(*q));
	if (chance(e, 25))
		n = n / 2 + effort_below(e, n) + 1;
	q->n_nodes = n < 12500 ? n : 12500;
	put_axes(e, w->fabric->per_node, q);
	put_words(e, q);
	put_numbers(e, q);
}

/* ---- decisions ---- */

/* Runs of nodes, as jobs that came and went leave them. */
static void make_busy(struct weft_occupancy *o, struct effort *e, uint32_t pct)
{
	uint32_t n = o->fabric->n_nodes, i = 0;

	while (i < n) {
		uint32_t run = 1 + effort_below(e, 1 + effort_below(e, 48));
		bool busy = chance(e, pct);

		for (; run && i < n; run--, i++)
			if (busy)
				weft_occupancy_take(o, i, UINT64_MAX);
	}
}

static double lap(double *since_s)
{
	double now_s = weft_clock_s(), took_s = now_s - *since_s;

	*since_s = now_s;
	return took_s;
}

/* Between two questions: slurmctld does not wait for the thread. */
static void await_load(struct world *w)
{
	while (w->working && !weft_loads_worker_take(w->working, 0, &w->found))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	w->working = NULL;
}

/* What it has found counts from now on. */
static void take_load(struct world *w)
{
	for (uint32_t i = 0; i < w->found.n; i++)
		if (w->found.jobs[i].known)
			weft_link_load_put(&w->loads, w->found.jobs[i].job_id,
					   &w->found.jobs[i].parts, NULL);
	weft_loads_jobs_free(&w->found);
}

static bool hand_over(struct world *w, uint32_t id, const struct question *q,
		      const struct weft_account *account)
{
	struct weft_loads_jobs jobs;

	if (account->n_gpus <= WEFT_LOADS_AT_ONCE ||
	    weft_loads_jobs_build(1, &jobs, NULL) < 0)
		return false;
	if (weft_loads_jobs_add(&jobs, id, q->spec, account->where,
				account->n_gpus, NULL) == 0)
		w->working = weft_loads_worker_start(w->settings, &jobs, NULL);
	else
		weft_loads_jobs_free(&jobs);
	return w->working;
}

/* The job sends from now on. */
static void run_job(struct world *w, const struct question *q,
		    const struct weft_account *account)
{
	struct weft_load_parts parts = {0};
	uint32_t id = 1 + w->n_jobs++ % N_RUNNING;

	take_load(w);
	if (hand_over(w, id, q, account)) {
		weft_link_load_drop(&w->loads, id);
		return;
	}
	if (weft_bridge_running(w->bridge, q->spec, account->where,
				account->n_gpus, &parts, NULL) ||
	    weft_link_load_put(&w->loads, id, &parts, NULL)) {
		weft_load_parts_free(&parts);
		weft_link_load_drop(&w->loads, id);
	}
}

/* What the plugin does when a job has begun. */
static void begun(struct world *w, struct question *q, struct weft_placement *p,
		  const struct weft_baselines *baselines, double *since_s)
{
	const double start_s = weft_clock_s();
	const double left_s =
		weft_start_grant_s(w->budget_s, w->granted_s, start_s);
	struct weft_ranks ranks = {0};
	struct weft_account account = {
		.spec = q->spec,
		.planned = true,
		.bound = p->bound,
		.n_gpus = p->n_ranks,
		.where = p->where,
		.baselines = baselines,
		.compare_s = fmin(WEFT_COMPARE_S, left_s),
	};
	/* Every other job got other GPUs of its nodes than planned. */
	const struct weft_ranks_question ask = {
		.spec = q->spec,
		.n_gpus = p->n_ranks,
		.given = p->where,
		.n_planned = p->n_ranks,
		.planned = effort_below(&w->random, 2) ? p->where : NULL,
		.budget_s = fmin(left_s, WEFT_FIRST_PART * w->budget_s),
	};
	char text[WEFT_TEXT_SIZE];

	weft_deadline_set(weft_worked_s() + left_s);
	weft_ranks_settle(w->bridge, &ask, &ranks);
	free(weft_ranks_text(w->o.fabric, 1, &ranks));
	q->phase_s[RANKS] = lap(since_s);
	weft_bridge_tell(w->bridge, &account, text);
	q->compared = account.compared;
	q->phase_s[EXPLAIN] = lap(since_s);
	run_job(w, q, &account);
	q->phase_s[LOAD] = lap(since_s);
	weft_longs_charge(&weft_longs, w->budget_s, weft_clock_s() - start_s,
			  weft_clock_s());
	free(ranks.where);
}

static struct weft_request request_of(const struct world *w,
				      const struct question *q)
{
	return (struct weft_request){
		.spec = q->spec,
		.gpus_per_node = w->fabric->per_node,
		.min_nodes = q->n_nodes,
		.max_nodes = q->n_nodes,
		.want_nodes = q->n_nodes,
	};
}

static struct weft_shape shape_of(const struct world *w,
				  const struct question *q)
{
	uint32_t n = w->fabric->per_node;

	return (struct weft_shape){q->n_nodes * n, n, q->n_nodes, q->n_nodes};
}

/* Plans for the job, and finds where else it could have gone. */
static void plan(struct world *w, struct question *q, struct weft_placement *p,
		 struct weft_baselines *baselines, double *since_s)
{
	const struct weft_request request = request_of(w, q);
	const struct weft_shape shape = shape_of(w, q);
	struct weft_error err = {0};
	int rc = weft_bridge_place(w->bridge, &request, &shape, &w->o,
				   PLACE_SHARE * w->granted_s, p, &err);

	q->phase_s[PLACE] = lap(since_s);
	q->placed = rc == 0 && p->placed;
	q->no_time = err.code == WEFT_ELATE;
	if (q->placed && weft_gain_may(w->bridge))
		weft_gain_baselines(w->bridge, q->spec, &shape, &w->o,
				    baselines);
	q->phase_s[ELSEWHERE] = lap(since_s);
}

static void question_put(struct world *w, struct question *q)
{
	struct weft_baselines baselines = {0};
	struct weft_placement p = {0};
	struct weft_frame frame;
	double start_s = weft_clock_s(), since_s = start_s;
	int rc;

	w->granted_s = w->budget_s * weft_longs_part(&weft_longs, start_s);
	weft_deadline_set(weft_worked_s() + w->granted_s);
	rc = weft_frame_read(q->spec, &frame, NULL);
	q->phase_s[READ] = lap(&since_s);
	if (rc == 0)
		plan(w, q, &p, &baselines, &since_s);
	q->asked_s = since_s - start_s;
	if (q->placed)
		begun(w, q, &p, &baselines, &since_s);
	weft_deadline_set(0);
	weft_placement_free(&p);
	weft_baselines_free(&baselines);
	q->took_s = weft_clock_s() - start_s;
	if (w->granted_s >= w->budget_s)
		weft_longs_charge(&weft_longs, w->budget_s, q->asked_s,
				  weft_clock_s());
}

/* ---- what answers are worth ---- */

#define MORE 20 /* times the budget */

/* The value of an answer within budget_s; 0: none. */
static double value_within(struct world *w, const struct question *q,
			   double budget_s, struct weft_judge *judge)
{
	const struct weft_request request = request_of(w, q);
	const struct weft_shape shape = shape_of(w, q);
	struct weft_placement p = {0};
	struct weft_measure measure = {0};
	int rc;

	w->settings->budget_s = budget_s;
	weft_deadline_set(weft_worked_s() + budget_s);
	rc = weft_bridge_place(w->bridge, &request, &shape, &w->o,
			       PLACE_SHARE * budget_s, &p, NULL);
	weft_deadline_set(0);
	if (rc == 0 && p.placed)
		rc = weft_judge_measure(judge, p.where, &measure, NULL);
	weft_placement_free(&p);
	return rc == 0 ? measure.value : 0;
}

static void question_compare(struct world *w, struct question *q)
{
	struct weft_objective objective;
	struct weft_judge judge = {0};
	struct weft_frame frame;
	struct weft_job job = {0};
	double more;

	if (weft_frame_read(q->spec, &frame, NULL) == 0 &&
	    weft_bridge_build(w->settings, q->spec,
			      q->n_nodes * w->fabric->per_node, WEFT_ALL_PAIRS,
			      &job, NULL) == 0) {
		objective = weft_objective_of_spec(&job.spec);
		objective.load = w->bridge->load;
		if (weft_judge_build(w->o.fabric, &job, NULL, &objective,
				     &judge, NULL) == 0) {
			more = value_within(w, q, MORE * w->budget_s, &judge);
			q->ratio = value_within(w, q, w->budget_s, &judge);
			q->ratio = more > 0 ? q->ratio / more : 0;
		}
		weft_judge_free(&judge);
	}
	weft_job_free(&job);
}

static void print_ratios(const struct question *asked, uint32_t n)
{
	static const uint32_t most[] = {8, 64, 512, UINT32_MAX};
	uint32_t least = 0;

	printf("nodes      answers   mean  worst  above 1.01\n");
	for (size_t c = 0; c < sizeof(most) / sizeof(most[0]); c++) {
		uint32_t n_all = 0, n_worse = 0;
		double sum = 0, worst = 0;

		for (uint32_t i = 0; i < n; i++) {
			const struct question *q = &asked[i];

			if (q->n_nodes <= least || q->n_nodes > most[c] ||
			    !(q->ratio > 0))
				continue;
			n_all++;
			n_worse += q->ratio > 1.01;
			sum += q->ratio;
			worst = fmax(worst, q->ratio);
		}
		printf("> %-7u %8u  %.4f  %.3f  %u\n", least, n_all,
		       sum / n_all, worst, n_worse);
		least = most[c];
	}
}

/* ---- results ---- */

static int slower(const void *pa, const void *pb)
{
	double a = ((const struct question *)pa)->took_s;
	double b = ((const struct question *)pb)->took_s;

	return (a < b) - (a > b);
}

static void print_histogram(const struct question *asked, uint32_t n)
{
	uint32_t count[N_BUCKETS] = {0};

	for (uint32_t i = 0; i < n; i++) {
		double limit_s = WEFT_FIRST_BUCKET_S;
		uint32_t b = 0;

		while (b + 1 < N_BUCKETS && asked[i].took_s > limit_s) {
			limit_s *= 2;
			b++;
		}
		count[b]++;
	}
	for (uint32_t b = 0; b < N_BUCKETS; b++) {
		if (count[b])
			printf("up to %8.2f ms %7u\n",
			       ldexp(WEFT_FIRST_BUCKET_S, (int)b) * 1e3,
			       count[b]);
	}
}

static void print_worst(const struct question *asked)
{
	for (uint32_t i = 0; i < N_WORST; i++) {
		const struct question *q = &asked[i];

		printf("%8.2f ms, %u nodes, %s\n  ", q->took_s * 1e3,
		       q->n_nodes, q->spec);
		for (int p = 0; p < N_PHASES; p++)
			printf("%s %.2f ms%s", phase_names[p],
			       q->phase_s[p] * 1e3,
			       p + 1 < N_PHASES ? ", " : "\n");
	}
}

static int longer_asked(const void *pa, const void *pb)
{
	double a = ((const struct question *)pa)->asked_s;
	double b = ((const struct question *)pb)->asked_s;

	return (a < b) - (a > b);
}

static int print_results(const struct world *w, struct question *asked,
			 uint32_t n, bool json)
{
	double limit_s = w->budget_s + ALLOWANCE_S;
	double p99_s, most_s;
	uint32_t n_placed = 0, n_late = 0, n_none = 0, n_compared = 0;

	qsort(asked, n, sizeof(*asked), longer_asked);
	p99_s = asked[n / 100].asked_s;
	most_s = asked[0].asked_s;
	qsort(asked, n, sizeof(*asked), slower);
	for (uint32_t i = 0; i < n; i++) {
		n_placed += asked[i].placed;
		n_compared += asked[i].compared;
		n_none += asked[i].no_time;
		n_late += asked[i].took_s > limit_s;
	}
	if (!json) {
		print_histogram(asked, n);
		print_worst(asked);
	}
	printf("{\"bench\": \"specs\", \"gpus\": %u, \"decisions\": %u, "
	       "\"placed\": %u, \"compared\": %u, \"no_time\": %u, "
	       "\"budget_s\": %.4f, "
	       "\"p50_s\": %.6f, "
	       "\"p99_s\": %.6f, \"max_s\": %.6f, \"asked_p99_s\": %.6f, "
	       "\"asked_max_s\": %.6f, \"late\": %u}\n",
	       w->o.fabric->n_gpus, n, n_placed, n_compared, n_none,
	       w->budget_s, asked[n / 2].took_s, asked[n / 100].took_s,
	       asked[0].took_s, p99_s, most_s, n_late);
	return n_late ? 3 : 0;
}

/* Another state of the fabric: in turn empty and not, with and without the
 * load of the jobs placed last. */
static int state_make(struct world *w, uint32_t turn, struct weft_error *err)
{
	const struct weft_fabric *f = w->bridge->settings->fabric;

	weft_occupancy_free(&w->o);
	if (weft_occupancy_build(f, &w->o, err) < 0)
		return -1;
	make_busy(&w->o, &w->random, turn % 2 ? BUSY_PCT : 0);
	w->bridge->load = turn / 2 % 2 ? weft_link_load_total(&w->loads) : NULL;
	return 0;
}

static int run(struct world *w, uint32_t n, bool json, bool compare,
	       struct weft_error *err)
{
	struct question *asked = weft_calloc(n, sizeof(*asked), err);
	int rc = 0;

	if (!asked)
		return -1;
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		if (i % PER_STATE == 0)
			rc = state_make(w, i / PER_STATE, err);
		await_load(w);
		question_draw(w, &asked[i]);
		if (rc == 0 && compare)
			question_compare(w, &asked[i]);
		else if (rc == 0)
			question_put(w, &asked[i]);
	}
	if (rc == 0 && compare)
		print_ratios(asked, n);
	else if (rc == 0)
		rc = print_results(w, asked, n, json);
	free(asked);
	return rc;
}

int main(int argc, char **argv)
{
	bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
	bool compare = argc > 1 && strcmp(argv[1], "--compare") == 0;
	bool nvl72 = argc > 1 + (json || compare) &&
		     strcmp(argv[1 + (json || compare)], "--nvl72") == 0;
	int n_options = (json || compare) + nvl72;
	char **args = argv + n_options;
	uint32_t n = argc > 1 + n_options ? (uint32_t)atoi(args[1]) : 1000;
	struct weft_error err = {0};
	struct weft_settings settings = {0};
	struct world w = {.budget_s = 0.02,
			  .settings = &settings,
			  .fabric = &fabrics[nvl72]};
	const struct weft_synth_options options = {.profile =
							   w.fabric->profile};
	char *text = weft_synth(w.fabric->text, &options, &err), shown[512];
	int rc = -1;

	weft_clock_id = CLOCK_THREAD_CPUTIME_ID;
	if (argc > 2 + n_options)
		w.random.random = (uint64_t)atoll(args[2]);
	if (argc > 3 + n_options)
		w.budget_s = atof(args[3]) / 1e3;
	settings.budget_s = w.budget_s;
	w.bridge = weft_calloc(1, sizeof(*w.bridge), &err);
	if (text && w.bridge && n)
		settings.fabric = weft_fabric_parse(text, strlen(text),
						    w.fabric->text, &err);
	if (settings.fabric &&
	    weft_link_load_build(settings.fabric, &w.loads, &err) == 0) {
		w.bridge->settings = &settings;
		rc = run(&w, n, json, compare, &err);
		await_load(&w);
		weft_loads_jobs_free(&w.found);
		weft_bridge_clear(w.bridge);
	}
	if (rc < 0)
		fprintf(stderr, "bench: %s\n",
			weft_error_text(&err, shown, sizeof(shown)));
	weft_link_load_free(&w.loads);
	weft_occupancy_free(&w.o);
	weft_fabric_free(settings.fabric);
	free(w.bridge);
	free(text);
	return rc < 0 ? 1 : rc;
}
