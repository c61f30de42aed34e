/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map.h - anyone's mapping problem: asked and answered
 *
 * Two kinds of problem, a graph on a tree (map_tree.c) and two matrices
 * (cmd_map.c), have options and answers in common.
 */
#ifndef WEFT_LAB_MAP_MAP_H
#define WEFT_LAB_MAP_MAP_H

#include "base/error.h"
#include "placement/mapping/effort.h"

#include <stdbool.h>
#include <stdint.h>

struct graph;
struct sites;

enum map_bound { MAP_BOUND_FAST, MAP_BOUND_NONE, MAP_BOUND_FULL };

struct map_options {
	const char *qap, *graph, *arch, *assignment; /* files; NULL: none */
	double budget_s; /* of wall clock since start_s; 0: none */
	double start_s;	 /* when the command began */
	uint64_t work, seed;
	uint32_t n_threads;
	enum map_bound bound;
	bool json, list;
	const volatile sig_atomic_t *stop;
};

/* A cost as exact as the problem's numbers are. */
struct map_cost {
	bool known, whole;
	int64_t integer; /* where whole */
	double real;	 /* in any case */
};

struct map_answer {
	uint32_t n, n_slots;
	uint32_t *assignment; /* [n] slot (or location) of each */
	struct map_cost cost, natural, given, bound;
	struct map_cost floor; /* all at the least distance; graphs only */
	const char *method;    /* static */
	double elapsed_s;
	bool interrupted;
	uint32_t n_left; /* numbers in the problem's file that were not used */
};

/* Reads the problem and solves it, within what the options allow; the answer is
 * never worse than the order as given and options->assignment.  With no work
 * allowed it is priced only.  Free with map_answer_free in either case. */
int map_tree(const struct map_options *o, struct map_answer *a,
	     struct weft_error *err);
void map_answer_free(struct map_answer *a);

/* No arrangement of a graph on sites costs less than *bound; spends at most
 * `effort` on it. */
int mapping_bound(const struct graph *g, const struct sites *s,
		  struct effort *effort, double *bound, struct weft_error *err);

/* What may be spent on a bound, before the search (fast) or after it (full),
 * and on the search. */
struct effort map_bound_effort(const struct map_options *o);
struct effort map_search_effort(const struct map_options *o);

/* The file's assignment of n to n_places. */
int map_assignment_load(const char *path, uint32_t n, uint32_t n_places,
			uint32_t *place, struct weft_error *err);

struct map_cost map_cost_whole(int64_t integer);
/* Whole where the number is one and doubles count so far. */
struct map_cost map_cost_real(double real);

#endif
