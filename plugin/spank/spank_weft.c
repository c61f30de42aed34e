/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spank_weft.c - option --weft=SPEC of sbatch, salloc and srun
 *
 * Slurm itself carries a SPANK option to slurmctld with the job, where the
 * select plugin finds it; here it is only checked, so that a mistake shows at
 * submission.  The variable WEFT_SPEC stands in where the option is not given.
 */
#include "config.h" /* RTLD_DEFAULT, program_invocation_short_name */

#include "plugin/bridge/launch/launch.h"
#include "plugin/bridge/launch/spec_text.h"
#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"
#include "slurm/spank.h"
#include "src/common/slurm_opt.h"
#include "src/common/xmalloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ordering srun's steps, and telling tasks who they are ---- */

/* Nothing here ever fails a step: where anything is not as it should be, the
 * step runs as it would have without weft.
 */

/* What srun tells the nodes of its step, so that they do not take one that lies
 * otherwise for ordered: "ranks" or "nodes".  SLURM_, since such variables go
 * with tasks under --export=NONE, too. */
#define STEP_VARIABLE "SLURM_WEFT_STEP"

/* Names, "RANK,WORLD_SIZE", of the variables of a task that are weft's and not
 * the user's. */
#define SET_VARIABLE "WEFT_SET"

/* A task that starts srun, sbatch or salloc passes its environment on: weft's
 * variables in it describe that task alone. */
static void forget_task(void)
{
	const char *set = getenv(SET_VARIABLE);
	char *names = set ? strdup(set) : NULL, *rest = names, *name;

	while ((name = strsep(&rest, ",")) != NULL)
		unsetenv(name);
	free(names);
	unsetenv(SET_VARIABLE);
	unsetenv(STEP_VARIABLE);
}

/* ---- srun ---- */

/* By any of these the user says where tasks go or which nodes take part; with
 * tasks per core 24.11 starts no step of a given layout.  A name that this
 * release does not know counts as not given. */
static const char *const own_words[] = {
	"distribution", "nodelist",    "nodefile",	  "exclude",
	"relative",	"overlap",     "het-group",	  "pack-group",
	"no-allocate",	"interactive", "ntasks-per-core",
};

static bool user_decides(slurm_opt_t *options)
{
	for (size_t i = 0; i < sizeof(own_words) / sizeof(own_words[0]); i++)
		if (slurm_option_isset(options, own_words[i]))
			return true;
	return getenv("SLURM_HOSTFILE") || getenv("SLURM_HET_SIZE") ||
	       getenv("SLURM_PACK_SIZE");
}

/* The first number of an option's value: "8" of "8-8"; 0: none. */
static uint32_t option_number(slurm_opt_t *options, const char *name)
{
	char *text = slurm_option_get(options, name);
	unsigned long number = text ? strtoul(text, NULL, 10) : 0;

	xfree(text);
	return number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* The order in the environment, if it is this job's and the job has still the
 * nodes that it had. */
static bool rank_map_read(struct weft_rank_map *r)
{
	const char *text = getenv(WEFT_RANK_MAP_VARIABLE);
	const char *job = getenv("SLURM_JOB_ID");
	const char *nodes = getenv("SLURM_JOB_NODELIST");

	if (!text || !job || !nodes || weft_rank_map_decode(text, r, NULL) < 0)
		return false;
	if (r->n_ranks && strtoul(job, NULL, 10) == r->job_id &&
	    weft_launch_same_nodes(r, nodes))
		return true;
	weft_rank_map_free(r);
	return false;
}

static void step_order(slurm_opt_t *options, const struct weft_rank_map *r)
{
	uint32_t n_tasks = option_number(options, "ntasks");
	uint32_t most = option_number(options, "ntasks-per-node");
	char *nodes;

	if (most && n_tasks == r->n_ranks && most < weft_launch_most(r))
		return;
	if (option_number(options, "jobid") != r->job_id ||
	    option_number(options, "nodes") != r->n_nodes || r->n_nodes < 2)
		return;
	nodes = weft_launch_nodes(r, n_tasks);
	if (!nodes)
		return;
	if (slurm_option_set(options, "nodelist", nodes, false) ==
		    SLURM_SUCCESS &&
	    slurm_option_set(options, "distribution", "arbitrary", false) ==
		    SLURM_SUCCESS)
		setenv(STEP_VARIABLE, n_tasks == r->n_ranks ? "ranks" : "nodes",
		       1);
	free(nodes);
}

/* In srun inside of a job, its options read: has the step follow the order that
 * slurmctld left in the job's environment, unless the user says how tasks are
 * to lie or the step is not over the whole job. */
static void weft_spank_order_step(void)
{
	/* srun's own struct, of which nothing is touched here but through
	 * Slurm's functions: its layout changes with the releases. */
	slurm_opt_t *options =
		strcmp(program_invocation_short_name, "srun") == 0
			? dlsym(RTLD_DEFAULT, "opt")
			: NULL;
	struct weft_rank_map r;

	if (!options || user_decides(options) || !rank_map_read(&r))
		return;
	step_order(options, &r);
	weft_rank_map_free(&r);
}

/* ---- nodes ---- */

/* The variable's value of the task; malloc'ed, NULL where it is not set. */
static char *task_value(spank_t spank, const char *name)
{
	const int size = WEFT_RANK_MAP_MAX_BYTES + 1;
	char *value = malloc((size_t)size);

	if (value && spank_getenv(spank, name, value, size) == ESPANK_SUCCESS)
		return value;
	free(value);
	return NULL;
}

/* What is known of the task and its step. */
struct seat {
	struct weft_rank_map rank_map;
	struct weft_task task;
	uint32_t node; /* in the rank map; WEFT_NONE */
	bool ordered;  /* tasks lie as weft's ranks do, or their nodes */
	bool by_rank;  /* the ranks of the job's processes are weft's */
	char *hosts;   /* of the step */
};

static bool item_read(spank_t spank, spank_item_t item, uint32_t *value)
{
	return spank_get_item(spank, item, value) == ESPANK_SUCCESS;
}

static bool task_read(spank_t spank, struct weft_task *task)
{
	int local = 0;

	if (spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS)
		return false;
	task->local_rank = (uint32_t)local;
	return item_read(spank, S_TASK_GLOBAL_ID, &task->rank) &&
	       item_read(spank, S_JOB_TOTAL_TASK_COUNT, &task->world) &&
	       item_read(spank, S_JOB_LOCAL_TASK_COUNT, &task->local_world) &&
	       item_read(spank, S_JOB_NODEID, &task->node) &&
	       item_read(spank, S_JOB_NNODES, &task->n_nodes) &&
	       item_read(spank, S_JOB_ID, &task->job_id) &&
	       item_read(spank, S_JOB_STEPID, &task->step_id);
}

/* Where srun could not order the tasks, they are numbered as if it had: each
 * node has the tasks that it needs. */
static void seat_renumber(struct seat *seat)
{
	uint32_t rank = weft_launch_nth_rank(&seat->rank_map, seat->node,
					     seat->task.local_rank);

	if (rank == WEFT_NONE)
		return;
	seat->task.rank = rank;
	seat->ordered = true;
	seat->by_rank = true;
}

static void seat_order(spank_t spank, struct seat *seat)
{
	char *step = task_value(spank, STEP_VARIABLE);
	char *tasks = NULL;

	if (step) {
		seat->ordered = true;
		seat->by_rank = strcmp(step, "ranks") == 0 ||
				weft_launch_by_node(&seat->rank_map);
	} else if (seat->rank_map.env) {
		tasks = task_value(spank, "SLURM_STEP_TASKS_PER_NODE");
		if (tasks && seat->hosts &&
		    weft_launch_task_per_rank(&seat->rank_map, seat->hosts,
					      tasks))
			seat_renumber(seat);
	}
	if (seat->ordered) {
		seat->task.node = seat->node;
		seat->task.master = seat->rank_map.nodes[0];
	}
	free(step);
	free(tasks);
}

/* Rank 0 of a step that Slurm laid out is on its first node, unless the user
 * wrote the order himself. */
static void seat_find_master(spank_t spank, struct seat *seat,
			     struct weft_hostlist *hosts)
{
	char *layout = task_value(spank, "SLURM_DISTRIBUTION");

	if (!seat->task.master && seat->hosts &&
	    (!layout || !strstr(layout, "arbitrary")) &&
	    weft_hostlist_decode(seat->hosts, WEFT_RANK_MAP_MAX_RANKS, hosts,
				 NULL) == 0)
		seat->task.master = hosts->names[0];
	free(layout);
}

static void set_variables(spank_t spank, struct seat *seat)
{
	struct weft_variable variables[WEFT_LAUNCH_MAX_VARIABLES];
	struct weft_hostlist hosts = {0};
	char set[WEFT_LAUNCH_MAX_VARIABLES * WEFT_LAUNCH_NAME_SIZE] = "";
	uint32_t n;

	seat_find_master(spank, seat, &hosts);
	seat->task.env = seat->rank_map.env;
	seat->task.nvlink = seat->rank_map.nvlink;
	if (!seat->by_rank)
		seat->task.nvlink.n_experts = 0;
	n = weft_launch_variables(&seat->task, variables);
	/* The user's own values stay. */
	for (uint32_t i = 0; i < n; i++) {
		size_t used = strlen(set);

		if (spank_setenv(spank, variables[i].name, variables[i].value,
				 variables[i].slurms) == ESPANK_SUCCESS &&
		    !variables[i].slurms)
			snprintf(set + used, sizeof(set) - used, "%s%s",
				 used ? "," : "", variables[i].name);
	}
	spank_setenv(spank, SET_VARIABLE, set, 1);
	weft_hostlist_free(&hosts);
}

static void set_gpus(spank_t spank, const struct seat *seat)
{
	static const char *const names[] = {
		"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
		"GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"};
	char list[1024], text[sizeof(list)];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (spank_getenv(spank, names[i], list, sizeof(list) - 1) ==
			    ESPANK_SUCCESS &&
		    weft_launch_gpus(&seat->rank_map, seat->node, list, text,
				     sizeof(text)))
			spank_setenv(spank, names[i], text, 1);
}

/* Where srun has put weft's order into its options, one that the task itself
 * starts would take that for the user's, and want a list of nodes with it. */
static void hide_layout(spank_t spank)
{
	char *step = task_value(spank, STEP_VARIABLE);

	if (step)
		spank_unsetenv(spank, "SLURM_DISTRIBUTION");
	free(step);
}

static void seat_free(struct seat *seat)
{
	weft_rank_map_free(&seat->rank_map);
	free(seat->hosts);
}

/* Reads everything; false: nothing to do with this task. */
static bool seat_read(spank_t spank, struct seat *seat)
{
	char *text, *name;
	bool fine;

	/* Batch scripts and the like have no rank. */
	if (!task_read(spank, &seat->task) ||
	    seat->task.step_id > SLURM_MAX_NORMAL_STEP_ID)
		return false;
	text = task_value(spank, WEFT_RANK_MAP_VARIABLE);
	fine = text && weft_rank_map_decode(text, &seat->rank_map, NULL) == 0;
	free(text);
	if (!fine || seat->rank_map.job_id != seat->task.job_id)
		return false;
	seat->hosts = task_value(spank, "SLURM_STEP_NODELIST");
	name = task_value(spank, "SLURMD_NODENAME");
	seat->node =
		name ? weft_rank_map_node(&seat->rank_map, name) : WEFT_NONE;
	free(name);
	return true;
}

/* On a node, for a task about to start: the variables that the job asked for,
 * and its GPUs in the order of the node's ranks. */
static void weft_spank_prepare_task(spank_t spank)
{
	struct seat seat = {.node = WEFT_NONE};

	if (seat_read(spank, &seat)) {
		if (seat.node != WEFT_NONE)
			seat_order(spank, &seat);
		if (seat.ordered)
			set_gpus(spank, &seat);
		if (seat.rank_map.env)
			set_variables(spank, &seat);
	}
	hide_layout(spank);
	seat_free(&seat);
}

/* ---- the plugin ---- */

/* Goes with jobs that an srun makes for its one step. */
#define ALONE_VARIABLE "WEFT_ALONE"

/* How Slurm tells a job's own srun which option the job was submitted with. */
#define OUTER_VARIABLE "SLURM_SPANK__SLURM_SPANK_OPTION_weft_weft"

SPANK_PLUGIN(weft, 1)

static int option_read(int value, const char *text, int remote);

/* Slurm's struct has no const. */
static char option_name[] = "weft";
static char option_argument[] = "SPEC";
static char option_usage[] =
	"parallelism of the job, by which weft chooses its nodes: "
	"tp=8,pp=2,dp=4,... (weft-spec(7)); off: leave them to Slurm";

static struct spank_option option = {
	.name = option_name,
	.arginfo = option_argument,
	.usage = option_usage,
	.has_arg = 1,
	.cb = option_read,
};

static bool option_given;

/* In a job Slurm has srun read the option that the job was submitted with, too:
 * on a host whose weft may know other keys. */
static bool is_settled(const char *text)
{
	const char *outer = getenv(OUTER_VARIABLE);

	return outer && getenv("SLURM_JOB_ID") && strcmp(outer, text) == 0;
}

/* Slurm calls it once more on the nodes (remote), where all is settled. */
static int option_read(int value, const char *text, int remote)
{
	struct weft_error err = {0};
	char message[sizeof(err.text) + sizeof(err.source) + 64];

	(void)value;
	if (remote)
		return ESPANK_SUCCESS;
	option_given = true;
	if (is_settled(text) || weft_spec_text_check(text, &err) == 0)
		return ESPANK_SUCCESS;
	slurm_error("--weft: %s",
		    weft_error_text(&err, message, sizeof(message)));
	return ESPANK_BAD_ARG;
}

extern int slurm_spank_init(spank_t spank, int argc, char *argv[]);
extern int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[]);
extern int slurm_spank_task_init(spank_t spank, int argc, char *argv[]);

/* Not as Slurm's table spank_options, which sbatch and salloc do not read. */
extern int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	enum spank_context context = spank_context();

	(void)argc;
	(void)argv;
	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR)
		forget_task();
	/* sbatch and salloc inside of a job make another job, which the spec of
	 * this one does not describe. */
	if (context == S_CTX_ALLOCATOR)
		unsetenv(OUTER_VARIABLE);
	return spank_option_register(spank, &option);
}

/* Without the option, the variable; it goes with the job as one of its own. */
static int variable_read(spank_t spank)
{
	struct weft_error err = {0};
	char message[sizeof(err.text) + sizeof(err.source) + 64];
	const char *text = getenv(WEFT_SPEC_VARIABLE);

	if (option_given || !text || !text[0])
		return ESPANK_SUCCESS;
	if (weft_spec_text_check(text, &err) < 0) {
		slurm_error(WEFT_SPEC_VARIABLE ": %s",
			    weft_error_text(&err, message, sizeof(message)));
		/* sbatch, salloc and srun go on after anything else. */
		return -1;
	}
	return spank_job_control_setenv(spank, WEFT_SPEC_VARIABLE, text, 1) ==
			       ESPANK_SUCCESS
		       ? ESPANK_SUCCESS
		       : ESPANK_ERROR;
}

extern int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
	enum spank_context context = spank_context();

	(void)argc;
	(void)argv;
	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR)
		return ESPANK_SUCCESS;
	/* srun inside of a job starts a step, whose nodes are settled. */
	if (context == S_CTX_LOCAL && getenv("SLURM_JOB_ID")) {
		weft_spank_order_step();
		return ESPANK_SUCCESS;
	}
	/* One outside makes job and step at once: slurmctld must know that the
	 * order of ranks comes too late for it. */
	if (context == S_CTX_LOCAL)
		spank_job_control_setenv(spank, ALONE_VARIABLE, "1", 1);
	return variable_read(spank);
}

extern int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	weft_spank_prepare_task(spank);
	return ESPANK_SUCCESS;
}
