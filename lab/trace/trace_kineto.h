/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_kineto.h - what of a Kineto trace waits until all of it is read */
#ifndef WEFT_LAB_TRACE_TRACE_KINETO_H
#define WEFT_LAB_TRACE_TRACE_KINETO_H

#include "lab/trace/trace_draft.h"

/* What an event says besides its times; same index as the event. */
struct weft_trace_link {
	int64_t correlation, external;
	uint32_t own;	/* its collective, from the kernel's record alone */
	bool described; /* that record has the size */
};

struct weft_trace_launch {
	int64_t correlation, thread, at_ns;
};

struct weft_trace_site {
	int64_t external, thread, start_ns, end_ns;
	uint32_t collective;
};

struct weft_trace_kineto {
	struct weft_trace_link *links;
	struct weft_trace_launch *launches;
	struct weft_trace_site
		*operators; /* by thread and start, when finishing */
	struct weft_trace_site *by_external;
	size_t n_launches, n_operators;
	uint32_t room_links, room_launches, room_operators;
	int64_t base_ns;
	uint64_t devices; /* bitset of the first 64 */
};

#endif
