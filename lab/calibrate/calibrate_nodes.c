/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate_nodes.c - a collective's time on numbers of nodes not measured
 *
 *   time = latency + backlog / rate + size / rate
 *
 * A transfer goes through a pipeline of nodes in pieces, and until it is full
 * and while it empties, `backlog` bytes pass at the rate besides the size.
 * Latency and backlog grow by the same for each level of a tree, that is for
 * each doubling of the nodes; the rate follows from what limits the algorithm
 * that the library takes there.
 */
#include "lab/calibrate/calibrate.h"

#include <math.h>
#include <string.h>

/* NVLink of Hopper, Blackwell and the one announced after, per direction: the
 * generations whose switches add up. */
static const double nvlink_bytes_per_s[] = {450e9, 900e9, 1800e9};
/* Rings measured 0.76 to 0.81 of NVLink, switches that add up 0.93 to 1.07. */
#define SWITCH_SHARE 0.87
#define NVLINK_MOST  1.1
/* 1.23 (B200), 1.25 (NVL72), 1.29 (H200) times the bandwidth of rings. */
#define SWITCH_GAIN 1.25
/* Below this part of what a node could do, the network is the limit. */
#define NET_LIMITS 0.9
/* NCCL's latency of one step of a ring that spans nodes: 3.4 us, 1.4 times. */
#define RING_STEP_S 4.76e-6
/* NCCL's latency of a message between nodes, in a tree. */
#define NET_STEP_S 14e-6
/* NCCL's latency of a small all-reduce on eight GPUs of a node: 6.6 us, and 14
 * steps of 0.6 us. */
#define NODE_LATENCY_S 15e-6
/* Pieces under way on one node: one in, one out. */
#define NODE_DEPTH 2

const char *const weft_calibration_basis_names[WEFT_N_CALIBRATION_BASES] = {
	"nothing", "measured", "between", "beyond", "single",
};

/* The nearest measured numbers of nodes: on both sides, or else the two on the
 * same side; far may be NULL. */
struct neighbours {
	const struct weft_calibration_entry *near, *far;
	const struct weft_calibration_entry *one, *two; /* nodes; or NULL */
	double n_nodes;
	double share; /* of the way from near to far; < 0: beyond near */
	double network_bytes_per_s; /* HUGE_VAL where measured, or unknown */
};

/* A time of one entry, taken apart. */
struct parts {
	double latency_s, backlog_bytes;
};

static bool is_of(const struct weft_calibration_entry *entry, const char *label,
		  enum weft_collective collective)
{
	return entry->fitted && entry->collective == collective &&
	       entry->n_nodes && (!label || strcmp(label, entry->label) == 0);
}

/* Of the same number of nodes, the one that uses most GPUs, which comes last.
 * Entries are in the order of nodes within a system. */
static struct neighbours find(const struct weft_calibration *c,
			      const char *label,
			      enum weft_collective collective, uint32_t n_nodes)
{
	const struct weft_calibration_entry *below[2] = {0}, *above[2] = {0};
	struct neighbours n = {.n_nodes = n_nodes};

	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];
		const struct weft_calibration_entry **side =
			e->n_nodes <= n_nodes ? below : above;
		double nearer;

		if (!is_of(e, label, collective))
			continue;
		if (e->n_nodes <= 2)
			*(e->n_nodes == 1 ? &n.one : &n.two) = e;
		nearer = side[0] ? fabs(log((double)side[0]->n_nodes /
					    n_nodes)) -
					   fabs(log((double)e->n_nodes /
						    n_nodes))
				 : 1;
		if (side[0] && side[0]->n_nodes == e->n_nodes) {
			side[0] = e;
		} else if (nearer > 0) {
			side[1] = side[0];
			side[0] = e;
		} else if (!side[1] ||
			   (e->n_nodes < side[1]->n_nodes) == (side == above)) {
			side[1] = e;
		}
	}
	n.near = below[0] ? below[0] : above[0];
	n.network_bytes_per_s = n_nodes > 1 && n.near == n.one && !above[0] &&
						c->network_bytes_per_s > 0
					? c->network_bytes_per_s
					: HUGE_VAL;
	n.far = !below[0] ? above[1] : above[0] ? above[0] : below[1];
	if (n.far)
		n.share = log2(n.n_nodes / n.near->n_nodes) /
			  log2((double)n.far->n_nodes / n.near->n_nodes);
	return n;
}

/* The peak, which is the most that was seen; a size beyond those measured may
 * be predicted to be faster. */
static double rate_at(const struct weft_calibration_entry *entry,
		      double size_bytes)
{
	return fmax(entry->curve.peak_bytes_per_s,
		    size_bytes / weft_curve_time(&entry->curve, size_bytes));
}

static struct parts parts_of(const struct weft_calibration_entry *entry,
			     double size_bytes)
{
	double rate = rate_at(entry, size_bytes);
	double wait_s =
		weft_curve_time(&entry->curve, size_bytes) - size_bytes / rate;
	double latency_s = fmin(fmax(wait_s, 0), entry->curve.latency_s);

	return (struct parts){latency_s, fmax(wait_s - latency_s, 0) * rate};
}

/* A line through near and far in the logarithm of nodes.  Beyond near it never
 * falls with more nodes, and keeps half with fewer: a node's own part. */
static double along(const struct neighbours *n, double near, double far)
{
	double change = (far - near) * n->share;

	if (n->share >= 0)
		return near + change;
	if (n->n_nodes > n->near->n_nodes)
		return near + fmax(change, 0);
	return near + fmax(fmin(change, 0), -near / 2);
}

static struct parts parts_at(const struct neighbours *n, double size_bytes)
{
	struct parts p = parts_of(n->near, size_bytes), far;

	if (!n->far) {
		double levels = log2(n->n_nodes / n->near->n_nodes);

		/* A message and a piece up the tree, and down again. */
		p.latency_s = fmax(p.latency_s + 2 * NET_STEP_S * levels,
				   p.latency_s / 2);
		if (n->n_nodes <= 1)
			p.latency_s = fmin(p.latency_s, NODE_LATENCY_S);
		p.backlog_bytes *= (NODE_DEPTH + 2 * log2(n->n_nodes)) /
				   (NODE_DEPTH + 2 * log2(n->near->n_nodes));
		return p;
	}
	far = parts_of(n->far, size_bytes);
	p.latency_s = along(n, p.latency_s, far.latency_s);
	p.backlog_bytes = along(n, p.backlog_bytes, far.backlog_bytes);
	return p;
}

static double ranks_at(const struct neighbours *n)
{
	return n->n_nodes * n->near->n_ranks / n->near->n_nodes;
}

/* Bytes through a rank's, or of a ring through a node's, link for each byte of
 * the size. */
static double wire_factor(enum weft_collective collective, double ranks,
			  double n_nodes)
{
	if (collective == WEFT_ALL_TO_ALL && n_nodes > 1)
		return 1 - 1 / n_nodes; /* what leaves the node */
	return weft_collective_bus_factor(
		collective, (uint32_t)fmin(ranks, (double)UINT32_MAX));
}

static double wire_rate(const struct weft_calibration_entry *entry,
			double size_bytes)
{
	return rate_at(entry, size_bytes) *
	       wire_factor(entry->collective, entry->n_ranks, entry->n_nodes);
}

/* Whether an all-reduce is faster than rings on the slowest NVLink that could
 * carry it. */
static bool switches_add(double bus_bytes_per_s)
{
	size_t n = sizeof(nvlink_bytes_per_s) / sizeof(nvlink_bytes_per_s[0]);

	for (size_t i = 0; i < n; i++) {
		if (bus_bytes_per_s <= NVLINK_MOST * nvlink_bytes_per_s[i])
			return bus_bytes_per_s >
			       SWITCH_SHARE * nvlink_bytes_per_s[i];
	}
	return true;
}

/* What rings would carry where an all-reduce reached this bus bandwidth. */
static double ring_rate(double bus_bytes_per_s)
{
	return switches_add(bus_bytes_per_s) ? bus_bytes_per_s / SWITCH_GAIN
					     : bus_bytes_per_s;
}

/* An all-reduce inside one node: no slower than over nodes, and by switches
 * where those of two nodes were seen to add up. */
static double rate_on_one(const struct neighbours *n, double factor,
			  double size_bytes)
{
	const struct weft_calibration_entry *more =
		n->near == n->two ? n->far : n->near;
	double bus = n->two ? wire_rate(n->two, size_bytes) : 0;
	double ring = more ? wire_rate(more, size_bytes) : 0;

	if (n->two && switches_add(bus))
		ring *= SWITCH_GAIN;
	return fmax(bus, ring) / factor;
}

/* An all-reduce over two nodes, that exchange their sums: each node sends and
 * receives the size once.  More nodes tell what their network can do where that
 * is less than their GPUs can. */
static double rate_on_two(const struct neighbours *n, double factor,
			  double size_bytes)
{
	double bus, more;

	if (!n->one)
		return wire_rate(n->near, size_bytes) / factor;
	bus = wire_rate(n->one, size_bytes);
	more = n->far ? wire_rate(n->far, size_bytes) : bus;
	if (more < NET_LIMITS * ring_rate(bus))
		return fmin(bus / factor, more);
	return fmin(bus / factor, n->network_bytes_per_s);
}

/* Bus bandwidth of rings over three nodes and more, which the network lets
 * through, or those inside a node limit. */
static double ring_beyond_two(const struct neighbours *n, double size_bytes)
{
	double one = n->one ? wire_rate(n->one, size_bytes) : (double)NAN;
	double two;

	if (!n->two)
		return fmin(ring_rate(one), n->network_bytes_per_s);
	two = wire_rate(n->two, size_bytes);
	if (n->one ? two >= NET_LIMITS * one : switches_add(two))
		return ring_rate(n->one ? one : two);
	return fmin(rate_at(n->two, size_bytes),
		    n->one ? ring_rate(one) : HUGE_VAL);
}

/* Of rings and trees the faster.  Rings take a step for each rank; in a tree of
 * three nodes and more, nodes have two children, and carry half of what two
 * nodes exchange. */
static double beyond_two(const struct neighbours *n, const struct parts *parts,
			 double factor, double size_bytes)
{
	double ring = ring_beyond_two(n, size_bytes) / factor;
	double tree = (n->two ? rate_at(n->two, size_bytes)
			      : rate_on_two(n, factor, size_bytes)) /
		      2;
	double ring_wait_s = parts->latency_s + parts->backlog_bytes / ring;
	double steps = 2 * (ranks_at(n) - 1);

	return fmin(fmax(ring_wait_s, steps * RING_STEP_S) + size_bytes / ring,
		    parts->latency_s +
			    (parts->backlog_bytes + size_bytes) / tree);
}

/* Rings over nodes: their wire rate stays.  Between two numbers of nodes it
 * goes from one to the other, but what one node does says nothing of the
 * network. */
static double rate_of_rings(const struct neighbours *n, double factor,
			    double size_bytes)
{
	double near = wire_rate(n->near, size_bytes), far;

	double network = n->network_bytes_per_s;

	/* Of an all-to-all each rank has its share of the node's. */
	if (n->near->collective == WEFT_ALL_TO_ALL)
		network *= n->n_nodes / ranks_at(n);
	if (!n->far || n->share < 0)
		return fmin(near, network) / factor;
	far = wire_rate(n->far, size_bytes);
	if (n->near->n_nodes == 1 ||
	    (n->near->n_nodes == 2 && n->near->collective == WEFT_ALL_REDUCE))
		return far / factor;
	return pow(near, 1 - n->share) * pow(far, n->share) / factor;
}

double weft_calibration_time(const struct weft_calibration *calibration,
			     const char *label, enum weft_collective collective,
			     uint32_t n_nodes, double size_bytes)
{
	struct neighbours n = find(calibration, label, collective, n_nodes);
	struct parts parts;
	double factor, rate;

	if (!n.near || n_nodes == 0)
		return (double)NAN;
	if (n.near->n_nodes == n_nodes)
		return weft_curve_time(&n.near->curve, size_bytes);
	parts = parts_at(&n, size_bytes);
	factor = wire_factor(collective, ranks_at(&n), n_nodes);
	if (collective != WEFT_ALL_REDUCE)
		rate = rate_of_rings(&n, factor, size_bytes);
	else if (n_nodes == 1)
		rate = rate_on_one(&n, factor, size_bytes);
	else if (n_nodes == 2)
		rate = rate_on_two(&n, factor, size_bytes);
	else if (n.near->n_nodes <= 2 && (!n.far || n.far->n_nodes <= 2))
		return beyond_two(&n, &parts, factor, size_bytes);
	else
		rate = rate_of_rings(&n, factor, size_bytes);
	return parts.latency_s + (parts.backlog_bytes + size_bytes) / rate;
}

enum weft_calibration_basis
weft_calibration_basis(const struct weft_calibration *calibration,
		       const char *label, enum weft_collective collective,
		       uint32_t n_nodes)
{
	struct neighbours n = find(calibration, label, collective, n_nodes);

	if (!n.near || n_nodes == 0)
		return WEFT_CALIBRATION_NOTHING;
	if (n.near->n_nodes == n_nodes)
		return WEFT_CALIBRATION_MEASURED;
	if (!n.far)
		return WEFT_CALIBRATION_SINGLE;
	return n.share >= 0 ? WEFT_CALIBRATION_BETWEEN
			    : WEFT_CALIBRATION_BEYOND;
}
