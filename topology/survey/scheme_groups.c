/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scheme_groups.c - levels from groups */
#include "topology/survey/scheme.h"

int weft_scheme_from_groups(struct weft_survey *s, struct weft_scheme *scheme,
			    struct weft_error *err)
{
	(void)s;
	(void)scheme;
	return weft_fail(err, WEFT_ENOSYS, "levels from groups");
}
