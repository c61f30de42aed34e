/* SPDX-License-Identifier: GPL-3.0-or-later */
/* defaults.h - the specs of jobs that come without one, by partition */
#ifndef WEFT_PLUGIN_BRIDGE_DEFAULTS_H
#define WEFT_PLUGIN_BRIDGE_DEFAULTS_H

#include "base/yaml.h"

struct weft_default {
	char *partition;
	char *spec;
};

/* In the order of weft.yaml. */
struct weft_defaults {
	uint32_t n;
	struct weft_default *list;
};

/* Reads "defaults: {PARTITION: SPEC}" (NULL: none); specs must parse.  Free
 * with weft_defaults_free in either case. */
int weft_defaults_read(const struct weft_yaml *doc,
		       const struct weft_yaml_node *node,
		       struct weft_defaults *defaults, struct weft_error *err);
void weft_defaults_free(struct weft_defaults *defaults);

/* The spec for a job of this partition (NULL: not named), else that for "*";
 * NULL where there is none.  Of a list of partitions the first counts. */
const char *weft_defaults_find(const struct weft_defaults *defaults,
			       const char *partition);

#endif
