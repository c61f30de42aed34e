/* SPDX-License-Identifier: GPL-3.0-or-later */
/* size.h - "25MiB", "70B": numbers with the prefixes of SI and of IEC, to and
 * from people */
#ifndef WEFT_BASE_SIZE_H
#define WEFT_BASE_SIZE_H

#include <stddef.h>

/* Bytes: "4096", "64 MiB", "1.5gb", "2G"; case does not matter, but for "Mb",
 * which people read as bits.  Returns 0, or -1 with *bytes as it was. */
int weft_size_read(const char *text, size_t length, double *bytes);

/* Elements: "7e9", "70B", "70b", "512K", "1.5T"; B and G are 1e9. */
int weft_count_read(const char *text, size_t length, double *count);

/* Three digits with the prefix of SI that fits: "1.23 GB", "850 us"; into
 * buffer, which is returned. */
const char *weft_quantity_text(double value, const char *unit, char *buffer,
			       size_t size);

/* The same of elements, as weft_count_read takes it: "70B", "124M", "7". */
const char *weft_count_text(double count, char *buffer, size_t size);

#endif
