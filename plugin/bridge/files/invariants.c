/* SPDX-License-Identifier: GPL-3.0-or-later */
/* invariants.c - counting what should never happen */
#include "plugin/bridge/files/invariants.h"

#define TOLD_EVERY_S 3600.0

const char *const weft_trouble_texts[WEFT_N_TROUBLES] = {
	[WEFT_TROUBLE_PLAN] = "a plan has a node that was not on offer",
	[WEFT_TROUBLE_BUSY] = "a plan has GPUs that are in use",
	[WEFT_TROUBLE_RECORD] = "a job's record contradicts itself",
	[WEFT_TROUBLE_TABLE] = "Slurm's nodes are others than those paired",
	[WEFT_TROUBLE_CPUS] = "a recount found other CPUs in use",
	[WEFT_TROUBLE_MEMORY] = "a recount found other memory in use",
	[WEFT_TROUBLE_GPUS] = "a recount found other GPUs free",
	[WEFT_TROUBLE_TWICE] = "two jobs have the same GPU",
	[WEFT_TROUBLE_SLOW] = "a decision took far more than its budget",
	[WEFT_TROUBLE_ROOM] = "no memory to follow a job",
};

const char *const weft_trouble_codes[WEFT_N_TROUBLES] = {
	[WEFT_TROUBLE_PLAN] = "plan",	     [WEFT_TROUBLE_BUSY] = "busy",
	[WEFT_TROUBLE_RECORD] = "record",    [WEFT_TROUBLE_TABLE] = "table",
	[WEFT_TROUBLE_CPUS] = "cpus",	     [WEFT_TROUBLE_MEMORY] = "memory",
	[WEFT_TROUBLE_GPUS] = "gpus",	     [WEFT_TROUBLE_TWICE] = "twice",
	[WEFT_TROUBLE_SLOW] = "over-budget", [WEFT_TROUBLE_ROOM] = "no-memory",
};

struct weft_invariants weft_invariants;

bool weft_invariant_broken(struct weft_invariants *complaints,
			   enum weft_trouble trouble, uint32_t times,
			   double now_s, uint64_t *n_since)
{
	bool first = complaints->n_told[trouble] == 0;

	complaints->n[trouble] += times;
	*n_since = complaints->n[trouble] - complaints->n_told[trouble];
	if (!*n_since ||
	    (!first && now_s - complaints->told_s[trouble] < TOLD_EVERY_S))
		return false;
	complaints->n_told[trouble] = complaints->n[trouble];
	complaints->told_s[trouble] = now_s;
	return true;
}
