/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c - reading the fabric, its state and the job */
#include "cli/plan/request.h"
#include "base/bitset.h"
#include "base/hostlist.h"
#include "cli/option.h"
#include "cli/slurm/slurm_jobs.h"
#include "cli/slurm/slurm_state.h"

#include <stdlib.h>
#include <string.h>

static void goal_read(const struct argp_state *state, char *text, void *input)
{
	struct request *request = input;

	for (int i = 0; i < WEFT_N_GOALS; i++) {
		if (strcmp(text, weft_goal_names[i]) == 0) {
			request->goal = i + 1;
			return;
		}
	}
	option_wrong(state, text, "cost, busiest or step");
}

static void contention_read(const struct argp_state *state, char *text,
			    void *input)
{
	struct request *request = input;

	if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		option_wrong(state, text, "on or off");
	request->alone = strcmp(text, "off") == 0;
}

/* An argument that is no option: the fabric, if it is the only one. */
static void file_read(const struct argp_state *state, char *text, void *input)
{
	struct request *request = input;

	if (text && request->fabric_path)
		argp_error(state,
			   "one fabric, please: \"%s\" is a second; the job "
			   "is --job SPEC",
			   text);
	if (text)
		request->fabric_path = text;
}

#define QUESTION struct request

static const struct option_row options[] = {
	{"fabric", 'f', "FILE",
	 "the cluster, weft-fabric(5) (default: $WEFT_FABRIC)", 0,
	 TEXT(fabric_path)},
	{"job", 'j', "SPEC", "the job, weft-spec(7): gpus=64,tp=8,pp=2", 0,
	 TEXT(job_text)},
	{"busy", 0, "HOSTLIST",
	 "what is taken: n[00-03],n07:0-3 (GPUs 0 to 3 of n07)", 0, TEXT(busy)},
	{"state", 0, "FILE",
	 "what is taken, as weft-state(5); \"slurm\" asks the running Slurm", 0,
	 TEXT(state)},
	{"nodelist", 'w', "HOSTLIST", "nodes that the job must use", 0,
	 TEXT(require)},
	{"exclude", 'x', "HOSTLIST", "nodes that the job must not use", 0,
	 TEXT(exclude)},
	{"gpu", 0, "NAME",
	 "kind of GPU, to predict the step (default: of the fabric's profile)",
	 0, GPU(gpu)},
	{"objective", 0, "GOAL",
	 "what to minimise: step (as predicted), busiest (the time of the "
	 "busiest link) or cost (bytes times distance, in the job's metric); "
	 "default: as the spec says, else step",
	 0, READ(goal_read)},
	{"fragmentation", 0, "WEIGHT",
	 "weight of the room that other jobs lose (default: 0)", 0,
	 NUMBER(fragmentation, 0, 1e6)},
	{"contention", 0, "on|off",
	 "whether the traffic of the jobs in --state counts (default: on)", 0,
	 READ(contention_read)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

static void request_check(const struct argp_state *state, void *input)
{
	struct request *request = input;

	option_fabric(state, &request->fabric_path,
		      "which cluster? Give --fabric FILE or set "
		      "WEFT_FABRIC");
	if (!request->job_text)
		argp_error(state, "which job? Give --job SPEC, e.g. "
				  "--job gpus=64,tp=8,pp=2");
}

const struct command_line request_line = {
	ROWS(options),
	.argument = file_read,
	.check = request_check,
};

/* Names of `text` as node indices, through visit(occupancy, node). */
static int nodes_visit(struct weft_occupancy *o, const char *option,
		       const char *text,
		       void (*visit)(struct weft_occupancy *, uint32_t),
		       struct weft_error *err)
{
	struct weft_hostlist list = {0};
	struct weft_error why = {0};
	int result = -1;

	if (weft_hostlist_decode(text, WEFT_MAX_GPUS, &list, &why))
		goto out;
	for (uint32_t i = 0; i < list.n; i++) {
		uint32_t node =
			weft_fabric_find(o->fabric, list.names[i], &why);

		if (node == WEFT_NONE)
			goto out;
		visit(o, node);
	}
	result = 0;
out:
	if (result)
		weft_fail_at(err, why.code, option, 0, why.column, "%s",
			     why.text);
	weft_hostlist_free(&list);
	return result;
}

static void node_require(struct weft_occupancy *o, uint32_t node)
{
	weft_bitset_add(o->required, node);
}

static void node_exclude(struct weft_occupancy *o, uint32_t node)
{
	weft_occupancy_close(o, node);
}

/* An error of an option's value is named after the option. */
static int busy_apply(struct weft_occupancy *o, const char *text,
		      struct weft_error *err)
{
	struct weft_error why = {0};

	if (weft_occupancy_busy(o, text, &why) == 0)
		return 0;
	return weft_fail_at(err, why.code, "--busy", 0, why.column, "%s",
			    why.text);
}

static int state_apply(struct request *request, struct weft_error *err)
{
	struct weft_occupancy *o = &request->occupancy;

	if (strcmp(request->state, "slurm") != 0)
		return weft_running_load(o, request->state, &request->running,
					 err);
	if (slurm_state_read(o, NULL, err))
		return -1;
	return slurm_jobs_read(o, &request->running, err);
}

static int occupancy_open(struct request *request, struct weft_error *err)
{
	struct weft_occupancy *o = &request->occupancy;

	if (weft_occupancy_build(request->fabric, o, err))
		return -1;
	if (request->state && state_apply(request, err))
		return -1;
	if (request->busy && busy_apply(o, request->busy, err))
		return -1;
	if (request->exclude &&
	    nodes_visit(o, "--exclude", request->exclude, node_exclude, err))
		return -1;
	if (!request->require)
		return 0;
	o->required = weft_calloc(weft_bitset_words(o->fabric->n_nodes),
				  sizeof(*o->required), err);
	if (!o->required)
		return -1;
	return nodes_visit(o, "--nodelist", request->require, node_require,
			   err);
}

int request_job_build(const char *text, const struct weft_fabric *f,
		      struct weft_job *job, struct weft_error *err)
{
	struct weft_error why = {0};

	if (weft_job_build(text, 0, true, f, job, &why) == 0)
		return 0;
	return weft_fail_at(err, why.code, why.source[0] ? why.source : "--job",
			    why.line, why.column, "%s", why.text);
}

static int job_open(struct request *request, struct weft_error *err)
{
	if (request_job_build(request->job_text, request->fabric, &request->job,
			      err))
		return -1;
	request->objective = weft_objective_of_spec(&request->job.spec);
	if (request->goal)
		request->objective.goal = (enum weft_goal)(request->goal - 1);
	request->objective.fragmentation = request->fragmentation;
	request->objective.gpu = request->gpu;
	return 0;
}

int request_open(struct request *request, struct weft_error *err)
{
	request->fabric = weft_fabric_load(request->fabric_path, err);
	if (!request->fabric)
		return -1;
	if (request->job_text && job_open(request, err))
		return -1;
	return occupancy_open(request, err);
}

int request_contend(struct request *request, const uint32_t *where, uint32_t n,
		    struct weft_error *err)
{
	const struct weft_fabric *f = request->fabric;
	uint64_t *own;
	int result = -1;

	if (request->alone || !request->running.n)
		return 0;
	own = weft_calloc(weft_bitset_words(f->n_gpus), sizeof(*own), err);
	if (!own)
		return -1;
	for (uint32_t r = 0; r < n; r++)
		weft_bitset_add(own, where[r]);
	if (weft_load_build(f, &request->load, err) == 0 &&
	    weft_running_traffic(&request->running, request->gpu, own,
				 &request->load, &request->n_silent,
				 err) == 0) {
		request->objective.load = &request->load;
		result = 0;
	}
	free(own);
	return result;
}

void request_close(struct request *request)
{
	weft_load_free(&request->load);
	weft_running_free(&request->running);
	weft_occupancy_free(&request->occupancy);
	weft_job_free(&request->job);
	weft_fabric_free(request->fabric);
}
