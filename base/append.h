/* SPDX-License-Identifier: GPL-3.0-or-later */
/* append.h - texts of a fixed size that grow piece by piece */
#ifndef WEFT_BASE_APPEND_H
#define WEFT_BASE_APPEND_H

#include <stddef.h>

/* Formats behind the NUL-terminated text in text[size], cut to its size. */
void weft_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
