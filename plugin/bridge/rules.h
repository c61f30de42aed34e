/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rules.h - what a site lets users' specs ask for: no Slurm types */
#ifndef WEFT_PLUGIN_BRIDGE_RULES_H
#define WEFT_PLUGIN_BRIDGE_RULES_H

#include "base/yaml.h"
#include "plugin/bridge/request.h"
#include "topology/fabric.h"

#define WEFT_MAX_NAMES	   64
#define WEFT_NAME_IN_RULES 64

/* n 0: not given, any name will do. */
struct weft_names {
	uint32_t n;
	char (*name)[WEFT_NAME_IN_RULES];
};

/* Whose a job is; NULL: not known, or none. */
struct weft_owner {
	const char *partition, *qos, *account;
};

struct weft_rules {
	double wait_max_s;     /* no wait= is longer; 0: no job waits */
	double wait_tolerance; /* costs this much apart, in proportion, are
				* alike */
	struct weft_names wait_partitions;  /* elsewhere no job waits */
	struct weft_names within;	    /* levels that within= may name */
	struct weft_names limit_partitions; /* where within=, segment= and
					     * split= may be used */
	/* whose jobs weft acts on, in mode place */
	struct weft_names place_partitions, place_qos, place_accounts;
	uint32_t max_segment; /* nodes of a segment or of a part of split= */
	uint32_t max_parts;   /* of split= */
};

/* What holds where nothing is written.  Free with weft_rules_free after any of
 * these. */
void weft_rules_default(struct weft_rules *rules);

/* Read the maps "wait", "place" and "limits" of weft.yaml(5); f (NULL: not at
 * hand) is asked for level names. */
int weft_rules_read_wait(const struct weft_yaml *doc,
			 const struct weft_yaml_node *map,
			 struct weft_rules *rules, struct weft_error *err);
int weft_rules_read_place(const struct weft_yaml *doc,
			  const struct weft_yaml_node *map,
			  struct weft_rules *rules, struct weft_error *err);
int weft_rules_read_limits(const struct weft_yaml *doc,
			   const struct weft_yaml_node *map,
			   const struct weft_fabric *f,
			   struct weft_rules *rules, struct weft_error *err);
void weft_rules_free(struct weft_rules *rules);

/* Whether each list under "place" that is given names the owner's. */
bool weft_rules_place(const struct weft_rules *rules,
		      const struct weft_owner *owner);

/* Whether a job of this partition (NULL: not known) may have the frame's
 * limits; -1 with err that names the key. */
int weft_rules_check(const struct weft_rules *rules,
		     const struct weft_frame *frame, const char *partition,
		     struct weft_error *err);

/* How long such a job may wait for a better place. */
double weft_rules_wait_s(const struct weft_rules *rules,
			 const struct weft_frame *frame, const char *partition);

#endif
