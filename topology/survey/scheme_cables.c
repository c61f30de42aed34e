/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scheme_cables.c - levels from cables */
#include "topology/survey/scheme.h"

int weft_scheme_from_cables(struct weft_survey *s, struct weft_scheme *scheme,
			    struct weft_error *err)
{
	(void)s;
	(void)scheme;
	return weft_fail(err, WEFT_ENOSYS, "levels from cables");
}
