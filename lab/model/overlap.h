/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap.h - what weft model overlap was asked, what it found, how it says it
 */
#ifndef WEFT_LAB_MODEL_OVERLAP_H
#define WEFT_LAB_MODEL_OVERLAP_H

#include "lab/model/model.h"
#include "lab/trace/advice.h"
#include "lab/trace/exchange.h"
#include "lab/trace/overlap.h"
#include "lab/trace/trace.h"
#include "lab/trace/waits.h"

struct overlap_answer {
	/* asked */
	struct model_options options;
	const char **files;
	uint32_t n_files;
	double link_bytes_per_s, latency_s; /* link 0: no model asked */
	const char *matrix_path, *collectives_path;
	uint32_t asked_steps; /* 0: as the traces say */
	uint32_t top;	      /* collectives listed in text */
	/* found; traces and overlaps are by rank */
	struct weft_trace *traces;
	struct weft_overlap *overlaps;
	struct weft_waits waits;
	struct weft_exchange exchange;
	struct weft_advice advice[WEFT_N_ADVICES];
	uint32_t n_steps;
	bool has_times; /* of any trace */
};

/* Seconds that the closed form has for call c of trace t; 0 when no link was
 * given, or its size or number of ranks is not known.  A group that is not
 * recorded is taken to be the whole job. */
double overlap_model_s(const struct overlap_answer *a,
		       const struct weft_trace *t,
		       const struct weft_trace_collective *c);
/* The same, summed over all calls of one kind on one rank; *measured_s has
 * these calls' time without waits. */
double overlap_model_kind_s(const struct overlap_answer *a, uint32_t rank,
			    enum weft_trace_op op, double *measured_s);

/* Share of the shorter of tau_comp and tau_comm that is hidden: the seeds'
 * eta in T = T_comp + T_comm - eta min(T_comp, T_comm). */
double overlap_eta_seed(const struct weft_overlap *o);

int overlap_print_json(const struct overlap_answer *a, struct weft_error *err);
void overlap_print_text(const struct overlap_answer *a);

#endif
