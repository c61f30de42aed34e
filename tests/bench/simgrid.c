/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid.c - predicted communication times against flows on SimGrid
 *
 * Random jobs on random fabrics, each with four placements.  The fabric and the
 * calls go to flowsim in the form of weft export --to simgrid; what it measures
 * for each axis is compared with weft_step_communication.  Latencies are next
 * to nothing in all fabrics: flows have none.
 *
 *	simgrid FLOWSIM [--jobs N] [--seed N] [--large N] [--shared N]
 *		[--hashed] [--alike] [--verbose]
 *
 * --jobs: of up to 512 GPUs (125); --large: of 4,096 (2); --shared: pairs and
 * triples of jobs on the same links (30); --hashed: also flows that each take
 * one of several uplinks at random; --alike: predict as if flows over a link
 * were alike, as searches do.  --verbose: a line for each axis' time.
 */
#include "cli/job_calls.h"
#include "costmodel/step.h"
#include "placement/job.h"
#include "placement/mapping/effort.h"
#include "topology/export/export.h"
#include "topology/synth.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_PLACEMENTS 4
#define MAX_SHARED   3

static const struct kind {
	const char *name, *profile;
	uint32_t gpus, rails; /* of a node */
	bool pxn;
	uint32_t nvlink; /* GPUs of each of a node's domains; 0: all */
	uint32_t span;	 /* nodes of an NVLink domain; 0: one */
} kinds[] = {
	{"tapered", "dgx-h100-superpod", 8, 0, true, 0, 0},
	{"small NICs", "aws-p4d", 8, 0, true, 0, 0},
	{"rails", "dgx-h100-superpod", 8, 8, true, 0, 0},
	{"rails, two GPUs each", "selene-a100", 8, 4, true, 0, 0},
	{"rails without pxn", "dgx-h100-superpod", 8, 8, false, 0, 0},
	{"six GPUs a node", "dgx-b200", 6, 6, true, 0, 0},
	{"six GPUs, three rails, no pxn", "dgx-h100-superpod", 6, 3, false, 0,
	 0},
	{"NVL72", "gb200-nvl72", 4, 0, true, 0, 18},
	{"NVLink over four nodes", "gb200-nvl72", 4, 4, true, 0, 4},
	{"bridged pairs", "pcie4-100g-tcp", 8, 0, true, 2, 0},
	{"two NVLink domains, rails", "selene-a100", 8, 8, true, 4, 0},
	{"uneven", "roce-llama3", 8, 0, true, 0, 0},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *const placement_names[N_PLACEMENTS] = {
	"sorted", "alternating", "nodes shuffled", "ranks shuffled"};

struct options {
	const char *flowsim;
	uint32_t jobs, large, shared;
	uint64_t seed;
	bool hashed, alike, verbose;
};

/* Of axis times. */
struct tally {
	uint32_t n, close, far; /* within 5 %; off by more than 15 % */
	double least, most;	/* predicted over simulated */
};

struct bench {
	const struct options *options;
	struct effort e;
	char folder[64];
	struct weft_fabric *f;
	struct weft_job job;
	struct weft_schedule schedule;
	uint32_t *where;
	char spec[256], fabric_spec[128];
	/* results */
	struct tally of_kind[N_KINDS], of_axis[WEFT_N_AXES], all;
	struct tally of_placement[N_PLACEMENTS];
	uint32_t n_pairs, n_right, n_cases;
	struct weft_error err;
};

static void tally_add(struct tally *t, double ratio)
{
	if (t->n == 0 || ratio < t->least)
		t->least = ratio;
	if (t->n == 0 || ratio > t->most)
		t->most = ratio;
	t->n++;
	t->close += fabs(ratio - 1) <= 0.05;
	t->far += fabs(ratio - 1) > 0.15;
}

static void tally_print(const char *name, const struct tally *t)
{
	if (t->n)
		printf("%-30s %5u %6.1f %% %6u   %.3f to %.3f\n", name, t->n,
		       100.0 * t->close / t->n, t->far, t->least, t->most);
}

static uint32_t below(struct bench *b, uint32_t n)
{
	return effort_below(&b->e, n);
}

#define PICK(B, ...)                                                           \
	((const uint32_t[]){__VA_ARGS__})[below(                               \
		(B),                                                           \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))]

static void add(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, size - used, format, list);
	va_end(list);
}

/* ---- fabrics ---- */

/* What synth does not write: latencies of nothing, tapers, NVLink inside. */
static void links_add(struct bench *b, const struct kind *kind, uint32_t pods,
		      char *text, size_t size)
{
	if (!kind->pxn)
		add(text, size, "pxn: no\n");
	if (kind->nvlink)
		add(text, size, "nvlink: %u\n", kind->nvlink);
	add(text, size, "links:\n  nvlink: {latency: 1ns}\n");
	if (kind->nvlink)
		add(text, size, "  node: {latency: 1ns}\n");
	add(text, size, "  leaf: {latency: 1ns}\n");
	add(text, size, "  pod: {latency: 1ns, oversubscription: %u}\n",
	    PICK(b, 1, 1, 2, 4, 7));
	if (pods > 1)
		add(text, size,
		    "  core: {latency: 1ns, oversubscription: %u}\n",
		    PICK(b, 1, 2, 4, 7));
}

/* Some leafs that lost cables. */
static void uneven_add(struct bench *b, uint32_t n_leafs, char *text,
		       size_t size)
{
	int width = snprintf(NULL, 0, "%u", n_leafs);

	add(text, size, "uplinks:\n");
	for (uint32_t i = 0; i < n_leafs; i++)
		if (below(b, 3) == 0)
			add(text, size, "  leaf%0*u: %uGB/s\n", width, i,
			    50 * (1 + below(b, 12)));
	add(text, size, "  leaf%0*u: 75GB/s\n", width, n_leafs);
}

static int fabric_make(struct bench *b, const struct kind *kind, uint32_t most)
{
	const struct weft_synth_options options = {
		.profile = kind->profile,
		.rails = kind->rails,
		.name = "bench",
	};
	uint32_t pods = PICK(b, 1, 2, 2, 4), leafs = PICK(b, 1, 2, 4, 4), nodes;
	char *text, *whole;
	size_t size;

	b->fabric_spec[0] = '\0';
	do {
		nodes = PICK(b, 1, 2, 4, 8, 16, 3, 6);
		nodes = kind->span ? kind->span * PICK(b, 1, 1, 2) : nodes;
		if (most > 512)
			nodes = kind->span ? kind->span * 2 : 16;
		if (pods * leafs * nodes * kind->gpus <= most)
			break;
		leafs = leafs > 1 ? leafs / 2 : leafs;
		pods = leafs == 1 && pods > 1 ? pods / 2 : pods;
	} while (true);
	if (most > 512) {
		pods = 4;
		leafs = most / pods / nodes / kind->gpus;
	}
	add(b->fabric_spec, sizeof(b->fabric_spec), "pod:%u leaf:%u ", pods,
	    leafs);
	if (kind->span)
		add(b->fabric_spec, sizeof(b->fabric_spec), "nvlink:%u ",
		    nodes / kind->span);
	add(b->fabric_spec, sizeof(b->fabric_spec), "node:%u gpu:%u",
	    kind->span ? kind->span : nodes, kind->gpus);
	text = weft_synth(b->fabric_spec, &options, &b->err);
	if (!text)
		return -1;
	size = strlen(text) + 4096;
	whole = calloc(size, 1);
	if (!whole) {
		free(text);
		return weft_fail(&b->err, WEFT_ENOMEM, "out of memory");
	}
	add(whole, size, "%s", text);
	links_add(b, kind, pods, whole, size);
	if (strcmp(kind->name, "uneven") == 0 && pods * leafs > 1)
		uneven_add(b, pods * leafs - 1, whole, size);
	b->f = weft_fabric_parse(whole, strlen(whole), b->fabric_spec, &b->err);
	free(text);
	free(whole);
	return b->f ? 0 : -1;
}

/* ---- jobs ---- */

static void order_add(struct bench *b, char *text, size_t size)
{
	const char *axes[] = {"tp", "cp", "ep", "dp", "pp"};
	char sep = below(b, 3) ? '-' : '/';

	add(text, size, ",order=");
	for (uint32_t n = 5; n > 0; n--) {
		uint32_t k = below(b, n);

		add(text, size, "%s", axes[k]);
		if (n > 1)
			add(text, size, "%c", sep);
		axes[k] = axes[n - 1];
	}
}

/* A layout that may not be possible. */
static void spec_draw(struct bench *b, uint32_t nodes, uint32_t most)
{
	uint32_t per_node = b->f->nodes[0].n_gpus, gpus = nodes * per_node;
	bool experts = below(b, 3) == 0;
	uint32_t tp =
		per_node % 3 ? PICK(b, 1, 1, 2, 4, 8) : PICK(b, 1, 2, 3, 6);
	uint32_t pp = PICK(b, 1, 1, 2, 4, 8),
		 vpp = pp > 1 ? PICK(b, 1, 1, 2) : 1;
	uint32_t cp = experts ? 1 : PICK(b, 1, 1, 1, 2, 4);
	size_t size = sizeof(b->spec);

	b->spec[0] = '\0';
	add(b->spec, size, "gpus=%u,tp=%u,pp=%u,cp=%u", gpus, tp, pp, cp);
	if (vpp > 1)
		add(b->spec, size, ",vpp=%u", vpp);
	if (experts) {
		add(b->spec, size, ",model=deepseek-v3,ep=%u",
		    most > 512 ? 8 : PICK(b, 4, 8, 8, 16, 32));
		if (below(b, 3) == 0)
			add(b->spec, size, ",etp=%u", PICK(b, 1, 2));
	} else {
		add(b->spec, size, ",model=%s",
		    below(b, 2) ? "llama3-70B" : "gpt-18.4B");
	}
	add(b->spec, size, ",algorithm=ring,zero=%u", PICK(b, 0, 1, 1, 2, 3));
	if (cp > 1)
		add(b->spec, size, ",cp_comm=%s",
		    (const char *const[]){"p2p", "allgather",
					  "a2a"}[below(b, 3)]);
	if (below(b, 2))
		order_add(b, b->spec, size);
}

static int job_make(struct bench *b, uint32_t nodes, uint32_t most)
{
	for (int tries = 0; tries < 1000; tries++) {
		struct weft_error err = {0};

		spec_draw(b, nodes, most);
		if (weft_job_build(b->spec, 0, false, b->f, &b->job, &err) ==
			    0 &&
		    weft_schedule_build(&b->job.spec, &b->job.model,
					&b->schedule, &err) == 0)
			return 0;
		if (tries == 999)
			fprintf(stderr, "%s: %s\n", b->spec, err.text);
		weft_schedule_free(&b->schedule);
		weft_job_free(&b->job);
	}
	return weft_fail(&b->err, WEFT_EINVAL, "no job fits %u nodes", nodes);
}

static void shuffle(struct bench *b, uint32_t *list, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = below(b, i), kept = list[i - 1];

		list[i - 1] = list[k];
		list[k] = kept;
	}
}

static int compare_index(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* The nodes in turn from each part of the list. */
static void alternate(uint32_t *nodes, uint32_t n, uint32_t parts,
		      uint32_t *scratch)
{
	uint32_t each = (n + parts - 1) / parts, k = 0;

	for (uint32_t i = 0; i < each; i++)
		for (uint32_t p = 0; p < parts; p++)
			if (p * each + i < n)
				scratch[k++] = nodes[p * each + i];
	memcpy(nodes, scratch, n * sizeof(*nodes));
}

/* Placement number `how` of the job on n_nodes nodes. */
static int place(struct bench *b, uint32_t how, uint32_t n_nodes)
{
	const struct weft_fabric *f = b->f;
	uint32_t *nodes =
		weft_calloc(2 * (size_t)f->n_nodes, sizeof(*nodes), &b->err);
	uint32_t k = 0, first = below(b, f->n_nodes - n_nodes + 1);

	if (!nodes)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		nodes[i] = i;
	if (how == 0)
		memmove(nodes, nodes + first, n_nodes * sizeof(*nodes));
	else
		shuffle(b, nodes, f->n_nodes);
	if (how == 1) {
		qsort(nodes, n_nodes, sizeof(*nodes), compare_index);
		alternate(nodes, n_nodes, PICK(b, 2, 4), nodes + f->n_nodes);
	}
	for (uint32_t i = 0; i < n_nodes; i++)
		for (uint32_t g = 0; g < f->nodes[nodes[i]].n_gpus; g++)
			if (k < b->job.n_gpus)
				b->where[k++] =
					f->nodes[nodes[i]].first_gpu + g;
	if (how == 3)
		shuffle(b, b->where, b->job.n_gpus);
	free(nodes);
	return 0;
}

/* ---- both sides ---- */

static int platform_write(struct bench *b)
{
	const struct weft_exporter *exporter =
		weft_exporter_find("simgrid", &b->err);
	struct weft_findings findings = {0};
	char path[128], *text = NULL;
	FILE *out;
	int rc = -1;

	snprintf(path, sizeof(path), "%s/platform.xml", b->folder);
	text = weft_export(b->f, exporter, NULL, &findings, &b->err);
	out = text ? fopen(path, "w") : NULL;
	if (out && fputs(text, out) >= 0 && fclose(out) == 0)
		rc = 0;
	else if (text)
		weft_fail(&b->err, WEFT_EIO, "cannot write %s", path);
	weft_findings_free(&findings);
	free(text);
	return rc;
}

static int calls_write(struct bench *b, const struct weft_schedule *schedule,
		       const uint32_t *where, uint32_t number)
{
	const struct job_calls calls = {b->f, schedule, where};
	char path[128];
	FILE *out;
	int rc;

	snprintf(path, sizeof(path), "%s/calls%u.csv", b->folder, number);
	out = fopen(path, "w");
	if (!out)
		return weft_fail(&b->err, WEFT_EIO, "cannot write %s", path);
	rc = job_calls_write(&calls, out, &b->err);
	if (fclose(out) && rc == 0)
		rc = weft_fail(&b->err, WEFT_EIO, "cannot write %s", path);
	return rc;
}

/* The JSON of flowsim; NULL with err. */
static json_t *simulate(struct bench *b, const char *arguments)
{
	char command[1024];
	json_error_t why;
	json_t *answer;
	FILE *in;

	snprintf(command, sizeof(command), "cd %s && '%s' %s", b->folder,
		 b->options->flowsim, arguments);
	in = popen(command, "r");
	answer = in ? json_loadf(in, 0, &why) : NULL;
	if (!in || pclose(in) != 0 || !answer) {
		weft_fail(&b->err, WEFT_EIO, "flowsim failed: %s", command);
		json_decref(answer);
		return NULL;
	}
	return answer;
}

static double axis_time(const json_t *answer, const char *axis)
{
	return json_number_value(json_object_get(
		json_object_get(json_object_get(answer, "axes"), axis),
		"time_s"));
}

static int predict(struct bench *b, struct weft_step *step)
{
	const struct weft_step_job job = {
		.fabric = b->f,
		.spec = &b->job.spec,
		.model = &b->job.model,
		.where = b->where,
		.schedule = &b->schedule,
		.exact_sharing = !b->options->alike,
	};

	memset(step, 0, sizeof(*step));
	return weft_step_communication(&job, step, &b->err);
}

/* One placement.  sum: of all axes, simulated and predicted. */
static int compare(struct bench *b, const struct kind *kind, uint32_t how,
		   double sum[2])
{
	struct weft_step step;
	json_t *answer = NULL;

	if (predict(b, &step) || calls_write(b, &b->schedule, b->where, 0))
		return -1;
	answer = simulate(b, "platform.xml calls0.csv");
	if (!answer)
		return -1;
	sum[0] = sum[1] = 0;
	for (uint32_t a = 0; a < WEFT_N_AXES; a++) {
		double simulated = axis_time(answer, weft_axis_names[a]);
		double predicted = step.communication_s[a], ratio;

		sum[0] += simulated;
		sum[1] += predicted;
		if (!(simulated > 0) && !(predicted > 0))
			continue;
		ratio = simulated > 0 ? predicted / simulated
				      : (double)INFINITY;
		tally_add(&b->of_kind[kind - kinds], ratio);
		tally_add(&b->of_axis[a], ratio);
		tally_add(&b->of_placement[how], ratio);
		tally_add(&b->all, ratio);
		if (b->options->verbose || fabs(ratio - 1) > 0.05)
			printf("%s, %s, %s, %s: %s %.6g s, simulated %.6g s, "
			       "%.3f\n",
			       kind->name, b->fabric_spec, b->spec,
			       placement_names[how], weft_axis_names[a],
			       predicted, simulated, ratio);
	}
	b->n_cases++;
	fflush(stdout);
	json_decref(answer);
	return 0;
}

static void pairs_count(struct bench *b, double sum[N_PLACEMENTS][2])
{
	for (uint32_t i = 0; i < N_PLACEMENTS; i++) {
		for (uint32_t k = i + 1; k < N_PLACEMENTS; k++) {
			double s = sum[i][0] / sum[k][0];
			double p = sum[i][1] / sum[k][1];

			if (fabs(s - 1) < 0.01)
				continue;
			b->n_pairs++;
			b->n_right += (s > 1) == (p > 1);
		}
	}
}

static void bench_clear(struct bench *b)
{
	weft_schedule_free(&b->schedule);
	weft_job_free(&b->job);
	weft_fabric_free(b->f);
	free(b->where);
	b->f = NULL;
	b->where = NULL;
}

static int random_job(struct bench *b, const struct kind *kind, uint32_t most)
{
	double sum[N_PLACEMENTS][2];
	uint32_t n_nodes, rc = 0;

	if (fabric_make(b, kind, most) || platform_write(b))
		return -1;
	do {
		n_nodes = 1u << below(b, 10);
	} while (n_nodes > b->f->n_nodes ||
		 (n_nodes == 1 && b->f->n_nodes > 1));
	if (most > 512)
		n_nodes = b->f->n_nodes;
	b->where = weft_calloc((size_t)n_nodes * b->f->nodes[0].n_gpus,
			       sizeof(*b->where), &b->err);
	if (!b->where || job_make(b, n_nodes, most))
		return -1;
	for (uint32_t how = 0; how < N_PLACEMENTS && rc == 0; how++)
		rc = place(b, how, n_nodes) || compare(b, kind, how, sum[how]);
	if (rc)
		return -1;
	pairs_count(b, sum);
	bench_clear(b);
	return 0;
}

static void summary_print(const struct bench *b)
{
	printf("\n%-30s %5s %8s %6s   %s\n", "axis times of", "n", "in 5 %",
	       "> 15 %", "predicted / simulated");
	for (uint32_t k = 0; k < N_KINDS; k++)
		tally_print(kinds[k].name, &b->of_kind[k]);
	for (uint32_t a = 0; a < WEFT_N_AXES; a++)
		tally_print(weft_axis_names[a], &b->of_axis[a]);
	for (uint32_t p = 0; p < N_PLACEMENTS; p++)
		tally_print(placement_names[p], &b->of_placement[p]);
	tally_print("all", &b->all);
	printf("%u cases; %u of %u pairs of placements in the right order, "
	       "%.1f %%\n",
	       b->n_cases, b->n_right, b->n_pairs,
	       100.0 * b->n_right / (b->n_pairs ? b->n_pairs : 1));
}

static int options_read(int argc, char **argv, struct options *o)
{
	*o = (struct options){.jobs = 125, .large = 2, .shared = 30, .seed = 1};
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--hashed") == 0)
			o->hashed = true;
		else if (strcmp(argv[i], "--verbose") == 0)
			o->verbose = true;
		else if (strcmp(argv[i], "--alike") == 0)
			o->alike = true;
		else if (strcmp(argv[i], "--jobs") == 0 && ++i)
			o->jobs = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--large") == 0 && ++i)
			o->large = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--shared") == 0 && ++i)
			o->shared = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0 && ++i)
			o->seed = strtoull(value, NULL, 10);
		else if (!o->flowsim && argv[i][0] != '-')
			o->flowsim = argv[i];
		else
			return -1;
	}
	return o->flowsim ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct options options;
	struct bench b = {.options = &options,
			  .folder = "/tmp/weft-simgrid-XXXXXX"};
	char command[128];
	int rc = 0;

	if (options_read(argc, argv, &options)) {
		fputs("simgrid FLOWSIM [--jobs N] [--large N] [--shared N] "
		      "[--seed N] [--hashed] [--alike] [--verbose]\n",
		      stderr);
		return 2;
	}
	if (!mkdtemp(b.folder)) {
		perror(b.folder);
		return 1;
	}
	for (uint32_t i = 0; i < options.jobs && rc == 0; i++) {
		b.e.random = options.seed + i;
		rc = random_job(&b, &kinds[i % N_KINDS], 512);
	}
	for (uint32_t i = 0; i < options.large && rc == 0; i++) {
		b.e.random = options.seed + i;
		rc = random_job(&b, &kinds[2 * i % 4], 4096);
	}
	if (rc == 0)
		summary_print(&b);
	else
		fprintf(stderr, "%s, %s: %s\n", b.fabric_spec, b.spec,
			b.err.text);
	bench_clear(&b);
	snprintf(command, sizeof(command), "rm -rf %s", b.folder);
	return system(command) || rc ? 1 : 0;
}
