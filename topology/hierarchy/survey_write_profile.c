/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survey_write_profile.c - the profile of a fabric file, by what sources tell
 * of the GPUs
 */
#include "config.h" /* first: strcasestr is GNU */

#include "topology/hierarchy/writer.h"
#include "topology/profile.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *kind, *profile;
	const char *format; /* of the source that knows the hosts, or NULL */
} kind_profiles[] = {
	{"h100", "aws-p5", "aws"},
	{"h200", "aws-p5", "aws"},
	{"a100", "aws-p4d", "aws"},
	{"gb200", "gb200-nvl72", NULL},
	{"gb300", "gb200-nvl72", NULL},
	{"b200", "dgx-b200", NULL},
	{"h100", "dgx-h100-superpod", NULL},
	{"h200", "dgx-h100-superpod", NULL},
	{"a100", "selene-a100", NULL},
};
#define N_KIND_PROFILES (sizeof(kind_profiles) / sizeof(kind_profiles[0]))

/* The kind is a word of the text: "nvidia_h100_80gb" is one, "gh200" none of
 * h200. */
static bool is_kind(const char *text, const char *kind)
{
	const char *at = text;
	size_t n = strlen(kind);

	for (; (at = strcasestr(at, kind)) != NULL; at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[n]))
			return true;
	return false;
}

static size_t profile_of(const struct weft_survey *s,
			 const struct weft_survey_host *host)
{
	const char *kind = host->gpu_kind.text;
	const char *format = host->where.source < s->n_sources
				     ? s->sources[host->where.source].format
				     : "";
	size_t i = kind ? 0 : N_KIND_PROFILES;

	while (i < N_KIND_PROFILES &&
	       (!is_kind(kind, kind_profiles[i].kind) ||
		(kind_profiles[i].format &&
		 strcmp(format, kind_profiles[i].format) != 0)))
		i++;
	return i;
}

/* That of most hosts whose kind of GPU says one; NULL: nothing does. */
static const char *profile_by_kind(const struct weft_writer *w)
{
	uint32_t hosts[N_KIND_PROFILES + 1] = {0};
	size_t best = N_KIND_PROFILES;

	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		hosts[profile_of(w->s, &w->s->hosts[h])]++;
	hosts[best] = 0;
	for (size_t i = 0; i < N_KIND_PROFILES; i++)
		if (hosts[i] > hosts[best])
			best = i;
	return best < N_KIND_PROFILES ? kind_profiles[best].profile : NULL;
}

static int profile_note(struct weft_writer *w)
{
	const char *kind = NULL;
	bool counted = false;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		const struct weft_survey_host *host = &w->s->hosts[h];

		counted = counted || (w->host[h] && host->gpus.value > 0);
		kind = kind ? kind : host->gpu_kind.text;
	}
	if (!counted)
		return 0; /* told with their number */
	return weft_survey_note(
		w->s, WEFT_FINDING_PROFILE_ASSUMED, NULL,
		(struct weft_place){WEFT_NONE, 0}, w->err,
		"%s%s; what no source tells of links is as in profile %s",
		kind ? "no profile is known for GPUs of kind "
		     : "no source tells the kind of GPU",
		kind ? kind : "", w->profile->name);
}

/* One whose NVLink domains span nodes wants them in the file. */
int weft_writer_profile(struct weft_writer *w)
{
	const char *name = w->options->profile;

	w->profile = weft_profile_find(name ? name : "dgx-h100-superpod");
	if (!w->profile)
		return weft_fail(w->err, WEFT_EINVAL, "no profile \"%s\"",
				 name);
	if (name)
		return 0;
	name = profile_by_kind(w);
	if (!name)
		return profile_note(w);
	if (weft_profile_find(name)->nvlink_nodes == 1 || w->n_spans)
		w->profile = weft_profile_find(name);
	return 0;
}
