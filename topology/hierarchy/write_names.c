/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_names.c - names that a fabric file takes, each given once
 *
 * Sources name things as they like: with blanks and colons, longer than the
 * file allows, a switch like a host.  Nodes, NVLink domains, domains and
 * switches share one name space in the file; hosts keep their names before all
 * others.
 */
#include "base/compare.h"
#include "base/hash.h"
#include "base/hostlist.h"
#include "topology/hierarchy/writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char **taken_slot(const struct weft_writer *w, const char *name)
{
	uint32_t mask = w->taken_room - 1;
	uint32_t k = (uint32_t)weft_hash_text(name) & mask;

	while (w->taken[k] && strcmp(w->taken[k], name) != 0)
		k = (k + 1) & mask;
	return &w->taken[k];
}

static int taken_alloc(struct weft_writer *w, uint64_t n)
{
	w->taken_room = 64;
	while (w->taken_room < 2 * n)
		w->taken_room *= 2;
	return WRITER_ARRAY(w, w->taken, w->taken_room);
}

/* The text with what no name may have replaced; a long one ends in its hash, so
 * that two that begin alike stay two. */
void weft_writer_clean(const char *text, char *name)
{
	size_t size = strlen(text), n = 0;

	if (size >= WEFT_NAME_SIZE)
		size = WEFT_NAME_SIZE - 10;
	for (; n < size; n++)
		name[n] = isalnum((unsigned char)text[n]) ||
					  strchr("._-+/@~", text[n])
				  ? text[n]
				  : '_';
	name[n] = '\0';
	if (text[size])
		snprintf(name + n, WEFT_NAME_SIZE - n, "~%08x",
			 (unsigned)weft_hash_text(text));
	if (!n)
		memcpy(name, "_", 2);
}

/* A name like text that nothing else has. */
static const char *name_give(struct weft_writer *w, const char *text)
{
	char name[WEFT_NAME_SIZE], base[WEFT_NAME_SIZE];
	const char **slot;

	weft_writer_clean(text, base);
	memcpy(name, base, sizeof(name));
	for (uint32_t k = 2; *(slot = taken_slot(w, name)); k++)
		snprintf(name, sizeof(name), "%.*s~%u", WEFT_NAME_SIZE - 12,
			 base, k);
	*slot = weft_arena_copy(&w->arena, name, w->err);
	w->n_taken++;
	return *slot;
}

static int hosts_name(struct weft_writer *w)
{
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		if (!w->host[h])
			continue;
		w->host[h] = name_give(w, w->s->hosts[h].name);
		if (!w->host[h])
			return -1;
	}
	return 0;
}

/* A domain that is one switch is called like it. */
static int switches_name(struct weft_writer *w)
{
	for (uint32_t i = 0; i < w->s->n_switches; i++) {
		uint32_t d = w->hierarchy->switch_domain[i];
		const char *name = w->s->switches[i].name;

		if (d != WEFT_NONE && w->domain[d] &&
		    (w->hierarchy->n_rails == 1 ||
		     w->hierarchy->domains[d].level > 0) &&
		    strcmp(w->hierarchy->domains[d].name, name) == 0)
			w->sw[i] = w->domain[d];
		else
			w->sw[i] = name_give(w, name);
		if (!w->sw[i])
			return -1;
	}
	return 0;
}

static int domains_name(struct weft_writer *w)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;

	for (uint32_t d = 0; d < hierarchy->n_domains; d++) {
		/* a bundle is named by its leafs */
		if (!w->domain[d] || (hierarchy->n_rails > 1 &&
				      hierarchy->domains[d].level == 0))
			continue;
		w->domain[d] = name_give(w, hierarchy->domains[d].name);
		if (!w->domain[d])
			return -1;
	}
	return 0;
}

/* The leafs of each bundle; one that is missing gets a name all the same, since
 * the file wants as many as there are rails. */
static int rails_name(struct weft_writer *w)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;

	for (uint32_t d = 0; hierarchy->n_rails > 1 && d < hierarchy->n_domains;
	     d++) {
		for (uint32_t r = 0; r < hierarchy->n_rails; r++) {
			uint32_t at = d * hierarchy->n_rails + r;
			uint32_t leaf = hierarchy->rail_switch[at];
			char text[2 * WEFT_NAME_SIZE];

			if (!w->domain[d] || hierarchy->domains[d].level != 0)
				break;
			snprintf(text, sizeof(text), "%.80s-rail%u",
				 hierarchy->domains[d].name, r);
			w->rail[at] = leaf != WEFT_NONE ? w->sw[leaf]
							: name_give(w, text);
			if (leaf != WEFT_NONE)
				w->is_leaf[leaf] = true;
			if (!w->rail[at])
				return -1;
		}
	}
	return 0;
}

static int spans_name(struct weft_writer *w)
{
	for (uint32_t k = 0; k < w->n_spans; k++) {
		w->span_name[k] = name_give(w, w->span_name[k]);
		if (!w->span_name[k])
			return -1;
	}
	return 0;
}

int weft_writer_names(struct weft_writer *w)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	uint64_t n = (uint64_t)w->s->n_hosts + w->s->n_switches + w->n_spans +
		     (uint64_t)hierarchy->n_domains * (1 + hierarchy->n_rails);

	if (taken_alloc(w, n))
		return -1;
	return hosts_name(w) || domains_name(w) || switches_name(w) ||
			       rails_name(w) || spans_name(w)
		       ? -1
		       : 0;
}

int weft_writer_hostlist(struct weft_writer *w, const char **names, uint32_t n,
			 char **text)
{
	WEFT_SORT(names, n, weft_compare_names);
	*text = weft_hostlist_encode(names, n);
	return *text ? 0 : weft_fail(w->err, WEFT_ENOMEM, "out of memory");
}
