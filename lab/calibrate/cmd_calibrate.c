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

enum {
	KEY_JSON = 256,
	KEY_YAML,
	KEY_COLLECTIVE,
	KEY_RANKS,
	KEY_NODES,
	KEY_DOMAIN,
	KEY_LEVEL,
	KEY_PREDICT,
	KEY_ON,
	KEY_NETWORK,
	KEY_STEPS
};

static const struct argp_option options[] = {
	{"steps", KEY_STEPS, "LOG", 0,
	 "instead: what a job's own steps say of the predicted one; with --job "
	 "SPEC, --gpu NAME, --into CSV",
	 0},
	{"json", KEY_JSON, NULL, 0, "answer in JSON", 0},
	{"yaml", KEY_YAML, NULL, 0,
	 "answer with the links of a fabric file, weft-fabric(5)", 0},
	{"level", KEY_LEVEL, "NAME", 0,
	 "network level that --yaml names [leaf]", 0},
	{"domain", KEY_DOMAIN, "GPUS", 0,
	 "GPUs of an NVLink domain, where it spans nodes", 0},
	{"predict", KEY_PREDICT, "SIZE,...", 0,
	 "also predict times at these sizes (512K, 1G, bytes)", 0},
	{"on", KEY_ON, "NODES,...", 0,
	 "predict for these numbers of nodes [those measured]", 0},
	{"network", KEY_NETWORK, "RATE", 0,
	 "what a node's NICs reach together, where only one node was measured",
	 0},
	{"collective", KEY_COLLECTIVE, "NAME", 0, "of logs that do not name it",
	 1},
	{"ranks", KEY_RANKS, "N", 0, "of logs that do not tell", 1},
	{"nodes", KEY_NODES, "N", 0, "of logs that do not tell", 1},
	{0},
};

struct query {
	struct weft_calibrate_options options;
	struct calibration_view view;
	char **paths;
	size_t n_paths;
};

static enum weft_collective option_collective(const struct argp_state *state,
					      const char *name)
{
	enum weft_collective collective = weft_nccl_collective(name);

	if (collective == WEFT_N_COLLECTIVES)
		argp_error(state,
			   "\"%s\" is no collective: all_reduce, all_gather, "
			   "reduce_scatter, all_to_all, broadcast, reduce or "
			   "send_recv",
			   name);
	return collective;
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

static void parse_list(const struct argp_state *state, int key, char *arg,
		       struct calibration_view *view)
{
	char *rest = NULL;

	for (char *word = strtok_r(arg, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		uint32_t *n = key == KEY_ON ? &view->n_nodes : &view->n_sizes;

		if (*n == CALIBRATION_MAX_LIST)
			argp_error(state, "at most %d in a list",
				   CALIBRATION_MAX_LIST);
		if (key == KEY_ON)
			view->nodes[*n] =
				(uint32_t)option_uint(state, word, 1u << 20);
		else
			view->sizes[*n] = option_size(state, word);
		if (key == KEY_ON && view->nodes[*n] == 0)
			argp_error(state, "--on: 0 nodes send nothing");
		++*n;
	}
}

static error_t parse_detail(int key, char *arg, struct argp_state *state,
			    struct query *query)
{
	switch (key) {
	case KEY_COLLECTIVE:
		query->options.collective = option_collective(state, arg);
		return 0;
	case KEY_RANKS:
		query->options.n_ranks =
			(uint32_t)option_uint(state, arg, 1u << 20);
		return 0;
	case KEY_NODES:
		query->options.n_nodes =
			(uint32_t)option_uint(state, arg, 1u << 20);
		return 0;
	case KEY_DOMAIN:
		query->options.domain_gpus =
			(uint32_t)option_uint(state, arg, 1u << 20);
		return 0;
	case KEY_NETWORK:
		query->options.network_bytes_per_s =
			quantity_parse(state, QUANTITY_RATE, arg);
		return 0;
	case KEY_PREDICT:
	case KEY_ON:
		parse_list(state, key, arg, &query->view);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;

	switch (key) {
	case KEY_JSON:
		query->view.json = true;
		return 0;
	case KEY_YAML:
		query->view.yaml = true;
		return 0;
	case KEY_LEVEL:
		query->view.level = arg;
		return 0;
	case ARGP_KEY_ARGS:
		query->paths = state->argv + state->next;
		query->n_paths = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which logs?  (\"-\" is standard input)");
		return 0;
	case ARGP_KEY_END:
		if (query->n_paths > MAX_LOGS)
			argp_error(state, "at most %d logs", MAX_LOGS);
		if (query->view.json && query->view.yaml)
			argp_error(state, "--json or --yaml, not both");
		if (query->view.n_nodes && !query->view.n_sizes)
			argp_error(state, "--on needs --predict");
		return 0;
	default:
		return parse_detail(key, arg, state, query);
	}
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
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "LOG...",
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
	argp_parse(&argp, argc, argv, 0, NULL, &query);
	result = calibrate(&query, &logs, &err);
	for (size_t i = 0; i < logs.n; i++)
		weft_nccl_log_free(&logs.item[i]);
	free(logs.item);
	return result;
}
