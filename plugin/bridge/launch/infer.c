/* SPDX-License-Identifier: GPL-3.0-or-later */
/* infer.c - reads a batch script within bounds, and marks what comes of it */
#include "plugin/bridge/launch/infer.h"

#include "base/clock.h"
#include "costmodel/script/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The mark goes last, so that a person reads the sizes first. */
static const char mark[] = "from=script";

static int spec_keep(const struct weft_script *read, char *spec)
{
	int n;

	if (read->n_missing || !read->reader || !read->spec[0])
		return -1;
	n = snprintf(spec, WEFT_SPEC_MAX_BYTES + 1, "%s,%s", read->spec, mark);
	return n > WEFT_SPEC_MAX_BYTES ? -1 : 0;
}

int weft_infer(const char *script, const struct weft_request *request,
	       char *spec)
{
	struct weft_script_options options = {
		.nodes = request->min_nodes == request->max_nodes
				 ? request->min_nodes
				 : 0,
		.gpus_per_node = request->gpus_per_node,
		.tasks = request->n_tasks,
		.tasks_per_node = request->tasks_per_node,
		.slurm_decides = true,
		.most_bytes = WEFT_INFER_TEXT_BYTES,
	};
	size_t size = strnlen(script, WEFT_INFER_SCRIPT_BYTES + 1);
	struct weft_script *read;
	double before;
	int rc = -1;

	if (size > WEFT_INFER_SCRIPT_BYTES)
		return -1;
	read = weft_calloc(1, sizeof(*read), NULL);
	if (!read)
		return -1;
	before = weft_deadline_narrow(weft_worked_s() + WEFT_INFER_TIME_S);
	if (weft_script_read(script, size, "the script", &options, read,
			     NULL) == 0)
		rc = spec_keep(read, spec);
	weft_deadline_set(before);
	free(read);
	return rc;
}
