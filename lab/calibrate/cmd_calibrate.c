/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_calibrate.c - weft calibrate: nccl-tests output to link parameters */
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "lab/calibrate/calibration.h"
#include "lab/lab.h"
#include "lab/model/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LOGS 65536

struct query {
	struct weft_calibrate_options options;
	struct calibration_view view;
	char **paths;
	size_t n_paths;
};

static void collective_read(const struct argp_state *state, char *name,
			    void *input)
{
	struct query *query = input;
	enum weft_collective collective = weft_nccl_collective(name);

	if (collective == WEFT_N_COLLECTIVES)
		argp_error(state,
			   "\"%s\" is no collective: all_reduce, all_gather, "
			   "reduce_scatter, all_to_all, broadcast, reduce or "
			   "send_recv",
			   name);
	query->options.collective = collective;
}

/* "64", "512K", "1M", "4G": binary, as nccl-tests' own -b and -e. */
static double option_size(const struct argp_state *state, const char *text)
{
	static const char units[] = "KMGT";
	char *end;
	double value = strtod(text, &end);
	const char *unit =
		*end ? strchr(units, toupper((unsigned char)*end)) : NULL;

	if (end == text || !(value > 0) || (*end && !unit))
		argp_error(state, "\"%s\" is no size: bytes, or 512K, 1M, 4G",
			   text);
	if (unit) {
		value = ldexp(value, 10 * (int)(unit - units + 1));
		end++;
		end += strncmp(end, "iB", 2) == 0 ? 2 : *end == 'B';
	}
	if (*end || !(value <= 1e18))
		argp_error(state, "\"%s\" is no size: bytes, or 512K, 1M, 4G",
			   text);
	return value;
}

static void list_check(const struct argp_state *state, uint32_t n)
{
	if (n == CALIBRATION_MAX_LIST)
		argp_error(state, "at most %d in a list", CALIBRATION_MAX_LIST);
}

static void sizes_read(const struct argp_state *state, char *text, void *input)
{
	struct calibration_view *view = &((struct query *)input)->view;
	char *rest = NULL;

	for (char *word = strtok_r(text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		list_check(state, view->n_sizes);
		view->sizes[view->n_sizes++] = option_size(state, word);
	}
}

static void nodes_read(const struct argp_state *state, char *text, void *input)
{
	struct calibration_view *view = &((struct query *)input)->view;
	char *rest = NULL;

	for (char *word = strtok_r(text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		uint32_t n = (uint32_t)option_uint(state, word, 1u << 20);

		list_check(state, view->n_nodes);
		if (n == 0)
			argp_error(state, "--on: 0 nodes send nothing");
		view->nodes[view->n_nodes++] = n;
	}
}

/* argp brings the arguments together at the end of argv. */
static void log_read(const struct argp_state *state, char *text, void *input)
{
	struct query *query = input;

	if (!text)
		argp_error(state, "which logs?  (\"-\" is standard input)");
	if (!query->n_paths++)
		query->paths = state->argv + state->next - 1;
}

/* cmd_calibrate looks for it first, but not for "--ste". */
static void steps_refuse(const struct argp_state *state, char *text,
			 void *input)
{
	(void)text;
	(void)input;
	argp_error(state, "write --steps in full");
}

#define QUESTION struct query

static const struct option_row options[] = {
	{"steps", 0, "LOG",
	 "instead: what a job's own steps say of the predicted one; with --job "
	 "SPEC, --gpu NAME, --into CSV",
	 0, READ(steps_refuse)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(view.json)},
	{"yaml", 0, NULL,
	 "answer with the links of a fabric file, weft-fabric(5)", 0,
	 FLAG(view.yaml)},
	{"level", 0, "NAME", "network level that --yaml names [leaf]", 0,
	 TEXT(view.level)},
	{"domain", 0, "GPUS", "GPUs of an NVLink domain, where it spans nodes",
	 0, WHOLE(options.domain_gpus, 0, 1u << 20)},
	{"predict", 0, "SIZE,...",
	 "also predict times at these sizes (512K, 1G, bytes)", 0,
	 READ(sizes_read)},
	{"on", 0, "NODES,...",
	 "predict for these numbers of nodes [those measured]", 0,
	 READ(nodes_read)},
	{"network", 0, "RATE",
	 "what a node's NICs reach together, where only one node was measured",
	 0, RATE(options.network_bytes_per_s)},
	{"collective", 0, "NAME", "of logs that do not name it", 1,
	 READ(collective_read)},
	{"ranks", 0, "N", "of logs that do not say", 1,
	 WHOLE(options.n_ranks, 0, 1u << 20)},
	{"nodes", 0, "N", "of logs that do not say", 1,
	 WHOLE(options.n_nodes, 0, 1u << 20)},
};

static void query_check(const struct argp_state *state, void *input)
{
	const struct query *query = input;

	if (query->n_paths > MAX_LOGS)
		argp_error(state, "at most %d logs", MAX_LOGS);
	if (query->view.json && query->view.yaml)
		argp_error(state, "--json or --yaml, not both");
	if (query->view.n_nodes && !query->view.n_sizes)
		argp_error(state, "--on needs --predict");
}

struct logs {
	struct weft_nccl_log *item;
	size_t n;
};

static int log_take(void *context, const char *name, const char *text,
		    size_t size, struct weft_error *err)
{
	struct logs *logs = context;
	struct weft_nccl_log *more =
		weft_realloc(logs->item, logs->n + 1, sizeof(*more), err);
	struct weft_nccl_log *log;

	if (!more)
		return -1;
	logs->item = more;
	log = &more[logs->n];
	if (weft_nccl_log_parse(text, size, name, log, err))
		return -1;
	logs->n++;
	if (!log->n_rows && !log->n_flaws)
		fprintf(stderr, "weft: %s: no result of nccl-tests in it\n",
			name);
	return 0;
}

static int load(const struct query *query, struct logs *logs,
		struct weft_error *err)
{
	size_t n_rows = 0;

	for (size_t i = 0; i < query->n_paths; i++)
		if (weft_text_each(query->paths[i], WEFT_NCCL_MAX_BYTES,
				   log_take, logs, err))
			return -1;
	for (size_t i = 0; i < logs->n; i++)
		n_rows += logs->item[i].n_rows + logs->item[i].n_flaws;
	if (!n_rows)
		return weft_fail(err, WEFT_EINVAL,
				 "no log has a row \"SIZE COUNT TYPE ...\" of "
				 "nccl-tests");
	return 0;
}

static int calibrate(struct query *query, struct logs *logs,
		     struct weft_error *err)
{
	struct weft_calibration calibration;
	int result;

	if (load(query, logs, err))
		return cmd_fail(err);
	if (weft_calibrate(logs->item, logs->n, &query->options, &calibration,
			   err))
		return cmd_fail(err);
	query->view.logs = logs->item;
	query->view.n_logs = logs->n;
	result = calibration_print(&query->view, &calibration, err)
			 ? cmd_fail(err)
		 : calibration.n_fitted ? EXIT_YES
					: EXIT_NEGATIVE;
	weft_calibration_free(&calibration);
	return result;
}

/* Measured steps are another question, with options of its own. */
static bool asks_steps(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--steps", 7) == 0)
			return true;
	}
	return false;
}

int cmd_calibrate(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = log_read,
		.check = query_check,
		.arguments = "LOG...",
		.doc = "Fits link and collective parameters to what nccl-tests "
		       "measured, and says how well they fit.",
	};
	struct query query = {.options.collective = WEFT_N_COLLECTIVES,
			      .view.level = "leaf"};
	struct weft_error err = {0};
	struct logs logs = {0};
	int result;

	if (asks_steps(argc, argv))
		return calibrate_steps(argc, argv);
	command_line_read(&line, argc, argv, &query);
	result = calibrate(&query, &logs, &err);
	for (size_t i = 0; i < logs.n; i++)
		weft_nccl_log_free(&logs.item[i]);
	free(logs.item);
	return result;
}
