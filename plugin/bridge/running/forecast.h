/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forecast.h - how many running jobs must end: no Slurm types */
#ifndef WEFT_PLUGIN_BRIDGE_RUNNING_FORECAST_H
#define WEFT_PLUGIN_BRIDGE_RUNNING_FORECAST_H

#include <stdint.h>

enum weft_trial { WEFT_TRIAL_NO, WEFT_TRIAL_YES, WEFT_TRIAL_STOP };

/* What holds once the first k of n jobs have ended, soonest first; more ends
 * never hurt.  STOP: no time is left to find out. */
typedef enum weft_trial (*weft_forecast_try)(void *arg, uint32_t k);

/* The least k in 1..n for which it holds, by halving; when stopped, the least
 * that is known.  0: it does not hold with all n either. */
uint32_t weft_forecast_first(uint32_t n, weft_forecast_try trial, void *arg);

#endif
