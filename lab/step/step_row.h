/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_row.h - a row of a table of training runs, as a job */
#ifndef WEFT_LAB_STEP_STEP_ROW_H
#define WEFT_LAB_STEP_STEP_ROW_H

#include "base/csv.h"
#include "costmodel/time/step.h"

/* One published or measured run.  `why` says what is missing where the step
 * cannot be predicted. */
struct step_row {
	const char *id; /* its line where the table names none */
	char line[24];
	char group[96];	    /* rows that are judged together */
	char publisher[40]; /* whose table the row is from */
	const struct weft_gpu *gpu;
	struct weft_model model;
	struct weft_spec spec; /* resolved */
	uint32_t node_size;
	double memory_bytes; /* of a GPU, that a process can use */
	const char *source;  /* the table's words */
	const char *cluster; /* profile, file or network, or "" */
	enum weft_habit overlap;
	enum weft_precision precision; /* of the products */
	double measured_s;	       /* 0: the row does not say */
	bool out_of_memory;	       /* is all that the run came to */
	bool as_spec; /* the row has its job's spec: nothing is assumed */
	char why[200];
};

/* Reads the row; files that it names are below `folder`; `unsaid` is its GPU if
 * it names none (NULL: it must).  -1 with
 * row->why when it does not say enough to predict its step, or what it says
 * does not agree. */
int step_row_read(const struct csv *csv, uint32_t index, const char *folder,
		  const struct weft_gpu *unsaid, struct step_row *row);

#endif
