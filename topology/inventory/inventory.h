/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory.h - what sources say of a cluster, before it is a fabric
 *
 * Every importer adds to one inventory: hosts, their GPUs and adapters (HCAs),
 * switches, cables between ports, trees that someone declared, NVLink domains,
 * blocks, rings and tori.  Each fact knows the source and line that said it; a
 * second source that says otherwise makes a finding "conflict", and the first
 * stays.  hierarchy.h turns a inventory into levels, weft_inventory_write into
 * a fabric file.
 *
 * Things are numbered from 0 in the order first named; indices stay valid.
 * Functions that add return an index, or WEFT_NONE with err (out of memory, or
 * a limit); those that set return 0 or -1.  Texts are copied.
 */
#ifndef WEFT_TOPOLOGY_INVENTORY_INVENTORY_H
#define WEFT_TOPOLOGY_INVENTORY_INVENTORY_H

#include "base/arena.h"
#include "topology/fabric.h"
#include "topology/inventory/finding.h"

/* Limits of hostile input: hosts and switches, HCAs, cables, ... each. */
#define WEFT_INVENTORY_MAX_THINGS (1u << 22)
/* Few characters of a hostlist name many hosts: more than a fabric of the most
 * GPUs has with 16 each. */
#define WEFT_INVENTORY_MAX_HOSTS (1u << 18)

/* So many must agree before another one is said to be wrong: of three, two are
 * no majority. */
#define WEFT_LEAST_MAJORITY 3

/* Where a source says something; source is an index, line counts from 1 and is
 * 0 where lines mean nothing. */
struct weft_place {
	uint32_t source;
	int line;
};

struct weft_inventory_source {
	const char *name;   /* file name, for messages */
	const char *format; /* "ibnetdiscover" */
};

/* A fact that may be unknown: text NULL, value 0. */
struct weft_fact_text {
	const char *text;
	struct weft_place where;
};
struct weft_fact_number {
	double value;
	struct weft_place where;
};

/* A host: anything with an adapter or named by a scheduler.  Whether it has
 * GPUs may be unknown. */
struct weft_inventory_host {
	const char *name;
	struct weft_place where;	/* first named */
	struct weft_fact_number gpus;	/* 0: unknown */
	struct weft_fact_text gpu_kind; /* "h100" */
	struct weft_fact_text rack;
	struct weft_fact_text features; /* Slurm's, "a100,ib" */
	struct weft_fact_text nvlink;	/* its NVLink domain's name */
	struct weft_fact_text
		nvlink_state; /* why that is degraded; NULL: well */
	uint32_t
		inside; /* index of what is known of its inside, or WEFT_NONE */
	bool no_gpus;	/* known to have none: storage, login, management */
	bool no_gpus_listed; /* its scheduler lists GPUs of no node, and speaks
			      * of none: they have none, unless another source
			      * or the caller says so */
	uint32_t first_hca, n_hcas; /* chained by hca.next */
};

/* An adapter port of a host; GUIDs are kept as text, "0x..." in lower case. */
struct weft_inventory_hca {
	uint32_t host;
	const char *name; /* "mlx5_3"; never NULL */
	const char *guid; /* or NULL */
	uint32_t rail;	  /* WEFT_NONE: not known */
	uint32_t next;	  /* next of this host, in the order added; WEFT_NONE */
	struct weft_place where;
};

struct weft_inventory_switch {
	const char *name;     /* unique; a GUID where it has no other */
	const char *guid;     /* or NULL */
	const char *original; /* its name elsewhere, or NULL: Slurm's
			       * switch.1.1 is a cloud's leaf-1-1 */
	const char *network;  /* NULL: the compute network */
	const char *chassis;  /* of a director's module, or NULL */
	uint32_t tier;	      /* 1: leaf; 0: not known */
	uint32_t n_ports;     /* 0: not known */
	struct weft_place where;
};

/* One end of a cable or of a declared tree's edge. */
enum weft_end_kind { WEFT_END_HOST, WEFT_END_SWITCH };
struct weft_end {
	enum weft_end_kind kind;
	uint32_t index; /* of the host or switch */
	uint32_t hca;	/* of a host's end, or WEFT_NONE */
	uint32_t port;	/* number of the port, 0: not known */
};

/* A cable; both ends differ.  Where a source lists it from either end it is
 * added once. */
struct weft_inventory_cable {
	struct weft_end a, b;	 /* a is the host's end, if any */
	uint32_t n;		 /* parallel cables, >= 1 */
	double rate_bytes_per_s; /* of one, one direction; 0: not known */
	uint32_t width;		 /* lanes; 0: not known */
	bool down;
	struct weft_place where;
};

/* Someone declares: child hangs below this switch (Slurm's topology.conf, a
 * cloud's API).  No cable is known. */
struct weft_inventory_edge {
	uint32_t parent; /* switch */
	enum weft_end_kind child_kind;
	uint32_t child;
	struct weft_place where;
};

/* Hosts in an order that means something. */
enum weft_group_kind {
	WEFT_GROUP_BLOCK, /* Slurm's block; order of blocks is adjacency */
	WEFT_GROUP_RING,
	WEFT_GROUP_TORUS, /* x fastest */
};
struct weft_inventory_group {
	enum weft_group_kind kind;
	const char *name;
	const char *original; /* its name elsewhere, or NULL */
	uint32_t dims[3];     /* of a torus */
	uint32_t *hosts;      /* host indices; WEFT_NONE: a gap */
	uint32_t n_hosts, room;
	struct weft_place where;
};

/* What a file says of the inside of a node: which GPUs share NVLink, which HCA
 * is near which GPU.  It stands for all hosts that it is applied to. */
struct weft_inside_gpu {
	char kind[32];	       /* "" unknown */
	uint32_t nvlink_group; /* GPUs of one group exchange over NVLink */
	uint32_t n_nvlinks;    /* links of this GPU; 0: none, or not known */
	int numa;	       /* -1: not known */
};
struct weft_inside_nic {
	char name[32];
	double rate_bytes_per_s; /* 0: not known */
	uint64_t near;		 /* bit g: no GPU or NIC is nearer to GPU g */
	uint32_t rail;		 /* WEFT_NONE: not a rail */
	int numa;
};
struct weft_inventory_inside {
	const char *hosts; /* hostlist it was given for; NULL: every host that
			    * has none of its own */
	uint32_t n_gpus, n_nics;
	bool no_gpus; /* all devices were seen, and none is a GPU */
	struct weft_inside_gpu gpus[WEFT_MAX_GPUS_PER_NODE];
	struct weft_inside_nic nics[WEFT_MAX_GPUS_PER_NODE];
	struct weft_place where;
};

/* Names of one kind of thing -> index; private. */
struct weft_inventory_names {
	uint32_t *slot; /* index + 1, 0 free */
	uint32_t n_slots;
};

struct weft_inventory {
	struct weft_inventory_source *sources;
	struct weft_inventory_host *hosts;
	struct weft_inventory_hca *hcas;
	struct weft_inventory_switch *switches;
	struct weft_inventory_cable *cables;
	struct weft_inventory_edge *edges;
	struct weft_inventory_group *groups;
	struct weft_inventory_inside *insides;
	uint32_t n_sources, n_hosts, n_hcas, n_switches, n_cables, n_edges,
		n_groups, n_insides;
	uint32_t *block_sizes; /* Slurm's BlockSizes, as written */
	uint32_t n_block_sizes;
	const char *name; /* of the cluster, or NULL */
	struct weft_findings findings;
	struct weft_arena arena;

	/* private */
	struct weft_inventory_names host_names, switch_names;
	uint32_t sources_room, hosts_room, hcas_room, switches_room,
		cables_room, edges_room, groups_room, insides_room;
};

void weft_inventory_free(struct weft_inventory *s);

/* A new source; what is added next names it in its places. */
uint32_t weft_inventory_add_source(struct weft_inventory *s, const char *name,
				   const char *format, struct weft_error *err);

/* The host or switch of that name, added where it is new. */
uint32_t weft_inventory_host(struct weft_inventory *s, const char *name,
			     struct weft_place where, struct weft_error *err);
uint32_t weft_inventory_switch(struct weft_inventory *s, const char *name,
			       struct weft_place where, struct weft_error *err);
/* The same without adding: WEFT_NONE where there is none. */
uint32_t weft_inventory_find_host(const struct weft_inventory *s,
				  const char *name);
uint32_t weft_inventory_find_switch(const struct weft_inventory *s,
				    const char *name);

/* The host's adapter of that name, added where it is new; guid may be NULL. */
uint32_t weft_inventory_hca(struct weft_inventory *s, uint32_t host,
			    const char *name, const char *guid,
			    struct weft_place where, struct weft_error *err);

/* A fact of a host: kept where none is known, else compared; another value is a
 * finding "conflict" that names both places. */
int weft_inventory_set_gpus(struct weft_inventory *s, uint32_t host, uint32_t n,
			    struct weft_place where, struct weft_error *err);
enum weft_host_text {
	WEFT_HOST_GPU_KIND,
	WEFT_HOST_RACK,
	WEFT_HOST_NVLINK,
	WEFT_HOST_NVLINK_STATE,
	WEFT_HOST_FEATURES,
};
int weft_inventory_set_text(struct weft_inventory *s, uint32_t host,
			    enum weft_host_text which, const char *text,
			    struct weft_place where, struct weft_error *err);

/* Adds *cable (indices checked, copied).  One whose ends are the same thing, or
 * two hosts, is a finding, and left out: end b of any other is a switch.  0, or
 * -1 with err. */
int weft_inventory_add_cable(struct weft_inventory *s,
			     const struct weft_inventory_cable *cable,
			     struct weft_error *err);
uint32_t weft_inventory_add_edge(struct weft_inventory *s, uint32_t parent,
				 enum weft_end_kind child_kind, uint32_t child,
				 struct weft_place where,
				 struct weft_error *err);
uint32_t weft_inventory_add_group(struct weft_inventory *s,
				  enum weft_group_kind kind, const char *name,
				  struct weft_place where,
				  struct weft_error *err);
/* host may be WEFT_NONE: a gap. */
int weft_inventory_group_host(struct weft_inventory *s, uint32_t group,
			      uint32_t host, struct weft_error *err);
/* A copy of *inside; hosts is copied, too. */
uint32_t weft_inventory_add_inside(struct weft_inventory *s,
				   const struct weft_inventory_inside *inside,
				   struct weft_error *err);

/* Where a finding is that the inventory's source says at `where`; place may be
 * NULL. */
struct weft_finding_at weft_inventory_at(const struct weft_inventory *s,
					 const char *place,
					 struct weft_place where,
					 double weight);

/* A finding at `where`; place may be NULL. */
int weft_inventory_note(struct weft_inventory *s, enum weft_finding_id id,
			const char *place, struct weft_place where,
			struct weft_error *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* "FILE:LINE" of a place. */
const char *weft_inventory_place(const struct weft_inventory *s,
				 struct weft_place where, char *buffer,
				 size_t size);

/* To be called once when all sources are in: gives insides to their hosts,
 * drops cables that two sources both told, and compares what they say. */
int weft_inventory_finish(struct weft_inventory *s, struct weft_error *err);

/* inventory_fabric.c: a inventory made back from a fabric, as if it were a
 * source: its switches and cables, and edges where it has no cables.  To be
 * finished by the caller.  Free with weft_inventory_free, then free. */
struct weft_inventory *weft_inventory_from_fabric(const struct weft_fabric *f,
						  const char *source,
						  struct weft_error *err);
/* A domain that only stands for its one member, which skips the level. */
bool weft_inventory_passes(const struct weft_fabric *f, uint32_t domain);

#endif
