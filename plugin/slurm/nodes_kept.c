/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes_kept.c - what reservations of others keep from a job: cores and GPUs
 *
 * A job of the reservation is kept from all that is outside of it in the same
 * way.  Running jobs have some of these cores; which ones only their records
 * tell, so they are looked at when there is anything to keep.
 */
#include "plugin/slurm/nodes.h"

#include <stdlib.h>

#include "base/hash.h"

#include "src/common/node_conf.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

void weft_nodes_settle(struct weft_nodes *nodes)
{
	nodes->heaviest = WEFT_ANY_WEIGHT;
	nodes->apart = false;
	free(nodes->kept);
	nodes->kept = NULL;
	nodes->kept_known = false;
}

struct keeping {
	struct weft_nodes *nodes;
	weft_excluded *excluded;
};

/* Cores of the node, from bit `first` of the job's, that are kept and that the
 * job has. */
static uint32_t count_both(const struct keeping *k, bitstr_t *cores,
			   int64_t first, int node)
{
	uint32_t n = 0, n_cores = node_record_table_ptr[node]->tot_cores;

	for (uint32_t c = 0; c < n_cores && first + c < bit_size(cores); c++)
		n += bit_test(cores, first + c) &&
		     weft_compat_excludes_core(k->excluded, node, (int)c);
	return n;
}

/* Where jobs share cores they are counted for each of them. */
static void subtract(struct weft_kept_room *kept, uint32_t cpus)
{
	kept->free_cpus -= cpus < kept->free_cpus ? cpus : kept->free_cpus;
}

/* What a running job has is not kept from others once more. */
static int subtract_job(void *item, void *arg)
{
	const job_record_t *job = item;
	const struct job_resources *given = job->job_resrcs;
	const struct keeping *k = arg;
	int64_t first = 0, last;

	if (weft_nodes_hold_of(job) != WEFT_HOLDS_ALL || !given ||
	    !given->node_bitmap || !given->core_bitmap ||
	    bit_size(given->node_bitmap) != (int64_t)k->nodes->n)
		return 0;
	last = bit_fls(given->node_bitmap);
	for (int64_t i = bit_ffs(given->node_bitmap); i >= 0 && i <= last;
	     i++) {
		struct weft_kept_room *kept = &k->nodes->kept[i];
		const node_record_t *node = node_record_table_ptr[i];

		if (!bit_test(given->node_bitmap, i) || !node)
			continue;
		if (kept->free_cpus)
			subtract(kept,
				 node->tpc * count_both(k, given->core_bitmap,
							first, (int)i));
		first += node->tot_cores;
	}
	return 0;
}

void weft_nodes_keep(struct weft_nodes *nodes, const struct weft_job_test *test)
{
	struct keeping k = {.nodes = nodes, .excluded = test->excluded};
	bool any = false;

	if (nodes->kept_known)
		return;
	nodes->kept_known = true;
	if (!test->excluded)
		return;
	nodes->kept = weft_calloc(nodes->n, sizeof(*nodes->kept), NULL);
	for (uint32_t i = 0; nodes->kept && i < nodes->n; i++) {
		const node_record_t *node = node_record_table_ptr[i];
		struct weft_kept_room *kept = &nodes->kept[i];

		if (!node || !bit_test(test->nodes, i))
			continue;
		kept->cpus = node->tpc *
			     weft_compat_excluded_cores(test->excluded, (int)i);
		kept->free_cpus = kept->cpus;
		kept->gpus = weft_compat_excluded_gpus(test->excluded, i);
		any |= kept->cpus || kept->gpus;
	}
	if (!any) {
		free(nodes->kept);
		nodes->kept = NULL;
	} else if (job_list) {
		list_for_each(job_list, subtract_job, &k);
	}
}

uint64_t weft_nodes_hash_kept(const struct weft_nodes *nodes, uint64_t hash)
{
	if (!nodes->kept)
		return hash;
	return weft_hash_bytes(hash, nodes->kept,
			       nodes->n * sizeof(*nodes->kept));
}
