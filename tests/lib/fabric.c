/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric.c - fabrics for tests */
#include "tests/lib/fabric.h"

#include "tests/lib/fabric_check.h"

#include <stdlib.h>
#include <string.h>

struct weft_fabric *test_fabric(const char *text)
{
	struct weft_error err = {0};
	struct weft_fabric *f =
		weft_fabric_parse(text, strlen(text), "test", &err);

	assert_no_error(&err);
	fabric_check(f, &err);
	assert_no_error(&err);
	return f;
}

struct weft_fabric *test_synth(const char *spec,
			       const struct weft_synth_options *options)
{
	struct weft_error err = {0};
	char *text = weft_synth(spec, options, &err);
	struct weft_fabric *f;

	assert_no_error(&err);
	f = test_fabric(text);
	free(text);
	return f;
}
