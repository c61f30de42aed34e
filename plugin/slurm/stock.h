/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stock.h - Slurm's own select/cons_tres, which does all the real work */
#ifndef WEFT_PLUGIN_SLURM_STOCK_H
#define WEFT_PLUGIN_SLURM_STOCK_H

#include "plugin/slurm/compat.h"

/* One question "can this job run on these nodes, and on which": the parameters
 * of select_p_job_test in any release. */
struct weft_job_test {
	job_record_t *job;
	bitstr_t *nodes; /* in: candidates; out: the chosen ones */
	uint32_t min_nodes, max_nodes, want_nodes;
	uint16_t mode;
	list_t *preemptable;
	list_t **preempted;
	weft_excluded *excluded;
	WEFT_WILL_RUN_MEMBER
};

/* clang-format off: it takes the types in a macro for products */
#define WEFT_JOB_TEST_PARAMS                                                   \
	(job_record_t * job, bitstr_t * nodes, uint32_t min_nodes,             \
	 uint32_t max_nodes, uint32_t want_nodes, uint16_t mode,               \
	 list_t * preemptable, list_t * *preempted,                            \
	 weft_excluded * excluded WEFT_WILL_RUN_PARAM)
#define WEFT_JOB_TEST_INIT                                                     \
	{                                                                      \
		.job = job, .nodes = nodes, .min_nodes = min_nodes,            \
		.max_nodes = max_nodes, .want_nodes = want_nodes,              \
		.mode = mode, .preemptable = preemptable,                      \
		.preempted = preempted, .excluded = excluded WEFT_WILL_RUN_ARG \
	}
/* clang-format on */

/* Stock's functions by the names of the select interface. */
struct weft_stock {
#define OP(result, name, params, args) result(*name) params;
#define HOOK			       OP
#include "plugin/weft_ops.def"
#undef HOOK
#undef OP
};

extern struct weft_stock weft_stock;

/* Finds and loads stock's select_cons_tres.so along PluginDir; idempotent.
 * *shadow: weft itself was loaded under that name.  SLURM_SUCCESS or
 * SLURM_ERROR, said in the log. */
int weft_stock_load(bool *shadow);
void weft_stock_unload(void);

/* Stock's answer.  The time that it takes is not weft's: weft's deadline is put
 * off by it, and it is added up. */
int weft_stock_job_test(const struct weft_job_test *test);
extern double weft_stock_s;

#endif
