/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.h - into how many chunks (buckets) to split a gradient, so that its
 * sync hides behind the backward pass
 */
#ifndef WEFT_LAB_CALCULATORS_CHUNKS_H
#define WEFT_LAB_CALCULATORS_CHUNKS_H

#include "base/error.h"
#include "lab/calculators/convention.h"

#include <stdint.h>

/* PyTorch's DistributedDataParallel: bucket_cap_mb = 25 is bytes, not
 * parameters, and the first bucket is smaller. */
#define WEFT_BUCKET_BYTES	26214400.0
#define WEFT_BUCKET_FIRST_BYTES 1048576.0

/* 0 means the default that is named; the first two are required. */
struct weft_chunks_job {
	double gradient_bytes;
	double link_bytes_per_s;
	double overhead_s;	/* of starting one chunk (0) */
	double backward_s;	/* (0: not known) */
	double step_s;		/* without any overlap (0: not known) */
	uint32_t n_gpus;	/* ring of so many; 0: the limit of two passes
				 */
	uint32_t n_chunks;	/* 0: the best */
	double min_chunk_bytes; /* of the seeds' rule (25 MB) */
	/* Shares of the link's rate that the whole gradient, and one chunk, get
	 * (1): small messages get less. */
	double whole_efficiency, chunk_efficiency;
};

struct weft_chunks {
	double best; /* as a real number; INFINITY without overhead */
	double n_chunks;
	double chunk_bytes, chunk_s; /* one chunk's transfer, no overhead */
	double total_s;		     /* all chunks with their overheads */
	double growth; /* total_s over one unsplit transfer, minus 1 */
	double tail_s; /* last transfer and every start: what the split leaves
			* exposed however long the backward pass */
	/* Shares: of the backward pass that the sync takes, of the sync that is
	 * hidden behind it; NAN without backward_s. */
	double share_of_backward, hidden_share;
	double exposed_s;  /* by the timeline: chunk i is ready at i/n of the
			    * backward pass */
	double achieved_s; /* step_s less what is hidden; NAN without step_s */
};

/* -1 names the member of job that is impossible. */
int weft_chunks(const struct weft_chunks_job *job,
		enum weft_convention convention, struct weft_chunks *chunks,
		struct weft_error *err);

/* Buckets that DistributedDataParallel makes of a gradient. */
double weft_bucket_count(double gradient_bytes);

#endif
