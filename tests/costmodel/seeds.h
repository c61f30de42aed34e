/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds.h - what the library answers to each figure that the seeds print */
#ifndef WEFT_TESTS_COSTMODEL_SEEDS_H
#define WEFT_TESTS_COSTMODEL_SEEDS_H

#include "costmodel/job/gpu.h"
#include "lab/calculators/fact.h"
#include "lab/calculators/gradsync.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define SEEDS_MAX 160
#define NONE	  ((double)NAN)

/* computed and right answer the table's columns of those names, in the row's
 * unit; NONE where the row is no number.  holds: whatever else it states. */
struct seed {
	const char *id;
	double computed, right;
	bool holds;
};

struct seeds {
	struct seed row[SEEDS_MAX];
	size_t n;
};

void seeds_add(struct seeds *seeds, const char *id, double computed,
	       double right, bool holds);

/* The rows of each seed, by its subject. */
void seeds_of_sync(struct seeds *seeds);
void seeds_of_pipeline(struct seeds *seeds);
void seeds_of_overlap(struct seeds *seeds);
void seeds_of_waits(struct seeds *seeds);
void seeds_of_scaling(struct seeds *seeds);

/* |a - b| within 1e-9 of the larger. */
bool seeds_same(double a, double b);

/* A sync that must be possible. */
struct weft_gradsync seeds_sync(double parameters, uint32_t n_gpus,
				double link_bytes_per_s,
				enum weft_convention convention);

/* A GPU, a fact that weft knows, and its value. */
const struct weft_gpu *seeds_gpu(const char *name);
const struct weft_fact *seeds_fact(const char *name);
double seeds_value(const char *name);

#endif
