/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_segments.c - sets of nodes that segment= would give
 *
 * What keeps to a limit is a placement of the job without it, too, so the sets
 * of layouts.c for segments of several sizes are among the first ones.
 */
#include "placement/refine/refine_parts.h"

#include "placement/nodes/layouts.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of the largest segment tried. */
#define MOST_NODES 8

static int try_layouts(struct refine *x, const struct layouts *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct node_set *c = &l->layout[i].node_set;
		bool better;

		memset(x->now, 0, x->f->n_nodes);
		for (uint32_t k = 0; k < c->n_nodes; k++)
			x->now[c->node[k]] = (uint8_t)c->count[k];
		if (refine_try(x, &better))
			return -1;
	}
	return 0;
}

int refine_segments(struct refine *x)
{
	struct weft_job job = *x->job;
	struct layouts *l;
	int rc = 0;

	if (layouts_needed(x->s))
		return 0;
	l = weft_calloc(1, sizeof(*l), x->err);
	if (!l)
		return -1;
	for (uint32_t n = 2; n <= MOST_NODES && rc == 0; n++) {
		if (effort_spent(&x->a->effort))
			break;
		job.spec.segment = n;
		x->s->job = &job;
		rc = layouts_build(x->s, &x->a->effort, l, x->err);
		x->s->job = x->job;
		if (rc == 0)
			rc = try_layouts(x, l);
		layouts_free(l);
	}
	free(l);
	return rc;
}
