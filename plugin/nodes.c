/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.c - free GPUs, CPUs and memory of Slurm's nodes */
#include "plugin/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/shown.h"
#include "topology/bitset.h"
#include "topology/hostlist.h"

#include "src/common/node_conf.h"

/* Only slurmctld has these, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));
extern bitstr_t *idle_node_bitmap __attribute__((weak));

/* Names quoted in the log. */
#define MAX_QUOTED 8

/* What was read is trusted for this long: whatever weft did not hear of costs a
 * refusal by stock at most. */
#define MAX_AGE_S 0.25

/* Node records lie all over the memory: so many ahead are fetched. */
#define AHEAD 8

/* ---- pairing ---- */

/* Appends "WHAT: n00,n01, ..." of the first few of n names. */
static void quote_names(char *text, size_t size, const char *what,
			const char *const *names, uint32_t n)
{
	uint32_t quoted = n < MAX_QUOTED ? n : MAX_QUOTED;
	char *list = n ? weft_hostlist_encode(names, quoted) : NULL;
	size_t used = strlen(text);

	if (n)
		snprintf(text + used, size - used, "; %u %s: %s%s", n, what,
			 list ? list : "", n > quoted ? ",..." : "");
	free(list);
}

static void pair_by_name(struct weft_nodes *nodes, char *summary, size_t size)
{
	const struct weft_fabric *f = nodes->fabric;
	const char *unknown[MAX_QUOTED], *absent[MAX_QUOTED];
	uint32_t n_unknown = 0, n_absent = 0, n_paired = 0;

	for (uint32_t i = 0; i < nodes->n; i++) {
		const node_record_t *node = node_record_table_ptr[i];
		uint32_t known;

		nodes->fabric_node[i] = WEFT_NONE;
		if (!node || !node->name)
			continue;
		known = weft_fabric_node(f, node->name);
		nodes->fabric_node[i] = known;
		if (known != WEFT_NONE) {
			nodes->slurm_node[known] = i;
			n_paired++;
		} else if (n_unknown++ < MAX_QUOTED) {
			unknown[n_unknown - 1] = node->name;
		}
	}
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (nodes->slurm_node[i] == WEFT_NONE &&
		    n_absent++ < MAX_QUOTED)
			absent[n_absent - 1] = f->nodes[i].name;
	snprintf(summary, size, "%u nodes paired", n_paired);
	quote_names(summary, size, "not in the fabric", unknown, n_unknown);
	quote_names(summary, size, "of the fabric not in Slurm", absent,
		    n_absent);
}

int weft_nodes_build(const struct weft_fabric *f, struct weft_nodes *nodes,
		     char *summary, size_t size, struct weft_error *err)
{
	memset(nodes, 0, sizeof(*nodes));
	nodes->fabric = f;
	nodes->n = (uint32_t)node_record_count;
	nodes->stale = true;
	nodes->fabric_node =
		weft_calloc(nodes->n, sizeof(*nodes->fabric_node), err);
	nodes->slurm_node =
		weft_calloc(f->n_nodes, sizeof(*nodes->slurm_node), err);
	nodes->cpus_used =
		weft_calloc(nodes->n, sizeof(*nodes->cpus_used), err);
	nodes->memory_used =
		weft_calloc(nodes->n, sizeof(*nodes->memory_used), err);
	nodes->gpus_free =
		weft_calloc(nodes->n, sizeof(*nodes->gpus_free), err);
	nodes->weight = weft_calloc(f->n_nodes, sizeof(*nodes->weight), err);
	nodes->required = weft_calloc(weft_bitset_words(f->n_nodes),
				      sizeof(*nodes->required), err);
	if (!nodes->fabric_node || !nodes->slurm_node || !nodes->cpus_used ||
	    !nodes->memory_used || !nodes->gpus_free || !nodes->weight ||
	    !nodes->required ||
	    weft_occupancy_build(f, &nodes->occupancy, err) < 0)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		nodes->slurm_node[i] = WEFT_NONE;
	pair_by_name(nodes, summary, size);
	return 0;
}

void weft_nodes_free(struct weft_nodes *nodes)
{
	free(nodes->fabric_node);
	free(nodes->slurm_node);
	free(nodes->cpus_used);
	free(nodes->memory_used);
	free(nodes->gpus_free);
	free(nodes->weight);
	free(nodes->required);
	/* The occupancy borrows these two while they matter. */
	nodes->occupancy.weight = NULL;
	nodes->occupancy.required = NULL;
	weft_occupancy_free(&nodes->occupancy);
	memset(nodes, 0, sizeof(*nodes));
}

/* ---- GPUs ---- */

struct gpu_scan {
	uint32_t gpu_id;
	const char *type; /* NULL: any */
	uint64_t free;
	uint64_t shared; /* GPUs with shards (or MPS) in use */
	bool found;
};

static uint64_t bits_to_mask(bitstr_t *bits)
{
	uint64_t mask = 0;
	int64_t size = bits ? bit_size(bits) : 0;

	for (int64_t i = 0; i < size && i < WEFT_MAX_GPUS_PER_NODE; i++)
		if (bit_test(bits, i))
			mask |= UINT64_C(1) << i;
	return mask;
}

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

static int scan_gres(void *item, void *arg)
{
	const gres_state_t *state = item;
	const gres_node_state_t *gres = state->gres_data;
	struct gpu_scan *scan = arg;
	uint64_t all, busy;

	if (!gres)
		return 0;
	if (state->plugin_id != scan->gpu_id) {
		if (state->config_flags & GRES_CONF_SHARED)
			scan->shared |= bits_to_mask(gres->gres_bit_alloc);
		return 0;
	}
	all = weft_mask_first((uint32_t)(gres->gres_cnt_avail < 64
						 ? gres->gres_cnt_avail
						 : 64));
	/* Counted only (no File= in gres.conf): which ones is unknown, and the
	 * lowest are as good a guess as any. */
	busy = gres->gres_bit_alloc
		       ? bits_to_mask(gres->gres_bit_alloc)
		       : weft_mask_first((uint32_t)gres->gres_cnt_alloc);
	scan->free |= all & ~busy;
	if (scan->type)
		scan->free &= type_mask(gres, scan->type);
	scan->found = true;
	return 0;
}

static uint64_t free_gpus(const node_record_t *node, uint32_t gpu_id,
			  const char *type)
{
	struct gpu_scan scan = {.gpu_id = gpu_id, .type = type};

	if (node->gres_list)
		list_for_each(node->gres_list, scan_gres, &scan);
	return scan.found ? scan.free & ~scan.shared : 0;
}

/* ---- following the jobs ---- */

/* CPUs and memory of one job. */
static void count_given(struct weft_nodes *nodes, const job_record_t *job)
{
	const struct job_resources *given = job->job_resrcs;
	uint32_t nth = 0;
	int64_t first;

	if (!given || !given->node_bitmap)
		return;
	first = bit_ffs(given->node_bitmap);
	if (first < 0)
		return;
	for (uint32_t i = (uint32_t)first; i < nodes->n && nth < given->nhosts;
	     i++) {
		if (!bit_test(given->node_bitmap, i))
			continue;
		if (given->cpus)
			nodes->cpus_used[i] += given->cpus[nth];
		if (given->memory_allocated)
			nodes->memory_used[i] += given->memory_allocated[nth];
		nth++;
	}
}

static int count_job(void *item, void *arg)
{
	const job_record_t *job = item;

	/* A suspended job gives up its CPUs at most in gang scheduling; to hold
	 * them against weft's own choice is the safe side. */
	if (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job))
		count_given(arg, job);
	return 0;
}

static void read_gpus(struct weft_nodes *nodes, uint32_t i)
{
	const node_record_t *node = node_record_table_ptr[i];

	nodes->gpus_free[i] =
		nodes->fabric_node[i] == WEFT_NONE || !node
			? 0
			: free_gpus(node, weft_compat_gpu_id(), NULL);
}

/* For those who look from outside. */
static void show_node(const struct weft_nodes *nodes, uint32_t i)
{
	const node_record_t *node = node_record_table_ptr[i];
	uint32_t known = nodes->fabric_node[i];
	struct weft_shown_node shown = {
		.gpus_free = nodes->gpus_free[i],
		.memory_used_mb = nodes->memory_used[i],
		.cpus_used = (uint32_t)nodes->cpus_used[i],
		.paired = 1,
	};

	if (known == WEFT_NONE || !node)
		return;
	shown.gpus = weft_mask_first(nodes->fabric->nodes[known].n_gpus);
	shown.cpus = node->cpus_efctv;
	shown.memory_mb = node->real_memory;
	weft_shown_node(&weft_shown, known, &shown);
}

void weft_nodes_job_started(struct weft_nodes *nodes, const job_record_t *job)
{
	int64_t last;

	if (nodes->stale || !job->node_bitmap)
		return;
	count_given(nodes, job);
	last = bit_fls(job->node_bitmap);
	for (int64_t i = bit_ffs(job->node_bitmap); i >= 0 && i <= last; i++)
		if (bit_test(job->node_bitmap, i)) {
			read_gpus(nodes, (uint32_t)i);
			show_node(nodes, (uint32_t)i);
		}
	weft_shown.generation = ++nodes->generation;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void nodes_refresh(struct weft_nodes *nodes)
{
	if (nodes->stale) {
		memset(nodes->cpus_used, 0,
		       nodes->n * sizeof(*nodes->cpus_used));
		memset(nodes->memory_used, 0,
		       nodes->n * sizeof(*nodes->memory_used));
		if (job_list)
			list_for_each(job_list, count_job, nodes);
	}
	if (nodes->stale || now_s() - nodes->read_s > MAX_AGE_S) {
		for (uint32_t i = 0; i < nodes->n; i++) {
			read_gpus(nodes, i);
			show_node(nodes, i);
		}
		weft_shown.generation = ++nodes->generation;
		nodes->read_s = now_s();
	}
	nodes->stale = false;
}

/* ---- what is on offer ---- */

static void supply_read(const struct weft_nodes *nodes, uint32_t i,
			const char *type, struct weft_supply *supply)
{
	const node_record_t *node = node_record_table_ptr[i];
	const struct weft_node *known =
		&nodes->fabric->nodes[nodes->fabric_node[i]];
	uint64_t memory = node->real_memory > node->mem_spec_limit
				  ? node->real_memory - node->mem_spec_limit
				  : 0;
	uint64_t used = nodes->memory_used[i];

	supply->gpus = type ? free_gpus(node, weft_compat_gpu_id(), type)
			    : nodes->gpus_free[i];
	supply->gpus &= weft_mask_first(known->n_gpus);
	supply->cpus =
		node->cpus_efctv > nodes->cpus_used[i]
			? (uint32_t)(node->cpus_efctv - nodes->cpus_used[i])
			: 0;
	supply->cpus_per_core = node->tpc;
	supply->memory_mb = memory > used ? memory - used : 0;
	supply->memory_touched = used > 0;
	supply->idle = idle_node_bitmap && bit_test(idle_node_bitmap, i);
}

/* sched_weight is the node's weight above flags in the low byte, and above it
 * from bit 40 on whether the node must be powered up or rebooted first: kept
 * in that order, smaller first. */
static uint32_t weight_of(const node_record_t *node)
{
	uint64_t weight = node->sched_weight >> 8 & UINT32_MAX;
	uint32_t flags = (uint32_t)(node->sched_weight >> 40 & 3);

	return (weight < (1u << 30) ? (uint32_t)weight : (1u << 30) - 1) |
	       flags << 30;
}

/* Neighbours mostly are alike. */
static bool supplies_equal(const struct weft_supply *a,
			   const struct weft_supply *b)
{
	return a->gpus == b->gpus && a->cpus == b->cpus &&
	       a->cpus_per_core == b->cpus_per_core &&
	       a->memory_mb == b->memory_mb &&
	       a->memory_touched == b->memory_touched && a->idle == b->idle;
}

/* Cheapest tests first: most nodes of a busy cluster have no GPU free. */
static bool is_offered(const struct weft_nodes *nodes,
		       const struct weft_job_test *test,
		       const struct weft_request *request, uint32_t i)
{
	if (nodes->fabric_node[i] == WEFT_NONE ||
	    (!request->gpu_type && !nodes->gpus_free[i]) ||
	    !bit_test(test->nodes, i))
		return false;
	return !test->excluded ||
	       !weft_compat_excludes_cores(test->excluded, (int)i);
}

static void fetch_ahead(const struct weft_nodes *nodes, uint32_t i)
{
	const node_record_t *node;

	if (i >= nodes->n || !nodes->gpus_free[i])
		return;
	node = node_record_table_ptr[i];
	if (!node)
		return;
	__builtin_prefetch(&node->cpus_efctv);
	__builtin_prefetch(&node->real_memory);
	__builtin_prefetch(&node->sched_weight);
	__builtin_prefetch(&node->tpc);
}

uint32_t weft_nodes_offer(struct weft_nodes *nodes,
			  const struct weft_job_test *test,
			  const struct weft_request *request,
			  const struct weft_shape *shape, bool only_idle)
{
	struct weft_occupancy *o = &nodes->occupancy;
	struct weft_supply supply, before = {0};
	uint32_t n_able = 0, first_weight = 0, usable = 0;
	bool weights_differ = false;

	nodes_refresh(nodes);
	memset(o->free, 0, nodes->fabric->n_nodes * sizeof(*o->free));
	memset(o->usable, 0, nodes->fabric->n_nodes * sizeof(*o->usable));
	for (uint32_t i = 0; i < nodes->n; i++) {
		uint32_t known = nodes->fabric_node[i];

		fetch_ahead(nodes, i + AHEAD);
		if (!is_offered(nodes, test, request, i))
			continue;
		supply_read(nodes, i, request->gpu_type, &supply);
		if (!supply.gpus || (only_idle && !supply.idle))
			continue;
		if (!supplies_equal(&supply, &before)) {
			usable = weft_request_usable(request, shape, &supply);
			before = supply;
		}
		o->free[known] = supply.gpus;
		o->usable[known] = usable;
		if (!usable)
			continue;
		nodes->weight[known] = weight_of(node_record_table_ptr[i]);
		if (!n_able++)
			first_weight = nodes->weight[known];
		weights_differ |= nodes->weight[known] != first_weight;
	}
	o->weight = weights_differ ? nodes->weight : NULL;
	return n_able;
}

bool weft_nodes_require(struct weft_nodes *nodes, bitstr_t *required)
{
	uint64_t *set = nodes->required;

	nodes->occupancy.required = NULL;
	if (!required || bit_ffs(required) < 0)
		return true;
	nodes->occupancy.required = set;
	memset(set, 0,
	       weft_bitset_words(nodes->fabric->n_nodes) * sizeof(*set));
	for (uint32_t i = 0; i < nodes->n; i++) {
		if (!bit_test(required, i))
			continue;
		if (nodes->fabric_node[i] == WEFT_NONE)
			return false;
		weft_bitset_add(set, nodes->fabric_node[i]);
	}
	return true;
}

bool weft_nodes_idle(bitstr_t *bitmap)
{
	return idle_node_bitmap && bit_super_set(bitmap, idle_node_bitmap);
}

bitstr_t *weft_nodes_bitmap(const struct weft_nodes *nodes,
			    const uint32_t *fabric_nodes, uint32_t n)
{
	bitstr_t *bitmap = bit_alloc(nodes->n);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = nodes->slurm_node[fabric_nodes[k]];

		if (i == WEFT_NONE) {
			bit_free(bitmap);
			return NULL;
		}
		bit_set(bitmap, i);
	}
	return bitmap;
}

/* ---- what a job was given ---- */

struct given_scan {
	uint32_t gpu_id, nth; /* nth node of the job */
	uint64_t gpus;
};

static int scan_given(void *item, void *arg)
{
	const gres_state_t *state = item;
	const gres_job_state_t *gres = state->gres_data;
	struct given_scan *scan = arg;

	if (!gres || state->plugin_id != scan->gpu_id ||
	    scan->nth >= gres->node_cnt)
		return 0;
	if (gres->gres_bit_alloc && gres->gres_bit_alloc[scan->nth])
		scan->gpus |= bits_to_mask(gres->gres_bit_alloc[scan->nth]);
	else if (gres->gres_cnt_node_alloc)
		scan->gpus |= weft_mask_first(
			(uint32_t)gres->gres_cnt_node_alloc[scan->nth]);
	return 0;
}

/* Adds the GPUs of one node to where[n..max); returns the new n. */
static uint32_t add_gpus(const struct weft_nodes *nodes, uint32_t i,
			 uint64_t gpus, uint32_t *where, uint32_t n,
			 uint32_t max)
{
	uint32_t known = nodes->fabric_node[i], gpu;
	const struct weft_node *node =
		known == WEFT_NONE ? NULL : &nodes->fabric->nodes[known];

	weft_mask_foreach (gpu, gpus) {
		if (n == max)
			break;
		where[n++] = node && gpu < node->n_gpus ? node->first_gpu + gpu
							: WEFT_NONE;
	}
	return n;
}

uint32_t weft_nodes_allocated(const struct weft_nodes *nodes,
			      const job_record_t *job, uint32_t per_node,
			      uint32_t *where, uint32_t max,
			      uint32_t *n_partial)
{
	struct given_scan scan = {.gpu_id = weft_compat_gpu_id()};
	uint32_t n = 0;
	int64_t last;

	*n_partial = 0;
	if (!job->gres_list_alloc || !job->node_bitmap)
		return 0;
	last = bit_fls(job->node_bitmap);
	for (int64_t i = bit_ffs(job->node_bitmap); i >= 0 && i <= last; i++) {
		uint32_t known, drop;

		if (!bit_test(job->node_bitmap, i))
			continue;
		known = nodes->fabric_node[i];
		scan.gpus = 0;
		list_for_each(job->gres_list_alloc, scan_given, &scan);
		scan.nth++;
		if (known != WEFT_NONE &&
		    weft_mask_count(scan.gpus) <
			    nodes->fabric->nodes[known].n_gpus)
			(*n_partial)++;
		/* --exclusive hands out all GPUs; the ranks use the first. */
		for (drop = weft_mask_count(scan.gpus);
		     per_node && drop > per_node; drop--)
			scan.gpus &= ~(UINT64_C(1)
				       << (63 - __builtin_clzll(scan.gpus)));
		n = add_gpus(nodes, (uint32_t)i, scan.gpus, where, n, max);
	}
	return n;
}
