/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write.c - a inventory and its hierarchy as a fabric file, weft-fabric(5) */
#include "base/compare.h"
#include "topology/hierarchy/writer.h"
#include "topology/profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* YAML takes at most 1,024 characters before the colon of a line. */
#define KEY_MAX 960

/* ---- what goes into the file ---- */

/* Hosts whose GPUs no source gives: where other hosts have some, these have
 * none worth a name; else all are taken to be like the profile's. */
static int hosts_choose(struct weft_writer *w)
{
	struct weft_inventory *s = w->s;
	uint32_t known = 0, unknown = 0, dropped = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++)
		known += s->hosts[h].gpus.value > 0;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		const struct weft_inventory_host *host = &s->hosts[h];
		bool placed = !w->hierarchy->n_levels ||
			      w->hierarchy->host_domain[h] != WEFT_NONE;
		bool counted = host->gpus.value > 0;

		if (!placed || host->no_gpus)
			continue;
		if (!counted && (known || host->no_gpus_listed) &&
		    !w->options->gpus_per_node) {
			dropped++;
			continue;
		}
		unknown += !counted;
		w->host[h] = host->name;
	}
	if (dropped &&
	    weft_inventory_note(
		    s, WEFT_FINDING_INPUT_PARTIAL, NULL,
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
	return weft_inventory_note(
		w->s, WEFT_FINDING_GPUS_UNKNOWN, NULL,
		(struct weft_place){WEFT_NONE, 0}, w->err,
		"no source says how many GPUs %u host%s; %u each are assumed, "
		"as in profile %s",
		n, n == 1 ? " has" : "s have", w->gpus_assumed,
		w->profile->name);
}

/* Sources that call the same hosts differently are a usual reason. */
static int nothing_left(struct weft_writer *w)
{
	const char *outside = NULL, *inside = NULL;
	uint32_t n = 0;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		const struct weft_inventory_host *host = &w->s->hosts[h];
		bool placed = w->hierarchy->host_domain[h] != WEFT_NONE;

		if (placed && !inside)
			inside = host->name;
		if (!placed && host->gpus.value > 0 && n++ == 0)
			outside = host->name;
	}
	if (outside && inside)
		return weft_fail(w->err, WEFT_EINVAL,
				 "no host with GPUs: %u that have GPUs, such "
				 "as %s, are behind no switch, and those that "
				 "are, such as %s, have none; expected the "
				 "same names of hosts in all sources",
				 n, outside, inside);
	return weft_fail(w->err, WEFT_EINVAL,
			 "no host with GPUs: a fabric needs one; say how many "
			 "with --gpus-per-node, where the sources miss them");
}

/* Domains with a host somewhere below. */
static int domains_choose(struct weft_writer *w)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	bool any = false;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		any = any || w->host[h];
		for (uint32_t d = w->host[h] ? hierarchy->host_domain[h]
					     : WEFT_NONE;
		     d != WEFT_NONE && !w->domain[d];
		     d = hierarchy->domains[d].parent)
			w->domain[d] = hierarchy->domains[d].name;
	}
	return any ? 0 : nothing_left(w);
}

uint32_t weft_writer_gpus(const struct weft_writer *w, uint32_t h)
{
	double n = w->s->hosts[h].gpus.value;

	return n > 0 ? (uint32_t)n : w->gpus_assumed;
}

/* ---- NVLink domains that span nodes ---- */

struct spanned {
	const char *nvlink;
	uint32_t host, domain; /* of the network */
};

WEFT_COMPARATOR(compare_spanned, struct spanned,
		WEFT_NAME(nvlink) WEFT_UP(domain) WEFT_UP(host));

/* Some hosts of an NVLink domain, all below one domain of the network, are a
 * domain of the file; the k-th part but the first gets a number. */
static int part_add(struct weft_writer *w, const struct spanned *list,
		    uint32_t n, uint32_t part)
{
	char name[2 * WEFT_NAME_SIZE];

	if (n < 2)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		w->span[list[i].host] = w->n_spans;
	snprintf(name, sizeof(name), part ? "%.50s.part%u" : "%s",
		 list[0].nvlink, part + 1);
	w->span_name[w->n_spans] =
		part ? weft_arena_copy(&w->s->arena, name, w->err)
		     : list[0].nvlink;
	return w->span_name[w->n_spans++] ? 0 : -1;
}

static uint32_t part_end(const struct spanned *list, uint32_t i, uint32_t n)
{
	uint32_t end = i + 1;

	while (end < n && list[end].domain == list[i].domain)
		end++;
	return end;
}

/* Few of many that hang elsewhere are cabled wrongly, or mistaken; a domain
 * over several racks has about as many in each. */
static int split_note(struct weft_writer *w, const struct spanned *list,
		      uint32_t n, uint32_t first, uint32_t most)
{
	const struct weft_inventory_host *hosts = w->s->hosts;
	uint32_t other = first ? 0 : most;
	bool few =
		10 * (n - most) <= n || (n - most == 1 && n > 3) || most == 1;

	if (few)
		return weft_inventory_note(
			w->s, WEFT_FINDING_NVLINK_SPLIT, list[0].nvlink,
			hosts[list[other].host].nvlink.where, w->err,
			"%s and %s are said to share an NVLink domain, but "
			"are attached to different switches, as do %u of its "
			"%u nodes",
			hosts[list[first].host].name,
			hosts[list[other].host].name, n - most, n);
	return weft_inventory_note(
		w->s, WEFT_FINDING_INPUT_PARTIAL, list[0].nvlink,
		hosts[list[0].host].nvlink.where, w->err,
		"the NVLink domain of %u nodes lies below several switches; "
		"the file has a domain for each",
		n);
}

/* Hosts list[0..n) say that they share an NVLink domain. */
static int span_add(struct weft_writer *w, const struct spanned *list,
		    uint32_t n)
{
	uint32_t most = 0, first = 0, part = 0;

	for (uint32_t i = 0, end; i < n; i = end) {
		end = part_end(list, i, n);
		if (end - i > most) {
			most = end - i;
			first = i;
		}
	}
	if (most < n && split_note(w, list, n, first, most))
		return -1;
	for (uint32_t i = 0, end; i < n; i = end) {
		end = part_end(list, i, n);
		if (part_add(w, list + i, end - i, part))
			return -1;
		part += end - i > 1;
	}
	return 0;
}

static int spans_choose(struct weft_writer *w)
{
	struct weft_inventory *s = w->s;
	struct spanned *list;
	uint32_t n = 0, first = 0;

	if (WRITER_ARRAY(w, list, s->n_hosts))
		return -1;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		w->span[h] = WEFT_NONE;
		if (w->host[h] && s->hosts[h].nvlink.text)
			list[n++] =
				(struct spanned){s->hosts[h].nvlink.text, h,
						 w->hierarchy->host_domain[h]};
	}
	WEFT_SORT(list, n, compare_spanned);
	for (uint32_t i = 1; i <= n; i++) {
		if (i < n && strcmp(list[i].nvlink, list[first].nvlink) == 0)
			continue;
		if (span_add(w, list + first, i - first))
			return -1;
		first = i;
	}
	return 0;
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
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	const char *name = weft_routing_names[hierarchy->routing];

	if (!hierarchy->n_flows || (hierarchy->routing == w->profile->routing &&
				    hierarchy->n_flows == w->profile->n_flows))
		return;
	if (hierarchy->n_flows > 1)
		fprintf(w->out, "routing: {policy: %s, flows: %u}\n", name,
			hierarchy->n_flows);
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
	if (w->hierarchy->n_rails > 1)
		fprintf(w->out, "rails: %u\n", w->hierarchy->n_rails);
	routing_write(w);
}

/* ---- nodes ---- */

struct kind {
	uint32_t gpus;
	const char *text;    /* or "" */
	const char *islands; /* or "" */
	const char *name;    /* of the host */
};

WEFT_COMPARATOR(compare_kinds, struct kind,
		WEFT_UP(gpus) WEFT_TEXT(text) WEFT_TEXT(islands)
			WEFT_NAME(name));

/* A kind as a quoted word of the file, whatever GPUs call themselves, and the
 * NVLink domains. */
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
	if (!n && !*kind->islands) {
		snprintf(value, size, "%u", kind->gpus);
		return;
	}
	snprintf(value, size, "{gpus: %u%s%s%s%s%s%s}", kind->gpus,
		 n ? ", kind: \"" : "", text, n ? "\"" : "",
		 *kind->islands ? ", nvlink: [" : "", kind->islands,
		 *kind->islands ? "]" : "");
}

static bool is_same_kind(const struct kind *a, const struct kind *b)
{
	return a->gpus == b->gpus && strcmp(a->text, b->text) == 0 &&
	       strcmp(a->islands, b->islands) == 0;
}

static int kinds_write(struct weft_writer *w, struct kind *kinds, uint32_t n,
		       const char **names)
{
	WEFT_SORT(kinds, n, compare_kinds);
	for (uint32_t i = 0, end; i < n; i = end) {
		char value[WEFT_NAME_SIZE + 64 + WEFT_ISLANDS_SIZE];

		for (end = i; end < n && is_same_kind(&kinds[end], &kinds[i]);
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
	struct kind *kinds;
	const char **names;
	uint32_t n = 0;

	if (WRITER_ARRAY(w, kinds, w->s->n_hosts) ||
	    WRITER_ARRAY(w, names, w->s->n_hosts))
		return -1;
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		const char *kind = w->s->hosts[h].gpu_kind.text;

		if (w->host[h])
			kinds[n++] = (struct kind){
				weft_writer_gpus(w, h), kind ? kind : "",
				w->islands[h] ? w->islands[h] : "", w->host[h]};
	}
	fputs("nodes:\n", w->out);
	return kinds_write(w, kinds, n, names);
}

/* ---- all of it ---- */

static int writer_alloc(struct weft_writer *w)
{
	const struct weft_inventory *s = w->s;
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	size_t rails = (size_t)hierarchy->n_domains * hierarchy->n_rails;

	if (WRITER_ARRAY(w, w->host, s->n_hosts) ||
	    WRITER_ARRAY(w, w->domain, hierarchy->n_domains) ||
	    WRITER_ARRAY(w, w->sw, s->n_switches) ||
	    WRITER_ARRAY(w, w->rail, rails) ||
	    WRITER_ARRAY(w, w->is_leaf, s->n_switches) ||
	    WRITER_ARRAY(w, w->cabled, s->n_switches) ||
	    WRITER_ARRAY(w, w->span, s->n_hosts) ||
	    WRITER_ARRAY(w, w->islands, s->n_hosts) ||
	    WRITER_ARRAY(w, w->span_name, s->n_hosts))
		return -1;
	return 0;
}

static int choose(struct weft_writer *w)
{
	return writer_alloc(w) || hosts_choose(w) || domains_choose(w) ||
			       spans_choose(w) || weft_writer_profile(w) ||
			       gpus_assume(w) || weft_writer_islands(w) ||
			       weft_writer_names(w)
		       ? -1
		       : 0;
}

static int sections_write(struct weft_writer *w)
{
	head_write(w);
	return nodes_write(w) || weft_writer_nvlink(w) ||
			       weft_writer_levels(w) || weft_writer_cabling(w)
		       ? -1
		       : 0;
}

char *weft_inventory_write(struct weft_inventory *s,
			   const struct weft_hierarchy *hierarchy,
			   const struct weft_hierarchy_options *options,
			   struct weft_error *err)
{
	struct weft_writer w = {
		.s = s, .hierarchy = hierarchy, .options = options, .err = err};
	char *text = NULL;
	size_t size;
	int rc = choose(&w);

	if (rc == 0 && !(w.out = open_memstream(&text, &size)))
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (rc == 0)
		rc = sections_write(&w);
	if (w.out && fclose(w.out) && rc == 0)
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	weft_arena_free(&w.arena);
	if (rc) {
		free(text);
		return NULL;
	}
	return text;
}
