/* SPDX-License-Identifier: GPL-3.0-or-later */
/* placement.c - the answer: building, explaining and freeing it */
#include "placement/placement.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weft_placement_free(struct weft_placement *p)
{
	int saved = errno;

	if (p) {
		free(p->where);
		free(p->nodes);
		free(p->next);
		memset(p, 0, sizeof(*p));
	}
	errno = saved;
}

void weft_placement_explain(struct weft_placement *p, const char *format, ...)
{
	va_list args;

	if (p->n_why >= WEFT_MAX_REASONS)
		return;
	va_start(args, format);
	vsnprintf(p->why[p->n_why++], sizeof(p->why[0]), format, args);
	va_end(args);
}
