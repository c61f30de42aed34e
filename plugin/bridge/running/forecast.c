/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forecast.c - the first end of a job that makes a difference */
#include "plugin/bridge/running/forecast.h"

uint32_t weft_forecast_first(uint32_t n, weft_forecast_try trial, void *arg)
{
	uint32_t no = 0, yes = n;

	if (!n || trial(arg, n) != WEFT_TRIAL_YES)
		return 0;
	while (yes - no > 1) {
		uint32_t middle = no + (yes - no) / 2;
		enum weft_trial answer = trial(arg, middle);

		if (answer == WEFT_TRIAL_STOP)
			break;
		if (answer == WEFT_TRIAL_YES)
			yes = middle;
		else
			no = middle;
	}
	return yes;
}
