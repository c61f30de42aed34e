/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scheme_tree.c - levels from edges */
#include "topology/survey/scheme.h"

int weft_scheme_from_edges(struct weft_survey *s, struct weft_scheme *scheme,
			   struct weft_error *err)
{
	(void)s;
	(void)scheme;
	return weft_fail(err, WEFT_ENOSYS, "levels from edges");
}
