/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_text.c - finding the spec among a job's strings */
#include "plugin/bridge/spec_text.h"

#include <stddef.h>
#include <string.h>

/* Value of NAME= among the job's SPANK variables, or NULL. */
static const char *spank_value(char *const *env, uint32_t n, const char *name)
{
	size_t length = strlen(name);

	for (uint32_t i = 0; env && i < n; i++)
		if (env[i] && strncmp(env[i], name, length) == 0 &&
		    env[i][length] == '=')
			return env[i] + length + 1;
	return NULL;
}

bool weft_spec_text_find(char *const *env, uint32_t n, const char *comment,
			 const char **spec)
{
	/* Slurm itself hands every SPANK option over under the first name; the
	 * second is the plugin's own. */
	static const char *const names[] = {"_SLURM_SPANK_OPTION_weft_weft",
					    WEFT_SPEC_VARIABLE};
	const size_t prefix = strlen(WEFT_COMMENT_PREFIX);
	const char *text = NULL;

	for (size_t i = 0; !text && i < sizeof(names) / sizeof(names[0]); i++)
		text = spank_value(env, n, names[i]);
	if (!text && comment &&
	    strncmp(comment, WEFT_COMMENT_PREFIX, prefix) == 0)
		text = comment + prefix;
	text = text ? text + strspn(text, " ") : NULL;
	*spec = text && text[0] ? text : NULL;
	return !text || strncmp(text, "off", 3) != 0 ||
	       text[3 + strspn(text + 3, " ")] != '\0';
}
