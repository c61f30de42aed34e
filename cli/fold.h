/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.h - answers for people, as wide as their terminal
 *
 * Only a terminal, or COLUMNS, folds lines: in a pipe each stays whole.
 */
#ifndef WEFT_CLI_FOLD_H
#define WEFT_CLI_FOLD_H

#include <stdint.h>

/* The terminal's width, else COLUMNS; 0: neither, or below 30. */
uint32_t fold_columns(void);

/* What is printed between the two is folded at blanks; lines go on below the
 * beginning of their text. */
void fold_begin(void);
void fold_end(void);

#endif
