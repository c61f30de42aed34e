/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advise.h - which layouts of a job fit, and which of them is the fastest */
#ifndef WEFT_LAB_ADVISE_ADVISE_H
#define WEFT_LAB_ADVISE_ADVISE_H

#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"
#include "costmodel/time/load.h"
#include "placement/capacity/occupancy.h"

/* What the layouts are of.  `fixed` has the keys that are given: they are not
 * searched. */
struct layout_space {
	struct weft_spec fixed;
	const char *text; /* its text */
	const char *name; /* the model's, as it is written in a spec */
	struct weft_model model;
	uint32_t gpus, inside; /* of the job, of an NVLink domain */
	uint32_t seq, gbs;
};

struct layout {
	uint32_t tp, cp, pp, ep, zero, mbs, vpp;
	bool recompute; /* whole layers, since less does not fit */
	bool known;	/* predicted, and it fits */
	bool too_large;
	double step_s, low_s, high_s, memory_bytes;
};

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

/* ---- layouts.c ---- */

/* Appends every layout that the axes' sizes allow: tensor ranks inside an
 * NVLink domain, sequences split from 16k tokens on, as many micro-batches as
 * an interleaved pipeline needs.  malloc'ed; -1 with err. */
int layouts_list(const struct layout_space *space, struct layout **layouts,
		 uint32_t *n, struct weft_error *err);

/* The spec to paste: the given keys, then those of the layout that are not the
 * default. */
void layout_spec(const struct layout_space *space, const struct layout *layout,
		 char *text, size_t size);

#endif
