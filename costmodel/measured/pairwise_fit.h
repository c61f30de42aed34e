/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise_fit.h - which nodes and links explain what is slow in one test
 *
 * Works on the logarithm of bandwidths, where a slow part is an offset.  Pairs
 * are compared inside a class: those whose nodes meet at the same level.
 */
#ifndef WEFT_COSTMODEL_MEASURED_PAIRWISE_FIT_H
#define WEFT_COSTMODEL_MEASURED_PAIRWISE_FIT_H

#include "costmodel/measured/pairwise.h"

/* A cause makes pairs slower by at least this; log 1.1. */
#define PAIRWISE_MIN_EFFECT 0.0953

/* A part that pairs may share. */
enum pairwise_part {
	PAIRWISE_NODE,	 /* an end */
	PAIRWISE_UPLINK, /* what joins a domain to the rest */
	PAIRWISE_INSIDE, /* what joins the children of a domain */
};

struct pairwise_cause {
	enum pairwise_part part;
	uint32_t index; /* node, or domain */
	double effect;	/* log of how many times slower; > 0 */
	double gain;	/* sum of |log| that it explains */
	uint32_t n_pairs;
	bool shared; /* the effect is that of several nodes */
};

struct pairwise_point {
	uint32_t pair; /* of weft_pairwise */
	uint32_t a, b;
	uint32_t level; /* where the nodes meet: the class */
	double log_rate;
	double explained; /* the largest effect of the causes found */
};

struct pairwise_fit {
	const struct weft_fabric *f;
	struct pairwise_point *points;
	uint32_t n;
	double center[WEFT_MAX_LEVELS + 1]; /* of a class, explained apart */
	double scale[WEFT_MAX_LEVELS + 1];  /* robust standard deviation */
	uint32_t size[WEFT_MAX_LEVELS + 1];
	struct pairwise_cause *causes;
	uint32_t n_causes;
	double *scratch; /* [2 * n] */
};

/* The points of one test with its causes, largest gain first.  Free in either
 * case. */
int pairwise_fit_build(const struct weft_pairwise *p, uint32_t test,
		       const struct weft_fabric *f, struct pairwise_fit *fit,
		       struct weft_error *err);
void pairwise_fit_free(struct pairwise_fit *fit);

/* pairwise_set.c: nodes that share one drop, as causes[most] of the points as
 * they are; their number, 0 where there are none, WEFT_NONE with err. */
uint32_t pairwise_set_find(struct pairwise_fit *fit,
			   struct pairwise_cause *causes, uint32_t most,
			   struct weft_error *err);
/* Gives nodes of nearly the same effect the same. */
void pairwise_set_share(struct pairwise_fit *fit);

/* How much slower a point is than its class and causes say; log. */
double pairwise_rest(const struct pairwise_fit *fit, uint32_t point);

#endif
