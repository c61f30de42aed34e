/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chain.c - the switches above a host */
#include "topology/import/chain.h"

#include <string.h>

int weft_chain_add(struct weft_survey *s, const char *const *names, size_t n,
		   uint32_t host, struct weft_place where,
		   struct weft_error *err)
{
	uint32_t above = WEFT_NONE;

	for (size_t i = 0; i < n; i++) {
		uint32_t sw = weft_survey_switch(s, names[i], where, err);

		if (sw == WEFT_NONE)
			return -1;
		if (sw == above)
			return weft_fail(err, WEFT_EINVAL,
					 "switch %s is above itself", names[i]);
		if (above != WEFT_NONE &&
		    weft_survey_add_edge(s, above, WEFT_END_SWITCH, sw, where,
					 err) == WEFT_NONE)
			return -1;
		above = sw;
	}
	if (above == WEFT_NONE)
		return 0;
	return weft_survey_add_edge(s, above, WEFT_END_HOST, host, where,
				    err) == WEFT_NONE
		       ? -1
		       : 0;
}
