/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_domain_name.c - a name for switches that are one domain
 *
 * One switch gives its own name; several give what their names have in common:
 * "su1-leaf[0-7]" is "su1-leaf", "leaf-[1-4]-07" is "leaf-07"; where several
 * domains would be called the same, the first and the last number tell them
 * apart: "spine00-07".
 */
#include "base/compare.h"
#include "topology/hierarchy/cable_index.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Alphabet of people's separators. */
static bool is_separator(char c)
{
	return c && strchr("-_./+@~", c);
}

/* How much the names have in common in front, without half of a number. */
static size_t prefix_size(const struct index *w, const uint32_t *list,
			  uint32_t n)
{
	const char *first = w->s->switches[list[0]].name;
	size_t size = strlen(first);

	for (uint32_t i = 1; i < n; i++) {
		const char *name = w->s->switches[list[i]].name;
		size_t same = 0;

		while (same < size && name[same] == first[same])
			same++;
		size = same;
	}
	while (size && isdigit((unsigned char)first[size - 1]))
		size--;
	return size;
}

/* And behind; not more than `most`. */
static size_t suffix_size(const struct index *w, const uint32_t *list,
			  uint32_t n, size_t most)
{
	const char *first = w->s->switches[list[0]].name;
	size_t length = strlen(first), size = length - most;

	for (uint32_t i = 1; i < n; i++) {
		const char *name = w->s->switches[list[i]].name;
		size_t other = strlen(name), same = 0;

		while (same < size && same < other &&
		       name[other - 1 - same] == first[length - 1 - same])
			same++;
		size = same;
	}
	/* half of a number is none */
	while (size && !is_separator(first[length - size]))
		size--;
	return size;
}

static bool name_taken(const struct index *w, const char *name)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;

	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		if (strcmp(hierarchy->domains[d].name, name) == 0)
			return true;
	return weft_inventory_find_host(w->s, name) != WEFT_NONE ||
	       weft_inventory_find_switch(w->s, name) != WEFT_NONE;
}

/* Digits behind the prefix, or what is there. */
static int number_size(const char *text)
{
	int n = 0;

	while (isdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* The longest word of letters that all names hold: "IBSPINE". */
static void word_common(const struct index *w, const uint32_t *list, uint32_t n,
			char *name, size_t size)
{
	const char *at = w->s->switches[list[0]].name;
	char word[WEFT_NAME_SIZE];

	name[0] = '\0';
	while (*at) {
		size_t length = 0;
		uint32_t i = 1;

		while (isalpha((unsigned char)at[length]))
			length++;
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		while (i < n && strstr(w->s->switches[list[i]].name, word))
			i++;
		if (i == n && length > 1 && length > strlen(name))
			snprintf(name, size, "%s", word);
		at += length ? length : 1;
	}
}

static void names_common(const struct index *w, const uint32_t *list,
			 uint32_t n, char *name, size_t size)
{
	const char *first = w->s->switches[list[0]].name;
	const char *last = w->s->switches[list[n - 1]].name;
	size_t prefix = prefix_size(w, list, n);
	size_t suffix = suffix_size(w, list, n, prefix);
	size_t bare = prefix;

	while (bare && is_separator(first[bare - 1]))
		bare--;
	if (bare)
		snprintf(name, size, "%.*s%s", (int)bare, first,
			 first + strlen(first) - suffix);
	else
		word_common(w, list, n, name, size);
	if (!bare || !name_taken(w, name))
		return;
	snprintf(name, size, "%.*s%.*s-%.*s%s", (int)prefix, first,
		 number_size(first + prefix), first + prefix,
		 number_size(last + prefix), last + prefix,
		 first + strlen(first) - suffix);
}

uint32_t index_domain(struct index *w, uint32_t level, const uint32_t *ranks,
		      uint32_t n)
{
	char name[2 * WEFT_NAME_SIZE] = "", base[WEFT_NAME_SIZE];
	uint32_t *list;

	if (INDEX_ARRAY(w, list, n))
		return WEFT_NONE;
	for (uint32_t i = 0; i < n; i++)
		list[i] = ranks[i];
	WEFT_SORT(list, n, weft_compare_numbers);
	for (uint32_t i = 0; i < n; i++)
		list[i] = w->by_rank[list[i]];
	if (n == 1)
		snprintf(name, sizeof(name), "%s",
			 w->s->switches[list[0]].name);
	else if (n)
		names_common(w, list, n, name, sizeof(name));
	snprintf(base, sizeof(base), "%.48s", n && name[0] ? name : "fabric");
	if (n != 1 || strlen(name) >= WEFT_NAME_SIZE)
		snprintf(name, sizeof(name), "%s", base);
	for (uint32_t k = 2; n != 1 && name_taken(w, name); k++)
		snprintf(name, sizeof(name), "%s~%u", base, k);
	return weft_hierarchy_add_domain(w->hierarchy, name, level, w->err);
}
