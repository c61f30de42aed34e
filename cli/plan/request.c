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

enum {
	KEY_BUSY = 512,
	KEY_STATE,
	KEY_JSON,
	KEY_GPU,
	KEY_OBJECTIVE,
	KEY_FRAGMENTATION,
	KEY_CONTENTION
};

static const struct argp_option options[] = {
	{"fabric", 'f', "FILE", 0,
	 "the cluster, weft-fabric(5) (default: $WEFT_FABRIC)", 0},
	{"job", 'j', "SPEC", 0, "the job, weft-spec(7): gpus=64,tp=8,pp=2", 0},
	{"busy", KEY_BUSY, "HOSTLIST", 0,
	 "what is taken: n[00-03],n07:0-3 (GPUs 0 to 3 of n07)", 0},
	{"state", KEY_STATE, "FILE", 0,
	 "what is taken, as weft-state(5); \"slurm\" asks the running Slurm",
	 0},
	{"nodelist", 'w', "HOSTLIST", 0, "nodes that the job must use", 0},
	{"exclude", 'x', "HOSTLIST", 0, "nodes that the job must not use", 0},
	{"gpu", KEY_GPU, "NAME", 0,
	 "kind of GPU, to predict the step (default: of the fabric's profile)",
	 0},
	{"objective", KEY_OBJECTIVE, "GOAL", 0,
	 "what shall be small: cost (of all bytes, in the job's metric), "
	 "busiest (the time of the busiest link), step (the predicted step)",
	 0},
	{"fragmentation", KEY_FRAGMENTATION, "WEIGHT", 0,
	 "what it is worth to leave room for other jobs (default: 0)", 0},
	{"contention", KEY_CONTENTION, "on|off", 0,
	 "whether the traffic of the jobs in --state counts (default: on)", 0},
	{"json", KEY_JSON, NULL, 0, "answer in JSON", 0},
	{0},
};

static int goal_read(const struct argp_state *state, const char *text)
{
	for (int i = 0; i < WEFT_N_GOALS; i++)
		if (strcmp(text, weft_goal_names[i]) == 0)
			return i + 1;
	option_wrong(state, text, "cost, busiest or step");
	return 0;
}

static bool off_read(const struct argp_state *state, const char *text)
{
	if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		option_wrong(state, text, "on or off");
	return strcmp(text, "off") == 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'f':
		request->fabric_path = arg;
		return 0;
	case 'j':
		request->job_text = arg;
		return 0;
	case 'w':
		request->require = arg;
		return 0;
	case 'x':
		request->exclude = arg;
		return 0;
	case KEY_BUSY:
		request->busy = arg;
		return 0;
	case KEY_STATE:
		request->state = arg;
		return 0;
	case KEY_GPU:
		request->gpu = option_gpu(state, arg);
		return 0;
	case KEY_OBJECTIVE:
		request->goal = goal_read(state, arg);
		return 0;
	case KEY_FRAGMENTATION:
		request->fragmentation = option_number(state, arg, 0, 1e6);
		return 0;
	case KEY_CONTENTION:
		request->alone = off_read(state, arg);
		return 0;
	case KEY_JSON:
		request->json = true;
		return 0;
	case ARGP_KEY_END:
		if (!request->fabric_path)
			request->fabric_path = getenv("WEFT_FABRIC");
		if (!request->fabric_path || !*request->fabric_path)
			argp_error(state, "which cluster? Give --fabric FILE "
					  "or set WEFT_FABRIC");
		if (!request->job_text)
			argp_error(state, "which job? Give --job SPEC, e.g. "
					  "--job gpus=64,tp=8,pp=2");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp request_argp = {.options = options, .parser = parse};

void request_take_file(struct request *request, const struct argp_state *state,
		       const char *arg)
{
	if (request->fabric_path)
		argp_error(state,
			   "one fabric, please: \"%s\" is a second; the job "
			   "is --job SPEC",
			   arg);
	request->fabric_path = arg;
}

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
	if (slurm_state_read(o, err))
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

static int job_open(struct request *request, struct weft_error *err)
{
	struct weft_error why = {0};

	if (weft_job_build(request->job_text, 0, true, request->fabric,
			   &request->job, &why))
		return weft_fail_at(err, why.code,
				    why.source[0] ? why.source : "--job",
				    why.line, why.column, "%s", why.text);
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
