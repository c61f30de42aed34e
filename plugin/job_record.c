/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_record.c - reading job records */
#include "plugin/job_record.h"

#include "base/hostlist.h"
#include "plugin/bridge/launch/spec_text.h"
#include "plugin/engine.h"
#include "plugin/observe.h"
#include "plugin/slurm/gpus.h"

#include <stdlib.h>
#include <string.h>

#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/slurmctld/node_scheduler.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern bitstr_t *avail_node_bitmap __attribute__((weak));

bool weft_job_record_spec(const job_record_t *job, const char **spec)
{
	bool wanted =
		weft_spec_text_find(job->spank_job_env, job->spank_job_env_size,
				    job->comment, spec);

	if (wanted && !*spec && weft_observe_only(job))
		*spec = weft_defaults_find(&weft_engine.settings->defaults,
					   weft_job_record_partition(job));
	return wanted;
}

const char *weft_job_record_partition(const job_record_t *job)
{
	return job->part_ptr ? job->part_ptr->name : job->partition;
}

struct weft_owner weft_job_record_owner(const job_record_t *job)
{
	return (struct weft_owner){
		.partition = weft_job_record_partition(job),
		.qos = job->qos_ptr ? job->qos_ptr->name : NULL,
		.account = job->account,
	};
}

bool weft_job_record_alone(const job_record_t *job)
{
	static const char mark[] = "WEFT_ALONE=";

	for (uint32_t i = 0; job->spank_job_env && i < job->spank_job_env_size;
	     i++)
		if (job->spank_job_env[i] &&
		    strncmp(job->spank_job_env[i], mark, strlen(mark)) == 0)
			return true;
	return false;
}

/* ---- request ---- */

struct gpu_scan {
	struct weft_request *request;
	uint32_t gpu_id, n_found;
	bool memory_set;
	uint32_t cpus_per_gpu, memory_per_gpu_mb; /* by default */
};

/* Slurm's "not set" is 0 or all bits, depending on field and release. */
static uint32_t value16(uint16_t value)
{
	return value == NO_VAL16 || value == INFINITE16 ? 0 : value;
}

static uint32_t value64(uint64_t value)
{
	return value >= NO_VAL ? 0 : (uint32_t)value;
}

static int is_default_of(void *item, void *type)
{
	return ((const job_defaults_t *)item)->type == *(uint16_t *)type;
}

static uint32_t default_in(list_t *defaults, uint16_t type)
{
	const job_defaults_t *d =
		defaults ? list_find_first(defaults, is_default_of, &type)
			 : NULL;

	return d ? value64(d->value) : 0;
}

/* DefCpuPerGPU or DefMemPerGPU, of the partition or of all: stock writes them
 * into the job's record only when it tests it first. */
static uint32_t default_of(const job_record_t *job, uint16_t type)
{
	uint32_t value = 0;

	if (job->part_ptr)
		value = default_in(job->part_ptr->job_defaults_list, type);
	return value ? value : default_in(slurm_conf.job_defaults_list, type);
}

static int scan_gres(void *item, void *arg)
{
	const gres_state_t *state = item;
	const gres_job_state_t *gres = state->gres_data;
	struct gpu_scan *scan = arg;
	struct weft_request *request = scan->request;

	if (state->plugin_id != scan->gpu_id || !gres)
		return 0;
	scan->n_found++;
	request->gpus_per_node = value64(gres->gres_per_node);
	request->gpus_per_task = value64(gres->gres_per_task);
	request->gpus_per_job = value64(gres->gres_per_job);
	request->gpu_type = gres->type_name;
	request->tasks_per_gpu = value16(gres->ntasks_per_gres);
	request->cpus_per_gpu = value16(gres->cpus_per_gres);
	if (!request->cpus_per_gpu)
		request->cpus_per_gpu = value16(gres->def_cpus_per_gres);
	if (!request->cpus_per_gpu)
		request->cpus_per_gpu = scan->cpus_per_gpu;
	request->memory_per_gpu_mb = gres->mem_per_gres;
	if (!request->memory_per_gpu_mb && !scan->memory_set)
		request->memory_per_gpu_mb = gres->def_mem_per_gres
						     ? gres->def_mem_per_gres
						     : scan->memory_per_gpu_mb;
	request->by_socket = gres->gres_per_socket > 0;
	if (request->by_socket && !request->gpus_per_node &&
	    !request->gpus_per_job)
		request->gpus_per_node = value64(gres->gres_per_socket);
	return 0;
}

static bool gpus_read(const job_record_t *job, struct weft_request *request,
		      const char **unclear)
{
	struct gpu_scan scan = {
		.request = request,
		.gpu_id = weft_gpus_id(),
		.memory_set = job->bit_flags & JOB_MEM_SET,
		.memory_per_gpu_mb = default_of(job, JOB_DEF_MEM_PER_GPU),
	};

	if (!job->gres_list_req)
		return false;
	if (job->details->orig_cpus_per_task == NO_VAL16)
		scan.cpus_per_gpu = default_of(job, JOB_DEF_CPU_PER_GPU);
	list_for_each(job->gres_list_req, scan_gres, &scan);
	if (scan.n_found > 1)
		*unclear = "GPUs of several types";
	else if (request->by_socket)
		*unclear = "GPUs asked for by socket";
	return scan.n_found > 0;
}

static void memory_read(const job_record_t *job, struct weft_request *request)
{
	uint64_t memory_mb = job->details->pn_min_memory;
	uint32_t consumed = slurm_conf.select_type_param;

	if (job->part_ptr && job->part_ptr->cr_type)
		consumed |= job->part_ptr->cr_type;
	request->memory_counts = consumed & SELECT_MEMORY;
	if (memory_mb & MEM_PER_CPU)
		request->memory_per_cpu_mb = memory_mb & ~MEM_PER_CPU;
	else
		request->memory_per_node_mb = memory_mb;
	request->memory_all = !memory_mb && !request->memory_per_gpu_mb;
}

/* Specialised cores go with whole nodes, where they are allowed at all. */
static bool wants_whole_nodes(const job_record_t *job)
{
	const job_details_t *details = job->details;

	if (weft_compat_whole_nodes(details))
		return true;
	if (job->part_ptr && job->part_ptr->max_share == 0)
		return true;
	return slurm_conf.conf_flags & CONF_FLAG_ASRU &&
	       details->core_spec != NO_VAL16;
}

static int find_count(void *item, void *arg)
{
	const job_feature_t *feature = item;

	(void)arg;
	return feature->count > 0;
}

list_t *weft_job_record_features(const job_details_t *details)
{
	if (details->features_use && details->features_use == details->prefer)
		return details->prefer_list;
	return details->feature_list;
}

/* "rack1*2&rack2*4": Slurm asks about two nodes of the one and four of the
 * other in turn, with limits that are the whole job's.  A plan for the job as
 * a whole would fill the first question and leave no answer to the second. */
bool weft_job_record_in_parts(const job_details_t *details)
{
	list_t *features = weft_job_record_features(details);

	return features && list_find_first(features, find_count, NULL);
}

static int find_unread(void *item, void *arg)
{
	const job_feature_t *feature = item;

	(void)arg;
	return !feature->node_bitmap_avail;
}

list_t *weft_job_record_features_known(const job_details_t *details)
{
	list_t *features = weft_job_record_features(details);

	if (list_find_first(features, find_unread, NULL))
		find_feature_nodes(features, false);
	return features;
}

bool weft_job_record_join(struct weft_feature_group *group,
			  const job_feature_t *feature)
{
	if (!group->nodes)
		group->nodes = bit_copy(feature->node_bitmap_avail);
	else if (group->op == FEATURE_OP_AND)
		bit_and(group->nodes, feature->node_bitmap_avail);
	else
		bit_or(group->nodes, feature->node_bitmap_avail);
	group->op = feature->op_code;
	return !feature->paren;
}

uint32_t weft_job_record_least_nodes(const struct weft_job_test *test,
				     uint32_t n)
{
	const uint64_t *asked = test->job->tres_req_cnt;

	if (asked && asked[TRES_ARRAY_NODE] > n &&
	    asked[TRES_ARRAY_NODE] <= test->max_nodes)
		n = (uint32_t)asked[TRES_ARRAY_NODE];
	return n;
}

bitstr_t *weft_job_record_could_have(const struct weft_job_test *test)
{
	const job_record_t *job = test->job;
	bitstr_t *could = bit_copy(job->part_ptr->node_bitmap);

	if (avail_node_bitmap)
		bit_and(could, avail_node_bitmap);
	if (job->details->exc_node_bitmap)
		bit_and_not(could, job->details->exc_node_bitmap);
	if (job->resv_ptr && job->resv_ptr->node_bitmap &&
	    !(job->resv_ptr->flags & RESERVE_FLAG_FLEX))
		bit_and(could, job->resv_ptr->node_bitmap);
	return could;
}

bitstr_t *weft_job_record_required(const struct weft_job_test *test)
{
	const job_details_t *details = test->job->details;
	bitstr_t *required = bit_alloc(bit_size(test->nodes));
	struct weft_hostlist names = {0};

	if (details->req_node_bitmap)
		bit_or(required, details->req_node_bitmap);
	if (details->req_nodes && details->req_nodes[0])
		weft_hostlist_decode(details->req_nodes, weft_engine.nodes.n,
				     &names, NULL);
	for (uint32_t k = 0; k < names.n; k++) {
		const node_record_t *node = find_node_record(names.names[k]);

		if (node)
			bit_set(required, node->index);
	}
	weft_hostlist_free(&names);
	return required;
}

static uint32_t largest_node_cpus(void)
{
	uint32_t largest = 1;

	for (int i = 0; i < node_record_count; i++) {
		const node_record_t *node = node_record_table_ptr[i];

		if (node && node->cpus_efctv > largest)
			largest = node->cpus_efctv;
	}
	return largest;
}

/* Without -N Slurm takes as few nodes as the tasks need.  Another number
 * because a spec says so would make the size of a job depend on how busy the
 * cluster is when it starts.  A total of GPUs says itself how many nodes it
 * needs. */
static void nodes_settle(const struct weft_job_test *test,
			 struct weft_request *request)
{
	uint64_t cpus = (uint64_t)request->n_tasks *
			(request->cpus_per_task ? request->cpus_per_task : 1);
	uint64_t n_nodes = request->want_nodes > request->min_nodes
				   ? request->want_nodes
				   : request->min_nodes;
	uint64_t largest;

	if (WEFT_MOST_NODES(test->job) || request->gpus_per_job)
		return;
	if (request->tasks_per_node &&
	    n_nodes * request->tasks_per_node < request->n_tasks)
		n_nodes = (request->n_tasks + request->tasks_per_node - 1) /
			  request->tasks_per_node;
	largest = request->overcommit ? cpus : largest_node_cpus();
	if (n_nodes * largest < cpus)
		n_nodes = (cpus + largest - 1) / largest;
	if (n_nodes <= test->max_nodes)
		request->min_nodes = request->max_nodes = request->want_nodes =
			(uint32_t)n_nodes;
}

bool weft_job_record_read(const struct weft_job_test *test,
			  struct weft_request *request, const char **unclear)
{
	const job_record_t *job = test->job;
	const job_details_t *details = job->details;

	*unclear = NULL;
	memset(request, 0, sizeof(*request));
	if (!details || !gpus_read(job, request, unclear))
		return false;
	if (!*unclear && weft_job_record_in_parts(details))
		*unclear = "numbers of nodes by feature";
	if (!*unclear && WEFT_HAS_NODE_COUNTS(details))
		*unclear = "a list of numbers of nodes";
	request->job_id = job->job_id;
	request->min_nodes = test->min_nodes;
	request->max_nodes = test->max_nodes;
	request->want_nodes = test->want_nodes;
	request->n_tasks = details->num_tasks;
	request->tasks_per_node = value16(details->ntasks_per_node);
	request->cpus_per_task = value16(details->cpus_per_task);
	request->cpus_per_node =
		details->pn_min_cpus == NO_VAL ? 0 : details->pn_min_cpus;
	request->overcommit =
		details->overcommit && details->overcommit != NO_VAL8;
	request->whole_nodes = wants_whole_nodes(job);
	nodes_settle(test, request);
	memory_read(job, request);
	return true;
}
