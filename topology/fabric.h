/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric.h - the cluster: GPUs, nodes, and the tree of domains they sit in
 *
 * A fabric is a tree.  Its leaves are GPUs; level 0 groups them into NVLink
 * domains, each further level groups the one below (node, rack, leaf, spine,
 * pod, ...).  Two GPUs "meet" at the innermost level where they share a domain,
 * and that level's link class gives their distance.  Everything is numbered in
 * tree order, so the GPUs and nodes of any domain are one contiguous range.
 *
 * Rails: where GPU k of every node is attached to leaf switch k of its leaf
 * domain, a domain of level "leaf" is the bundle of n_rails parallel leaf
 * switches.
 *
 * Immutable once built; any number of threads may read it.
 */
#ifndef WEFT_TOPOLOGY_FABRIC_H
#define WEFT_TOPOLOGY_FABRIC_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_MAX_LEVELS	       12
#define WEFT_MAX_GPUS_PER_NODE 64
#define WEFT_MAX_GPUS	       (1u << 22)
#define WEFT_MAX_KINDS	       64   /* of nodes' GPUs, in one fabric */
#define WEFT_MAX_FLOWS	       1024 /* of two GPUs */
#define WEFT_MAX_SHARES	       32   /* points of a level's curve */
#define WEFT_NAME_SIZE	       64   /* longest name + NUL */
#define WEFT_NONE	       UINT32_MAX

/* The links by which GPUs that meet at a level exchange data. */
struct weft_link {
	double rate_bytes_per_s; /* per GPU, one direction, before
				  * oversubscription */
	double latency_s;	 /* end to end, one small message */
	double oversubscription; /* >= 1: downlink over uplink bandwidth */
};

/* What a message of that size gets of a rate, its latency apart. */
struct weft_rate_share {
	double size_bytes, share; /* share in (0, 1] */
};

/* How the children of each domain of a level are joined. */
enum weft_level_shape {
	WEFT_SHAPE_SWITCHED, /* by switches: all pairs alike */
	WEFT_SHAPE_RING,     /* each to the next, the last to the first */
	WEFT_SHAPE_TORUS,    /* two or three rings crosswise, x fastest */
	WEFT_SHAPE_GROUPS,   /* each to each, as the groups of a dragonfly */
	WEFT_N_SHAPES
};
extern const char *const weft_shape_names[WEFT_N_SHAPES];

/* How switches choose among equal ways for the traffic of a domain. */
enum weft_routing {
	WEFT_ROUTING_ADAPTIVE, /* by load, packet by packet: evenly */
	WEFT_ROUTING_ECMP,     /* a hash of each flow's header */
	WEFT_ROUTING_STATIC,   /* a fixed table by destination */
	WEFT_N_ROUTINGS
};
extern const char *const weft_routing_names[WEFT_N_ROUTINGS];

struct weft_level {
	char name[WEFT_NAME_SIZE]; /* "nvlink", "node", "leaf", ... */
	struct weft_link link;
	enum weft_level_shape shape;
	uint32_t dims[3];      /* of a torus, else 0 */
	double hop_latency_s;  /* of each step beyond the first on a ring or
				* torus; else 0 */
	double queue_bytes;    /* that a flow which always has more to send
				* keeps waiting for a link */
	uint32_t hops;	       /* links crossed by GPUs that meet here */
	uint32_t first_domain; /* this level's domains in */
	uint32_t n_domains;    /* fabric.domains */
	uint32_t n_shares;     /* 0: the whole rate for any size.  By size, */
	struct weft_rate_share shares[WEFT_MAX_SHARES]; /* ascending */
};

struct weft_domain {
	const char *name;
	uint32_t level;
	uint32_t parent; /* domain one level up; WEFT_NONE at the top */
	uint32_t first_child, n_children; /* domains one level down; none at
					   * level 0 */
	uint32_t first_node, n_nodes;
	uint32_t first_gpu, n_gpus;
};

struct weft_node {
	const char *name;
	uint32_t first_gpu, n_gpus;
	uint32_t rack;	/* index into fabric.racks, or WEFT_NONE */
	uint32_t order; /* position in the file, from 0 */
	uint32_t kind;	/* index into fabric.kinds, or WEFT_NONE */
};

/* Distance between two GPUs: d(i,j) of the cost sum, in every metric. */
struct weft_distance {
	uint32_t hops;		/* links crossed */
	double latency_s;	/* one small message */
	double time_s_per_byte; /* at the narrowest link, oversubscription in */
};

struct weft_cabling; /* cabling.h: the physical switches and cables */

struct weft_fabric {
	const char *name;
	const char *profile; /* name of the profile used, or "" */
	uint32_t n_gpus, n_nodes, n_levels, n_domains, n_racks, n_kinds;
	uint32_t n_rails;    /* 1: not rail-optimised */
	uint32_t node_level; /* innermost level whose domains hold whole nodes:
			      * 0, or 1 where a node has several NVLink domains
			      */
	enum weft_routing routing;
	uint32_t n_flows; /* that two GPUs' traffic is cut into (queue
			   * pairs), each hashed by itself; at least 1 */
	bool connected;	  /* the top level is one domain */
	bool pxn;	  /* with rails: a message for another rail leaves by
			   * that rail's NIC of its own node */
	bool has_steps;	  /* some level is a ring or a torus */
	struct weft_level levels[WEFT_MAX_LEVELS]; /* innermost first */
	struct weft_domain *domains;		   /* level by level */
	struct weft_node *nodes;		   /* in tree order */
	uint32_t *by_name;  /* node indices sorted by strcmp */
	uint32_t *counted;  /* the same by weft_name_compare */
	const char **racks; /* names */
	const char **kinds; /* of nodes' GPUs, such as "h100" */
	/* [n_gpus] in its node, as the node counts its GPUs; NULL: in order.
	 * It is in another where the GPUs of an NVLink domain are not next to
	 * each other.  Read it by weft_fabric_number. */
	uint8_t *gpu_number;
	uint32_t *gpu_node;		       /* [n_gpus] */
	uint32_t *gpu_domain[WEFT_MAX_LEVELS]; /* [level][n_gpus] */
	/* [level where they meet][0 same rail, 1 different rail]; on a ring or
	 * torus the distance of neighbours, the least */
	struct weft_distance distance[WEFT_MAX_LEVELS][2];
	/* [n_domains] bytes per second and direction above a domain, where the
	 * file says it by cables or uplinks; 0 where it does not, and NULL
	 * where it does for none.  Read it by weft_cost_uplink_rate. */
	double *uplink_rate_bytes_per_s;
	/* [n_domains] single cables that are up and leave a domain in the
	 * compute network, 0 where the file has none of it; NULL without
	 * cabling */
	uint32_t *n_uplinks;
	struct weft_cabling *cabling; /* NULL: the file has none */
	void *memory;		      /* private: owns names and arrays */
};

/* Reads a fabric file (weft-fabric(5)).  NULL with err set on any mistake. */
struct weft_fabric *weft_fabric_load(const char *path, struct weft_error *err);
struct weft_fabric *weft_fabric_parse(const char *text, size_t size,
				      const char *source,
				      struct weft_error *err);
void weft_fabric_free(struct weft_fabric *f);

/* Node index by name, or WEFT_NONE; O(log n). */
uint32_t weft_fabric_node(const struct weft_fabric *f, const char *name);

/* The same; an unknown name is an error that suggests the nearest known one. */
uint32_t weft_fabric_find(const struct weft_fabric *f, const char *name,
			  struct weft_error *err);

/* Level index by name, or WEFT_NONE.  "node" also finds "nvlink" where every
 * NVLink domain is one node. */
uint32_t weft_fabric_level(const struct weft_fabric *f, const char *name);

/* The innermost level of which a domain holds several nodes, a leaf switch or
 * an NVLink domain that spans nodes, else the last: segment= and split= are
 * about its domains. */
uint32_t weft_fabric_segment_level(const struct weft_fabric *f);

/* Parses "n07" (its GPU 0), "n07:3" or a global GPU index.  -1 with err. */
int weft_fabric_gpu(const struct weft_fabric *f, const char *text,
		    uint32_t *gpu, struct weft_error *err);

/* Innermost level at which GPUs a and b share a domain; f->n_levels if they
 * share none (disjoint fabrics).  O(depth). */
static inline uint32_t weft_fabric_meet(const struct weft_fabric *f, uint32_t a,
					uint32_t b)
{
	uint32_t level = 0;

	while (level < f->n_levels &&
	       f->gpu_domain[level][a] != f->gpu_domain[level][b])
		level++;
	return level;
}

/* What the node calls the GPU (nvidia-smi, Slurm's GRES, files, messages). */
static inline uint32_t weft_fabric_number(const struct weft_fabric *f,
					  uint32_t gpu)
{
	return f->gpu_number ? f->gpu_number[gpu]
			     : gpu - f->nodes[f->gpu_node[gpu]].first_gpu;
}

/* The other way round: the GPU that the node calls `number`, one it has. */
uint32_t weft_fabric_numbered(const struct weft_fabric *f, uint32_t node,
			      uint32_t number);

/* GPUs of a node as a mask by number (bit k: its GPU k), as one by place (bit
 * k: GPU first_gpu + k), as occupancies have. */
uint64_t weft_fabric_places(const struct weft_fabric *f, uint32_t node,
			    uint64_t numbers);
/* The other way round. */
uint64_t weft_fabric_numbers(const struct weft_fabric *f, uint32_t node,
			     uint64_t places);

/* Rail of a GPU, 0..n_rails-1: a node's GPUs are dealt to rails in the order of
 * their numbers. */
static inline uint32_t weft_fabric_rail(const struct weft_fabric *f,
					uint32_t gpu)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];

	return weft_fabric_number(f, gpu) * f->n_rails / node->n_gpus;
}

/* Row and column of f->distance for a pair: *level as weft_fabric_meet, and
 * whether they sit on different rails of different nodes. */
static inline uint32_t weft_fabric_relation(const struct weft_fabric *f,
					    uint32_t a, uint32_t b,
					    uint32_t *cross_rail)
{
	uint32_t level = weft_fabric_meet(f, a, b);

	*cross_rail = f->n_rails > 1 && level > 0 &&
		      f->gpu_node[a] != f->gpu_node[b] &&
		      weft_fabric_rail(f, a) != weft_fabric_rail(f, b);
	return level;
}

/* weft_fabric_further without its short cuts; private. */
uint32_t weft_fabric_steps(const struct weft_fabric *f, uint32_t level,
			   uint32_t a, uint32_t b);

/* Steps beyond the first that GPUs a and b, which meet at `level`, are apart on
 * that level's ring or torus: as many hops more than f->distance says. */
static inline uint32_t weft_fabric_further(const struct weft_fabric *f,
					   uint32_t level, uint32_t a,
					   uint32_t b)
{
	return f->has_steps && level < f->n_levels
		       ? weft_fabric_steps(f, level, a, b)
		       : 0;
}

/* Distance of two GPUs.  The same GPU: zeros.  Not connected: hops UINT32_MAX,
 * the others INFINITY.  O(depth). */
struct weft_distance weft_fabric_distance(const struct weft_fabric *f,
					  uint32_t a, uint32_t b);

/* Share of a level's rate that a message of size_bytes gets, latency apart: by
 * the level's points, in between on a line over the logarithm of the size,
 * beyond the outermost as there; 1 where it has none, and for sizes not above
 * zero.  level < f->n_levels.  size_bytes is what the points were measured by:
 * the size of a call as nccl-tests counts it. */
double weft_fabric_rate_share(const struct weft_fabric *f, uint32_t level,
			      double size_bytes);

#endif
