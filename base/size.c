/* SPDX-License-Identifier: GPL-3.0-or-later */
/* size.c - sizes in bytes and counts of elements, as people write and read them
 */
#include "base/size.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer numbers are no size of anything. */
#define LONGEST 40

/* Reads the number in front, in decimals; what follows it, behind blanks, goes
 * to unit.  false: there is none. */
static bool number_read(const char *text, size_t length, double *value,
			char unit[LONGEST])
{
	char copy[LONGEST], *end;

	if (!length || length >= LONGEST ||
	    !(isdigit((unsigned char)text[0]) ||
	      (text[0] == '.' && isdigit((unsigned char)text[1]))))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (strpbrk(copy, "xX"))
		return false;
	*value = strtod(copy, &end);
	end += strspn(end, " ");
	memcpy(unit, end, strlen(end) + 1);
	return *value <= 1e30;
}

/* The power of a prefix in "kmgtp", from 1; 0: no prefix. */
static int power_of(char c)
{
	static const char prefixes[] = "kmgtp";
	const char *found =
		c ? strchr(prefixes, tolower((unsigned char)c)) : NULL;

	return found ? (int)(found - prefixes) + 1 : 0;
}

static double raised(double base, int power)
{
	double factor = 1;

	while (power-- > 0)
		factor *= base;
	return factor;
}

int weft_size_read(const char *text, size_t length, double *bytes)
{
	char unit[LONGEST];
	const char *u = unit;
	double value;
	int power;
	bool binary;

	if (!number_read(text, length, &value, unit))
		return -1;
	power = power_of(*u);
	u += power > 0;
	binary = power && (*u == 'i' || *u == 'I');
	u += binary;
	/* "Mb" is a megabit: the case of both letters must not disagree. */
	if (*u == 'b' && power && isupper((unsigned char)unit[0]))
		return -1;
	u += *u == 'B' || *u == 'b';
	if (*u)
		return -1;
	*bytes = value * raised(binary ? 1024 : 1000, power);
	return 0;
}

int weft_count_read(const char *text, size_t length, double *count)
{
	char unit[LONGEST];
	double value;
	int power;

	if (!number_read(text, length, &value, unit))
		return -1;
	power = power_of(unit[0]);
	if (unit[0] == 'B' || unit[0] == 'b')
		power = 3;
	if (unit[0] && (!power || unit[1]))
		return -1;
	*count = value * raised(1000, power);
	return 0;
}

const char *weft_count_text(double count, char *buffer, size_t size)
{
	static const char *const suffix[] = {"", "K", "M", "B", "T", "P"};
	int step = 0;

	for (; fabs(count) >= 999.5 && step < 5; step++)
		count /= 1000;
	snprintf(buffer, size, "%.3g%s", count, suffix[step]);
	return buffer;
}

const char *weft_quantity_text(double value, const char *unit, char *buffer,
			       size_t size)
{
	static const char *const prefix[] = {"n", "u", "m", "",	 "k",
					     "M", "G", "T", "P", "E"};
	int step = 3;

	if (value == 0 || !isfinite(value)) {
		snprintf(buffer, size, "%g %s", value, unit);
		return buffer;
	}
	/* seconds take no larger prefix: 14321 s */
	if (strcmp(unit, "s") == 0 && fabs(value) >= 999.5) {
		snprintf(buffer, size, "%.0f s", value);
		return buffer;
	}
	for (; fabs(value) >= 999.5 && step < 9; step++)
		value /= 1000;
	for (; fabs(value) < 0.9995 && step > 0; step--)
		value *= 1000;
	snprintf(buffer, size, "%.3g %s%s", value, prefix[step], unit);
	return buffer;
}
