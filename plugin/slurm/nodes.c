/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.c - free GPUs, CPUs and memory of Slurm's nodes */
#include "plugin/slurm/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/hash.h"
#include "base/hostlist.h"
#include "plugin/slurm/gpus.h"
#include "plugin/slurm/trouble.h"

#include "src/common/node_conf.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern bitstr_t *idle_node_bitmap __attribute__((weak));

/* Names quoted in the log. */
#define MAX_QUOTED 8

/* Node records lie all over the memory: so many ahead are fetched. */
#define AHEAD 8

/* Below the flags that weight_of puts into the top two bits, and above weights
 * as admins give them. */
#define SLOW_WEIGHT (1u << 29)

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

/* The name's end is a part of it: tables of other names with the same letters
 * are others. */
static uint64_t hash_name(uint64_t hash, const char *name)
{
	return weft_hash_bytes(hash, name, strlen(name) + 1);
}

static void pair_by_name(struct weft_nodes *nodes, char *summary, size_t size)
{
	const struct weft_fabric *f = nodes->fabric;
	const char *unknown[MAX_QUOTED], *absent[MAX_QUOTED];
	uint32_t n_unknown = 0, n_absent = 0, n_paired = 0;

	nodes->table = WEFT_HASH_START;
	for (uint32_t i = 0; i < nodes->n; i++) {
		const node_record_t *node = node_record_table_ptr[i];
		uint32_t known;

		nodes->fabric_node[i] = WEFT_NONE;
		nodes->table = hash_name(nodes->table,
					 node && node->name ? node->name : "");
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

uint32_t weft_nodes_lost(const struct weft_fabric *before,
			 const struct weft_fabric *after, char *text,
			 size_t size)
{
	const char *lost[MAX_QUOTED];
	uint32_t n = 0;

	for (int i = 0; i < node_record_count; i++) {
		const node_record_t *node = node_record_table_ptr[i];

		if (node && node->name &&
		    weft_fabric_node(before, node->name) != WEFT_NONE &&
		    weft_fabric_node(after, node->name) == WEFT_NONE &&
		    n++ < MAX_QUOTED)
			lost[n - 1] = node->name;
	}
	text[0] = '\0';
	quote_names(text, size, "nodes that Slurm has", lost, n);
	return n;
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
	nodes->room = weft_calloc(nodes->n, sizeof(*nodes->room), err);
	nodes->gpus = weft_calloc(nodes->n, sizeof(*nodes->gpus), err);
	nodes->gpus_free =
		weft_calloc(nodes->n, sizeof(*nodes->gpus_free), err);
	nodes->weight = weft_calloc(f->n_nodes, sizeof(*nodes->weight), err);
	nodes->required = weft_calloc(weft_bitset_words(f->n_nodes),
				      sizeof(*nodes->required), err);
	nodes->must = weft_calloc(weft_bitset_words(f->n_nodes),
				  sizeof(*nodes->must), err);
	nodes->heaviest = WEFT_ANY_WEIGHT;
	if (!nodes->fabric_node || !nodes->slurm_node || !nodes->room ||
	    !nodes->gpus || !nodes->gpus_free || !nodes->weight ||
	    !nodes->required || !nodes->must ||
	    weft_holdings_build(nodes->n, &nodes->held, err) < 0 ||
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
	free(nodes->room);
	free(nodes->gpus);
	free(nodes->gpus_free);
	free(nodes->kept);
	weft_holdings_free(&nodes->held);
	free(nodes->weight);
	free(nodes->required);
	free(nodes->must);
	/* The occupancy borrows these two while they matter. */
	nodes->occupancy.weight = NULL;
	nodes->occupancy.required = NULL;
	weft_occupancy_free(&nodes->occupancy);
	memset(nodes, 0, sizeof(*nodes));
}

void weft_nodes_inherit(struct weft_nodes *nodes, struct weft_nodes *before)
{
	nodes->generation = before->generation + 1;
	if (!before->counted || before->table != nodes->table ||
	    before->n != nodes->n)
		return;
	weft_holdings_free(&nodes->held);
	nodes->held = before->held;
	nodes->counted = true;
	memset(&before->held, 0, sizeof(before->held));
}

/* ---- what is on offer ---- */

uint64_t weft_nodes_eligible(const struct weft_nodes *nodes, uint32_t i,
			     const char *type)
{
	uint32_t n_known = nodes->fabric->nodes[nodes->fabric_node[i]].n_gpus;

	if (!type)
		return weft_mask_first(n_known);
	return weft_gpus_of_node(node_record_table_ptr[i], type).all;
}

/* Free GPUs of a type, with those that come back.  Where types are only counted
 * any of the free ones stand for them. */
static uint64_t free_of_type(const struct weft_nodes *nodes, uint32_t i,
			     const char *type, uint64_t back)
{
	struct weft_gpus gpus =
		weft_gpus_of_node(node_record_table_ptr[i], type);
	uint64_t mask = nodes->gpus_free[i] | back;

	if (gpus.has_indices || back)
		return mask & gpus.all;
	while (weft_mask_count(mask) > weft_mask_count(gpus.free))
		mask &= mask - 1;
	return mask;
}

bool weft_nodes_shares(const job_record_t *job)
{
	uint32_t most = job->part_ptr ? job->part_ptr->max_share : 1;

	return (most & ~SHARED_FORCE) > 1 &&
	       (most & SHARED_FORCE || job->details->share_res == 1);
}

/* Whether it asks for so many sockets of a node, or cores of each. */
static bool wants_sockets(const job_record_t *job)
{
	const multi_core_data_t *mc = job->details->mc_ptr;

	return mc && (mc->sockets_per_node != NO_VAL16 ||
		      mc->cores_per_socket != NO_VAL16);
}

static void capacity_read(const struct weft_nodes *nodes, uint32_t i,
			  const char *type, bool shared,
			  struct weft_capacity *capacity)
{
	const struct weft_room *room = &nodes->room[i];
	uint64_t cpus = nodes->held.cpus[i],
		 memory_mb = nodes->held.memory_mb[i], used;
	struct weft_returned back = {0};
	struct weft_kept_room kept = {0};

	if (nodes->emptied) {
		*capacity = (struct weft_capacity){
			.gpus = weft_nodes_eligible(nodes, i, type),
			.cpus = UINT32_MAX,
			.memory_mb = UINT64_MAX,
			.idle = true,
		};
		if (nodes->sized) {
			capacity->cpus = room->cpus;
			capacity->cpus_per_core = room->cpus_per_core;
			capacity->memory_mb = room->memory_mb;
		}
		return;
	}
	if (nodes->returned)
		back = nodes->returned[i];
	if (nodes->kept)
		kept = nodes->kept[i];
	cpus -= back.cpus < cpus ? back.cpus : cpus;
	memory_mb -= back.memory_mb < memory_mb ? back.memory_mb : memory_mb;
	capacity->gpus = nodes->gpus_free[i] | back.gpus;
	if (type)
		capacity->gpus = free_of_type(nodes, i, type, back.gpus);
	else if (back.gpus)
		capacity->gpus &= weft_nodes_eligible(nodes, i, type);
	capacity->gpus &= ~kept.gpus;
	/* what is given back may have been of the cores that are kept */
	cpus += back.cpus ? kept.cpus : kept.free_cpus;
	used = shared ? kept.cpus : cpus;
	capacity->cpus = room->cpus > used ? (uint32_t)(room->cpus - used) : 0;
	capacity->cpus_per_core = room->cpus_per_core;
	capacity->memory_mb =
		room->memory_mb > memory_mb ? room->memory_mb - memory_mb : 0;
	capacity->memory_touched = memory_mb > 0;
	/* with some cores kept, stock gives it to no job as a whole; where jobs
	 * share cores, whole is without another job's GPU */
	capacity->idle =
		!kept.cpus &&
		((idle_node_bitmap && bit_test(idle_node_bitmap, i)) ||
		 (nodes->returned && !cpus) ||
		 (shared &&
		  capacity->gpus == weft_nodes_eligible(nodes, i, type)));
}

/* sched_weight is the node's weight above flags in the low byte, and above it
 * from bit 40 on whether the node must be powered up or rebooted first: kept
 * in that order, smaller first.  Slurm sets it when it last looked for nodes,
 * and knows no difference between a node that is powering up and an idle one.
 */
static uint32_t weight_of(const node_record_t *node)
{
	uint64_t weight = node->sched_weight >> 8 & UINT32_MAX;
	uint32_t flags = (uint32_t)(node->sched_weight >> 40 & 3);

	if (IS_NODE_POWERED_DOWN(node) || IS_NODE_POWERING_DOWN(node))
		flags |= 2;
	else if (IS_NODE_POWERING_UP(node))
		flags |= 1;
	return (weight < SLOW_WEIGHT ? (uint32_t)weight : SLOW_WEIGHT - 1) |
	       flags << 30;
}

/* Neighbours mostly are alike. */
static bool supplies_equal(const struct weft_capacity *a,
			   const struct weft_capacity *b)
{
	return a->gpus == b->gpus && a->cpus == b->cpus &&
	       a->cpus_per_core == b->cpus_per_core &&
	       a->memory_mb == b->memory_mb &&
	       a->memory_touched == b->memory_touched && a->idle == b->idle;
}

/* Cheapest tests first: most nodes of a busy cluster have no GPU free. */
static bool is_offered(const struct weft_nodes *nodes,
		       const struct weft_job_test *test, uint32_t i)
{
	bool ahead = nodes->returned || nodes->emptied;

	return nodes->fabric_node[i] != WEFT_NONE &&
	       (nodes->gpus_free[i] || ahead) && bit_test(test->nodes, i);
}

static void fetch_ahead(const struct weft_nodes *nodes, uint32_t i)
{
	const node_record_t *node;

	if (i >= nodes->n || !nodes->gpus_free[i])
		return;
	node = node_record_table_ptr[i];
	if (!node)
		return;
	__builtin_prefetch(&node->sched_weight);
}

static bool is_slow(const struct weft_nodes *nodes, uint32_t known)
{
	const uint64_t *required = nodes->occupancy.required;

	return nodes->health->factor[known] >= WEFT_SLOW &&
	       !(required && weft_bitset_has(required, known));
}

/* Takes slow nodes off the offer where n_able and GPUs suffice without; else
 * they weigh more than all others.  Returns how many nodes are left. */
static uint32_t slow_spare(struct weft_nodes *nodes,
			   const struct weft_shape *shape, uint32_t n_able)
{
	struct weft_occupancy *o = &nodes->occupancy;
	uint32_t n_slow = 0, n_gpus = 0, n_slow_gpus = 0;

	for (uint32_t k = 0; k < nodes->fabric->n_nodes; k++) {
		uint32_t give = weft_occupancy_give(o, k);

		n_gpus += give;
		if (!give || !is_slow(nodes, k))
			continue;
		n_slow++;
		n_slow_gpus += give;
		nodes->weight[k] += SLOW_WEIGHT;
	}
	if (!n_slow)
		return n_able;
	if (nodes->use_slow || n_able - n_slow < shape->min_nodes ||
	    n_gpus - n_slow_gpus < shape->n_gpus) {
		o->weight = nodes->weight;
		return n_able;
	}
	for (uint32_t k = 0; k < nodes->fabric->n_nodes; k++)
		if (o->usable[k] && is_slow(nodes, k))
			o->usable[k] = 0;
	nodes->spared = true;
	return n_able - n_slow;
}

struct giver {
	uint32_t weight, n_gpus;
};

static int compare_weights(const void *pa, const void *pb)
{
	const struct giver *a = pa, *b = pb;

	return (a->weight > b->weight) - (a->weight < b->weight);
}

/* The least weight up to which nodes and GPUs of the offer suffice.  A site may
 * give each node one of its own. */
static uint32_t weight_needed(const struct weft_nodes *nodes,
			      const struct weft_shape *shape, uint32_t n_able)
{
	const struct weft_occupancy *o = &nodes->occupancy;
	struct giver *givers = weft_calloc(n_able, sizeof(*givers), NULL);
	uint32_t needed = WEFT_ANY_WEIGHT, n = 0, n_gpus = 0;

	for (uint32_t k = 0; givers && k < nodes->fabric->n_nodes; k++) {
		uint32_t give = weft_occupancy_give(o, k);

		if (give && n < n_able)
			givers[n++] = (struct giver){nodes->weight[k], give};
	}
	if (n)
		qsort(givers, n, sizeof(*givers), compare_weights);
	for (uint32_t i = 0; i < n && needed == WEFT_ANY_WEIGHT; i++) {
		bool last =
			i + 1 == n || givers[i + 1].weight != givers[i].weight;

		n_gpus += givers[i].n_gpus;
		if (last && n_gpus >= shape->n_gpus &&
		    i + 1 >= shape->min_nodes)
			needed = givers[i].weight;
	}
	free(givers);
	return needed;
}

/* Takes heavier nodes than may be off the offer, but for those that the user
 * names.  Returns how many nodes are left. */
static uint32_t heavy_spare(struct weft_nodes *nodes,
			    const struct weft_shape *shape, uint32_t n_able)
{
	struct weft_occupancy *o = &nodes->occupancy;
	size_t n_words = weft_bitset_words(nodes->fabric->n_nodes);
	bool lighter = false;

	if (nodes->lightest)
		nodes->heaviest = weight_needed(nodes, shape, n_able);
	memcpy(nodes->must, nodes->required, n_words * sizeof(*nodes->must));
	for (uint32_t k = 0; k < nodes->fabric->n_nodes; k++) {
		uint32_t weight = nodes->weight[k];

		if (!o->usable[k])
			continue;
		if (weight > nodes->heaviest &&
		    !(nodes->named && weft_bitset_has(nodes->required, k))) {
			o->usable[k] = 0;
			n_able--;
			if (!nodes->next_weight || weight < nodes->next_weight)
				nodes->next_weight = weight;
		} else if (nodes->lightest && weight < nodes->heaviest) {
			weft_bitset_add(nodes->must, k);
			lighter = true;
		}
	}
	if (lighter)
		o->required = nodes->must;
	else if (nodes->lightest && !nodes->named)
		o->weight = NULL;
	return n_able;
}

uint32_t weft_nodes_offer(struct weft_nodes *nodes,
			  const struct weft_job_test *test,
			  const struct weft_request *request,
			  const struct weft_shape *shape, bool only_idle)
{
	struct weft_occupancy *o = &nodes->occupancy;
	struct weft_capacity capacity, before = {0};
	uint32_t n_able = 0, first_weight = 0, usable = 0;
	bool weights_differ = false;
	bool shared = !nodes->apart && weft_nodes_shares(test->job);

	/* Only stock knows which sockets have free cores. */
	only_idle |= nodes->apart && wants_sockets(test->job);
	weft_nodes_refresh(nodes);
	weft_nodes_keep(nodes, test);
	memset(o->free, 0, nodes->fabric->n_nodes * sizeof(*o->free));
	memset(o->usable, 0, nodes->fabric->n_nodes * sizeof(*o->usable));
	for (uint32_t i = 0; i < nodes->n; i++) {
		uint32_t known = nodes->fabric_node[i];

		fetch_ahead(nodes, i + AHEAD);
		if (!is_offered(nodes, test, i))
			continue;
		capacity_read(nodes, i, request->gpu_type, shared, &capacity);
		if (!capacity.gpus || (only_idle && !capacity.idle))
			continue;
		if (!supplies_equal(&capacity, &before)) {
			usable = weft_request_usable(request, shape, &capacity);
			before = capacity;
		}
		o->free[known] =
			weft_fabric_places(nodes->fabric, known, capacity.gpus);
		o->usable[known] = usable;
		if (!usable)
			continue;
		nodes->weight[known] = weight_of(node_record_table_ptr[i]);
		if (!n_able++)
			first_weight = nodes->weight[known];
		weights_differ |= nodes->weight[known] != first_weight;
	}
	o->weight = weights_differ ? nodes->weight : NULL;
	o->required = nodes->named ? nodes->required : NULL;
	nodes->spared = false;
	nodes->next_weight = 0;
	if (weights_differ &&
	    (nodes->lightest || nodes->heaviest != WEFT_ANY_WEIGHT))
		n_able = heavy_spare(nodes, shape, n_able);
	return nodes->health ? slow_spare(nodes, shape, n_able) : n_able;
}

bool weft_nodes_require(struct weft_nodes *nodes, bitstr_t *required)
{
	uint64_t *set = nodes->required;

	nodes->occupancy.required = NULL;
	nodes->named = false;
	memset(set, 0,
	       weft_bitset_words(nodes->fabric->n_nodes) * sizeof(*set));
	if (!required || bit_ffs(required) < 0)
		return true;
	nodes->occupancy.required = set;
	nodes->named = true;
	for (uint32_t i = 0; i < nodes->n; i++) {
		if (!bit_test(required, i))
			continue;
		if (nodes->fabric_node[i] == WEFT_NONE)
			return false;
		weft_bitset_add(set, nodes->fabric_node[i]);
	}
	return true;
}

void weft_nodes_keep_whole(bitstr_t *bitmap, const job_record_t *job)
{
	if (idle_node_bitmap && !weft_nodes_shares(job))
		bit_and(bitmap, idle_node_bitmap);
}

bool weft_nodes_idle(bitstr_t *bitmap)
{
	return idle_node_bitmap && bit_super_set(bitmap, idle_node_bitmap);
}

/* Is the node of a plan as it was when it was offered? */
static bool plan_holds(struct weft_nodes *nodes, uint32_t known)
{
	uint32_t i = nodes->slurm_node[known];

	if (i == WEFT_NONE || !nodes->occupancy.usable[known]) {
		weft_trouble(WEFT_TROUBLE_PLAN, 1);
		return false;
	}
	if (weft_nodes_reread(nodes, i) &&
	    nodes->occupancy.free[known] &
		    ~weft_fabric_places(nodes->fabric, known,
					nodes->gpus_free[i])) {
		weft_trouble(WEFT_TROUBLE_BUSY, 1);
		return false;
	}
	return true;
}

bitstr_t *weft_nodes_bitmap(struct weft_nodes *nodes,
			    const uint32_t *fabric_nodes, uint32_t n)
{
	bitstr_t *bitmap = bit_alloc(nodes->n);

	for (uint32_t k = 0; k < n; k++) {
		if (!plan_holds(nodes, fabric_nodes[k])) {
			bit_free(bitmap);
			return NULL;
		}
		bit_set(bitmap, nodes->slurm_node[fabric_nodes[k]]);
	}
	return bitmap;
}

bitstr_t *weft_nodes_set(const struct weft_nodes *nodes,
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
		where[n++] = node && gpu < node->n_gpus
				     ? weft_fabric_numbered(nodes->fabric,
							    known, gpu)
				     : WEFT_NONE;
	}
	return n;
}

uint32_t weft_nodes_allocated(const struct weft_nodes *nodes,
			      const job_record_t *job, uint32_t per_node,
			      uint32_t *where, uint32_t max,
			      uint32_t *n_partial)
{
	uint32_t n = 0, nth = 0;
	int64_t last;

	*n_partial = 0;
	if (!job->gres_list_alloc || !job->node_bitmap)
		return 0;
	last = bit_fls(job->node_bitmap);
	for (int64_t i = bit_ffs(job->node_bitmap); i >= 0 && i <= last; i++) {
		uint32_t known, drop;
		uint64_t gpus;

		if (!bit_test(job->node_bitmap, i))
			continue;
		known = nodes->fabric_node[i];
		gpus = weft_gpus_of_job(job, nth++);
		if (known != WEFT_NONE &&
		    weft_mask_count(gpus) < nodes->fabric->nodes[known].n_gpus)
			(*n_partial)++;
		/* --exclusive hands out all GPUs; the ranks use the first. */
		for (drop = weft_mask_count(gpus); per_node && drop > per_node;
		     drop--)
			gpus &= ~(UINT64_C(1) << (63 - __builtin_clzll(gpus)));
		n = add_gpus(nodes, (uint32_t)i, gpus, where, n, max);
	}
	return n;
}
