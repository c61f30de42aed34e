/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpus.c - reading the gres lists of nodes and jobs */
#include "plugin/slurm/gpus.h"

#include <string.h>

#include "base/bitset.h"
#include "topology/fabric.h"

#include "src/common/node_conf.h"

uint32_t weft_gpus_id(void)
{
	static char name[] = "gpu";
	static uint32_t id;

	if (!id)
		id = gres_build_id(name);
	return id;
}

static uint64_t bits_to_mask(bitstr_t *bits)
{
	uint64_t mask = 0;
	int64_t size = bits ? bit_size(bits) : 0;

	for (int64_t i = 0; i < size && i < WEFT_MAX_GPUS_PER_NODE; i++)
		if (bit_test(bits, i))
			mask |= UINT64_C(1) << i;
	return mask;
}

static uint64_t count_to_mask(uint64_t n)
{
	return weft_mask_first(n < WEFT_MAX_GPUS_PER_NODE
				       ? (uint32_t)n
				       : WEFT_MAX_GPUS_PER_NODE);
}

/* ---- of a node ---- */

struct node_scan {
	uint32_t gpu_id;
	const char *type;
	uint64_t of_type, busy;
	struct weft_gpus gpus;
};

/* GPUs of a type, where the node's gres.conf tells which they are. */
static uint64_t type_mask(const gres_node_state_t *gres, const char *type)
{
	uint64_t mask = 0;

	for (uint16_t t = 0; t < gres->topo_cnt; t++) {
		if (gres->topo_type_name && gres->topo_gres_bitmap &&
		    gres->topo_type_name[t] &&
		    strcmp(gres->topo_type_name[t], type) == 0)
			mask |= bits_to_mask(gres->topo_gres_bitmap[t]);
	}
	/* Without such detail a node of one type has only that. */
	if (!gres->topo_cnt && gres->type_cnt == 1 && gres->type_name &&
	    gres->type_name[0] && strcmp(gres->type_name[0], type) == 0)
		mask = UINT64_MAX;
	return mask;
}

/* Which GPUs are of which type is known once the node has registered, if its
 * gres.conf names files; else Slurm only counts them. */
static bool only_counts_types(const gres_node_state_t *gres)
{
	return gres->type_cnt > 1 &&
	       (!gres->topo_cnt || !gres->topo_gres_bitmap ||
		!gres->topo_gres_bitmap[0]);
}

static void count_type(const gres_node_state_t *gres, struct node_scan *scan)
{
	for (uint16_t t = 0; t < gres->type_cnt; t++) {
		if (!gres->type_name || !gres->type_name[t] ||
		    strcmp(gres->type_name[t], scan->type) != 0)
			continue;
		scan->gpus.all |= count_to_mask(gres->type_cnt_avail[t]);
		scan->busy |= count_to_mask(gres->type_cnt_alloc[t]);
	}
}

/* Slurm clears the bit of a shared GPU when the first of those that share it
 * ends; its counts are right. */
static uint64_t shared_mask(const gres_node_state_t *gres)
{
	uint64_t mask = 0;

	if (!gres->topo_cnt || !gres->topo_gres_cnt_alloc ||
	    !gres->topo_gres_bitmap)
		return bits_to_mask(gres->gres_bit_alloc);
	for (uint16_t t = 0; t < gres->topo_cnt; t++)
		if (gres->topo_gres_cnt_alloc[t])
			mask |= bits_to_mask(gres->topo_gres_bitmap[t]);
	return mask;
}

static int scan_node(void *item, void *arg)
{
	const gres_state_t *state = item;
	const gres_node_state_t *gres = state->gres_data;
	struct node_scan *scan = arg;

	if (!gres)
		return 0;
	if (state->plugin_id != scan->gpu_id) {
		if (state->config_flags & GRES_CONF_SHARED)
			scan->gpus.shared |= shared_mask(gres);
		return 0;
	}
	scan->gpus.has_indices = gres->gres_bit_alloc != NULL;
	if (scan->type && only_counts_types(gres)) {
		count_type(gres, scan);
		return 0;
	}
	scan->gpus.all |= count_to_mask(gres->gres_cnt_avail);
	scan->busy |= gres->gres_bit_alloc
			      ? bits_to_mask(gres->gres_bit_alloc)
			      : count_to_mask(gres->gres_cnt_alloc);
	if (scan->type)
		scan->of_type &= type_mask(gres, scan->type);
	return 0;
}

struct weft_gpus weft_gpus_of_node(const node_record_t *node, const char *type)
{
	struct node_scan scan = {
		.gpu_id = weft_gpus_id(),
		.type = type,
		.of_type = UINT64_MAX,
	};

	if (node->gres_list)
		list_for_each(node->gres_list, scan_node, &scan);
	scan.gpus.all &= scan.of_type;
	scan.gpus.free = scan.gpus.all & ~scan.busy & ~scan.gpus.shared;
	return scan.gpus;
}

/* ---- of a job ---- */

struct job_scan {
	uint32_t gpu_id, nth;
	uint64_t gpus;
};

static int scan_job(void *item, void *arg)
{
	const gres_state_t *state = item;
	const gres_job_state_t *gres = state->gres_data;
	struct job_scan *scan = arg;

	if (!gres || state->plugin_id != scan->gpu_id ||
	    scan->nth >= gres->node_cnt)
		return 0;
	if (gres->gres_bit_alloc && gres->gres_bit_alloc[scan->nth])
		scan->gpus |= bits_to_mask(gres->gres_bit_alloc[scan->nth]);
	else if (gres->gres_cnt_node_alloc)
		scan->gpus |=
			count_to_mask(gres->gres_cnt_node_alloc[scan->nth]);
	return 0;
}

uint64_t weft_gpus_of_list(list_t *given, uint32_t nth)
{
	struct job_scan scan = {.gpu_id = weft_gpus_id(), .nth = nth};

	if (given)
		list_for_each(given, scan_job, &scan);
	return scan.gpus;
}

uint64_t weft_gpus_of_job(const job_record_t *job, uint32_t nth)
{
	return weft_gpus_of_list(job->gres_list_alloc, nth);
}
