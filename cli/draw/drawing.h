/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing.h - what weft draw shows: fabric, occupancy, a job and its traffic,
 * gathered into the plain arrays of a scene
 */
#ifndef WEFT_CLI_DRAW_DRAWING_H
#define WEFT_CLI_DRAW_DRAWING_H

#include "base/arena.h"
#include "cli/plan/request.h"
#include "placement/objective/evaluation.h"
#include "placement/placement.h"
#include "topology/draw/scene.h"

#include <jansson.h>

struct drawing {
	/* options; those of the fabric, its state and the job are in request */
	const char *job_path, *colour_by, *inside;
	struct request request;
	/* made by drawing_open */
	json_t *plan;		  /* of job_path */
	uint32_t *where, n_ranks; /* GPU of rank r; NULL: no job is placed */
	bool absent;	   /* a job was asked for, but has no placement */
	const char *why;   /* then: the first reason, or "" */
	double bound, gap; /* NAN: not known */
	bool priced;	   /* cost and step are those of the job */
	struct weft_evaluation evaluation;
	struct weft_placement placement; /* where --job was placed here */
	struct weft_scene scene;
	struct weft_arena memory; /* of the scene */
};

/* Progress of a placement that takes seconds; may be NULL. */
typedef void drawing_listener(void *context, const char *text);

/* Gathers all; -1 with err.  drawing_close in either case. */
int drawing_open(struct drawing *d, drawing_listener *listener, void *context,
		 struct weft_error *err);
void drawing_close(struct drawing *d);

#endif
