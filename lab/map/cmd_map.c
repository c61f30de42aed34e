/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_map.c - weft map: the optimiser alone, on anyone's problem */
#include "cli/clock.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "lab/lab.h"
#include "lab/map/map.h"
#include "lab/stop.h"

#include <stdio.h>
#include <string.h>

/* Seconds, where neither a budget nor an amount of work is given. */
#define QAP_BUDGET  10
#define TREE_BUDGET 1
#define MAX_THREADS 64

static const char *const bound_names[] = {
	[MAP_BOUND_FAST] = "fast",
	[MAP_BOUND_NONE] = "none",
	[MAP_BOUND_FULL] = "full",
};

#define QUESTION struct map_options

static const struct option_row options[] = {
	{"qap", 0, "FILE", "two matrices, in the format of QAPLIB", 0,
	 TEXT(qap)},
	{"graph", 0, "FILE", "a graph, in the format of METIS", 0, TEXT(graph)},
	{"arch", 0, "FILE", "the places for the graph's vertices", 0,
	 TEXT(arch)},
	{"assignment", 0, "FILE", "start from this assignment too", 0,
	 TEXT(assignment)},
	{"budget", 0, "SECONDS",
	 "wall clock at most (default: 10 for --qap, 1 for --graph; none with "
	 "--work)",
	 0, NUMBER(budget_s, 1e-6, 1e9)},
	{"work", 0, "N", "steps of search at most; 0: price the start alone", 0,
	 LONG(work, UINT64_MAX - 1)},
	{"seed", 0, "N", "same seed and work, same answer (default: 0)", 0,
	 LONG(seed, UINT64_MAX)},
	{"threads", 0, "N", "search with so many (default: 1)", 0,
	 WHOLE(n_threads, 1, MAX_THREADS)},
	{"bound", 0, "HOW",
	 "none, fast or full: what to spend on a lower bound (default: fast)",
	 0, WORD(bound, bound_names, MAP_BOUND_FULL + 1)},
	{"list", 0, NULL, "print the whole assignment", 0, FLAG(list)},
	{"json", 0, NULL, "print the answer as JSON", 0, FLAG(json)},
};

/* What belongs together, and what the defaults are. */
static void options_check(const struct argp_state *state, void *input)
{
	struct map_options *o = input;

	if (o->qap && (o->graph || o->arch))
		argp_error(state, "--qap is a whole problem: neither --graph "
				  "nor --arch goes with it");
	if (!o->qap && !(o->graph && o->arch))
		argp_error(state,
			   "expected --qap FILE, or --graph FILE --arch FILE");
	if (o->budget_s == 0 && o->work == UINT64_MAX)
		o->budget_s = o->qap ? QAP_BUDGET : TREE_BUDGET;
}

int cmd_map(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.check = options_check,
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

	command_line_read(&line, argc, argv, &o);
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
