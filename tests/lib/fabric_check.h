/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_check.h - every invariant that topology/fabric.h states */
#ifndef WEFT_TESTS_LIB_FABRIC_CHECK_H
#define WEFT_TESTS_LIB_FABRIC_CHECK_H

#include "topology/fabric.h"

/* -1 with err, which names the first invariant that is broken. */
int fabric_check(const struct weft_fabric *f, struct weft_error *err);

#endif
