/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_cases.h - random fabrics, jobs and placements, and what flowsim makes
 * of them
 *
 * Private to tests/bench/simgrid*.c.
 */
#ifndef WEFT_TESTS_BENCH_SIMGRID_CASES_H
#define WEFT_TESTS_BENCH_SIMGRID_CASES_H

#include "base/append.h"
#include "costmodel/traffic/schedule.h"
#include "placement/job.h"
#include "placement/mapping/effort.h"

#include <jansson.h>

#define N_PLACEMENTS 4
extern const char *const placement_names[N_PLACEMENTS];

struct kind {
	const char *name, *profile;
	uint32_t gpus, rails; /* of a node */
	bool pxn;
	uint32_t nvlink; /* GPUs of each of a node's domains; 0: all */
	uint32_t span;	 /* nodes of an NVLink domain; 0: one */
};
#define N_KINDS 12
extern const struct kind kinds[N_KINDS];

/* A fabric, and a job on it. */
struct scene {
	const char *flowsim; /* the program */
	const char *folder;  /* for its files */
	struct effort e;
	struct weft_fabric *f;
	struct weft_job job;
	struct weft_schedule schedule;
	uint32_t *where;
	char spec[256], fabric_spec[128];
	struct weft_error err;
};
void scene_clear(struct scene *s);

/* A random number below n. */
uint32_t below(struct scene *s, uint32_t n);
#define PICK(S, ...)                                                           \
	((const uint32_t[]){__VA_ARGS__})[below(                               \
		(S),                                                           \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))]

/* A fabric of at most `most` GPUs; of 4,096 if that is more than 512. */
int fabric_make(struct scene *s, const struct kind *kind, uint32_t most);
/* Reads s->spec; err: why not. */
int job_build(struct scene *s, struct weft_error *err);
/* A job that fills so many nodes. */
int job_make(struct scene *s, uint32_t n_nodes, uint32_t most);
void shuffle(struct scene *s, uint32_t *list, uint32_t n);
/* Fills s->where with placement number `how` on so many nodes. */
int place(struct scene *s, uint32_t how, uint32_t n_nodes);

/* platform.xml, and callsN.csv of the job at hand, into the folder. */
int platform_write(struct scene *s);
int calls_write(struct scene *s, uint32_t number);
/* The JSON of flowsim, run in the folder; NULL with err. */
json_t *simulate(struct scene *s, const char *arguments);
/* Seconds of an axis in it; 0: it has none. */
double axis_time(const json_t *answer, const char *axis);

#endif
