/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_text.c - times as logs write them */
#include "lab/replay/time_text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* A whole number of at most `width` digits; -1: there is none. */
static int digits_read(const char **p, int width)
{
	int value = 0, n = 0;

	for (; n < width && isdigit((unsigned char)**p); n++)
		value = 10 * value + (*(*p)++ - '0');
	return n ? value : -1;
}

/* ".25" or nothing. */
static double fraction_read(const char **p)
{
	double value = 0, digit = 0.1;

	if (**p != '.' && **p != ',')
		return 0;
	for ((*p)++; isdigit((unsigned char)**p); (*p)++, digit /= 10)
		value += digit * (**p - '0');
	return value;
}

/* "Z", "+01:00", " +0100" or nothing; seconds east of UTC. */
static int zone_read(const char **p, int *seconds)
{
	int sign, hours, minutes = 0;

	*seconds = 0;
	if (**p == ' ')
		(*p)++;
	if (**p == 'Z')
		(*p)++;
	if (**p != '+' && **p != '-')
		return 0;
	sign = *(*p)++ == '-' ? -1 : 1;
	hours = digits_read(p, 2);
	if (**p == ':')
		(*p)++;
	if (isdigit((unsigned char)**p))
		minutes = digits_read(p, 2);
	*seconds = sign * (3600 * hours + 60 * minutes);
	return hours < 0 || hours > 14 || minutes > 59 ? -1 : 0;
}

static bool date_valid(const struct tm *t)
{
	return t->tm_mon >= 0 && t->tm_mon < 12 && t->tm_mday >= 1 &&
	       t->tm_mday <= 31 && t->tm_hour >= 0 && t->tm_hour < 24 &&
	       t->tm_min >= 0 && t->tm_min < 60 && t->tm_sec >= 0 &&
	       t->tm_sec <= 60;
}

/* "2017-10-03 10:30:41.5+01:00", also with "/" between or no time of day. */
static int date_read(const char *p, double *value)
{
	struct tm t = {0};
	double fraction = 0;
	int zone = 0;

	t.tm_year = digits_read(&p, 4) - 1900;
	if (*p != '-' && *p != '/')
		return -1;
	p++;
	t.tm_mon = digits_read(&p, 2) - 1;
	if (*p != '-' && *p != '/')
		return -1;
	p++;
	t.tm_mday = digits_read(&p, 2);
	if ((*p == ' ' || *p == 'T') && isdigit((unsigned char)p[1])) {
		p++;
		t.tm_hour = digits_read(&p, 2);
		if (*p++ != ':')
			return -1;
		t.tm_min = digits_read(&p, 2);
		if (*p == ':') {
			p++;
			t.tm_sec = digits_read(&p, 2);
			fraction = fraction_read(&p);
		}
		if (zone_read(&p, &zone))
			return -1;
	}
	if (*p || t.tm_year < -430 || !date_valid(&t))
		return -1;
	*value = (double)timegm(&t) - zone + fraction;
	return 0;
}

/* "1-03:10:41", "27:10:41", "10:41". */
static int clock_read(const char *p, double *value)
{
	double sum = 0;
	int days = 0, n = 0, part;

	part = digits_read(&p, 7);
	/* more digits rather are a year */
	if (part >= 0 && part < 1000 && *p == '-') {
		days = part;
		p++;
		part = digits_read(&p, 2);
	}
	for (;; n++) {
		if (part < 0 || (n && part > 59) || n > 2)
			return -1;
		sum = 60 * sum + part;
		if (*p != ':')
			break;
		p++;
		part = digits_read(&p, 2);
	}
	sum += fraction_read(&p);
	/* Slurm leaves the seconds out only behind days. */
	for (; days && n < 2; n++)
		sum *= 60;
	*value = sum + 86400.0 * days;
	return *p ? -1 : 0;
}

int time_text_read(const char *text, double *value)
{
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '-' && *text != '+' &&
	    *text != '.')
		return -1;
	*value = strtod(text, &end);
	if (end != text && !*end)
		return isfinite(*value) ? 0 : -1;
	if (date_read(text, value) == 0)
		return 0;
	return clock_read(text, value);
}
