/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked.c - texts that know their lines, within a budget of bytes */
#include "costmodel/script/marked.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* How often the deadline is looked at, in bytes. */
#define BYTES_A_LOOK 4096

void budget_time_check(struct budget *budget)
{
	if (!budget->failed && weft_deadline_check(budget->err))
		budget->failed = true;
}

static bool budget_take(struct budget *budget)
{
	if (budget->failed)
		return false;
	if (!budget->left) {
		weft_fail(budget->err, WEFT_EINVAL,
			  "the script is too large, or grows too much");
		budget->failed = true;
		return false;
	}
	budget->left--;
	if (budget->left % BYTES_A_LOOK == 0)
		budget_time_check(budget);
	return !budget->failed;
}

static bool marked_grow(struct marked *m, struct budget *budget)
{
	size_t room = m->room ? 2 * m->room : 32;
	char *s = weft_realloc(m->s, room, 1, budget->err);
	uint32_t *line;

	if (s)
		m->s = s;
	line = s ? weft_realloc(m->line, room, sizeof(*line), budget->err)
		 : NULL;
	if (!line) {
		budget->failed = true;
		return false;
	}
	m->line = line;
	m->room = room;
	return true;
}

void marked_add(struct marked *m, char c, uint32_t line, struct budget *budget)
{
	if (!budget_take(budget) ||
	    (m->n + 1 >= m->room && !marked_grow(m, budget)))
		return;
	m->line[m->n] = line;
	m->s[m->n++] = c;
	m->s[m->n] = '\0';
}

void marked_add_text(struct marked *m, const char *text, uint32_t line,
		     struct budget *budget)
{
	for (; *text && !budget->failed; text++)
		marked_add(m, *text, line, budget);
}

void marked_add_all(struct marked *m, const struct marked *from,
		    struct budget *budget)
{
	for (size_t i = 0; i < from->n && !budget->failed; i++)
		marked_add(m, from->s[i], from->line[i], budget);
}

void marked_cut(struct marked *m)
{
	m->n = 0;
	if (m->s)
		m->s[0] = '\0';
}

void marked_free(struct marked *m)
{
	free(m->s);
	free(m->line);
	memset(m, 0, sizeof(*m));
}

const char *marked_text(const struct marked *m)
{
	return m->n ? m->s : "";
}

bool marked_has(const struct marked *m, char mark)
{
	return m->n && memchr(m->s, mark, m->n);
}

uint32_t marked_line(const struct marked *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->s[i] > MARK_PART || m->s[i] < 0)
			return m->line[i];
	return m->n ? m->line[0] : 0;
}

struct marked *marked_list_add(struct marked_list *list, struct budget *budget)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct marked *of =
			weft_realloc(list->of, room, sizeof(*of), budget->err);

		if (!of) {
			budget->failed = true;
			return NULL;
		}
		list->of = of;
		list->room = room;
	}
	memset(&list->of[list->n], 0, sizeof(*list->of));
	return &list->of[list->n++];
}

void marked_list_free(struct marked_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		marked_free(&list->of[i]);
	free(list->of);
	memset(list, 0, sizeof(*list));
}
