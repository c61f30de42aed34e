/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survey_write.c - a survey and its scheme as a fabric file, weft-fabric(5) */
#include "config.h" /* first: strcasestr is GNU */

#include "topology/hostlist.h"
#include "topology/profile.h"
#include "topology/survey/writer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* YAML takes at most 1,024 characters before the colon of a line. */
#define KEY_MAX 960

/* ---- what goes into the file ---- */

static const struct {
	const char *kind, *profile;
} kind_profiles[] = {
	{"gb200", "gb200-nvl72"},      {"gb300", "gb200-nvl72"},
	{"b200", "dgx-b200"},	       {"h100", "dgx-h100-superpod"},
	{"h200", "dgx-h100-superpod"}, {"a100", "selene-a100"},
};

static const char *profile_by_kind(const struct weft_writer *w)
{
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		const char *kind = w->s->hosts[h].gpu_kind.text;

		for (size_t i = 0;
		     kind &&
		     i < sizeof(kind_profiles) / sizeof(kind_profiles[0]);
		     i++)
			if (strcasestr(kind, kind_profiles[i].kind))
				return kind_profiles[i].profile;
	}
	return NULL;
}

/* One whose NVLink domains span nodes wants them in the file. */
static int profile_choose(struct weft_writer *w)
{
	const char *name = w->options->profile;

	w->profile = weft_profile_find(name ? name : "dgx-h100-superpod");
	if (!w->profile)
		return weft_fail(w->err, WEFT_EINVAL, "no profile \"%s\"",
				 name);
	if (!name && (name = profile_by_kind(w)) != NULL) {
		const struct weft_profile *profile = weft_profile_find(name);

		if (profile && (profile->nvlink_nodes == 1 || w->n_spans))
			w->profile = profile;
	}
	return 0;
}

/* Hosts whose GPUs nobody knows: where other hosts have some, these have none
 * worth a name; else all are taken to be like the profile's. */
static int hosts_choose(struct weft_writer *w)
{
	struct weft_survey *s = w->s;
	uint32_t known = 0, unknown = 0, dropped = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++)
		known += s->hosts[h].gpus.value > 0;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		const struct weft_survey_host *host = &s->hosts[h];
		bool placed = !w->scheme->n_levels ||
			      w->scheme->host_domain[h] != WEFT_NONE;
		bool counted = host->gpus.value > 0;

		if (!placed || host->no_gpus)
			continue;
		if (!counted && known && !w->options->gpus_per_node) {
			dropped++;
			continue;
		}
		unknown += !counted;
		w->host[h] = host->name;
	}
	if (dropped &&
	    weft_survey_note(s, WEFT_FINDING_INPUT_PARTIAL, NULL,
			     (struct weft_place){WEFT_NONE, 0}, w->err,
			     "%u hosts whose GPUs no source knows are left out",
			     dropped))
		return -1;
	w->gpus_assumed = unknown;
	return 0;
}

static int gpus_assume(struct weft_writer *w)
{
	uint32_t n = w->gpus_assumed;

	w->gpus_assumed = w->options->gpus_per_node ? w->options->gpus_per_node
						    : w->profile->gpus_per_node;
	if (!n || w->options->gpus_per_node)
		return 0;
	return weft_survey_note(
		w->s, WEFT_FINDING_GPUS_UNKNOWN, NULL,
		(struct weft_place){WEFT_NONE, 0}, w->err,
		"no source says how many GPUs %u host%s; %u each are assumed, "
		"as in profile %s",
		n, n == 1 ? " has" : "s have", w->gpus_assumed,
		w->profile->name);
}

/* Domains with a host somewhere below. */
static int domains_choose(struct weft_writer *w)
{
	const struct weft_scheme *scheme = w->scheme;
	bool any = false;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		any = any || w->host[h];
		for (uint32_t d = w->host[h] ? scheme->host_domain[h]
					     : WEFT_NONE;
		     d != WEFT_NONE && !w->domain[d];
		     d = scheme->domains[d].parent)
			w->domain[d] = scheme->domains[d].name;
	}
	if (!any)
		return weft_fail(w->err, WEFT_EINVAL,
				 "no host with GPUs: a fabric needs one");
	return 0;
}

static uint32_t host_gpus(const struct weft_writer *w, uint32_t h)
{
	double n = w->s->hosts[h].gpus.value;

	return n > 0 ? (uint32_t)n : w->gpus_assumed;
}

/* ---- NVLink domains that span nodes ---- */

struct spanned {
	const char *nvlink;
	uint32_t host;
};

static int compare_spanned(const void *pa, const void *pb)
{
	const struct spanned *a = pa, *b = pb;
	int order = weft_name_compare(a->nvlink, b->nvlink);

	return order ? order : (a->host > b->host) - (a->host < b->host);
}

/* Hosts list[0..n) say that they share an NVLink domain: one of the file, if
 * they hang on the same domain of the network. */
static int span_add(struct weft_writer *w, const struct spanned *list,
		    uint32_t n)
{
	const uint32_t *on = w->scheme->host_domain;

	if (n == 1)
		return 0;
	for (uint32_t i = 1; i < n; i++)
		if (on[list[i].host] != on[list[0].host])
			return weft_survey_note(
				w->s, WEFT_FINDING_NVLINK_SPLIT, list[i].nvlink,
				w->s->hosts[list[i].host].nvlink.where, w->err,
				"%s and %s are said to share an NVLink domain, "
				"but hang on different switches; left out",
				w->s->hosts[list[0].host].name,
				w->s->hosts[list[i].host].name);
	for (uint32_t i = 0; i < n; i++)
		w->span[list[i].host] = w->n_spans;
	w->span_name[w->n_spans++] = list[0].nvlink;
	return 0;
}

static int spans_choose(struct weft_writer *w)
{
	struct weft_survey *s = w->s;
	struct spanned *list = weft_calloc(s->n_hosts, sizeof(*list), w->err);
	uint32_t n = 0, first = 0;
	int rc = list ? 0 : -1;

	for (uint32_t h = 0; list && h < s->n_hosts; h++) {
		w->span[h] = WEFT_NONE;
		if (w->host[h] && s->hosts[h].nvlink.text)
			list[n++] =
				(struct spanned){s->hosts[h].nvlink.text, h};
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_spanned);
	for (uint32_t i = 1; rc == 0 && i <= n; i++) {
		if (i < n && strcmp(list[i].nvlink, list[first].nvlink) == 0)
			continue;
		rc = span_add(w, list + first, i - first);
		first = i;
	}
	free(list);
	return rc;
}

/* ---- lines ---- */

void weft_writer_word(const struct weft_writer *w, const char *text)
{
	bool plain = isalnum((unsigned char)text[0]) || text[0] == '_';

	fprintf(w->out, plain ? "%s" : "\"%s\"", text);
}

/* Lines "  NAMES: value", as many as their length asks for.  names is put in
 * order. */
int weft_writer_line(struct weft_writer *w, const char **names, uint32_t n,
		     const char *value)
{
	char *text;
	int rc = 0;

	if (weft_writer_hostlist(w, names, n, &text))
		return -1;
	if (strlen(text) > KEY_MAX && n > 1) {
		rc = weft_writer_line(w, names, n / 2, value) ||
		     weft_writer_line(w, names + n / 2, n - n / 2, value);
	} else {
		fputs("  ", w->out);
		weft_writer_word(w, text);
		fprintf(w->out, ": %s\n", value);
	}
	free(text);
	return rc ? -1 : 0;
}

/* Where it is known, and not what the profile says. */
static void routing_write(const struct weft_writer *w)
{
	const struct weft_scheme *scheme = w->scheme;
	const char *name = weft_routing_names[scheme->routing];

	if (!scheme->n_flows || (scheme->routing == w->profile->routing &&
				 scheme->n_flows == w->profile->n_flows))
		return;
	if (scheme->n_flows > 1)
		fprintf(w->out, "routing: {policy: %s, flows: %u}\n", name,
			scheme->n_flows);
	else
		fprintf(w->out, "routing: %s\n", name);
}

static void head_write(const struct weft_writer *w)
{
	const char *name = w->options->name ? w->options->name : w->s->name;

	for (uint32_t i = 0; i < w->s->n_sources; i++) {
		fprintf(w->out, "# from %s: ", w->s->sources[i].format);
		for (const char *c = w->s->sources[i].name; *c; c++)
			fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c,
			      w->out);
		fputc('\n', w->out);
	}
	fputs("weft: fabric/1\n", w->out);
	if (name && *name) {
		fputs("name: \"", w->out);
		for (uint32_t i = 0; name[i] && i < WEFT_NAME_SIZE - 1; i++)
			fputc((unsigned char)name[i] < ' ' ||
					      (unsigned char)name[i] > '~' ||
					      strchr("\"\\", name[i])
				      ? '_'
				      : name[i],
			      w->out);
		fputs("\"\n", w->out);
	}
	fprintf(w->out, "profile: %s\n", w->profile->name);
	if (w->scheme->n_rails > 1)
		fprintf(w->out, "rails: %u\n", w->scheme->n_rails);
	routing_write(w);
}

/* ---- nodes ---- */

struct kind {
	uint32_t gpus;
	const char *text; /* or "" */
	const char *name; /* of the host */
};

static int compare_kinds(const void *pa, const void *pb)
{
	const struct kind *a = pa, *b = pb;
	int order = (a->gpus > b->gpus) - (a->gpus < b->gpus);

	order = order ? order : strcmp(a->text, b->text);
	return order ? order : weft_name_compare(a->name, b->name);
}

/* A kind as a quoted word of the file: whatever GPUs call themselves. */
static void kind_value(const struct kind *kind, char *value, size_t size)
{
	char text[WEFT_NAME_SIZE];
	uint32_t n = 0;

	for (; kind->text[n] && n < sizeof(text) - 1; n++)
		text[n] = isalnum((unsigned char)kind->text[n]) ||
					  strchr("._-+", kind->text[n])
				  ? kind->text[n]
				  : '_';
	text[n] = '\0';
	if (n)
		snprintf(value, size, "{gpus: %u, kind: \"%s\"}", kind->gpus,
			 text);
	else
		snprintf(value, size, "%u", kind->gpus);
}

static int kinds_write(struct weft_writer *w, struct kind *kinds, uint32_t n,
		       const char **names)
{
	qsort(kinds, n, sizeof(*kinds), compare_kinds);
	for (uint32_t i = 0, end; i < n; i = end) {
		char value[WEFT_NAME_SIZE + 32];

		for (end = i; end < n && kinds[end].gpus == kinds[i].gpus &&
			      strcmp(kinds[end].text, kinds[i].text) == 0;
		     end++)
			names[end - i] = kinds[end].name;
		kind_value(&kinds[i], value, sizeof(value));
		if (weft_writer_line(w, names, end - i, value))
			return -1;
	}
	return 0;
}

static int nodes_write(struct weft_writer *w)
{
	struct kind *kinds = weft_calloc(w->s->n_hosts, sizeof(*kinds), w->err);
	const char **names = weft_calloc(w->s->n_hosts, sizeof(*names), w->err);
	uint32_t n = 0;
	int rc = -1;

	for (uint32_t h = 0; kinds && h < w->s->n_hosts; h++) {
		const char *kind = w->s->hosts[h].gpu_kind.text;

		if (w->host[h])
			kinds[n++] = (struct kind){
				host_gpus(w, h), kind ? kind : "", w->host[h]};
	}
	fputs("nodes:\n", w->out);
	if (kinds && names)
		rc = kinds_write(w, kinds, n, names);
	free(kinds);
	free(names);
	return rc;
}

/* ---- NVLink ---- */

/* GPUs of a group where groups of one size follow each other; 0: otherwise, or
 * nothing is known. */
static uint32_t inside_group(const struct weft_survey_inside *in)
{
	uint32_t size = 1;

	if (!in->n_gpus)
		return 0;
	while (size < in->n_gpus &&
	       in->gpus[size].nvlink_group == in->gpus[0].nvlink_group)
		size++;
	for (uint32_t g = 0; g < in->n_gpus; g++) {
		bool first = g % size == 0;

		if (in->n_gpus % size ||
		    (!first && in->gpus[g].nvlink_group !=
				       in->gpus[g - 1].nvlink_group) ||
		    (first && g &&
		     in->gpus[g].nvlink_group == in->gpus[g - 1].nvlink_group))
			return 0;
	}
	return size;
}

/* The one size that holds for every node, or 0: the file knows no other. */
static uint32_t groups_agree(const struct weft_writer *w, bool *odd)
{
	uint32_t all = 0;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		uint32_t inside = w->s->hosts[h].inside, size;

		if (!w->host[h] || inside == WEFT_NONE ||
		    !w->s->insides[inside].n_gpus)
			continue;
		size = inside_group(&w->s->insides[inside]);
		*odd = *odd || !size || (all && size != all);
		all = size;
	}
	for (uint32_t h = 0; all && h < w->s->n_hosts; h++)
		*odd = *odd || (w->host[h] && host_gpus(w, h) % all);
	return *odd ? 0 : all;
}

static bool is_whole(const struct weft_writer *w, uint32_t group)
{
	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		if (w->host[h] && host_gpus(w, h) != group)
			return false;
	return true;
}

static int groups_write(struct weft_writer *w)
{
	bool odd = false;
	uint32_t group = groups_agree(w, &odd);

	if (group && !is_whole(w, group))
		fprintf(w->out, "nvlink: %u\n", group);
	if (!odd)
		return 0;
	return weft_survey_note(w->s, WEFT_FINDING_NVLINK_UNEVEN, NULL,
				(struct weft_place){WEFT_NONE, 0}, w->err,
				"GPUs that share NVLink are not groups of one "
				"size in order on all nodes; each node is "
				"written as one NVLink domain");
}

static int nvlink_write(struct weft_writer *w)
{
	const char **names = weft_calloc(w->s->n_hosts, sizeof(*names), w->err);
	int rc = names ? 0 : -1;

	if (names && !w->n_spans)
		rc = groups_write(w);
	else if (names)
		fputs("nvlink:\n", w->out);
	for (uint32_t k = 0; rc == 0 && k < w->n_spans; k++) {
		uint32_t n = 0;
		char *text;

		for (uint32_t h = 0; h < w->s->n_hosts; h++)
			if (w->span[h] == k)
				names[n++] = w->host[h];
		rc = weft_writer_hostlist(w, names, n, &text);
		if (rc)
			break;
		fputs("  ", w->out);
		weft_writer_word(w, w->span_name[k]);
		fputs(": ", w->out);
		weft_writer_word(w, text);
		fputc('\n', w->out);
		free(text);
	}
	free(names);
	return rc;
}

/* ---- all of it ---- */

static int writer_alloc(struct weft_writer *w)
{
	const struct weft_survey *s = w->s;
	const struct weft_scheme *scheme = w->scheme;
	size_t rails = (size_t)scheme->n_domains * scheme->n_rails;

	w->host = weft_calloc(s->n_hosts, sizeof(*w->host), w->err);
	w->domain = weft_calloc(scheme->n_domains, sizeof(*w->domain), w->err);
	w->sw = weft_calloc(s->n_switches, sizeof(*w->sw), w->err);
	w->rail = weft_calloc(rails, sizeof(*w->rail), w->err);
	w->is_leaf = weft_calloc(s->n_switches, sizeof(*w->is_leaf), w->err);
	w->cabled = weft_calloc(s->n_switches, sizeof(*w->cabled), w->err);
	w->span = weft_calloc(s->n_hosts, sizeof(*w->span), w->err);
	w->span_name = weft_calloc(s->n_hosts, sizeof(*w->span_name), w->err);
	return w->host && w->domain && w->sw && w->rail && w->is_leaf &&
			       w->cabled && w->span && w->span_name
		       ? 0
		       : -1;
}

static void writer_free(struct weft_writer *w)
{
	free(w->host);
	free(w->domain);
	free(w->sw);
	free(w->rail);
	free(w->is_leaf);
	free(w->cabled);
	free(w->span);
	free(w->span_name);
	free(w->taken);
	weft_arena_free(&w->arena);
}

static int choose(struct weft_writer *w)
{
	return writer_alloc(w) || hosts_choose(w) || domains_choose(w) ||
			       spans_choose(w) || profile_choose(w) ||
			       gpus_assume(w) || weft_writer_names(w)
		       ? -1
		       : 0;
}

static int sections_write(struct weft_writer *w)
{
	head_write(w);
	return nodes_write(w) || nvlink_write(w) || weft_writer_levels(w) ||
			       weft_writer_cabling(w)
		       ? -1
		       : 0;
}

char *weft_survey_write(struct weft_survey *s, const struct weft_scheme *scheme,
			const struct weft_scheme_options *options,
			struct weft_error *err)
{
	struct weft_writer w = {
		.s = s, .scheme = scheme, .options = options, .err = err};
	char *text = NULL;
	size_t size;
	int rc = choose(&w);

	if (rc == 0 && !(w.out = open_memstream(&text, &size)))
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (rc == 0)
		rc = sections_write(&w);
	if (w.out && fclose(w.out) && rc == 0)
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	writer_free(&w);
	if (rc) {
		free(text);
		return NULL;
	}
	return text;
}
