/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate_link.c - from a collective's time to the rate of a GPU's link */
#include "lab/calibrate/calibrate_link.h"

#include <math.h>
#include <string.h>

/* Of a time, what is not latency: less is lost in the noise of the latency. */
#define MIN_TRANSFER 0.25

static double gpus_per_node(const struct weft_calibration_entry *entry)
{
	return (double)entry->n_ranks / entry->n_nodes;
}

/* Bytes per second and direction that one GPU's links to others carried at the
 * entry's peak; *bound: a narrower link elsewhere may have set it.
 *
 * Inside one node every GPU sends what bus bandwidth counts.  Between nodes a
 * ring enters and leaves each node once per channel, so that the GPUs of a node
 * share the bus bandwidth; in an all-to-all each GPU sends the part of its data
 * that is for other nodes; a send-recv goes to the next rank, and only the last
 * of a node crosses. */
static double entry_rate(const struct weft_calibration_entry *entry,
			 bool *bound)
{
	double bus = entry->bus_factor * entry->curve.peak_bytes_per_s;
	double n = entry->n_ranks, g = gpus_per_node(entry);

	*bound = false;
	if (entry->n_nodes == 1)
		return bus;
	switch (entry->collective) {
	case WEFT_ALL_TO_ALL:
		return entry->curve.peak_bytes_per_s * (n - g) / n;
	case WEFT_SEND_RECV:
		return bus;
	case WEFT_ALL_REDUCE:
		/* Two nodes exchange their sums: less than a ring would. */
		*bound = true;
		return entry->n_nodes == 2 ? entry->curve.peak_bytes_per_s / g
					   : bus / g;
	default:
		*bound = true;
		return bus / g;
	}
}

static bool is_level(const struct weft_calibration_entry *entry,
		     enum weft_calibration_level level)
{
	return entry->fitted && entry->n_nodes && entry->n_ranks > 1 &&
	       (entry->n_nodes == 1) == (level == WEFT_CALIBRATION_NVLINK);
}

/* A switch that adds up makes the all-reduce of one node faster than its links
 * are: other collectives tell better. */
static bool is_plain(const struct weft_calibration_entry *entry,
		     enum weft_calibration_level level)
{
	return level != WEFT_CALIBRATION_NVLINK ||
	       entry->collective != WEFT_ALL_REDUCE;
}

/* What a collective got through a link is a lower bound of the link: the
 * greatest is nearest to it. */
static bool link_rate(const struct weft_calibration *c,
		      struct weft_calibration_link *link)
{
	bool plain = false, found = false;

	for (uint32_t i = 0; i < c->n_entries; i++)
		plain |= is_level(&c->entries[i], link->level) &&
			 is_plain(&c->entries[i], link->level);
	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];
		bool bound;
		double rate;

		if (!is_level(e, link->level) ||
		    (plain && !is_plain(e, link->level)))
			continue;
		rate = entry_rate(e, &bound);
		if (found && rate <= link->rate_bytes_per_s)
			continue;
		found = true;
		link->rate_bytes_per_s = rate;
		link->rate_is_bound = bound || !e->curve.rate_reached;
		link->rate_entry = i;
	}
	return found;
}

/* A launch costs the same on any number of nodes, so that only growth over
 * nodes is the network's: an all-reduce goes up and down a tree, which has one
 * level more when the nodes double.  NAN without two numbers of nodes. */
static double net_latency(const struct weft_calibration *c)
{
	const struct weft_calibration_entry *least = NULL, *most = NULL;
	double growth;

	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];

		if (!is_level(e, WEFT_CALIBRATION_NET) ||
		    e->collective != WEFT_ALL_REDUCE || !e->curve.latency_seen)
			continue;
		if (!least || e->n_nodes < least->n_nodes)
			least = e;
		if (!most || e->n_nodes > most->n_nodes)
			most = e;
	}
	if (!least || least->n_nodes == most->n_nodes)
		return (double)NAN;
	growth = most->curve.latency_s - least->curve.latency_s;
	growth /= 2 * log2((double)most->n_nodes / least->n_nodes);
	return growth > 0 ? growth : (double)NAN;
}

/* Links of different systems are not one fabric's. */
static bool one_system(const struct weft_calibration *c)
{
	for (uint32_t i = 1; i < c->n_entries; i++) {
		if (strcmp(c->entries[i].label, c->entries[0].label) != 0)
			return false;
	}
	return true;
}

void calibrate_links(struct weft_calibration *calibration)
{
	static const enum weft_calibration_level levels[] = {
		WEFT_CALIBRATION_NVLINK, WEFT_CALIBRATION_NET};

	for (uint32_t i = 0; i < 2 && one_system(calibration); i++) {
		struct weft_calibration_link link = {.level = levels[i],
						     .latency_s = (double)NAN};

		if (!link_rate(calibration, &link))
			continue;
		if (link.level == WEFT_CALIBRATION_NET)
			link.latency_s = net_latency(calibration);
		calibration->links[calibration->n_links++] = link;
	}
}

/* The share at one size; false where latency hides it. */
static bool share_at(const struct weft_calibration_entry *e, double size_bytes,
		     struct weft_rate_share *share)
{
	const struct weft_curve *curve = &e->curve;
	double latency_s = curve->latency_seen ? curve->latency_s : 0;
	double time_s = weft_curve_time(curve, size_bytes);

	if (!(time_s - latency_s > MIN_TRANSFER * time_s))
		return false;
	share->size_bytes = size_bytes;
	share->share = fmin(1, size_bytes / curve->peak_bytes_per_s /
				       (time_s - latency_s));
	return true;
}

uint32_t weft_calibration_shares(const struct weft_calibration *calibration,
				 const struct weft_calibration_link *link,
				 struct weft_rate_share shares[WEFT_MAX_SHARES])
{
	const struct weft_calibration_entry *e =
		&calibration->entries[link->rate_entry];
	double largest = e->curve.largest_bytes, size;
	uint32_t n = 0;

	size = exp2(ceil(log2(e->curve.smallest_bytes)));
	/* more than a fabric takes would begin below a byte */
	size = fmax(size, exp2(ceil(log2(largest)) - (WEFT_MAX_SHARES - 1)));
	for (; size < largest; size *= 2) {
		if (share_at(e, size, &shares[n]))
			n++;
		else
			n = 0;
	}
	return n + share_at(e, largest, &shares[n]);
}
