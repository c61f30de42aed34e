/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.c - a list of facts, and finding the one that holds */
#include "costmodel/script/facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_FACTS 20000

static struct fact *fact_new(struct facts *facts)
{
	size_t room = facts->room ? 2 * facts->room : 64;
	struct fact *of;

	if (facts->n < facts->room)
		return &facts->of[facts->n++];
	of = facts->n >= MAX_FACTS
		     ? NULL
		     : weft_realloc(facts->of, room, sizeof(*of), facts->err);
	if (!of) {
		weft_fail(facts->err, WEFT_EINVAL, "too many settings");
		facts->failed = true;
		return NULL;
	}
	facts->of = of;
	facts->room = room;
	return &facts->of[facts->n++];
}

/* A path in lower case, "_" for "-"; Hydra's "+" before it dropped. */
static char *name_keep(struct facts *facts, const char *name)
{
	char *kept;

	name += strspn(name, "+-~");
	kept = weft_arena_text(&facts->arena, name, strlen(name), facts->err);
	for (char *c = kept; c && *c; c++)
		*c = *c == '-' ? '_' : (char)tolower((unsigned char)*c);
	return kept;
}

void facts_add(struct facts *facts, enum fact_scope scope, const char *name,
	       const struct marked *value, const char *file)
{
	struct fact *fact = facts->failed ? NULL : fact_new(facts);
	char *text;
	size_t n = 0;

	if (!fact)
		return;
	memset(fact, 0, sizeof(*fact));
	fact->scope = scope;
	fact->file = file;
	fact->line = marked_line(value);
	fact->unknown = marked_has(value, MARK_UNKNOWN);
	fact->assumed = marked_has(value, MARK_ASSUMED);
	fact->name = name_keep(facts, name);
	text = weft_arena_alloc(&facts->arena, value->n + 1, facts->err);
	if (!text || !fact->name) {
		facts->n--;
		facts->failed = true;
		return;
	}
	for (size_t i = 0; i < value->n; i++)
		if (value->s[i] > MARK_PART || value->s[i] < 0)
			text[n++] = value->s[i];
	fact->value = text;
}

void facts_add_text(struct facts *facts, enum fact_scope scope,
		    const char *name, const char *value, const char *file,
		    uint32_t line)
{
	struct budget budget = {.left = 4096, .err = facts->err};
	struct marked text = {0};

	marked_add_text(&text, value, line, &budget);
	facts_add(facts, scope, name, &text, file);
	if (!facts->failed && facts->n)
		facts->of[facts->n - 1].line = line;
	facts->failed = facts->failed || budget.failed;
	marked_free(&text);
}

void facts_keep(struct facts *facts, bool (*keep)(const struct fact *fact))
{
	size_t n = 0;

	for (size_t i = 0; i < facts->n; i++)
		if (keep(&facts->of[i]))
			facts->of[n++] = facts->of[i];
	facts->n = n;
}

void facts_free(struct facts *facts)
{
	free(facts->of);
	weft_arena_free(&facts->arena);
	memset(facts, 0, sizeof(*facts));
}

const char *fact_leaf(const struct fact *fact)
{
	const char *dot = strrchr(fact->name, '.');

	return dot ? dot + 1 : fact->name;
}

static bool ends_in(const char *path, const char *name)
{
	size_t n = strlen(path), m = strlen(name);

	return n >= m && strcmp(path + n - m, name) == 0 &&
	       (n == m || path[n - m - 1] == '.');
}

const struct fact *facts_find(const struct facts *facts, const char *name)
{
	const struct fact *found = NULL;

	for (size_t i = 0; i < facts->n; i++)
		if (ends_in(facts->of[i].name, name) &&
		    (!found || facts->of[i].scope >= found->scope))
			found = &facts->of[i];
	return found;
}

const struct fact *facts_find_in(const struct facts *facts,
				 enum fact_scope scope, const char *name)
{
	const struct fact *found = NULL;

	for (size_t i = 0; i < facts->n; i++)
		if (facts->of[i].scope == scope &&
		    ends_in(facts->of[i].name, name))
			found = &facts->of[i];
	return found;
}

uint32_t fact_number(const struct fact *fact)
{
	unsigned long value;
	char *end;

	if (!fact || fact->unknown || !isdigit((unsigned char)fact->value[0]))
		return 0;
	value = strtoul(fact->value, &end, 10);
	if (strcmp(end, ".0") == 0)
		end += 2;
	return *end || value > UINT32_MAX ? 0 : (uint32_t)value;
}

bool fact_is_on(const struct fact *fact)
{
	return fact && !fact->unknown &&
	       (!fact->value[0] || !strcasecmp(fact->value, "true") ||
		!strcasecmp(fact->value, "yes") ||
		!strcasecmp(fact->value, "on") || !strcmp(fact->value, "1"));
}
