/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.h - what plan and score share: a fabric, its state, a job */
#ifndef WEFT_CLI_REQUEST_H
#define WEFT_CLI_REQUEST_H

#include "costmodel/gpu.h"
#include "placement/job.h"
#include "placement/running.h"

#include <argp.h>
#include <stdbool.h>

struct request {
	/* options */
	const char *fabric_path, *job_text, *busy, *state;
	const char *require, *exclude;
	const struct weft_gpu *gpu; /* NULL: the fabric's */
	bool json;
	/* made from them by request_open */
	struct weft_fabric *fabric;
	struct weft_occupancy occupancy;
	struct weft_running_list running; /* what the state says */
	struct weft_job job;
};

/* --fabric, --job, --busy, --state, --nodelist, --exclude, --json; a child for
 * a command's argp, whose input is the struct request. */
extern const struct argp request_argp;

/* Loads and builds all of it.  -1 with err; request_close in either case. */
int request_open(struct request *request, struct weft_error *err);
void request_close(struct request *request);

#endif
