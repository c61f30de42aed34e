/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_services.c - hosts that are there for others: storage, login,
 * subnet managers
 *
 * They have no GPUs, and say nothing of how GPU nodes are wired.  What tells
 * them, where no source counts their GPUs: words of their names; far fewer
 * adapters than most hosts have; leafs that only their like are attached to.
 * Beside hosts on rails, whose adapters are on different leafs, there may be
 * more of them than of those: rails are laid for GPUs.
 */
#include "config.h" /* first: strcasestr is GNU */

#include "base/compare.h"
#include "base/hash.h"
#include "topology/hierarchy/cable_index.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* So many leafs of one host are rails. */
#define LEAST_RAILS 4

static const struct {
	const char *word, *service;
} words[] = {
	{"ufm", "subnet management"},
	{"cufm", "subnet management"},
	{"opensm", "subnet management"},
	{"login", "login"},
	{"bastion", "login"},
	{"mgmt", "management"},
	{"admin", "management"},
	{"headnode", "management"},
	{"bcm", "management"},
	{"slurm", "management"},
	{"slurmctld", "management"},
	{"ceph", "storage"},
	{"nas", "storage"},
	{"vast", "storage"},
	{"storage", "storage"},
	{"stor", "storage"},
	{"nfs", "storage"},
	{"oss", "storage"},
	{"ost", "storage"},
	{"mds", "storage"},
	{"mdt", "storage"},
	{"mgs", "storage"},
	{"lustre", "storage"},
	{"lnet", "storage"},
	{"gpfs", "storage"},
	{"beegfs", "storage"},
	{"weka", "storage"},
	{"ai400", "storage"},
	{"ai400x", "storage"},
	{"ai400nvx", "storage"},
	{"ddn", "storage"},
	{"cache", "storage"},
	{"dtn", "gateway"},
	{"gateway", "gateway"},
};

/* Letters and digits of a name; digits at either end are a number. */
static bool word_is(const char *at, size_t size, const char *word)
{
	size_t length = strlen(word);

	while (size > length && isdigit((unsigned char)*at)) {
		at++;
		size--;
	}
	if (size < length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (tolower((unsigned char)at[i]) != word[i])
			return false;
	for (size_t i = length; i < size; i++)
		if (!isdigit((unsigned char)at[i]))
			return false;
	return true;
}

/* What a host of that name is for ("storage"); NULL: nothing says. */
static const char *service_of(const char *host)
{
	const char *at = host;

	while (*at) {
		size_t size = 0;

		while (isalnum((unsigned char)at[size]))
			size++;
		for (size_t i = 0; i < WEFT_N_OF(words); i++)
			if (word_is(at, size, words[i].word))
				return words[i].service;
		at += size + (at[size] != '\0');
	}
	return NULL;
}

/* ---- by name ---- */

static int names_mark(struct index *w)
{
	struct weft_inventory *s = w->s;
	uint32_t n = 0, first = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (service_of(s->hosts[h].name))
			first = n++ ? first : h;
	/* Names in which all hosts agree tell of the cluster, not of them. */
	if (!n || n == s->n_hosts)
		return 0;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (s->hosts[h].gpus.value == 0 && service_of(s->hosts[h].name))
			s->hosts[h].no_gpus = true;
	return weft_inventory_note(
		s, WEFT_FINDING_HOST_SERVICE, s->hosts[first].name,
		(struct weft_place){s->hosts[first].where.source, 0}, w->err,
		"%u host%s taken to have no GPUs because of the name, first "
		"%s (%s)",
		n, n == 1 ? " is" : "s are", s->hosts[first].name,
		service_of(s->hosts[first].name));
}

/* ---- by adapters and leafs ---- */

struct evidence {
	struct index *w;
	uint32_t usual, n_full; /* adapters of most; hosts with about as many */
	uint32_t n_railed;	/* of those, adapters on different leafs */
	uint64_t *stems;	/* of those hosts' names, ascending */
	struct {
		uint32_t full, service, others;
	} * on; /* [switch] hosts there */
};

/* Names that differ by numbers only have the same. */
static uint64_t stem_of(const char *name)
{
	uint64_t hash = WEFT_HASH_START;
	bool digits = false;

	for (; *name; name++) {
		bool digit = isdigit((unsigned char)*name);

		if (!digit || !digits)
			hash = weft_hash_bytes(hash, digit ? "#" : name, 1);
		digits = digit;
	}
	return hash;
}

static uint32_t adapters(const struct index *w, uint32_t host)
{
	return w->first_up[host + 1] - w->first_up[host];
}

static bool is_full(const struct evidence *e, uint32_t host)
{
	return !e->w->s->hosts[host].no_gpus &&
	       2 * adapters(e->w, host) > e->usual &&
	       !index_unnamed(e->w, host);
}

/* Its adapters are on different leafs, four at least. */
static bool is_railed(const struct index *w, uint32_t host)
{
	uint32_t leafs = 0;

	for (uint32_t i = w->first_up[host]; i < w->first_up[host + 1]; i++) {
		uint32_t k = w->first_up[host];

		while (w->ups[k].sw != w->ups[i].sw)
			k++;
		leafs += k == i;
	}
	return leafs >= LEAST_RAILS;
}

static int compare_hashes(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static bool has_full_stem(const struct evidence *e, uint32_t host)
{
	uint64_t stem = stem_of(e->w->s->hosts[host].name);

	return e->n_full && bsearch(&stem, e->stems, e->n_full, sizeof(stem),
				    compare_hashes);
}

static void hosts_count(struct evidence *e)
{
	const struct index *w = e->w;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		bool full = is_full(e, h);

		if (full) {
			e->stems[e->n_full++] = stem_of(w->s->hosts[h].name);
			e->n_railed += is_railed(w, h);
		}
		for (uint32_t i = w->first_up[h]; i < w->first_up[h + 1]; i++) {
			uint32_t sw = w->ups[i].sw;

			e->on[sw].full += full;
			e->on[sw].service += w->s->hosts[h].no_gpus;
			e->on[sw].others++;
		}
	}
	WEFT_SORT(e->stems, e->n_full, compare_hashes);
}

/* Whether it hangs where hosts with about the usual number do, and whether most
 * of those around it are there for others. */
static void neighbours(const struct evidence *e, uint32_t host, bool *full,
		       bool *service)
{
	const struct index *w = e->w;
	uint32_t n = 0, others = 0;

	*full = false;
	for (uint32_t i = w->first_up[host]; i < w->first_up[host + 1]; i++) {
		uint32_t sw = w->ups[i].sw;

		*full = *full || e->on[sw].full;
		n += e->on[sw].service;
		others += e->on[sw].others - 1;
	}
	*service = 2 * n > others;
}

/* A GPU node that has lost adapters still has its name, and hangs beside its
 * siblings. */
static bool is_service(const struct evidence *e, uint32_t host)
{
	const struct weft_inventory_host *h = &e->w->s->hosts[host];
	uint32_t n = adapters(e->w, host);
	bool full, service, same;

	if (h->gpus.value > 0 || h->no_gpus || !n || n >= e->usual ||
	    index_unnamed(e->w, host))
		return false;
	neighbours(e, host, &full, &service);
	same = has_full_stem(e, host);
	if (e->usual >= 4 && 4 * n <= e->usual)
		return !same || !full;
	return !same && !full && service;
}

/* More hosts with few adapters than with many may be GPU nodes of another kind,
 * unless those are on rails, and these bear other names (without "gpu") and
 * have a quarter of their adapters at most. */
static bool are_services(const struct evidence *e, const bool *marked,
			 uint32_t n)
{
	if (n <= e->n_full)
		return true;
	if (e->n_railed < WEFT_LEAST_MAJORITY ||
	    4 * e->n_railed < 3 * e->n_full)
		return false;
	for (uint32_t h = 0; h < e->w->s->n_hosts; h++)
		if (marked[h] &&
		    (4 * adapters(e->w, h) > e->usual || has_full_stem(e, h) ||
		     strcasestr(e->w->s->hosts[h].name, "gpu")))
			return false;
	return true;
}

static int evidence_mark(struct evidence *e)
{
	struct weft_inventory *s = e->w->s;
	uint32_t n = 0, first = 0;
	bool *marked, most;

	if (INDEX_ARRAY(e->w, marked, s->n_hosts))
		return -1;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		marked[h] = is_service(e, h);
		if (marked[h])
			first = n++ ? first : h;
	}
	most = n > e->n_full;
	if (!are_services(e, marked, n))
		n = 0; /* two kinds of nodes, as far as cables show */
	for (uint32_t h = 0; n && h < s->n_hosts; h++)
		s->hosts[h].no_gpus = s->hosts[h].no_gpus || marked[h];
	if (!n)
		return 0;
	return weft_inventory_note(
		s, WEFT_FINDING_HOST_SERVICE, s->hosts[first].name,
		(struct weft_place){s->hosts[first].where.source, 0}, e->w->err,
		"%u host%s taken to have no GPUs because of adapters and "
		"leafs, first %s (%u adapter%s; hosts with GPUs have %u%s)",
		n, n == 1 ? " is" : "s are", s->hosts[first].name,
		adapters(e->w, first), adapters(e->w, first) == 1 ? "" : "s",
		e->usual, most ? ", on rails" : "");
}

int index_services(struct index *w)
{
	struct evidence e = {.w = w};

	if (INDEX_ARRAY(w, e.stems, w->s->n_hosts) ||
	    INDEX_ARRAY(w, e.on, w->s->n_switches) || names_mark(w) ||
	    index_cables_usual(w, &e.usual))
		return -1;
	hosts_count(&e);
	return evidence_mark(&e);
}
