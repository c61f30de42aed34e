/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_text.h - where in a job's strings its spec is: no Slurm types */
#ifndef WEFT_PLUGIN_BRIDGE_SPEC_TEXT_H
#define WEFT_PLUGIN_BRIDGE_SPEC_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT_COMMENT_PREFIX "weft:"

/* The variable that stands in for --weft, and that a default travels in. */
#define WEFT_SPEC_VARIABLE "WEFT_SPEC"

/* The user's spec: from --weft= or WEFT_SPEC among the SPANK variables env[n],
 * else from a comment "weft:...".  *spec is NULL where there is none, and
 * points into these strings.  false: the user wants weft to leave the job alone
 * ("off"). */
bool weft_spec_text_find(char *const *env, uint32_t n, const char *comment,
			 const char **spec);

#endif
