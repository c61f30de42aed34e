/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cabling.h - the physical switches of a fabric, and the cables that join them
 *
 * The tree of fabric.h says which GPUs share what; the cabling says of which
 * switches a domain is made and over how many cables it is reached, and so what
 * a domain's uplinks really carry.  A fabric file need not have it.
 *
 * An end of a cable is a number: nodes come first, then switches (end n_nodes +
 * s is switch s).  One end of every cable is a switch, b; where one is a node,
 * it is a.
 *
 * Part of a fabric: immutable, and freed with it.
 */
#ifndef WEFT_TOPOLOGY_CABLING_H
#define WEFT_TOPOLOGY_CABLING_H

#include "topology/fabric.h"

#define WEFT_MAX_SWITCHES WEFT_MAX_GPUS
#define WEFT_MAX_CABLES	  (1u << 23)
#define WEFT_MAX_PORTS	  (UINT16_MAX - 1) /* different names of ports */
#define WEFT_MAX_NETWORKS 16
#define WEFT_NO_PORT	  UINT16_MAX
#define WEFT_NO_RAIL	  UINT8_MAX
#define WEFT_COMPUTE	  0 /* the network that joins the GPUs */

struct weft_cabling_switch {
	const char *name;
	uint32_t domain;  /* the domain that it is, or that it makes up with
			   * others; WEFT_NONE: none */
	uint16_t n_ports; /* 0: not said */
	uint8_t network;  /* index into networks */
	uint8_t tier;	  /* 1 leaf, 2 above, ...; 0: not said */
	uint8_t rail;	  /* of a leaf of a bundle; else WEFT_NO_RAIL */
};

/* One line of cables between two ends. */
struct weft_cable {
	uint32_t a, b;
	double rate_bytes_per_s; /* of each, one direction; 0: not said */
	uint16_t n;		 /* parallel cables, at least 1 */
	uint16_t port;		 /* of a, index into ports; WEFT_NO_PORT */
	uint8_t rail;		 /* of the node's port, or WEFT_NO_RAIL; in a
				  * fabric without rails what the file says */
	uint8_t width;		 /* lanes; 0: not said */
	bool up;		 /* it carries data */
};

struct weft_cabling {
	uint32_t n_nodes, n_switches, n_cables, n_ports, n_networks;
	struct weft_cabling_switch *switches; /* leafs first, in the order of
					       * the file */
	struct weft_cable *cables;	      /* in the order of the file */
	const char **ports;		      /* names, as people count */
	const char *networks[WEFT_MAX_NETWORKS];
	/* private: look-ups */
	uint32_t *by_name;		       /* switches sorted by strcmp */
	uint32_t *first_of_end, *of_end;       /* end -> its cables */
	uint32_t *first_of_domain, *of_domain; /* domain -> its switches */
};

/* Builds the look-ups over switches and cables.  -1 with err. */
int weft_cabling_index(struct weft_cabling *c, uint32_t n_domains,
		       struct weft_error *err);
void weft_cabling_free(struct weft_cabling *c);

/* Switch by name, or WEFT_NONE; O(log n). */
uint32_t weft_cabling_find(const struct weft_cabling *c, const char *name);

/* Cables of a node or of a switch: indices into c->cables, in the order of the
 * file.  *n says how many. */
static inline const uint32_t *weft_cabling_of_end(const struct weft_cabling *c,
						  uint32_t end, uint32_t *n)
{
	*n = c->first_of_end[end + 1] - c->first_of_end[end];
	return c->of_end + c->first_of_end[end];
}

static inline const uint32_t *weft_cabling_of_node(const struct weft_cabling *c,
						   uint32_t node, uint32_t *n)
{
	return weft_cabling_of_end(c, node, n);
}

static inline const uint32_t *
weft_cabling_of_switch(const struct weft_cabling *c, uint32_t k, uint32_t *n)
{
	return weft_cabling_of_end(c, c->n_nodes + k, n);
}

/* Switches that are a domain or make it up: indices into c->switches. */
static inline const uint32_t *
weft_cabling_of_domain(const struct weft_cabling *c, uint32_t domain,
		       uint32_t *n)
{
	*n = c->first_of_domain[domain + 1] - c->first_of_domain[domain];
	return c->of_domain + c->first_of_domain[domain];
}

/* Name of a cable's end. */
const char *weft_cabling_end_name(const struct weft_fabric *f, uint32_t end);

/* Name of the node's port, or NULL. */
static inline const char *weft_cabling_port(const struct weft_cabling *c,
					    const struct weft_cable *cable)
{
	return cable->port == WEFT_NO_PORT ? NULL : c->ports[cable->port];
}

/* Whether GPUs' traffic runs over it: no switch of another network at its
 * ends. */
bool weft_cabling_is_compute(const struct weft_cabling *c,
			     const struct weft_cable *cable);

/* Domain of an end: a node's at f->node_level, a switch's own; WEFT_NONE: in
 * none. */
uint32_t weft_cabling_end_domain(const struct weft_fabric *f, uint32_t end);

/* What leaves a domain by its cables: sums over those of the compute network
 * with one end in it (a node, or a switch of it or of a domain in it) and one
 * outside. */
struct weft_uplinks {
	double line_rate_bytes_per_s; /* of those that are up */
	uint32_t n_up, n_down;	      /* single cables */
	bool whole;		      /* all of them say a rate */
};

/* uplinks: [f->n_domains] filled.  f->cabling is not NULL.  O(cables * depth).
 */
void weft_cabling_uplinks(const struct weft_fabric *f,
			  struct weft_uplinks *uplinks);

#endif
