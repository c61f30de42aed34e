/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checks.h - what weft setup and weft doctor looked at, one line each */
#ifndef WEFT_CLI_SETUP_CHECKS_H
#define WEFT_CLI_SETUP_CHECKS_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct check {
	const char *name; /* a word; a literal */
	bool ok;
	char text[400]; /* what was found, and where not ok what helps */
};

/* Zero-initialise. */
struct checks {
	struct check *item;
	uint32_t n;
};

int checks_add(struct checks *checks, const char *name, bool ok,
	       struct weft_error *err, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void checks_free(struct checks *checks);

/* How many are not ok. */
uint32_t checks_failed(const struct checks *checks);

/* "ok    NAME  text" and "WRONG NAME  text" on stdout. */
void checks_print(const struct checks *checks);

/* [{name, ok, text}]; new. */
json_t *checks_json(const struct checks *checks);

#endif
