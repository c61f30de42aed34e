/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.h - members of objects that may lack them, figures that may be unknown
 */
#ifndef WEFT_CLI_JSON_H
#define WEFT_CLI_JSON_H

#include <jansson.h>
#include <math.h>

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

#endif
