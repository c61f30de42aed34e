/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise.h - bandwidth measured between pairs of nodes, against each other
 * and against the fabric
 *
 * Input is what people have after they ran nccl-tests between every two nodes:
 * its logs (one file a pair, or many; the hosts stand in their "Rank" lines), a
 * folder of them, or a table of CSV.  weft_pairwise_audit names the node or the
 * link that explains most of what is slow first, then what that leaves.
 *
 *	struct weft_pairwise p = {0};
 *	weft_pairwise_load(&p, "logs/", f, &findings, &err);
 *	weft_pairwise_audit(&p, f, &findings, &err);
 *	weft_pairwise_free(&p);
 */
#ifndef WEFT_COSTMODEL_MEASURED_PAIRWISE_H
#define WEFT_COSTMODEL_MEASURED_PAIRWISE_H

#include "costmodel/traffic/collective.h"
#include "topology/fabric.h"
#include "topology/inventory/finding.h"

#define WEFT_PAIRWISE_MAX_PAIRS (1u << 22)
#define WEFT_PAIRWISE_MAX_FILES (1u << 18)

/* What was run: pairs of one test compare. */
struct weft_pairwise_test {
	char name[32];			 /* "alltoall", or "" */
	enum weft_collective collective; /* WEFT_N_COLLECTIVES: not known */
	uint32_t gpus;			 /* of each node; 0: not known */
};

struct weft_pairwise_pair {
	uint32_t a, b; /* nodes of the fabric */
	uint32_t test;
	double rate_bytes_per_s; /* busbw of large messages; 0: it failed */
	uint32_t line;		 /* in its source */
	uint32_t source;
};

struct weft_pairwise {
	struct weft_pairwise_pair *pairs;
	struct weft_pairwise_test *tests;
	char **sources; /* names of files */
	uint32_t n_pairs, n_tests, n_sources;

	/* private */
	uint32_t pairs_room, tests_room, sources_room;
};

/* Adds the measurements of a file or of the files of a folder (gzip is
 * unpacked): logs of nccl-tests, or CSV whose header has the columns
 *   a, b, bandwidth   two nodes and GB/s (bandwidth_Gbps: in Gb/s), or
 *   nodes, avg_bus_bw_GBs   a hostlist of two and GB/s,
 * and, where tests differ, test and gpus (or G).  An empty bandwidth is a
 * failure.  Nodes that f does not have and lines that cannot be used become
 * findings.  -1 when a file cannot be read or is neither. */
int weft_pairwise_load(struct weft_pairwise *p, const char *path,
		       const struct weft_fabric *f,
		       struct weft_findings *findings, struct weft_error *err);
/* The same from memory. */
int weft_pairwise_parse(struct weft_pairwise *p, const char *text, size_t size,
			const char *source, const struct weft_fabric *f,
			struct weft_findings *findings, struct weft_error *err);
void weft_pairwise_free(struct weft_pairwise *p);

/* Adds findings node-slow, path-slow, pair-slow, pair-failed, pair-missing and
 * bandwidth-below-model; their weights say how much each explains. */
int weft_pairwise_audit(const struct weft_pairwise *p,
			const struct weft_fabric *f,
			struct weft_findings *findings, struct weft_error *err);

#endif
