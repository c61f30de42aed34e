/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_source.c - a JSON input */
#include "topology/import/json_source.h"

json_t *weft_json_source(const struct weft_import_input *input,
			 struct weft_error *err)
{
	json_error_t why;
	json_t *root = json_loadb(input->text, input->size,
				  JSON_REJECT_DUPLICATES, &why);

	if (!root)
		weft_fail_at(err,
			     json_error_code(&why) == json_error_out_of_memory
				     ? WEFT_ENOMEM
				     : WEFT_EINVAL,
			     input->path, why.line > 0 ? why.line : 0,
			     why.column > 0 ? why.column : 0, "%s", why.text);
	return root;
}

const char *weft_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}
