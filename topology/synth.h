/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synth.h - a fabric file from one line: "pod:4 leaf:16 node:32 gpu:8" */
#ifndef WEFT_TOPOLOGY_SYNTH_H
#define WEFT_TOPOLOGY_SYNTH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* damage: fraction 0..1 of nodes left out, chosen by seed. */
struct weft_synth_options {
	const char *name;    /* NULL: the spec itself */
	const char *profile; /* NULL: dgx-h100-superpod */
	const char *prefix;  /* of node names; NULL: "n" */
	const char *routing; /* NULL: the profile's; a policy of
			      * weft-fabric(5) */
	uint32_t rails;	     /* 0: none */
	double damage;
	uint64_t seed;
	bool cables; /* with its switches and cables */
};

/* options may be NULL for all defaults.
 *
 * Fabric YAML for `spec`: blank-separated LEVEL:COUNT, outermost first, counts
 * nested ("leaf:16" under "pod:4" is 64 leafs); `node` and `gpu` come last.
 * `nvlink:N` before `node` makes N NVLink domains that span nodes.
 * The text is malloc'ed and loads with weft_fabric_parse.  NULL with err. */
char *weft_synth(const char *spec, const struct weft_synth_options *options,
		 struct weft_error *err);

#endif
