/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric.h - fabrics for tests, from text or made up */
#ifndef WEFT_TESTS_LIB_FABRIC_H
#define WEFT_TESTS_LIB_FABRIC_H

#include "tests/lib/check.h"
#include "topology/fabric.h"
#include "topology/synth.h"

/* Each fails the test where the fabric cannot be built or breaks a rule of
 * fabric_check; free with weft_fabric_free. */
struct weft_fabric *test_fabric(const char *text);
/* options NULL: the defaults. */
struct weft_fabric *test_synth(const char *spec,
			       const struct weft_synth_options *options);

#endif
