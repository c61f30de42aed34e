/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_ascent.h - a dual ascent that raises the bound of small problems
 *
 * Private to lab/qap/.
 */
#ifndef WEFT_LAB_QAP_QAP_ASCENT_H
#define WEFT_LAB_QAP_QAP_ASCENT_H

#include "lab/qap/qap.h"

/* Larger problems would need over 50 MB. */
#define QAP_ASCENT_MAX 50

/* Raises *bound where it can, until a round gains next to nothing or the
 * effort is spent.  Entries are within qap_check_size. */
int qap_ascent(const struct qap *q, struct effort *effort, int64_t *bound,
	       struct weft_error *err);

#endif
