/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chain.h - the switches above a host, as clouds tell them */
#ifndef WEFT_TOPOLOGY_IMPORT_CHAIN_H
#define WEFT_TOPOLOGY_IMPORT_CHAIN_H

#include "topology/survey/survey.h"

/* Adds the edges of a chain of switches, the top first, and of the host that
 * hangs on the last.  -1 with err, also where a switch follows itself. */
int weft_chain_add(struct weft_survey *s, const char *const *names, size_t n,
		   uint32_t host, struct weft_place where,
		   struct weft_error *err);

#endif
