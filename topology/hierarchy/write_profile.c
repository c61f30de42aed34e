/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_profile.c - the profile of a fabric file, by what sources say
 * of the GPUs
 */
#include "config.h" /* first: strcasestr is GNU */

#include "base/compare.h"
#include "topology/hierarchy/writer.h"
#include "topology/profile.h"

#include <ctype.h>
#include <stdlib.h>
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
	{"h800", "dgx-h100-superpod", NULL},
	{"a100", "selene-a100", NULL},
	{"a800", "selene-a100", NULL},
	{"v100", "dgx-v100", NULL},
	{"mi300x", "mi300x", NULL},
	{"mi300", "mi300x", NULL},
};
#define N_KIND_PROFILES WEFT_N_OF(kind_profiles)

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

static size_t profile_of(const struct weft_inventory *s,
			 const struct weft_inventory_host *host)
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

/* ---- by what is inside of nodes ---- */

/* GPUs that say nothing of their kind have so many links. */
static const struct {
	uint32_t n_nvlinks;
	const char *profile;
} link_profiles[] = {
	{6, "dgx-v100"},
	{12, "selene-a100"},
	{18, "dgx-h100-superpod"},
};

#define PLAIN_PROFILE "pcie4-100g-tcp"

static bool is_linked(const struct weft_inventory_inside *in)
{
	for (uint32_t g = 0; g < in->n_gpus; g++)
		if (in->gpus[g].n_nvlinks ||
		    (g && in->gpus[g].nvlink_group == in->gpus[0].nvlink_group))
			return true;
	return false;
}

/* rocm-smi knows AMD's GPUs alone; eight that are joined to each other are
 * MI300X, also where one has lost its links. */
static const char *profile_of_amd(const struct weft_inventory_inside *in)
{
	uint32_t joined = 0;

	for (uint32_t g = 0; g < in->n_gpus; g++)
		joined += in->gpus[g].n_nvlinks >= 6;
	return in->n_gpus == 8 && joined >= 7 ? "mi300x" : PLAIN_PROFILE;
}

static const char *profile_of_inside(const struct weft_inventory *s,
				     const struct weft_inventory_inside *in)
{
	uint32_t most = 0;

	if (in->where.source < s->n_sources &&
	    strcmp(s->sources[in->where.source].format, "rocm-smi") == 0)
		return profile_of_amd(in);
	for (uint32_t g = 0; g < in->n_gpus; g++)
		if (in->gpus[g].n_nvlinks > most)
			most = in->gpus[g].n_nvlinks;
	for (size_t i = 0; i < WEFT_N_OF(link_profiles); i++)
		if (in->n_gpus > 1 && most == link_profiles[i].n_nvlinks)
			return link_profiles[i].profile;
	return in->n_gpus > 1 && !is_linked(in) ? PLAIN_PROFILE : NULL;
}

/* That of the first host whose inside says one. */
static const char *profile_by_inside(const struct weft_writer *w)
{
	const struct weft_inventory *s = w->s;
	const char *name = NULL;

	for (uint32_t h = 0; h < s->n_hosts && !name; h++)
		if (w->host[h] && s->hosts[h].inside != WEFT_NONE)
			name = profile_of_inside(
				s, &s->insides[s->hosts[h].inside]);
	return name;
}

/* ---- by NVLink domains ---- */

/* Only racks of GB200 and their like have domains of several nodes; most hosts
 * must be in one. */
const char *weft_hierarchy_nvlink_profile(const struct weft_inventory *s)
{
	const char **domain = weft_calloc(s->n_hosts, sizeof(*domain), NULL);
	uint32_t n = 0, shared = 0;
	bool kind = !domain;

	for (uint32_t h = 0; !kind && h < s->n_hosts; h++) {
		kind = s->hosts[h].gpu_kind.text != NULL;
		if (s->hosts[h].nvlink.text)
			domain[n++] = s->hosts[h].nvlink.text;
	}
	if (n && !kind)
		WEFT_SORT(domain, n, weft_compare_texts);
	for (uint32_t i = 0; !kind && i < n; i++)
		shared += (i && strcmp(domain[i], domain[i - 1]) == 0) ||
			  (i + 1 < n && strcmp(domain[i], domain[i + 1]) == 0);
	free(domain);
	return !kind && shared && 2 * shared > s->n_hosts ? "gb200-nvl72"
							  : NULL;
}

/* ---- telling ---- */

/* "nvlink, leaf and spine": levels whose figures no source gives. */
static void gaps_write(const struct weft_writer *w, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "nvlink");

	for (uint32_t l = 0; l < w->hierarchy->n_levels && n < size; l++)
		if (!(w->hierarchy->levels[l].rate_bytes_per_s > 0))
			n += (size_t)snprintf(text + n, size - n, ", %s",
					      w->hierarchy->levels[l].name);
}

static const char *kind_told(const struct weft_writer *w)
{
	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		if (w->host[h] && w->s->hosts[h].gpu_kind.text)
			return w->s->hosts[h].gpu_kind.text;
	return NULL;
}

/* The caller's profile: what it fills, and whether it is that of other GPUs. */
static int given_note(struct weft_writer *w)
{
	const char *told = profile_by_kind(w);
	const struct weft_place nowhere = {WEFT_NONE, 0};
	char gaps[200];

	gaps_write(w, gaps, sizeof(gaps));
	if (told && strcmp(told, w->profile->name) != 0 &&
	    weft_inventory_note(w->s, WEFT_FINDING_PROFILE_ASSUMED, NULL,
				nowhere, w->err,
				"--profile %s is not that of the GPUs that the "
				"sources tell (%s: %s)",
				w->profile->name, kind_told(w), told))
		return -1;
	return weft_inventory_note(
		w->s, WEFT_FINDING_PROFILE_FILLS, NULL, nowhere, w->err,
		"--profile %s gives the figures of %s", w->profile->name, gaps);
}

static int assumed_note(struct weft_writer *w, const char *by)
{
	const char *kind = kind_told(w);
	bool counted = false;
	char gaps[200];

	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		counted = counted ||
			  (w->host[h] && w->s->hosts[h].gpus.value > 0);
	if (!counted)
		return 0; /* reported with their number */
	gaps_write(w, gaps, sizeof(gaps));
	return weft_inventory_note(
		w->s,
		by ? WEFT_FINDING_PROFILE_FILLS : WEFT_FINDING_PROFILE_ASSUMED,
		NULL, (struct weft_place){WEFT_NONE, 0}, w->err,
		"%s%s; the figures of %s are those of profile %s%s",
		kind ? "no profile is known for GPUs of kind "
		     : "no source names the kind of GPU",
		kind ? kind : "", gaps, w->profile->name, by ? by : "");
}

/* One whose NVLink domains span nodes is written with those that are known, or
 * each node's own. */
int weft_writer_profile(struct weft_writer *w)
{
	const char *name = w->options->profile;
	const char *by = NULL;

	w->profile = weft_profile_find(name ? name : "dgx-h100-superpod");
	if (!w->profile)
		return weft_fail(w->err, WEFT_EINVAL, "no profile \"%s\"",
				 name);
	if (name)
		return given_note(w);
	name = profile_by_kind(w);
	if (name) {
		w->profile = weft_profile_find(name);
		return 0;
	}
	name = kind_told(w) ? PLAIN_PROFILE : profile_by_inside(w);
	if (name)
		w->profile = weft_profile_find(name);
	if (name && !kind_told(w))
		by = ", by what joins them";
	if (!name) {
		name = weft_hierarchy_nvlink_profile(w->s);
		by = name ? ", by NVLink domains of several nodes" : NULL;
		if (name)
			w->profile = weft_profile_find(name);
	}
	return assumed_note(w, by);
}
