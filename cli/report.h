/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - a placement said to people and to programs */
#ifndef WEFT_CLI_REPORT_H
#define WEFT_CLI_REPORT_H

#include "cli/json.h"
#include "cli/plan/request.h"
#include "placement/placement.h"

#include <jansson.h>

struct gain;	/* gain.h */
struct verdict; /* verdict.h */
struct weft_blockers;
struct weft_evaluation;

/* How much to print of a placement. */
struct report {
	const struct weft_placement *placement;
	const struct verdict *verdict;	      /* looked at when it is placed */
	const struct gain *gain;	      /* the same */
	const struct weft_blockers *blockers; /* or NULL */
	double elapsed_s;
};

/* {"schema": "weft.COMMAND/1", ...} with everything about the placement; new,
 * or NULL when out of memory, which report_print reports. */
json_t *report_object(const char *command, const struct request *request,
		      const struct report *report);

/* The same for people, within 80 columns where names allow. */
void report_text(const struct request *request, const struct report *report);

/* The name of what is below the busiest link: a GPU ("n07:3", its NIC) or a
 * domain. */
void report_busiest(const struct weft_fabric *f, const struct weft_cost *cost,
		    char *name, size_t size);

/* The hostlist of n nodes; malloc'ed, or NULL. */
char *report_hostlist(const struct weft_fabric *f, const uint32_t *nodes,
		      uint32_t n);

/* In what no published run is like the job; false: in nothing. */
bool report_unseen(const struct request *request,
		   const struct weft_evaluation *e, char *text, size_t size);

/* To be called before any JSON is made: from then on an allocation of jansson
 * that fails makes report_print fail, so that those who build an object need
 * not look at every step of it. */
void report_start(void);

/* Prints object (stolen) as indented JSON; NULL is "out of memory". */
int report_print(json_t *object, struct weft_error *err);

/* True once report_print has printed. */
bool report_printed(void);

/* True once an allocation of jansson has failed: what was built may lack
 * something. */
bool report_starved(void);

#endif
