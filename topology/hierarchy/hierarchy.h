/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy.h - the levels of a surveyed cluster: which host is attached to
 * which domain
 *
 * A hierarchy is what a fabric file's `levels` say, as indices into the
 * inventory. It is made from cables where a inventory has them
 * (hierarchy_cables.c), else from declared trees (hierarchy_tree.c), from
 * blocks, rings or tori (hierarchy_groups.c).
 */
#ifndef WEFT_TOPOLOGY_HIERARCHY_HIERARCHY_H
#define WEFT_TOPOLOGY_HIERARCHY_HIERARCHY_H

#include "topology/inventory/inventory.h"

/* nvlink, node and core are not in a fabric file's `levels`. */
#define WEFT_FILE_LEVELS (WEFT_MAX_LEVELS - 3)

/* A fabric file wants every root to be of its last level.  A switch that is a
 * root further down gets a domain around it, with this behind its name. */
#define WEFT_ROOT_SUFFIX "~root"

enum weft_shape_kind {
	WEFT_HIERARCHY_PLAIN,
	WEFT_HIERARCHY_RING,
	WEFT_HIERARCHY_TORUS,
	WEFT_HIERARCHY_GROUPS, /* all-to-all, as between groups of a dragonfly
				*/
};

struct weft_hierarchy_level {
	char name[WEFT_NAME_SIZE];
	double rate_bytes_per_s; /* per GPU, below the switches; 0: profile's */
	double oversubscription; /* 0: profile's */
	double latency_s;	 /* 0: profile's */
	uint32_t hops;		 /* 0: 2 for each level */
	enum weft_shape_kind
		shape; /* how the children of a domain are joined */
	uint32_t dims[3];
	uint32_t n_shares; /* 0: the profile's; as of a fabric's level */
	struct weft_rate_share shares[WEFT_MAX_SHARES];
};

struct weft_hierarchy_domain {
	const char *name; /* unique among domains and hosts */
	uint32_t level;	  /* 0: the innermost network level */
	uint32_t parent;  /* domain of a higher level, or WEFT_NONE */
};

/* All arrays are the hierarchy's own. */
struct weft_hierarchy {
	uint32_t n_levels;
	/* Innermost first.  One called core is what joins the roots in a fabric
	 * file without being written there. */
	struct weft_hierarchy_level levels[WEFT_MAX_LEVELS];
	struct weft_hierarchy_domain
		*domains; /* by level, in the order to write */
	uint32_t n_domains, domains_room;
	uint32_t *host_domain;	 /* [n_hosts] the domain it is attached to;
				  * WEFT_NONE: left out, a finding says why */
	uint32_t *switch_domain; /* [n_switches] the domain it is a switch of,
				  * or WEFT_NONE */
	uint32_t n_rails;	 /* 1: none.  Else each domain of level 0 has */
	uint32_t *rail_switch;	 /* [domain * n_rails + rail] its leafs, or
				  * WEFT_NONE where one is missing */
	double host_rate_bytes_per_s; /* of a usual host's cables together; 0:
				       * not known */
	enum weft_routing routing;
	uint32_t n_flows;     /* 0: routing is the profile's */
	bool disjoint;	      /* several roots, which nothing joins */
	bool ordered;	      /* children of a domain are written in the order
			       * of domains[], not in that of names */
	uint32_t *host_order; /* [n_hosts] the same for hosts; NULL: names */
	bool joined; /* several roots are joined all the same, by what the
		      * sources do not say */
	struct weft_arena arena; /* names */
};

/* The level names that are used unless the caller gives others: leaf, spine,
 * pod, zone, region. */
struct weft_hierarchy_options {
	const char
		*level_names;	/* "leaf,spine,pod", innermost first, or NULL */
	const char *profile;	/* of the fabric file; NULL: by GPU kind */
	const char *name;	/* of the cluster; NULL: the inventory's */
	uint32_t gpus_per_node; /* where the inventory does not know; 0: the
				 * profile's number, with a finding */
};

/* Levels of a finished inventory; what is odd becomes findings of s.  NULL with
 * err where there is nothing that could be a level or limits are broken.  A
 * inventory without any switch or group gives a hierarchy of no level. */
struct weft_hierarchy *
weft_hierarchy_build(struct weft_inventory *s,
		     const struct weft_hierarchy_options *options,
		     struct weft_error *err);
void weft_hierarchy_free(struct weft_hierarchy *hierarchy);

/* Adds a domain; name is copied. */
uint32_t weft_hierarchy_add_domain(struct weft_hierarchy *hierarchy,
				   const char *name, uint32_t level,
				   struct weft_error *err);

/* The ways of making one; each 0 with *hierarchy filled (host_domain and
 * switch_domain allocated and WEFT_NONE before), or -1. */
int weft_hierarchy_from_cables(struct weft_inventory *s,
			       struct weft_hierarchy *hierarchy,
			       struct weft_error *err);
int weft_hierarchy_from_edges(struct weft_inventory *s,
			      struct weft_hierarchy *hierarchy,
			      struct weft_error *err);
int weft_hierarchy_from_groups(struct weft_inventory *s,
			       struct weft_hierarchy *hierarchy,
			       struct weft_error *err);

/* Adds the inventory's blocks to a hierarchy that is made already, as a level
 * below all others, where each lies under one domain; else a finding says why
 * not. */
int weft_hierarchy_add_blocks(struct weft_inventory *s,
			      struct weft_hierarchy *hierarchy,
			      struct weft_error *err);

/* hierarchy_fabric.c: the levels that a fabric says, for the inventory made
 * from it. Written out it is the same fabric, but for what a inventory has no
 * place for: the profile (an option), the links of nvlink and node, pxn, and
 * uplinks that no cable shows. */
struct weft_hierarchy *
weft_hierarchy_from_fabric(const struct weft_fabric *f,
			   const struct weft_inventory *s,
			   struct weft_error *err);
/* hierarchy_fit.c: the figures of the levels for one GPU, and rails given up
 * where they do not fit the number of GPUs; options says how many where the
 * inventory does not. */
int weft_hierarchy_fit(struct weft_inventory *s,
		       struct weft_hierarchy *hierarchy,
		       const struct weft_hierarchy_options *options,
		       struct weft_error *err);

/* write_profile.c: the profile that NVLink domains of several nodes tell, where
 * no source says the kind of any GPU; NULL: none. */
const char *weft_hierarchy_nvlink_profile(const struct weft_inventory *s);

/* write.c: the fabric file, malloc'ed text that weft_fabric_parse
 * reads; NULL with err. */
char *weft_inventory_write(struct weft_inventory *s,
			   const struct weft_hierarchy *hierarchy,
			   const struct weft_hierarchy_options *options,
			   struct weft_error *err);

#endif
