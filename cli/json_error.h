/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_error.h - a failure as a JSON object, for those who asked for one */
#ifndef WEFT_CLI_JSON_ERROR_H
#define WEFT_CLI_JSON_ERROR_H

#include "base/error.h"

/* Where the command line of `command` has --json: when the process ends without
 * an answer, with an exit status other than 0, it prints {"schema":
 * "weft.error/1", ...} of what cmd_fail or standard error said. */
void json_error_start(const char *command, int argc, char **argv);

/* What failed; the last one counts. */
void json_error_set(const struct weft_error *err);

#endif
