/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift.h - two inventories of one cluster, matched with each other
 *
 * Private to the audit.  Side 0 is what is wanted, side 1 what is now.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_DRIFT_DRIFT_H
#define WEFT_TOPOLOGY_AUDIT_DRIFT_DRIFT_H

#include "topology/audit/graph.h"

struct drift {
	const struct weft_audit_side *side[2];
	const struct weft_inventory *s[2];
	struct audit_graph g[2];
	uint32_t
		*host[2]; /* host of side i -> the other side's, or WEFT_NONE */
	uint32_t *sw[2];  /* switches likewise */
	bool *renamed;	  /* [hosts of side 0] matched under another name */
	bool *gone;	  /* [switches of side 0] reported as missing */
	bool host_cables, switch_cables; /* both sides know them */
	bool trees;			 /* both sides have levels */
	struct weft_findings *findings;
	struct weft_arena
		memory; /* owns the arrays, and scratch of all steps */
	struct weft_error *err;
};

/* Innermost domains of two partitions that stand for each other. */
struct drift_partition {
	uint32_t n;	    /* hosts known to both */
	uint32_t *host;	    /* [n] of side 0 */
	uint32_t *label[2]; /* [n] */
	bool *agrees;	    /* [n] */
	uint32_t n_agree;
	uint32_t *meant; /* [n] label of side 1 that label[0] stands for */
};

/* drift_match.c: by name, GUID, and place in the network. */
int drift_match_switches(struct drift *d);
int drift_match_hosts(struct drift *d);
/* After hosts by name only: what drift_match_switches needs. */
int drift_match_names(struct drift *d);

/* drift_tree.c: fills agrees, n_agree and meant from the labels. */
int drift_partition_compare(struct drift_partition *p, struct weft_error *err);
int drift_partition_build(struct drift *d, struct drift_partition *p);
/* Labels by domains of these levels; false: no host has both. */
bool drift_label_domains(const struct drift *d, struct drift_partition *p,
			 uint32_t level0, uint32_t level1);

/* Each adds what differs. */
int drift_hosts(struct drift *d);
int drift_host_cables(struct drift *d);
int drift_switch_cables(struct drift *d);
int drift_tree(struct drift *d);
int drift_groups(struct drift *d);

/* What one cable of side 0 has lost against the same of side 1. */
int drift_cable_compare(struct drift *d, const struct weft_inventory_cable *was,
			const struct weft_inventory_cable *is);

/* A finding at a place of side i. */
int drift_note(struct drift *d, int side, enum weft_finding_id id,
	       const char *place, struct weft_place where, double weight,
	       const char *format, ...) __attribute__((format(printf, 7, 8)));

/* What messages call a side: the name of its last source. */
const char *drift_side_name(const struct drift *d, int side);

#endif
