/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_source.h - a JSON input: read by jansson, errors with line and column */
#ifndef WEFT_TOPOLOGY_IMPORT_JSON_SOURCE_H
#define WEFT_TOPOLOGY_IMPORT_JSON_SOURCE_H

#include "topology/import/import.h"

#include <jansson.h>

/* The document, or NULL with err; json_decref it. */
json_t *weft_json_source(const struct weft_import_input *input,
			 struct weft_error *err);

/* object[key] as a text; NULL where it is none. */
const char *weft_json_text(const json_t *object, const char *key);

#endif
