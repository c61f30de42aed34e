/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.h - members of objects: those that may be missing, and new ones */
#ifndef WEFT_CLI_JSON_H
#define WEFT_CLI_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* "" where the object has no such text. */
static inline const char *json_text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* 0 where the object has no such number. */
static inline double json_number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* JSON has no NAN and no infinity: null. */
static inline json_t *json_real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *json_flag(bool value)
{
	return json_boolean(value);
}

static inline json_t *json_itself(json_t *value)
{
	return value;
}

/* A JSON string of text from outside: bytes that are not UTF-8 become "?",
 * instead of the string being left out. */
json_t *report_string(const char *text);

/* Null where there is no text, or an empty one. */
static inline json_t *json_text_or_null(const char *text)
{
	return text && *text ? report_string(text) : json_null();
}

/* Sets a member of an object to a number, a bool, a text or a json_t (stolen).
 * A comparison is an int, which it does not take: json_boolean says so. */
/* clang-format off: it breaks the lines of a _Generic anywhere */
#define JSON_PUT(object, key, value)                                           \
	json_object_set_new(object, key, _Generic((value), bool: json_flag,    \
		double: json_real_or_null, uint32_t: json_integer,             \
		uint64_t: json_integer, json_int_t: json_integer,              \
		char *: report_string, const char *: report_string,            \
		json_t *: json_itself)(value))
/* clang-format on */

#endif
