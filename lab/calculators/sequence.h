/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sequence.h - what splitting the sequence over GPUs costs one attention layer
 *
 * Two ways: ring attention passes blocks of keys and values around and computes
 * on one while the next arrives; gathering exchanges them before computing.
 */
#ifndef WEFT_LAB_CALCULATORS_SEQUENCE_H
#define WEFT_LAB_CALCULATORS_SEQUENCE_H

#include "base/error.h"
#include "lab/calculators/convention.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 means the default that is named; ways, tokens, hidden, and the link's rate
 * are required. */
struct weft_sequence_job {
	uint32_t ways;	      /* GPUs that share the sequence */
	double tokens;	      /* of the whole sequence */
	double hidden;	      /* width of keys (and of values) */
	double query_width;   /* of queries (hidden) */
	double element_bytes; /* (2) */
	double link_bytes_per_s, latency_s;
	/* Attention of one layer and GPU, forward: seconds, or else the rate in
	 * FLOP/s that 4 tokens^2 query_width / ways are done at; 0 and 0: not
	 * known. */
	double compute_s, flops;
	double sync_s; /* after each block (0) */
};

/* Times are of one layer's forward pass; NAN where computation is not known. */
struct weft_sequence {
	double hop_elements; /* K and V of one block: 2 S/N H */
	double hop_bytes, hops, ring_elements;
	double buffer_bytes;	    /* one block of K and V */
	double double_buffer_bytes; /* in and out: what overlap needs */
	double hop_s, ring_s, gather_bytes, gather_s;
	double compute_s, block_s;     /* of the layer, of one block */
	double ratio;		       /* hop_s / block_s; hidden up to 1 */
	double gather_ratio;	       /* gather_s / compute_s */
	double block_step_s;	       /* max(block_s, hop_s) + sync_s */
	double serial_s, overlapped_s; /* ring: without and with double buffer
					*/
	double gather_serial_s, gather_overlapped_s; /* likewise */
	double min_block_tokens; /* from which a ring is hidden: S/N at which
				  * computing a block takes as long as sending
				  * it (arXiv:2310.01889); NAN without flops */
	bool hidden;		 /* ratio <= 1 */
};

/* -1 names the member of job that is missing. */
int weft_sequence(const struct weft_sequence_job *job,
		  enum weft_convention convention,
		  struct weft_sequence *sequence, struct weft_error *err);

#endif
