/* SPDX-License-Identifier: GPL-3.0-or-later */
/* invariants.h - what should never happen: counted each time, told once an
 * hour; no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_INVARIANTS_H
#define WEFT_PLUGIN_BRIDGE_FILES_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

enum weft_trouble {
	WEFT_TROUBLE_PLAN,   /* a plan names a node that was not on offer */
	WEFT_TROUBLE_BUSY,   /* GPUs of a plan are not free any more */
	WEFT_TROUBLE_RECORD, /* a job's record cannot be right */
	WEFT_TROUBLE_TABLE,  /* bitmaps of another size than Slurm's table */
	WEFT_TROUBLE_CPUS,   /* a recount found other CPUs in use */
	WEFT_TROUBLE_MEMORY, /* other memory in use */
	WEFT_TROUBLE_GPUS,   /* other GPUs free */
	WEFT_TROUBLE_TWICE,  /* a GPU that two jobs have */
	WEFT_TROUBLE_SLOW,   /* a decision took far more than its budget */
	WEFT_TROUBLE_ROOM,   /* no memory to follow a job */
	WEFT_N_TROUBLES
};

/* Sentences for the log, and codes for weft-status-file(5). */
extern const char *const weft_trouble_texts[WEFT_N_TROUBLES];
extern const char *const weft_trouble_codes[WEFT_N_TROUBLES];

/* Written under Slurm's locks; the counts may be read by any thread. */
struct weft_invariants {
	_Atomic uint64_t n[WEFT_N_TROUBLES];
	uint64_t n_told[WEFT_N_TROUBLES];
	double told_s[WEFT_N_TROUBLES];
};

extern struct weft_invariants weft_invariants;

/* Counts `times` of it at now_s (any clock that never goes back).  true when it
 * is to be told: *n_since is how often it happened since it was told last. */
bool weft_invariant_broken(struct weft_invariants *complaints,
			   enum weft_trouble trouble, uint32_t times,
			   double now_s, uint64_t *n_since);

#endif
