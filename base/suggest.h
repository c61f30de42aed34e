/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suggest.h - "did you mean": the known word nearest to an unknown one */
#ifndef WEFT_BASE_SUGGEST_H
#define WEFT_BASE_SUGGEST_H

#include <stddef.h>

/* The word of `known` (n words) with the smallest edit distance (insert,
 * delete, replace, swap of neighbours; case ignored; a beginning of three or
 * more letters counts as near), or NULL if n == 0.  Never
 * allocates: words longer than 63 bytes are compared by their first 63. */
const char *weft_suggest(const char *word, const char *const *known, size_t n);

/* The same, or NULL where even that word is far away: a hint would mislead. */
const char *weft_suggest_near(const char *word, const char *const *known,
			      size_t n);

#define WEFT_SUGGEST_TEXT 200

/* The end of a message about an unknown word, into text, which is returned:
 * did you mean "X"? -- or, where the nearest is far away, the known ones as
 * far as they go in. */
const char *weft_suggest_text(const char *word, const char *const *known,
			      size_t n, char text[WEFT_SUGGEST_TEXT]);

/* Of a table whose rows begin with their name, n of size bytes: the row of that
 * name, or NULL; and weft_suggest_text for a name that has none (n <= 256). */
const void *weft_row_find(const char *name, const void *rows, size_t size,
			  size_t n);
const char *weft_row_hint(const char *name, const void *rows, size_t size,
			  size_t n, char text[WEFT_SUGGEST_TEXT]);
#define WEFT_ROW(name, rows, n) weft_row_find(name, rows, sizeof(*(rows)), n)
#define WEFT_ROW_HINT(name, rows, n, text)                                     \
	weft_row_hint(name, rows, sizeof(*(rows)), n, text)

#endif
