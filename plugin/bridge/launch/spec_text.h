/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_text.h - where in a job's strings its spec is, and whether Slurm can use
 * it: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_SPEC_TEXT_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_SPEC_TEXT_H

#include "costmodel/job/spec.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_COMMENT_PREFIX "weft:"

/* The variable that stands in for --weft, and that a default travels in. */
#define WEFT_SPEC_VARIABLE "WEFT_SPEC"

/* The user's spec: from --weft= or WEFT_SPEC among the SPANK variables env[n],
 * else from a comment "weft:...".  *spec is NULL where there is none, and
 * points into these strings.  A comment like "weft tp=8" is one that does not
 * parse.  false: the user wants weft to leave the job alone ("off"). */
bool weft_spec_text_find(char *const *env, uint32_t n, const char *comment,
			 const char **spec);

/* weft_spec_parse for jobs of Slurm, which may not name files: the one reader
 * of option, variable, comment and defaults. */
int weft_spec_text_parse(const char *text, struct weft_spec *spec,
			 struct weft_error *err);

/* What can be said of the user's text at once, without the fabric and the job's
 * number of GPUs, which slurmctld alone knows; "off" is good. */
int weft_spec_text_check(const char *text, struct weft_error *err);

#endif
