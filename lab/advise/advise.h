/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advise.h - which layouts of a job fit, and which of them is the fastest */
#ifndef WEFT_LAB_ADVISE_ADVISE_H
#define WEFT_LAB_ADVISE_ADVISE_H

#include "costmodel/time/load.h"
#include "lab/advise/layouts.h"
#include "placement/capacity/occupancy.h"

struct advise_question {
	const struct layout_space *space;
	const struct weft_gpu *gpu;
	const struct weft_fabric *fabric;
	const struct weft_occupancy *free; /* NULL: all of the fabric, and the
					    * ranks in order */
	const struct weft_load *load;	   /* of other jobs; NULL: none */
	double budget_s;		   /* of the whole answer */
	uint32_t n_best;		   /* that are placed one by one */
};

struct advise_answer {
	struct layout *layouts; /* [n] that fit, the fastest first */
	uint32_t n, n_tried, n_too_large;
	bool complete; /* every layout was tried */
	char why[160]; /* no GPUs: what placement says */
};

/* Times every layout on the GPUs that placement would choose for the job, on
 * all cores; then places the best of them, each on what is free, and times them
 * there.  Returns 0 also when nothing fits, or no GPUs are free (why). */
int advise(const struct advise_question *question, struct advise_answer *answer,
	   struct weft_error *err);
void advise_free(struct advise_answer *answer);

#endif
