/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layouts.h - all ways to lay a model out on so many GPUs */
#ifndef WEFT_LAB_ADVISE_LAYOUTS_H
#define WEFT_LAB_ADVISE_LAYOUTS_H

#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"

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
