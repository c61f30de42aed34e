/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_hashed.c - flows that each take one of several uplinks
 *
 * Leafs of as many uplinks as NICs, so that only the hash can make them too
 * few.
 */
#include "tests/bench/simgrid_hashed.h"

#include "costmodel/time/step.h"
#include "topology/synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Draws: as many as it takes until the mean has this standard error. */
#define MIN_DRAWS      20
#define MAX_DRAWS      500
#define STANDARD_ERROR 0.015

static const struct pattern {
	const char *what, *fabric, *job;
	uint32_t paths; /* GPUs of a leaf */
	uint32_t how;	/* number of the placement */
} patterns[] = {
	{"ring, sorted", "pod:1 leaf:8 node:1 gpu:2", "gpus=16,tp=1", 2, 0},
	{"ring, sorted", "pod:1 leaf:8 node:4 gpu:2", "gpus=64,tp=1", 8, 0},
	{"ring, sorted", "pod:1 leaf:8 node:8 gpu:4", "gpus=256,tp=1", 32, 0},
	{"ring, alternating", "pod:1 leaf:4 node:4 gpu:1", "gpus=16,tp=1", 4,
	 1},
	{"ring, alternating", "pod:1 leaf:4 node:4 gpu:4", "gpus=64,tp=1", 16,
	 1},
	{"ring, alternating", "pod:1 leaf:8 node:4 gpu:8", "gpus=256,tp=1", 32,
	 1},
	{"rings of 8, alternating", "pod:1 leaf:4 node:4 gpu:8",
	 "gpus=128,tp=8", 32, 1},
	{"all-to-all of 16", "pod:1 leaf:4 node:4 gpu:1",
	 "gpus=16,ep=16,model=deepseek-v3", 4, 0},
	{"all-to-all of 16", "pod:1 leaf:4 node:4 gpu:4",
	 "gpus=64,ep=16,model=deepseek-v3", 16, 2},
	{"all-to-all of 32", "pod:1 leaf:4 node:4 gpu:8",
	 "gpus=128,ep=32,model=deepseek-v3", 32, 2},
};
#define N_PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static int pattern_make(struct scene *s, const struct pattern *p)
{
	const struct weft_synth_options options = {.name = "hashed"};
	char *text = weft_synth(p->fabric, &options, &s->err), whole[8192];

	if (!text)
		return -1;
	snprintf(whole, sizeof(whole),
		 "%srouting: ecmp\nlinks:\n  nvlink: {latency: 1ns}\n"
		 "  leaf: {latency: 1ns}\n  pod: {latency: 1ns}\n",
		 text);
	free(text);
	s->f = weft_fabric_parse(whole, strlen(whole), p->fabric, &s->err);
	if (!s->f)
		return -1;
	s->spec[0] = '\0';
	weft_append(s->spec, sizeof(s->spec), "%s,zero=1,algorithm=ring%s",
		    p->job, strstr(p->job, "model") ? "" : ",model=llama3-8B");
	s->where = weft_calloc(s->f->n_gpus, sizeof(*s->where), &s->err);
	if (!s->where || job_build(s, &s->err))
		return -1;
	return place(s, p->how, s->f->n_nodes);
}

static int draw(struct scene *s, enum weft_axis axis, uint32_t paths,
		uint32_t seed, double *time_s)
{
	const char *name = weft_axis_names[axis];
	char arguments[128];
	json_t *answer;

	snprintf(arguments, sizeof(arguments),
		 "--axis %s --paths %u --seed %u platform.xml calls0.csv", name,
		 paths, seed);
	answer = simulate(s, arguments);
	if (!answer)
		return -1;
	*time_s = axis_time(answer, name);
	json_decref(answer);
	return 0;
}

/* Mean seconds of the axis over some draws; one for a single path. */
static int draws(struct scene *s, enum weft_axis axis, uint32_t paths,
		 double *mean_s, uint32_t *n)
{
	uint32_t most = paths > 1 ? MAX_DRAWS : 1;
	double sum = 0, squares = 0, time_s, error;

	for (*n = 0; *n < most;) {
		if (draw(s, axis, paths, ++*n, &time_s))
			return -1;
		sum += time_s;
		squares += time_s * time_s;
		*mean_s = sum / *n;
		error = sqrt(fmax(0, squares / *n - *mean_s * *mean_s) / *n);
		if (*n >= MIN_DRAWS && error <= STANDARD_ERROR * *mean_s)
			break;
	}
	return 0;
}

static int pattern_run(struct scene *s, const struct pattern *p, uint32_t *n,
		       uint32_t *n_close)
{
	enum weft_axis axis =
		strstr(p->job, "ep=") ? WEFT_AXIS_EP : WEFT_AXIS_DP;
	struct weft_step_job job = {.fabric = s->f,
				    .spec = &s->job.spec,
				    .model = &s->job.model,
				    .where = s->where,
				    .schedule = &s->schedule};
	struct weft_step step = {0};
	double one_s, many_s, loss, simulated;
	uint32_t n_draws;

	if (weft_step_communication(&job, &step, &s->err) ||
	    platform_write(s) || calls_write(s, 0) ||
	    draws(s, axis, 1, &one_s, &n_draws) ||
	    draws(s, axis, p->paths, &many_s, &n_draws))
		return -1;
	loss = 1 + step.loss_s[axis] / step.communication_s[axis];
	simulated = many_s / one_s;
	printf("%-24s %3u paths, %3u GPUs: %.2f times as long, simulated "
	       "%.2f (%u draws)\n",
	       p->what, p->paths, s->job.n_gpus, loss, simulated, n_draws);
	fflush(stdout);
	++*n;
	*n_close += fabs(loss / simulated - 1) <= 0.05;
	return 0;
}

int hashed_run(struct scene *s)
{
	uint32_t n = 0, n_close = 0;
	int rc = 0;

	puts("\nhashed routes");
	for (size_t i = 0; i < N_PATTERNS && rc == 0; i++) {
		rc = pattern_make(s, &patterns[i]) ||
		     pattern_run(s, &patterns[i], &n, &n_close);
		scene_clear(s);
	}
	printf("%u of %u within 5 %%\n", n_close, n);
	return rc ? -1 : 0;
}
