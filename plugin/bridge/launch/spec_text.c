/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_text.c - finding the spec among a job's strings */
#include "plugin/bridge/launch/spec_text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

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

static bool is_off(const char *text)
{
	return strncmp(text, "off", 3) == 0 &&
	       text[3 + strspn(text + 3, " ")] == '\0';
}

/* "weft tp=8", " weft:tp=8", "Weft = tp=8": a spec is meant, and not written as
 * one. */
static bool is_almost(const char *comment)
{
	static const char name[] = "weft", between[] = " \t:=";
	const char *key = comment + strspn(comment, " \t"), *end;

	if (strncasecmp(key, name, strlen(name)) != 0)
		return false;
	key += strlen(name);
	if (!*key || !strchr(between, *key))
		return false;
	key += strspn(key, between);
	for (end = key; islower((unsigned char)*end) || *end == '_'; end++)
		;
	return end > key && *end == '=';
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
	else if (!text && comment && is_almost(comment))
		text = comment;
	text = text ? text + strspn(text, " ") : NULL;
	*spec = text && text[0] ? text : NULL;
	return !text || !is_off(text);
}

int weft_spec_text_parse(const char *text, struct weft_spec *spec,
			 struct weft_error *err)
{
	if (is_almost(text))
		return weft_fail(err, WEFT_EINVAL,
				 "a comment for weft begins with \"weft:\", as "
				 "in --comment=weft:tp=8");
	if (weft_spec_parse(text, spec, err) < 0)
		return -1;
	return spec->traffic[0]
		       ? weft_fail(err, WEFT_EINVAL,
				   "traffic=%s: files are read by weft plan "
				   "and weft score, not by Slurm",
				   spec->traffic)
		       : 0;
}

int weft_spec_text_check(const char *text, struct weft_error *err)
{
	struct weft_error why = {0};
	struct weft_spec spec;
	bool sized;

	text += strspn(text, " ");
	if (is_off(text))
		return 0;
	if (weft_spec_text_parse(text, &spec, err) < 0)
		return -1;
	sized = weft_spec_given(&spec, "gpus") || weft_spec_given(&spec, "dp");
	if (weft_spec_resolve(&spec, 0, &why) == 0)
		return 0;
	/* The size may follow from the job's GPUs; only a spec that names it
	 * itself can be checked on its own.  What is not supported is not so
	 * at any size. */
	if (!sized && why.code != WEFT_ENOSYS)
		return 0;
	if (err && !err->code)
		*err = why;
	return -1;
}
