/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layouts.h - sets of nodes in groups, with ranks on them, worth improving
 *
 * For jobs whose nodes must lie in segments or parts, or whose replicas are to
 * be spread over what fails together.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_LAYOUTS_H
#define WEFT_PLACEMENT_NODES_LAYOUTS_H

#include "placement/mapping/effort.h"
#include "placement/nodes/node_set.h"

#define LAYOUTS_MAX 48

/* Ranks may change places only inside a fence: that keeps what the groups are
 * for. */
struct layout {
	struct node_set node_set;
	uint32_t *fence; /* [choice.n_nodes]; NULL: none */
	uint32_t *rank;	 /* [n_gpus] rank of the choice's i-th GPU; NULL: any
			  * order of ranks will do */
	/* Where all whole segments are equal and may change places: their
	 * number and the GPUs of each; else 0. */
	uint32_t n_segments, segment;
};

struct layouts {
	uint32_t n;
	struct layout layout[LAYOUTS_MAX];
};

/* True when the job is one of those. */
bool layouts_needed(const struct capacity *s);

/* True when it cannot be placed in another way. */
bool layouts_are_binding(const struct capacity *s);

/* n == 0: there is none, or the effort's work did not suffice to find it.  When
 * its time is up, the first one found is enough.  effort: NULL: no limit.  Free
 * with layouts_free in either case. */
int layouts_build(struct capacity *s, struct effort *effort, struct layouts *l,
		  struct weft_error *err);
void layouts_free(struct layouts *l);

/* Deals replicas to what fails together inside a domain: *lost is the number
 * that its loss takes at most.  1 or 0; -1 with err.  Free *out with
 * layout_free in any case. */
int layout_spread(struct capacity *s, uint32_t scope, struct layout *out,
		  uint32_t *lost, struct weft_error *err);
void layout_free(struct layout *layout);

#endif
