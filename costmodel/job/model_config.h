/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_config.h - the shape in a config.json of Hugging Face */
#ifndef WEFT_COSTMODEL_JOB_MODEL_CONFIG_H
#define WEFT_COSTMODEL_JOB_MODEL_CONFIG_H

#include "base/yaml.h"
#include "costmodel/job/model.h"

/* Whether the document is a config.json: it has keys that only those have. */
bool weft_model_is_config(const struct weft_yaml *doc);

/* Fills *model, which is zeroed.  -1 names the key that is missing, or says
 * what the shape has that no layer of weft is like. */
int weft_model_config(const struct weft_yaml *doc, struct weft_model *model,
		      struct weft_error *err);

/* What the numbers of a shape must have to do with each other; messages are at
 * the keys of `map`, or at the map. */
int weft_model_check(const struct weft_yaml *doc,
		     const struct weft_yaml_node *map,
		     const struct weft_model *model, struct weft_error *err);

#endif
