/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_topology.h - switches, blocks and rings that topology.conf and
 * topology.yaml both describe, checked as Slurm does before they go into a
 * inventory
 *
 * Private to the importers of Slurm's files.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_SLURM_SLURM_TOPOLOGY_H
#define WEFT_TOPOLOGY_IMPORT_SLURM_SLURM_TOPOLOGY_H

#include "topology/import/import.h"

#define WEFT_SLURM_NAME_MAX  64 /* HOST_NAME_MAX: a longer one is refused */
#define WEFT_SLURM_DEPTH_MAX 20 /* levels: behind that it sees a loop */
#define WEFT_SLURM_RING_MAX  16
#define WEFT_SLURM_SIZES_MAX 16 /* powers of two that BlockSizes may hold */

/* Where something is written; column 0: not known. */
struct weft_slurm_at {
	const char *path;
	uint32_t source;
	int line, column;
};

enum weft_slurm_kind {
	WEFT_SLURM_SWITCH,
	WEFT_SLURM_BLOCK,
	WEFT_SLURM_RING,
};

/* texts NULL where not given. */
struct weft_slurm_unit {
	enum weft_slurm_kind kind;
	const char *name;
	const char *original; /* "leaf-1-1", from "# switch.1.1=leaf-1-1" */
	const char *nodes, *switches; /* hostlists */
	struct weft_slurm_at at, nodes_at, switches_at;
};

/* Zero-initialise. */
struct weft_slurm_topology {
	struct weft_slurm_unit *units;
	uint32_t n_units, room;
	uint32_t sizes[WEFT_SLURM_SIZES_MAX]; /* BlockSizes, as written */
	uint32_t n_sizes;
	struct weft_arena arena;
};

/* Texts are copied. */
int weft_slurm_topology_add(struct weft_slurm_topology *t,
			    const struct weft_slurm_unit *unit,
			    struct weft_error *err);

/* One more of BlockSizes: -1 with err where Slurm would refuse it. */
int weft_slurm_topology_size(struct weft_slurm_topology *t, unsigned long size,
			     struct weft_slurm_at at, struct weft_error *err);

/* Puts everything into s.  What Slurm refuses is an error (an unknown child, a
 * loop, a switch with children of both kinds, one name twice), what it warns of
 * a finding. */
int weft_slurm_topology_apply(struct weft_inventory *s,
			      const struct weft_slurm_topology *t,
			      const struct weft_import_options *options,
			      struct weft_error *err);
void weft_slurm_topology_free(struct weft_slurm_topology *t);

/* A hostlist's names, with errors at their place in the file. */
struct weft_hostlist;
int weft_slurm_hosts(const char *text, struct weft_slurm_at at,
		     struct weft_hostlist *list, struct weft_error *err);

int weft_slurm_fail(struct weft_slurm_at at, struct weft_error *err,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct weft_yaml;
struct weft_yaml_node;

/* slurm_torus.c: one of `toruses` of topology.yaml: checked as Slurm does and,
 * unless s is NULL, added as a group of hosts with x fastest. */
int weft_slurm_torus(struct weft_inventory *s, const struct weft_yaml *doc,
		     const struct weft_yaml_node *node, uint32_t source,
		     struct weft_error *err);

#endif
