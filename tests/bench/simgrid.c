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
#include "costmodel/time/step.h"
#include "tests/bench/simgrid_cases.h"
#include "tests/bench/simgrid_hashed.h"
#include "tests/bench/simgrid_shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	struct scene scene;
	struct tally of_kind[N_KINDS], of_axis[WEFT_N_AXES], all;
	struct tally of_placement[N_PLACEMENTS];
	uint32_t n_pairs, n_right, n_cases;
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

static int predict(struct bench *b, struct weft_step *step)
{
	const struct weft_step_job job = {
		.fabric = b->scene.f,
		.spec = &b->scene.job.spec,
		.model = &b->scene.job.model,
		.where = b->scene.where,
		.schedule = &b->scene.schedule,
		.exact_sharing = !b->options->alike,
	};

	memset(step, 0, sizeof(*step));
	return weft_step_communication(&job, step, &b->scene.err);
}

/* One placement.  sum: of all axes, simulated and predicted. */
static int compare(struct bench *b, const struct kind *kind, uint32_t how,
		   double sum[2])
{
	struct weft_step step;
	json_t *answer = NULL;

	if (predict(b, &step) || calls_write(&b->scene, 0))
		return -1;
	answer = simulate(&b->scene, "platform.xml calls0.csv");
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
			       kind->name, b->scene.fabric_spec, b->scene.spec,
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

static int random_job(struct bench *b, const struct kind *kind, uint32_t most)
{
	double sum[N_PLACEMENTS][2];
	uint32_t n_nodes, rc = 0;

	if (fabric_make(&b->scene, kind, most) || platform_write(&b->scene))
		return -1;
	do {
		n_nodes = 1u << below(&b->scene, 10);
	} while (n_nodes > b->scene.f->n_nodes ||
		 (n_nodes == 1 && b->scene.f->n_nodes > 1));
	if (most > 512)
		n_nodes = b->scene.f->n_nodes;
	b->scene.where =
		weft_calloc((size_t)n_nodes * b->scene.f->nodes[0].n_gpus,
			    sizeof(*b->scene.where), &b->scene.err);
	if (!b->scene.where || job_make(&b->scene, n_nodes, most))
		return -1;
	for (uint32_t how = 0; how < N_PLACEMENTS && rc == 0; how++)
		rc = place(&b->scene, how, n_nodes) ||
		     compare(b, kind, how, sum[how]);
	if (rc)
		return -1;
	pairs_count(b, sum);
	scene_clear(&b->scene);
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
	char folder[] = "/tmp/weft-simgrid-XXXXXX";
	struct bench b = {.options = &options, .scene.folder = folder};
	char command[128];
	int rc = 0;

	if (options_read(argc, argv, &options)) {
		fputs("simgrid FLOWSIM [--jobs N] [--large N] [--shared N] "
		      "[--seed N] [--hashed] [--alike] [--verbose]\n",
		      stderr);
		return 2;
	}
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	b.scene.flowsim = options.flowsim;
	for (uint32_t i = 0; i < options.jobs && rc == 0; i++) {
		b.scene.e.random = options.seed + i;
		rc = random_job(&b, &kinds[i % N_KINDS], 512);
	}
	for (uint32_t i = 0; i < options.large && rc == 0; i++) {
		b.scene.e.random = options.seed + i;
		rc = random_job(&b, &kinds[2 * i % 4], 4096);
	}
	if (rc == 0)
		summary_print(&b);
	b.scene.e.random = options.seed;
	if (rc == 0 && options.shared)
		rc = shared_run(&b.scene, options.shared, options.verbose);
	if (rc == 0 && options.hashed)
		rc = hashed_run(&b.scene);
	if (rc)
		fprintf(stderr, "%s, %s: %s\n", b.scene.fabric_spec,
			b.scene.spec, b.scene.err.text);
	scene_clear(&b.scene);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || rc ? 1 : 0;
}
