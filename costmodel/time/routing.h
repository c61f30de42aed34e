/* SPDX-License-Identifier: GPL-3.0-or-later */
/* routing.h - how much longer a phase takes because flows are hashed on uplinks
 *
 * A domain's uplinks carry together what weft_cost_uplink_rate says only where
 * its traffic is spread over them evenly.  Switches that hash a flow's header
 * (ECMP), or look its destination up in a fixed table, put whole flows on one
 * uplink each, as balls into bins; the phase ends when the fullest uplink is
 * through.  Adaptive routing and sprayed packets spread evenly: no loss.
 *
 * The distribution of the fullest of k bins is exact (a recurrence of the
 * coefficients of the k-th power of a truncated exponential series) for few
 * flows, for two uplinks, and in the tail; in between it is B. Levin's
 * representation by truncated Poisson variables with an Edgeworth expansion
 * ("A representation for multinomial cumulative distribution functions",
 * Annals of Statistics 9, 1981).  Expectations are within 0.3 % of exact ones
 * for 1 to 256 uplinks.
 *
 * Checked against flows on SimGrid (wire.md, section 4): rings and all-to-alls
 * over eight leafs at k = 2 to 32.
 */
#ifndef WEFT_COSTMODEL_TIME_ROUTING_H
#define WEFT_COSTMODEL_TIME_ROUTING_H

#include "topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/* Links above one domain, or above several that are alike. */
struct weft_hashed_link {
	double pooled_s;    /* of the domain's load, spread evenly: its bytes
			     * over the rate of all its uplinks together */
	double floor_s;	    /* that the phase takes anyway: the slowest flow
			     * through its NIC, or any other link.  Flows
			     * that NICs hold back leave room on uplinks, so
			     * nothing is lost until the fullest one takes
			     * longer than this */
	uint32_t n_flows;   /* that leave the domain (or enter it): pairs of
			     * GPUs x weft_routing_flows */
	uint32_t n_uplinks; /* equal ones that each flow chooses from */
	uint32_t n_draws;   /* independent choices that the phase waits for:
			     * domains alike, x parallel leafs of a bundle, x
			     * 2 for uplinks and downlinks; but x 1 where all
			     * that leaves a domain enters one other (a ring):
			     * the choice of a spine then sets both */
};

/* Expected seconds of the slowest of n links, taken as independent; 0 for n =
 *0. Of one, where n_flows equal flows are put on n_uplinks equal uplinks at
 *random and uniformly, n_draws times: E max(floor_s, pooled_s x fullest load /
 *mean load) pooled_s and floor_s finite and >= 0; with n_flows, n_uplinks or
 *n_draws 0 the larger of both.  Neighbours in the list with the same figures
 *are taken together, and links that cannot matter are passed over.  O(n) times
 *1 to 50 microseconds; keeps nothing. */
double weft_routing_links_s(const struct weft_hashed_link *links, uint32_t n);

/* Whether flows above this domain are put on one of several uplinks each: the
 * fabric's routing is not adaptive, and the domain is made of switches (a
 * node's GPUs have a NIC of their own each) with more than one uplink. */
bool weft_routing_hashed(const struct weft_fabric *f, uint32_t domain);

/* Flows that one pair of GPUs makes: f->n_flows where it is ecmp; 1
 * where it is static, because all flows to one destination take one way. */
uint32_t weft_routing_flows(const struct weft_fabric *f);

/* Uplinks that one flow out of the domain chooses from, at least 1: cables that
 * are up where the file has them, else as many as the rate above the domain
 * holds NICs' rates (of the first network level).  A bundle of leafs, one for
 * each rail, is *n_parallel independent sets of so many (else *n_parallel is
 * 1), and each gets an equal part of the domain's flows. */
uint32_t weft_routing_uplinks(const struct weft_fabric *f, uint32_t domain,
			      uint32_t *n_parallel);

#endif
