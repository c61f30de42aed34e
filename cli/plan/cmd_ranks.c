/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_ranks.c - weft ranks: which rank runs where, for any launcher */
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/plan/ranks.h"
#include "cli/report.h"
#include "topology/rank_map.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the rank map.  Returns 0, 1 when the form cannot say it (*why: static
 * text), or -1 with err. */
struct rank_form {
	const char *name, *help;
	int (*print)(const struct weft_rank_map *r, const char **why,
		     struct weft_error *err);
};

/* ---- writers of orders of ranks, and the table of them ---- */

/* For each rank how many of its node come before it; malloc'ed. */
static uint32_t *locals_of(const struct weft_rank_map *r,
			   struct weft_error *err)
{
	uint32_t *local = weft_calloc(r->n_ranks, sizeof(*local), err);
	uint32_t *n = weft_calloc(r->n_nodes, sizeof(*n), err);

	for (uint32_t i = 0; local && n && i < r->n_ranks; i++)
		local[i] = n[r->node[i]]++;
	if (n && local) {
		free(n);
		return local;
	}
	free(n);
	free(local);
	return NULL;
}

static const char *node_of(const struct weft_rank_map *r, uint32_t rank)
{
	return r->nodes[r->node[rank]];
}

/* Ranks from `rank` on that are on its node. */
static uint32_t run_of(const struct weft_rank_map *r, uint32_t rank)
{
	uint32_t n = 1;

	while (rank + n < r->n_ranks && r->node[rank + n] == r->node[rank])
		n++;
	return n;
}

static int print_table(const struct weft_rank_map *r, const char **why,
		       struct weft_error *err)
{
	uint32_t *local = locals_of(r, err);

	(void)why;
	if (!local)
		return -1;
	printf("rank   node             gpu  local\n");
	for (uint32_t i = 0; i < r->n_ranks; i++)
		printf("%-6" PRIu32 " %-16s %3u  %5" PRIu32 "\n", i,
		       node_of(r, i), r->gpu[i], local[i]);
	free(local);
	return 0;
}

static int print_hostfile(const struct weft_rank_map *r, const char **why,
			  struct weft_error *err)
{
	(void)why;
	(void)err;
	for (uint32_t i = 0; i < r->n_ranks; i++)
		printf("%s\n", node_of(r, i));
	return 0;
}

static int print_rankfile(const struct weft_rank_map *r, const char **why,
			  struct weft_error *err)
{
	uint32_t *local = locals_of(r, err);

	(void)why;
	if (!local)
		return -1;
	for (uint32_t i = 0; i < r->n_ranks; i++)
		printf("rank %" PRIu32 "=%s slot=%" PRIu32 "\n", i,
		       node_of(r, i), local[i]);
	free(local);
	return 0;
}

/* torchrun numbers ranks node by node, and gives each node as many. */
static int print_torchrun(const struct weft_rank_map *r, const char **why,
			  struct weft_error *err)
{
	uint32_t each = run_of(r, 0);

	(void)err;
	if (each * r->n_nodes != r->n_ranks) {
		*why = "torchrun wants as many ranks on each node, one node "
		       "after another";
		return 1;
	}
	for (uint32_t i = 0; i < r->n_ranks; i += each)
		if (run_of(r, i) != each) {
			*why = "torchrun wants ranks to go node by node";
			return 1;
		}
	for (uint32_t n = 0; n < r->n_nodes; n++)
		printf("%s torchrun --nnodes=%" PRIu32
		       " --nproc-per-node=%" PRIu32 " --node-rank=%" PRIu32
		       " --master-addr=%s\n",
		       r->nodes[n], r->n_nodes, each, n, r->nodes[0]);
	return 0;
}

/* DeepSpeed's launcher numbers ranks host by host as the file lists them, and
 * takes each host once. */
static int print_deepspeed(const struct weft_rank_map *r, const char **why,
			   struct weft_error *err)
{
	uint32_t n = 0;

	(void)err;
	for (uint32_t i = 0; i < r->n_ranks; i += run_of(r, i))
		n++;
	if (n != r->n_nodes) {
		*why = "DeepSpeed wants ranks to go node by node";
		return 1;
	}
	for (uint32_t i = 0; i < r->n_ranks; i += n) {
		n = run_of(r, i);
		printf("%s slots=%" PRIu32 "\n", node_of(r, i), n);
	}
	return 0;
}

/* As nccl-tests are run: hosts and slots for mpirun, then what each node's
 * processes see. */
static int print_nccl(const struct weft_rank_map *r, const char **why,
		      struct weft_error *err)
{
	(void)why;
	(void)err;
	printf("--host ");
	for (uint32_t i = 0, n; i < r->n_ranks; i += n) {
		n = run_of(r, i);
		printf("%s%s:%" PRIu32, i ? "," : "", node_of(r, i), n);
	}
	printf("\n");
	for (uint32_t node = 0; node < r->n_nodes; node++) {
		const char *before = "";

		printf("%s CUDA_VISIBLE_DEVICES=", r->nodes[node]);
		for (uint32_t i = 0; i < r->n_ranks; i++)
			if (r->node[i] == node) {
				printf("%s%u", before, r->gpu[i]);
				before = ",";
			}
		printf("\n");
	}
	return 0;
}

static int print_text(const struct weft_rank_map *r, const char **why,
		      struct weft_error *err)
{
	char *text = weft_rank_map_encode(r, err);

	(void)why;
	if (!text)
		return -1;
	printf("%s\n", text);
	free(text);
	return 0;
}

static const struct rank_form rank_forms[] = {
	{"table", "for people: rank, node, GPU and local rank", print_table},
	{"hostfile", "the node of each rank, a line each: SLURM_HOSTFILE",
	 print_hostfile},
	{"rankfile", "Open MPI's --rankfile", print_rankfile},
	{"torchrun", "a command for each node", print_torchrun},
	{"deepspeed", "a hostfile of DeepSpeed: hosts and slots",
	 print_deepspeed},
	{"nccl", "hosts and slots for mpirun, and each node's GPUs in order",
	 print_nccl},
	{"variable", "as in WEFT_RANKS", print_text},
};
static const uint32_t n_rank_forms = sizeof(rank_forms) / sizeof(rank_forms[0]);

/* By name, or NULL. */
/* {"schema": "weft.ranks/1", ...}.  -1 with err. */
static int rank_form_json(const struct weft_rank_map *r, struct weft_error *err)
{
	uint32_t *local = locals_of(r, err);
	json_t *nodes = json_array(), *ranks = json_array(), *object;

	for (uint32_t n = 0; local && n < r->n_nodes; n++)
		json_array_append_new(nodes, report_string(r->nodes[n]));
	for (uint32_t i = 0; local && i < r->n_ranks; i++)
		json_array_append_new(
			ranks,
			json_pack("{s:I, s:o, s:I, s:I}", "rank", (json_int_t)i,
				  "node", report_string(node_of(r, i)), "gpu",
				  (json_int_t)r->gpu[i], "local_rank",
				  (json_int_t)local[i]));
	free(local);
	if (!local) {
		json_decref(nodes);
		json_decref(ranks);
		return -1;
	}
	object = json_pack("{s:s, s:I, s:s, s:I, s:o, s:o}", "schema",
			   "weft.ranks/1", "job", (json_int_t)r->job_id, "env",
			   weft_env_names[r->env], "n_ranks",
			   (json_int_t)r->n_ranks, "nodes", nodes, "ranks",
			   ranks);
	if (r->nvlink.n_gpus)
		JSON_PUT(object, "nvlink",
			 json_pack("{s:I, s:I, s:I}", "gpus",
				   (json_int_t)r->nvlink.n_gpus, "nodes",
				   (json_int_t)r->nvlink.n_nodes, "experts",
				   (json_int_t)r->nvlink.n_experts));
	return report_print(object, err);
}

/* ---- the command ---- */

struct ranks {
	const char *plan;
	const struct rank_form *form;
	bool json;
};

static void forms_print(void)
{
	for (uint32_t i = 0; i < n_rank_forms; i++)
		printf("%-10s %s\n", rank_forms[i].name, rank_forms[i].help);
}

static void form_read(const struct argp_state *state, char *name, void *input)
{
	struct ranks *ranks = input;
	char hint[WEFT_SUGGEST_TEXT];

	ranks->form = WEFT_ROW(name, rank_forms, n_rank_forms);
	if (!ranks->form)
		argp_error(state, "--form: there is no \"%s\"; %s", name,
			   WEFT_ROW_HINT(name, rank_forms, n_rank_forms, hint));
}

static void options_check(const struct argp_state *state, void *input)
{
	const struct ranks *ranks = input;

	if (ranks->json && ranks->form)
		argp_error(state, "give either --form or --json");
}

#define QUESTION struct ranks

static const struct option_row options[] = {
	{"plan", 'p', "FILE",
	 "the JSON of weft plan or score; \"-\" is stdin (default: the job's "
	 "order, from WEFT_RANKS)",
	 0, TEXT(plan)},
	{"form", 'F', "NAME", "for which launcher (default: table)", 0,
	 READ(form_read)},
	{"forms", 0, NULL, "list the forms and exit", 0, LIST(forms_print)},
	{"json", 0, NULL, "print one JSON object", 0, FLAG(json)},
};

/* ---- from a plan ---- */

/* Index of the name among those seen so far; neighbours are mostly alike. */
static uint32_t node_add(struct weft_rank_map *r, const char *name,
			 uint32_t last)
{
	if (last < r->n_nodes && strcmp(r->nodes[last], name) == 0)
		return last;
	for (uint32_t i = 0; i < r->n_nodes; i++)
		if (strcmp(r->nodes[i], name) == 0)
			return i;
	r->nodes[r->n_nodes] = name;
	return r->n_nodes++;
}

static int entry_read(json_t *entry, uint32_t n, const char *source,
		      const char **name, struct weft_rank_map *r,
		      struct weft_error *err)
{
	json_int_t rank, gpu;
	const char *node;

	if (json_unpack(entry, "{s:I, s:s, s:I}", "rank", &rank, "node", &node,
			"gpu", &gpu))
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "ranks: expected {\"rank\", \"node\", "
				    "\"gpu\"}");
	if (rank < 0 || rank >= (json_int_t)n || name[rank])
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "ranks: expected each of 0 to %u once",
				    n - 1);
	if (gpu < 0 || gpu >= WEFT_MAX_GPUS_PER_NODE)
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "ranks: no GPU of a node has this number");
	name[rank] = node;
	r->gpu[rank] = (uint8_t)gpu;
	return 0;
}

/* Names stay the document's. */
static int plan_seat(const json_t *list, const char *source,
		     struct weft_rank_map *r, struct weft_error *err)
{
	size_t n = json_array_size(list);
	const char **name;
	int rc = 0;

	if (n == 0 || n > WEFT_RANK_MAP_MAX_RANKS)
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "expected 1 to %u ranks in \"ranks\", as "
				    "weft plan --json writes",
				    WEFT_RANK_MAP_MAX_RANKS);
	name = weft_calloc(n, sizeof(*name), err);
	r->nodes = weft_calloc(n, sizeof(*r->nodes), err);
	r->node = weft_calloc(n, sizeof(*r->node), err);
	r->gpu = weft_calloc(n, sizeof(*r->gpu), err);
	if (!name || !r->nodes || !r->node || !r->gpu)
		rc = -1;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = entry_read(json_array_get(list, i), (uint32_t)n, source,
				name, r, err);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		r->node[i] = node_add(r, name[i], i ? r->node[i - 1] : 0);
	if (rc == 0)
		r->n_ranks = (uint32_t)n;
	free(name);
	return rc;
}

/* ---- answer ---- */

static int print(const struct ranks *ranks, const struct weft_rank_map *r,
		 struct weft_error *err)
{
	const struct rank_form *form =
		ranks->form ? ranks->form : &rank_forms[0];
	const char *why = NULL;
	int rc;

	if (ranks->json)
		return rank_form_json(r, err) ? -1 : EXIT_YES;
	rc = form->print(r, &why, err);
	if (rc <= 0)
		return rc;
	fprintf(stderr, "weft: %s\n", why);
	return EXIT_NEGATIVE;
}

static int from_plan(const struct ranks *ranks, struct weft_error *err)
{
	json_t *plan = plan_from_file(ranks->plan, err);
	struct weft_rank_map r = {0};
	int rc = -1;

	if (plan && plan_seat(json_object_get(plan, "ranks"), ranks->plan, &r,
			      err) == 0)
		rc = print(ranks, &r, err);
	weft_rank_map_free(&r);
	json_decref(plan);
	return rc;
}

static int from_job(const struct ranks *ranks, struct weft_error *err)
{
	const char *text = getenv(WEFT_RANK_MAP_VARIABLE);
	const char *job = getenv("SLURM_JOB_ID");
	struct weft_rank_map r = {0};
	int rc;

	if (text && weft_rank_map_decode(text, &r, err) < 0)
		return -1;
	if (!r.n_ranks) {
		fprintf(stderr,
			"weft: no order of ranks in %s: weft has none "
			"for this job, or this is no job\n",
			WEFT_RANK_MAP_VARIABLE);
		weft_rank_map_free(&r);
		return EXIT_NEGATIVE;
	}
	/* A job inside of a job may have inherited the variable. */
	if (job && strtoul(job, NULL, 10) != r.job_id)
		rc = weft_fail(err, WEFT_EINVAL,
			       "%s is of job %u, but this is job %.20s",
			       WEFT_RANK_MAP_VARIABLE, r.job_id, job);
	else
		rc = print(ranks, &r, err);
	weft_rank_map_free(&r);
	return rc;
}

int cmd_ranks(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.check = options_check,
		.doc = "Which rank runs on which GPU of which node, for any "
		       "launcher: of the job that it runs in, or of a plan.",
	};
	struct ranks ranks = {0};
	struct weft_error err = {0};
	int result;

	command_line_read(&line, argc, argv, &ranks);
	result = ranks.plan ? from_plan(&ranks, &err) : from_job(&ranks, &err);
	return result < 0 ? cmd_fail(&err) : result;
}
