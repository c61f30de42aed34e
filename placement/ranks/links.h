/* SPDX-License-Identifier: GPL-3.0-or-later */
/* links.h - what every link carries while ranks move about
 *
 * The loads of cost.c kept up to date: to move a rank changes only what its own
 * edges put on the links between its old and new place and its peers.  Private
 * to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_LINKS_H
#define WEFT_PLACEMENT_RANKS_LINKS_H

#include "placement/objective/judge.h"

/* The pressure is the sum over all links of (time / reference)^8: mostly the
 * busiest ones count, but unlike the maximum it tells two of them from one, so
 * that a search goes downhill. */
struct links {
	const struct weft_fabric *f;
	const struct weft_traffic *t; /* with rows: the job's, or `rows` */
	struct weft_traffic rows;
	double pressure;
	double cost;	   /* sum of d * M in the judge's metric */
	uint32_t *where;   /* [n_ranks] */
	uint32_t *rank_at; /* [n_gpus] rank there, or WEFT_NONE */
	/* private */
	uint32_t *in_row, *in_peer; /* edges that come in, as t->row */
	double *in_bytes;
	double *bytes, *per_byte; /* [2 * n_domains] up, down; of the
				   * reference time */
	double *nic;		  /* [2 * n_ranks] up, down */
	double nic_per_byte;
	double distance[WEFT_MAX_LEVELS][2];
	double step[WEFT_MAX_LEVELS]; /* of a ring or torus, as distance */
	bool *lifted; /* [n_ranks] its edges are not counted now */
	void *memory;
};

/* A link: that above a domain, or a rank's NIC. */
struct busy_link {
	double pressure; /* its part of it */
	uint32_t domain; /* WEFT_NONE: a NIC, or no link carries a byte */
	uint32_t rank;	 /* of the NIC; else WEFT_NONE */
};

/* Ranks on where[]: distinct, connected GPUs.  Traffic without switches, which
 * have no edges to follow.  reference_s > 0: the time of a link that counts 1.
 * Free with links_free in either case. */
int links_build(const struct weft_judge *judge, const uint32_t *where,
		double reference_s, struct links *links,
		struct weft_error *err);
void links_free(struct links *links);

/* Moves ranks[i] to gpu[i], all at once: each gpu is free or one that these
 * ranks leave.  To undo it, move them back.  Returns edges looked at. */
uint32_t links_move(struct links *links, const uint32_t *ranks,
		    const uint32_t *gpu, uint32_t n);

/* The one that needs longest; O(ranks * depth). */
struct busy_link links_busiest(const struct links *links);

#endif
