/* SPDX-License-Identifier: GPL-3.0-or-later */
/* marked.h - text whose every byte remembers the line that it came from
 *
 * Some bytes are marks, which no script has: they travel with a text through
 * variables and substitutions, so that what is made of something unknown is
 * unknown, and what is made of an assumption is assumed.
 */
#ifndef WEFT_COSTMODEL_SCRIPT_MARKED_H
#define WEFT_COSTMODEL_SCRIPT_MARKED_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define MARK_UNKNOWN '\1' /* in place of what only a run would tell */
#define MARK_ASSUMED                                                           \
	'\2'	       /* of no width: the text holds unless told otherwise */
#define MARK_PART '\3' /* between the elements of an array */

/* What all texts of a reading may take together, and the first failure. */
struct budget {
	size_t left;
	struct weft_error *err;
	bool failed;
};

/* Takes the thread's deadline as a failure. */
void budget_time_check(struct budget *budget);

struct marked {
	char *s; /* with a NUL behind once there is a byte */
	uint32_t *line;
	size_t n, room;
};

/* Failures go to the budget, and leave the text as it was. */
void marked_add(struct marked *m, char c, uint32_t line, struct budget *budget);
void marked_add_text(struct marked *m, const char *text, uint32_t line,
		     struct budget *budget);
void marked_add_all(struct marked *m, const struct marked *from,
		    struct budget *budget);
void marked_cut(struct marked *m);
void marked_free(struct marked *m);

/* The text, never NULL. */
const char *marked_text(const struct marked *m);
bool marked_has(const struct marked *m, char mark);

/* The line of its first byte that is no mark; 0: it has none. */
uint32_t marked_line(const struct marked *m);

struct marked_list {
	struct marked *of;
	size_t n, room;
};

/* A new empty text at the end; NULL: no memory. */
struct marked *marked_list_add(struct marked_list *list, struct budget *budget);
void marked_list_free(struct marked_list *list);

#endif
