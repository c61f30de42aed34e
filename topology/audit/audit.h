/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.h - what is wrong with a cluster, as its inventory says
 *
 * One file audit_SUBJECT.c per subject, one row in the table of audit.c.  A
 * thing is judged by its siblings: what most of them are is taken as meant.
 * The text of a finding does not name its place, so that equal findings of many
 * places can be reported as one.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_AUDIT_H
#define WEFT_TOPOLOGY_AUDIT_AUDIT_H

#include "topology/hierarchy/hierarchy.h"

/* How much a finding explains: what is wrong with a switch makes many others,
 * what is wrong with a cable only its own. */
#define WEFT_WEIGHT_SWITCH  1000.0
#define WEFT_WEIGHT_DOMAIN  500.0
#define WEFT_WEIGHT_HOST    100.0
#define WEFT_WEIGHT_CABLE   50.0
#define WEFT_WEIGHT_OUTCOME 1.0

struct audit_graph; /* graph.h */

/* What is looked at.  hierarchy may be NULL where a inventory has no levels. */
struct weft_audit {
	const struct weft_inventory *inventory;
	const struct weft_hierarchy *hierarchy;
	const struct weft_fabric *fabric; /* or NULL */
	struct weft_findings *findings;
	/* weft_audit_run's own */
	const struct audit_graph *graph;
	struct weft_arena *memory; /* of all checks, until all have run */
	struct weft_error *err;
};

struct weft_audit_check {
	const char *name, *help;
	int (*run)(const struct weft_audit *audit);
};
extern const struct weft_audit_check weft_audit_checks[];
extern const uint32_t weft_n_audit_checks;

/* Every check of the table, then weft_audit_rank. */
int weft_audit_run(const struct weft_audit *audit, struct weft_error *err);

/* Of a fabric: whether its levels are what its cables say, and what is odd
 * about these.  To be called before weft_audit_run. */
int weft_audit_cabling(const struct weft_audit *audit, struct weft_error *err);

/* Drops findings that another finding at the same place explains, and sorts:
 * the cause comes first. */
void weft_audit_rank(struct weft_findings *findings);

/* What the switches of one tier of one network have below them over what they
 * have above them, by up cables. */
struct weft_tier {
	const char *network; /* "compute" */
	uint32_t tier;	     /* 1: leafs */
	uint32_t n_switches; /* that have something above and below */
	uint32_t n_blocking; /* of them, ratio above 1.01 */
	double least, median, most;
	bool by_rate; /* else cables are counted: some rate is not known */
};

#define WEFT_MAX_TIERS 64

struct weft_tiers {
	uint32_t n;
	struct weft_tier item[WEFT_MAX_TIERS]; /* by network, then tier */
	bool known;	   /* a tier of the compute network is there */
	bool non_blocking; /* none of its switches blocks */
};

int weft_audit_tiers(const struct weft_inventory *inventory,
		     const struct weft_hierarchy *hierarchy,
		     struct weft_tiers *tiers, struct weft_error *err);

/* One of two descriptions of the same cluster. */
struct weft_audit_side {
	const struct weft_inventory *inventory;
	const struct weft_hierarchy *hierarchy; /* or NULL */
};

/* Where two sources differ: "drift-..." findings, of what both know about.
 * `now` is the newer, what the cluster says of itself. */
int weft_audit_drift(const struct weft_audit_side *wanted,
		     const struct weft_audit_side *now,
		     struct weft_findings *findings, struct weft_error *err);

#endif
