/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_map.c - weft map: the optimiser alone, on anyone's problem */
#include "cli/clock.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "lab/lab.h"
#include "lab/map/map.h"
#include "lab/model/quantity.h"
#include "lab/stop.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

/* Seconds, where neither a budget nor an amount of work is given. */
#define QAP_BUDGET  10
#define TREE_BUDGET 1
#define MAX_THREADS 64

enum {
	KEY_QAP = 256,
	KEY_GRAPH,
	KEY_ARCH,
	KEY_ASSIGNMENT,
	KEY_BUDGET,
	KEY_WORK,
	KEY_SEED,
	KEY_THREADS,
	KEY_BOUND,
	KEY_LIST,
	KEY_JSON
};

static const struct argp_option options[] = {
	{"qap", KEY_QAP, "FILE", 0, "two matrices, in the format of QAPLIB", 0},
	{"graph", KEY_GRAPH, "FILE", 0, "a graph, in the format of METIS", 0},
	{"arch", KEY_ARCH, "FILE", 0, "the places for the graph's vertices", 0},
	{"assignment", KEY_ASSIGNMENT, "FILE", 0,
	 "start from this assignment too", 0},
	{"budget", KEY_BUDGET, "SECONDS", 0,
	 "wall clock at most (default: 10 for --qap, 1 for --graph; none with "
	 "--work)",
	 0},
	{"work", KEY_WORK, "N", 0,
	 "steps of search at most; 0: price the start alone", 0},
	{"seed", KEY_SEED, "N", 0,
	 "same seed and work, same answer (default: 0)", 0},
	{"threads", KEY_THREADS, "N", 0, "search with so many (default: 1)", 0},
	{"bound", KEY_BOUND, "HOW", 0,
	 "none, fast or full: what to spend on a lower bound (default: fast)",
	 0},
	{"list", KEY_LIST, NULL, 0, "print the whole assignment", 0},
	{"json", KEY_JSON, NULL, 0, "print the answer as JSON", 0},
	{0},
};

static enum map_bound bound_parse(const struct argp_state *state,
				  const char *text)
{
	static const char *const names[] = {
		[MAP_BOUND_FAST] = "fast",
		[MAP_BOUND_NONE] = "none",
		[MAP_BOUND_FULL] = "full",
	};

	for (int i = 0; i <= MAP_BOUND_FULL; i++) {
		if (strcmp(text, names[i]) == 0)
			return (enum map_bound)i;
	}
	option_wrong(state, text, "none, fast or full");
	return MAP_BOUND_FAST;
}

/* What belongs together, and what the defaults are. */
static void options_check(struct argp_state *state, struct map_options *o)
{
	if (o->qap && (o->graph || o->arch))
		argp_error(state, "--qap is a whole problem: neither --graph "
				  "nor --arch goes with it");
	if (!o->qap && !(o->graph && o->arch))
		argp_error(state,
			   "expected --qap FILE, or --graph FILE --arch FILE");
	if (o->budget_s == 0 && o->work == UINT64_MAX)
		o->budget_s = o->qap ? QAP_BUDGET : TREE_BUDGET;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct map_options *o = state->input;

	switch (key) {
	case KEY_QAP:
		o->qap = arg;
		return 0;
	case KEY_GRAPH:
		o->graph = arg;
		return 0;
	case KEY_ARCH:
		o->arch = arg;
		return 0;
	case KEY_ASSIGNMENT:
		o->assignment = arg;
		return 0;
	case KEY_BUDGET:
		o->budget_s = option_number(state, arg, 1e-6, 1e9);
		return 0;
	case KEY_WORK:
		o->work = option_uint(state, arg, UINT64_MAX - 1);
		return 0;
	case KEY_SEED:
		o->seed = option_uint(state, arg, UINT64_MAX);
		return 0;
	case KEY_THREADS:
		o->n_threads = quantity_whole(state, arg, MAX_THREADS);
		return 0;
	case KEY_BOUND:
		o->bound = bound_parse(state, arg);
		return 0;
	case KEY_LIST:
		o->list = true;
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\" is not an option", arg);
		return 0;
	case ARGP_KEY_END:
		options_check(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_map(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Which vertex of a graph goes to which slot of a tree, "
		       "or which facility to which location, so that the sum "
		       "of weight times distance is smallest.\v"
		       "Ctrl-C takes the best found so far.",
	};
	struct map_options o = {
		.start_s = clock_now_s(),
		.work = UINT64_MAX,
		.n_threads = 1,
	};
	struct map_answer answer = {0};
	struct weft_error err = {0};
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	o.stop = stop_on_signal();
	rc = o.qap ? map_qap(&o, &answer, &err) : map_tree(&o, &answer, &err);
	answer.elapsed_s = clock_now_s() - o.start_s;
	if (rc == 0 && answer.n_left)
		fprintf(stderr,
			"weft: %s: %u numbers after the two matrices are not "
			"used\n",
			o.qap, answer.n_left);
	if (rc == 0)
		rc = map_report(&o, &answer, &err);
	map_answer_free(&answer);
	return rc ? cmd_fail(&err) : EXIT_YES;
}
