/* SPDX-License-Identifier: GPL-3.0-or-later */
/* narrow.h - proposing nodes to stock */
#ifndef WEFT_PLUGIN_NARROW_H
#define WEFT_PLUGIN_NARROW_H

#include "plugin/stock.h"

/* Stock's answer to the test: on the nodes that weft chose where it has an
 * opinion and stock agrees, else on all candidates as if weft were not there.
 */
int weft_narrow(const struct weft_job_test *test);

/* How often weft narrowed and, by cause, did not: into the log. */
void weft_narrow_summary(void);

#endif
