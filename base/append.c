/* SPDX-License-Identifier: GPL-3.0-or-later */
/* append.c - formatting behind what is there */
#include "base/append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void weft_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}
