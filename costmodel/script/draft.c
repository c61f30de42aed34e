/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draft.c - keys of a spec in the making */
#include "costmodel/script/draft.h"

#include "costmodel/job/spec_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Scripts may hold any byte; a terminal gets none that steers it. */
static void steering_drop(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

struct slot *draft_slot(struct weft_draft *draft, const char *key)
{
	for (uint32_t i = 0; i < draft->n_slots; i++)
		if (strcmp(draft->slots[i].key, key) == 0)
			return &draft->slots[i];
	if (draft->n_slots == WEFT_SCRIPT_KEYS)
		return &draft->slots[WEFT_SCRIPT_KEYS - 1];
	draft->slots[draft->n_slots] = (struct slot){.key = key};
	return &draft->slots[draft->n_slots++];
}

bool draft_given(const struct weft_draft *draft, const char *key)
{
	for (uint32_t i = 0; i < draft->n_slots; i++)
		if (strcmp(draft->slots[i].key, key) == 0)
			return draft->slots[i].given;
	return false;
}

uint32_t draft_number(struct weft_draft *draft, const char *key)
{
	struct slot *slot = draft_slot(draft, key);
	struct fact fact = {.value = slot->value};

	return slot->given ? fact_number(&fact) : 0;
}

void draft_set(struct weft_draft *draft, const char *key, const char *value,
	       const struct fact *from)
{
	struct slot *slot = draft_slot(draft, key);
	const char *word = weft_spec_word_value(key, value, strlen(value));

	if (word)
		value = word;
	if (strcmp(key, "sp") == 0 || strcmp(key, "gated_mlp") == 0)
		value = fact_is_on(&(struct fact){.value = value}) ? "on"
								   : "off";
	snprintf(slot->value, sizeof(slot->value), "%s", value);
	steering_drop(slot->value);
	slot->from = from;
	slot->given = true;
	slot->unknown = false;
}

void draft_set_number(struct weft_draft *draft, const char *key, uint32_t value,
		      const struct fact *from)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	draft_set(draft, key, text, from);
}

void draft_drop(struct weft_draft *draft, const char *key)
{
	struct slot *slot = draft_slot(draft, key);

	slot->given = slot->unknown = false;
}

/* Adds a text to a list of *n, unless it is full. */
static void text_add(char texts[][WEFT_SCRIPT_TEXT], uint32_t *n,
		     const char *format, va_list args)
{
	if (*n == WEFT_SCRIPT_TEXTS)
		return;
	vsnprintf(texts[*n], WEFT_SCRIPT_TEXT, format, args);
	steering_drop(texts[(*n)++]);
}

void draft_assume(struct weft_draft *draft, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_add(draft->script->assumed, &draft->script->n_assumed, format,
		 args);
	va_end(args);
}

void draft_miss(struct weft_draft *draft, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_add(draft->script->missing, &draft->script->n_missing, format,
		 args);
	va_end(args);
}

bool draft_on(const struct weft_draft *draft, const char *name)
{
	return fact_is_on(facts_find(draft->facts, name));
}

bool draft_has(const struct weft_draft *draft, const char *name)
{
	return facts_find(draft->facts, name);
}

bool draft_program_has(const struct weft_draft *draft, const char *part)
{
	return draft->launch && strstr(draft->launch->program, part);
}

bool draft_launched_by(const struct weft_draft *draft, enum launcher launcher)
{
	return draft->launch && draft->launch->launcher == launcher;
}
