/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate.h - from measured collectives to parameters of links and times
 *
 * A calibration has one entry per collective and number of ranks and nodes (and
 * system, where a table names several), each with a curve of time over size,
 * and from these the links of a fabric file.
 */
#ifndef WEFT_LAB_CALIBRATE_CALIBRATE_H
#define WEFT_LAB_CALIBRATE_CALIBRATE_H

#include "costmodel/measured/nccl_log.h"
#include "lab/calibrate/curve.h"
#include "topology/fabric.h"

/* Sizes from here on are "large" in errors: transfers, not launches. */
#define WEFT_CALIBRATE_LARGE_BYTES (1u << 20)

struct weft_calibrate_options {
	/* Taken where a log does not say; 0 and WEFT_N_COLLECTIVES: nothing.
	 * Zero-initialised options name WEFT_ALL_REDUCE: set it. */
	enum weft_collective collective;
	uint32_t n_ranks, n_nodes;
	/* GPUs of an NVLink domain that spans nodes; 0: domains are nodes. */
	uint32_t domain_gpus;
	/* What a node's NICs together reach to other nodes, one direction, for
	 * predictions where only one node was measured; 0: unknown. */
	double network_bytes_per_s;
};

struct weft_calibration_entry {
	char label[WEFT_NCCL_LABEL_SIZE];
	enum weft_collective collective;
	uint32_t n_ranks, n_nodes; /* 0: unknown */
	uint32_t n_runs, n_rows, n_wrong;
	bool fitted;
	char refusal[160]; /* why not */
	struct weft_curve curve;
	double bus_factor; /* bus bandwidth = this * size / time */
	/* Of curves fitted to every second size, the median error on the
	 * others, in per cent, below and from WEFT_CALIBRATE_LARGE_BYTES; NAN
	 * where the halves cannot be fitted or have no such size. */
	double holdout_small_pct, holdout_large_pct;
};

enum weft_calibration_level { WEFT_CALIBRATION_NVLINK, WEFT_CALIBRATION_NET };

/* Figures for the `links` of a fabric file. */
struct weft_calibration_link {
	enum weft_calibration_level level;
	double rate_bytes_per_s; /* per GPU, one direction */
	double latency_s;	 /* NAN: the data do not say */
	uint32_t rate_entry;	 /* from which the rate was taken */
	bool rate_is_bound;	 /* the network may be faster than this */
};

struct weft_calibration {
	struct weft_calibration_entry *entries;
	uint32_t n_entries, n_fitted;
	struct weft_calibration_link links[2];
	uint32_t n_links;	    /* 0 where entries are of several systems */
	double network_bytes_per_s; /* the option; 0: unknown */
	double mape_pct; /* mean over the sizes of all fitted entries */
};

/* Calibrates with all rows of logs[n].  Entries that the data do not support
 * are there, not fitted, with the reason.  Free *calibration after 0. */
int weft_calibrate(const struct weft_nccl_log *logs, size_t n,
		   const struct weft_calibrate_options *options,
		   struct weft_calibration *calibration,
		   struct weft_error *err);
void weft_calibration_free(struct weft_calibration *calibration);

/* Which share of the link's rate sizes get in the fit that its rate is from,
 * latency apart, so that
 *	time(S) = latency + S / (rate of that collective x share)
 * at powers of two between the sizes measured, from the first on at which the
 * latency is not nearly all of the time (below, the data do not say), and at
 * the largest.  For the `shares` of a fabric file.  Returns how many. */
uint32_t
weft_calibration_shares(const struct weft_calibration *calibration,
			const struct weft_calibration_link *link,
			struct weft_rate_share shares[WEFT_MAX_SHARES]);

/* Seconds of a collective over n_nodes nodes with as many ranks each as were
 * measured: the entry's curve where there is one.  Else by what limits the
 * algorithm there: one node by its links, or its switches where they add up;
 * two nodes by what they exchange; more by the faster of rings and trees;
 * latency and the filling of the pipeline grow with each doubling of the nodes,
 * as they did between those measured.  label NULL: any.  NAN where nothing was
 * fitted for this collective, or n_nodes is 0. */
double weft_calibration_time(const struct weft_calibration *calibration,
			     const char *label, enum weft_collective collective,
			     uint32_t n_nodes, double size_bytes);

/* On what such a time rests. */
enum weft_calibration_basis {
	WEFT_CALIBRATION_NOTHING, /* the time is NAN */
	WEFT_CALIBRATION_MEASURED,
	WEFT_CALIBRATION_BETWEEN, /* fewer and more nodes were measured */
	WEFT_CALIBRATION_BEYOND,  /* two numbers of nodes on one side were */
	WEFT_CALIBRATION_SINGLE,  /* one other number of nodes was */
	WEFT_N_CALIBRATION_BASES
};
/* "measured", "between", ... */
extern const char *const weft_calibration_basis_names[WEFT_N_CALIBRATION_BASES];
enum weft_calibration_basis
weft_calibration_basis(const struct weft_calibration *calibration,
		       const char *label, enum weft_collective collective,
		       uint32_t n_nodes);

#endif
