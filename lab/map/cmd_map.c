/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_map.c - weft map: the optimiser alone, on anyone's problem */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/option.h"
#include "cli/report.h"
#include "lab/lab.h"
#include "lab/map/map.h"
#include "lab/map/portfolio.h"
#include "lab/map/qaplib.h"
#include "lab/stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the answer ---- */

static json_t *json_cost(const struct map_cost *cost)
{
	if (!cost->known)
		return json_null();
	return cost->whole ? json_integer(cost->integer)
			   : json_real(cost->real);
}

/* Is `part` a share of `whole`?  Nothing always is; matrices with numbers below
 * 0 may have costs and bounds of which something is not. */
static bool is_share(double part, double whole)
{
	return part <= 0 || part <= whole;
}

static json_t *json_share(double part, double whole, bool known)
{
	if (!known || !is_share(part, whole))
		return json_null();
	return json_real(part > 0 ? part / whole : 0);
}

/* What is above the floor, and how much of that may still be saved. */
static struct map_cost above_floor(const struct map_answer *a)
{
	if (!a->floor.known)
		return (struct map_cost){0};
	if (a->cost.whole && a->floor.whole)
		return map_cost_whole(a->cost.integer - a->floor.integer);
	return map_cost_real(a->cost.real - a->floor.real);
}

static double room_left(const struct map_answer *a)
{
	double room = a->cost.real - a->bound.real;

	return room > 0 ? room : 0;
}

static int answer_json(const struct map_answer *a, struct weft_error *err)
{
	const struct map_cost network = above_floor(a);
	json_t *object = json_object(), *list = json_array();

	for (uint32_t i = 0; i < a->n; i++)
		json_array_append_new(list, json_integer(a->assignment[i]));
	JSON_PUT(object, "schema", "weft.map/1");
	JSON_PUT(object, "n", a->n);
	JSON_PUT(object, "slots", a->n_slots);
	JSON_PUT(object, "cost", json_cost(&a->cost));
	JSON_PUT(object, "bound", json_cost(&a->bound));
	JSON_PUT(object, "gap",
		 json_share(room_left(a), a->cost.real, a->bound.known));
	JSON_PUT(object, "floor", json_cost(&a->floor));
	JSON_PUT(object, "network_cost", json_cost(&network));
	JSON_PUT(object, "network_gap",
		 json_share(room_left(a), network.real,
			    a->bound.known && network.known));
	JSON_PUT(object, "natural_cost", json_cost(&a->natural));
	JSON_PUT(object, "given_cost", json_cost(&a->given));
	JSON_PUT(object, "method", a->method);
	JSON_PUT(object, "elapsed_s", a->elapsed_s);
	JSON_PUT(object, "interrupted", a->interrupted);
	JSON_PUT(object, "assignment", list);
	return report_print(object, err);
}

static const char *cost_text(const struct map_cost *cost, char *buffer,
			     size_t size)
{
	if (cost->whole)
		snprintf(buffer, size, "%" PRId64, cost->integer);
	else
		snprintf(buffer, size, "%.12g", cost->real);
	return buffer;
}

static void text_line(const char *name, const struct map_cost *cost)
{
	char text[64];

	printf("  %-15s %16s", name, cost_text(cost, text, sizeof(text)));
}

/* "3.1 % less": the cost beside one of the starts. */
static void text_start(const char *name, const struct map_answer *a,
		       const struct map_cost *start)
{
	if (!start->known)
		return;
	text_line(name, start);
	if (start->real > 0 && a->cost.real >= 0)
		printf("   the cost is %.4f of it", a->cost.real / start->real);
	putchar('\n');
}

static void text_bound(const struct map_answer *a,
		       const struct map_cost *network)
{
	if (!a->bound.known)
		return;
	text_line("at least", &a->bound);
	if (room_left(a) <= 0) {
		puts("   this is the optimum");
		return;
	}
	if (is_share(room_left(a), a->cost.real))
		printf("   gap %.2f %%", 100 * room_left(a) / a->cost.real);
	if (network->known && network->real > 0)
		printf(", %.2f %% of what is above the floor",
		       100 * room_left(a) / network->real);
	putchar('\n');
}

static void answer_text(const struct map_options *o, const struct map_answer *a)
{
	const struct map_cost network = above_floor(a);

	if (a->floor.known)
		printf("%u vertices on %u slots\n", a->n, a->n_slots);
	else
		printf("%u facilities and locations\n", a->n);
	text_line("cost", &a->cost);
	printf("   %s, %s%s\n", a->method, IN_UNIT(a->elapsed_s, "s"),
	       a->interrupted ? ", interrupted" : "");
	if (network.known) {
		text_line("above the floor", &network);
		putchar('\n');
	}
	text_bound(a, &network);
	text_start("natural order", a, &a->natural);
	text_start("as given", a, &a->given);
	for (uint32_t i = 0; o->list && i < a->n; i++)
		printf("%u %u\n", i, a->assignment[i]);
}

/* Prints the answer. */
static int map_report(const struct map_options *o, const struct map_answer *a,
		      struct weft_error *err)
{
	if (o->json)
		return answer_json(a, err);
	answer_text(o, a);
	return 0;
}

/* ---- two matrices: which facility goes to which location ---- */

static int file_read(const char *path, struct qap *q, uint32_t *n_left,
		     struct weft_error *err)
{
	struct scan s;
	int rc = scan_load(&s, path, err);

	if (rc == 0)
		rc = qaplib_read(&s, q, n_left);
	scan_free(&s);
	return rc;
}

static int bound_find(const struct map_options *o, const struct qap *q,
		      struct map_answer *a, struct weft_error *err)
{
	struct effort effort = map_bound_effort(o);
	int64_t bound;

	if (qap_bound(q, &effort, &bound, err))
		return -1;
	a->bound = map_cost_whole(bound);
	return 0;
}

struct question {
	const struct qap *q;
	int64_t target;
};

static int search_once(const void *question, struct effort *effort,
		       uint32_t *location, double *cost, struct weft_error *err)
{
	const struct question *ask = question;
	int64_t whole;

	if (qap_solve(ask->q, ask->target, effort, location, &whole, err))
		return -1;
	*cost = (double)whole;
	return 0;
}

/* Keeps what the search finds only where no start is better. */
static int search(const struct map_options *o, const struct qap *q,
		  struct map_answer *a, struct weft_error *err)
{
	const struct question question = {
		.q = q,
		.target = a->bound.known ? a->bound.integer : INT64_MIN,
	};
	struct effort effort = map_search_effort(o);
	uint32_t *location = weft_calloc(q->n, sizeof(*location), err);
	double nearly;
	int64_t cost = 0;
	int rc;

	if (!location)
		return -1;
	stop_count(o->budget_s);
	rc = portfolio_run(o->n_threads, search_once, &question, q->n, &effort,
			   location, &nearly, err);
	stop_quiet();
	if (rc == 0)
		cost = qap_cost(q, location);
	if (rc == 0 && cost < a->cost.integer) {
		memcpy(a->assignment, location, q->n * sizeof(*location));
		a->cost = map_cost_whole(cost);
		a->method = "search";
	}
	free(location);
	return rc;
}

static int solve(const struct map_options *o, const struct qap *q,
		 struct map_answer *a, struct weft_error *err)
{
	for (uint32_t i = 0; i < q->n; i++)
		a->assignment[i] = i;
	a->cost = a->natural = map_cost_whole(qap_cost(q, a->assignment));
	a->method = "natural order";
	if (o->assignment) {
		uint32_t *given = weft_calloc(q->n, sizeof(*given), err);

		if (!given || map_assignment_load(o->assignment, q->n, q->n,
						  given, err)) {
			free(given);
			return -1;
		}
		a->given = map_cost_whole(qap_cost(q, given));
		/* one that is to be priced alone counts whatever its cost */
		if (o->work == 0 || a->given.integer <= a->cost.integer) {
			memcpy(a->assignment, given, q->n * sizeof(*given));
			a->cost = a->given;
			a->method = "as given";
		}
		free(given);
	}
	if (o->bound == MAP_BOUND_FAST && bound_find(o, q, a, err))
		return -1;
	if (o->work > 0 && search(o, q, a, err))
		return -1;
	a->interrupted = *o->stop;
	if (o->bound == MAP_BOUND_FULL && bound_find(o, q, a, err))
		return -1;
	return 0;
}

static int map_qap(const struct map_options *o, struct map_answer *a,
		   struct weft_error *err)
{
	struct qap q = {0};
	int rc = -1;

	if (file_read(o->qap, &q, &a->n_left, err) == 0) {
		a->n = a->n_slots = q.n;
		a->assignment = weft_calloc(q.n, sizeof(*a->assignment), err);
		if (a->assignment)
			rc = solve(o, &q, a, err);
	}
	qap_free(&q);
	return rc;
}

/* ---- the command ---- */

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
	{"threads", 0, "N", "threads that search (default: 1)", 0,
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
		.start_s = weft_clock_s(),
		.work = UINT64_MAX,
		.n_threads = 1,
	};
	struct map_answer answer = {0};
	struct weft_error err = {0};
	int rc;

	command_line_read(&line, argc, argv, &o);
	o.stop = stop_on_signal();
	rc = o.qap ? map_qap(&o, &answer, &err) : map_tree(&o, &answer, &err);
	answer.elapsed_s = weft_clock_s() - o.start_s;
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
