/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml_value.c - typed access to YAML nodes, and messages that point at them */
#include "base/size.h"
#include "base/suggest.h"
#include "base/yaml.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How many bytes of the user's text a message repeats. */
#define QUOTED "\"%.60s\""

struct unit {
	const char *name;
	double factor;
};

static const struct unit rate_units[] = {
	{"Gbps", 1e9 / 8},  {"GB/s", 1e9},	{"Gb/s", 1e9 / 8},
	{"GBps", 1e9},	    {"Tbps", 1e12 / 8}, {"TB/s", 1e12},
	{"Tb/s", 1e12 / 8}, {"Mbps", 1e6 / 8},	{"MB/s", 1e6},
	{"Mb/s", 1e6 / 8},  {"kB/s", 1e3},	{"B/s", 1},
};

/* Of the two letters that look like mu, one is the micro sign. */
static const struct unit time_units[] = {
	{"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"\xce\xbcs", 1e-6},
	{"ns", 1e-9}, {"ms", 1e-3},	   {"s", 1},
	{"min", 60},  {"h", 3600},
};

/* A kind of quantity: its units, and an example for messages. */
struct quantity {
	const struct unit *units;
	size_t n_units;
	const char *example;
};

static const struct quantity rate = {rate_units, WEFT_N_OF(rate_units),
				     "a rate such as \"400 Gbps\" or "
				     "\"46.5 GB/s\""};
static const struct quantity duration = {time_units, WEFT_N_OF(time_units),
					 "a time such as \"2.8 us\" or "
					 "\"20 ms\""};

__attribute__((format(printf, 5, 0))) static int
fail_list(const struct weft_yaml *doc, int line, int column,
	  struct weft_error *err, const char *format, va_list args)
{
	char text[sizeof(err->text)];

	vsnprintf(text, sizeof(text), format, args);
	return weft_fail_at(err, WEFT_EINVAL, doc->source, line, column, "%s",
			    text);
}

int weft_yaml_fail(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, struct weft_error *err,
		   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_list(doc, node->line, node->column, err, format, args);
	va_end(args);
	return -1;
}

int weft_yaml_fail_key(const struct weft_yaml *doc,
		       const struct weft_yaml_node *node,
		       struct weft_error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_list(doc, node->key_line, node->key_column, err, format, args);
	va_end(args);
	return -1;
}

int weft_yaml_fail_inside(const struct weft_yaml *doc,
			  const struct weft_yaml_node *node, bool in_key,
			  int column, struct weft_error *err,
			  const char *format, ...)
{
	int line = in_key ? node->key_line : node->line;
	int start = in_key ? node->key_text_column : node->text_column;
	va_list args;

	if (start)
		column += start - 1;
	else
		column = in_key ? node->key_column : node->column;
	va_start(args, format);
	fail_list(doc, line, column, err, format, args);
	va_end(args);
	return -1;
}

const struct weft_yaml_node *weft_yaml_find(const struct weft_yaml_node *map,
					    const char *key)
{
	const struct weft_yaml_node *child = map ? map->child : NULL;

	while (child && (!child->key || strcmp(child->key, key) != 0))
		child = child->next;
	return child;
}

/* The node's key for messages. */
static const char *label(const struct weft_yaml_node *node)
{
	return node->key ? node->key : "value";
}

int weft_yaml_expect(const struct weft_yaml *doc,
		     const struct weft_yaml_node *node,
		     enum weft_yaml_kind kind, const char *what,
		     struct weft_error *err)
{
	static const char *const names[] = {
		[WEFT_YAML_SCALAR] = "one value",
		[WEFT_YAML_LIST] = "a list",
		[WEFT_YAML_MAP] = "KEY: VALUE lines",
	};
	const char *found = names[node->kind];

	if (node->kind == kind)
		return 0;
	if (node->kind == WEFT_YAML_SCALAR && !*node->text)
		found = "nothing";
	return weft_yaml_fail(doc, node, err, "%.80s: expected %s, found %s",
			      what, names[kind], found);
}

int weft_yaml_known_keys(const struct weft_yaml *doc,
			 const struct weft_yaml_node *map,
			 const char *const *known, size_t n, const char *what,
			 struct weft_error *err)
{
	for (const struct weft_yaml_node *c = map->child; c; c = c->next) {
		size_t k = 0;

		while (k < n && strcmp(c->key, known[k]) != 0)
			k++;
		if (k == n)
			return weft_yaml_fail_key(
				doc, c, err,
				"unknown key " QUOTED
				" in %.60s; the nearest known is \"%s\"",
				c->key, what, weft_suggest(c->key, known, n));
	}
	return 0;
}

int weft_yaml_uint(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, uint64_t min,
		   uint64_t max, uint64_t *value, struct weft_error *err)
{
	const char *p = node->kind == WEFT_YAML_SCALAR ? node->text : "";
	uint64_t v = 0;
	bool fits = *p != '\0';

	for (; isdigit((unsigned char)*p) && fits; p++) {
		fits = v <= (UINT64_MAX - 9) / 10;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, label(node), err))
		return -1;
	if (*p || !fits || v < min || v > max)
		return weft_yaml_fail(doc, node, err,
				      "%.60s: expected a whole number from "
				      "%llu to %llu, found " QUOTED,
				      label(node), (unsigned long long)min,
				      (unsigned long long)max, node->text);
	*value = v;
	return 0;
}

int weft_yaml_bool(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, bool *value,
		   struct weft_error *err)
{
	static const char *const words[] = {"no", "yes", "false", "true"};

	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, label(node), err))
		return -1;
	for (size_t k = 0; k < WEFT_N_OF(words); k++)
		if (strcmp(node->text, words[k]) == 0) {
			*value = k & 1;
			return 0;
		}
	return weft_yaml_fail(doc, node, err,
			      "%.60s: expected yes or no, found " QUOTED,
			      label(node), node->text);
}

/* Adds the decimal digit to *mantissa while it fits; false when it is full. */
static bool digit_add(uint64_t *mantissa, char digit)
{
	if (*mantissa > (UINT64_MAX - 9) / 10)
		return false;
	*mantissa = *mantissa * 10 + (uint64_t)(digit - '0');
	return true;
}

/* The exponent at *p ("e-3"), or 0 where there is none. */
static int exponent_read(const char **p)
{
	const char *q = *p + 1;
	int sign = *q == '-' ? -1 : 1, value = 0;

	if ((**p != 'e' && **p != 'E'))
		return 0;
	if (*q == '-' || *q == '+')
		q++;
	if (!isdigit((unsigned char)*q))
		return 0;
	for (; isdigit((unsigned char)*q); q++)
		value = value < 1000 ? value * 10 + (*q - '0') : value;
	*p = q;
	return sign * value;
}

/* strtod would obey the locale's decimal point.  Up to 15 digits and 22 places
 * the result is the nearest double, as both operands are exact. */
static bool decimal_read(const char **p, double *value)
{
	bool negative = **p == '-', point = false;
	uint64_t mantissa = 0;
	int scale = 0, digits = 0;

	*p += negative;
	for (; isdigit((unsigned char)**p) || (**p == '.' && !point); ++*p) {
		if (**p == '.') {
			point = true;
			continue;
		}
		digits++;
		if (digit_add(&mantissa, **p))
			scale -= point;
		else
			scale += !point;
	}
	if (!digits)
		return false;
	scale += exponent_read(p);
	*value = scale < 0 ? (double)mantissa / pow(10, -scale)
			   : (double)mantissa * pow(10, scale);
	if (!mantissa)
		*value = 0;
	if (negative)
		*value = -*value;
	return isfinite(*value);
}

int weft_yaml_number(const struct weft_yaml *doc,
		     const struct weft_yaml_node *node, double min, double max,
		     double *value, struct weft_error *err)
{
	const char *p = node->kind == WEFT_YAML_SCALAR ? node->text : "";
	double v = 0;
	bool valid = decimal_read(&p, &v) && !*p;

	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, label(node), err))
		return -1;
	if (!valid || v < min || v > max)
		return weft_yaml_fail(doc, node, err,
				      "%.60s: expected a number from %g to "
				      "%g, found " QUOTED,
				      label(node), min, max, node->text);
	*value = v;
	return 0;
}

static int unit_find(const struct weft_yaml *doc,
		     const struct weft_yaml_node *node,
		     const struct quantity *quantity, const char *name,
		     double *factor, struct weft_error *err)
{
	const char *known[16];

	for (size_t k = 0; k < quantity->n_units; k++) {
		known[k] = quantity->units[k].name;
		if (strcmp(name, known[k]) == 0) {
			*factor = quantity->units[k].factor;
			return 0;
		}
	}
	return weft_yaml_fail(doc, node, err,
			      "%.60s: unknown unit " QUOTED
			      "; the nearest known is \"%s\"",
			      label(node), name,
			      weft_suggest(name, known, quantity->n_units));
}

static int quantity_read(const struct weft_yaml *doc,
			 const struct weft_yaml_node *node,
			 const struct quantity *quantity, double *value,
			 struct weft_error *err)
{
	const char *p = node->kind == WEFT_YAML_SCALAR ? node->text : "";
	double v = 0, factor = 1;
	bool valid = decimal_read(&p, &v) && v >= 0;

	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, label(node), err))
		return -1;
	if (!valid)
		return weft_yaml_fail(
			doc, node, err, "%.60s: expected %s, found " QUOTED,
			label(node), quantity->example, node->text);
	p += strspn(p, " ");
	if (!*p)
		return weft_yaml_fail(
			doc, node, err,
			"%.60s: " QUOTED " has no unit; expected %s",
			label(node), node->text, quantity->example);
	if (unit_find(doc, node, quantity, p, &factor, err))
		return -1;
	*value = v * factor;
	return 0;
}

int weft_yaml_rate(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, double *bytes_per_s,
		   struct weft_error *err)
{
	double value = 0;

	if (quantity_read(doc, node, &rate, &value, err))
		return -1;
	/* Below a byte or beyond an exabyte per second it is a slip, and
	 * 1/rate would leave the range in which costs can be summed. */
	if (!(value >= 1 && value <= 1e18))
		return weft_yaml_fail(doc, node, err,
				      "%.60s: expected a rate from 1 B/s to "
				      "1e6 TB/s, found " QUOTED,
				      label(node), node->text);
	*bytes_per_s = value;
	return 0;
}

int weft_yaml_time(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, double *time_s,
		   struct weft_error *err)
{
	double value = 0;

	if (quantity_read(doc, node, &duration, &value, err))
		return -1;
	/* Longer than 30 years is a slip; infinity would not even print. */
	if (!(value <= 1e9))
		return weft_yaml_fail(doc, node, err,
				      "%.60s: expected a time of at most 1e9 "
				      "s, found " QUOTED,
				      label(node), node->text);
	*time_s = value;
	return 0;
}

/* In a file a size says its unit. */
static bool size_parse(const char *text, double *bytes)
{
	size_t length = strlen(text);
	double value;

	if (!length || isdigit((unsigned char)text[length - 1]) ||
	    weft_size_read(text, length, &value) ||
	    !(value >= 1 && value <= 1e18))
		return false;
	*bytes = value;
	return true;
}

int weft_yaml_size(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, double *bytes,
		   struct weft_error *err)
{
	if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, label(node), err))
		return -1;
	if (size_parse(node->text, bytes))
		return 0;
	return weft_yaml_fail(doc, node, err,
			      "%.60s: expected a size such as 512KiB, 64MiB or "
			      "1GiB, found " QUOTED,
			      label(node), node->text);
}

int weft_yaml_size_key(const struct weft_yaml *doc,
		       const struct weft_yaml_node *node, double *bytes,
		       struct weft_error *err)
{
	if (size_parse(node->key, bytes))
		return 0;
	return weft_yaml_fail_key(doc, node, err,
				  "expected a size such as 512KiB, 64MiB or "
				  "1GiB, found " QUOTED,
				  node->key);
}
