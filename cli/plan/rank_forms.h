/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_forms.h - an order of ranks in the words of launchers */
#ifndef WEFT_CLI_PLAN_RANK_FORMS_H
#define WEFT_CLI_PLAN_RANK_FORMS_H

#include "topology/rank_map.h"

/* Prints the rank map.  Returns 0, 1 when the form cannot say it (*why: static
 * text), or -1 with err. */
struct rank_form {
	const char *name, *help;
	int (*print)(const struct weft_rank_map *r, const char **why,
		     struct weft_error *err);
};

extern const struct rank_form rank_forms[];
extern const uint32_t n_rank_forms;

/* By name, or NULL. */
const struct rank_form *rank_form_find(const char *name);

/* {"schema": "weft.ranks/1", ...}.  -1 with err. */
int rank_form_json(const struct weft_rank_map *r, struct weft_error *err);

#endif
