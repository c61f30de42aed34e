/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - an integer program: built row by row, written, solved
 *
 * Minimise the sum of cost times column, each row's sum between its limits.
 * What cannot be added for lack of memory is remembered, so that builders need
 * not look at every step: program_check reports.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_PROGRAM_H
#define WEFT_PLACEMENT_EXACT_PROGRAM_H

#include "base/error.h"
#include "placement/mapping/effort.h"

#include <stdbool.h>
#include <stdio.h>

#define PROGRAM_NAME_SIZE 20

/* low <= column <= high; low is finite, high may be INFINITY. */
struct program_column {
	double low, high, cost;
	bool whole; /* integer */
	char name[PROGRAM_NAME_SIZE];
};

/* -INFINITY or INFINITY: no limit on that side. */
struct program_row {
	double low, high;
	uint32_t first; /* entry */
	char name[PROGRAM_NAME_SIZE];
};

struct program_entry {
	uint32_t column;
	double value;
};

/* Zero-initialise. */
struct program {
	uint32_t n_columns, n_rows, n_entries;
	struct program_column *column;
	struct program_row *row;
	struct program_entry *entry; /* row after row */
	uint32_t room_columns, room_rows, room_entries;
	bool out_of_memory;
};

/* Adds a column; its name is a letter and up to three numbers, those that are
 * WEFT_NONE left out.  Returns its index. */
uint32_t program_column(struct program *p, struct program_column column,
			char letter, const uint32_t number[3]);

/* Opens a row; program_put adds to the last one opened.  A column occurs at
 * most once in a row. */
void program_row(struct program *p, double low, double high);
void program_put(struct program *p, uint32_t column, double value);

/* -1 with err when anything was left out. */
int program_check(const struct program *p, struct weft_error *err);
void program_free(struct program *p);

/* Writes it in CPLEX LP format, which glpsol and others read.  What fails is
 * left to ferror(file). */
void program_write(const struct program *p, FILE *file);

enum program_status {
	PROGRAM_OPTIMAL,    /* value is the least there is */
	PROGRAM_INFEASIBLE, /* nothing keeps to all rows (and to the cutoff) */
	PROGRAM_STOPPED	    /* by a limit; bound holds */
};

struct program_limits {
	const struct effort *effort; /* its deadline and stop; may be NULL */
	uint32_t memory_mb;	     /* of the solver; 0: 1024 */
	double cutoff;		     /* look only for less; INFINITY: for all */
	/* called with the bound about every second; NULL: never */
	void (*progress)(void *listener, double bound);
	void *listener;
};

struct program_answer {
	enum program_status status;
	bool found;   /* x is there */
	double value; /* of x */
	double bound; /* nothing below it; -INFINITY: not known */
	double *x;    /* [n_columns] given by the caller, or NULL */
};

/* True when there is a solver. */
bool program_is_solvable(void);

/* Solves to a relative tolerance of some 1e-7.  Any number of threads may each
 * solve a program of their own.  -1: no solver, no memory, or the solver broke
 * down. */
int program_solve(const struct program *p, const struct program_limits *limits,
		  struct program_answer *answer, struct weft_error *err);

#endif
