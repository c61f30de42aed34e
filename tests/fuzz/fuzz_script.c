/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_script.c - any text as a launch script and as a framework's
 * configuration: refused with a message, or a spec that holds what it says
 */
#include "costmodel/script/script.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void require_printable(const char *text)
{
	for (const char *c = text; *c; c++)
		require((unsigned char)*c >= ' ' && *c != 0x7f);
}

/* Every file that a script names says this. */
static char *config_load(void *self, const char *path, size_t *size)
{
	static const char config[] = "train_batch_size: 64\n"
				     "zero_optimization: {stage: 2}\n"
				     "model: {hidden_size: 4096}\n";

	(void)self;
	require(path && *path);
	*size = sizeof(config) - 1;
	return strdup(config);
}

static void script_check(const struct weft_script *script)
{
	struct weft_error err = {0};
	struct weft_spec spec;

	require(script->n_keys <= WEFT_SCRIPT_KEYS);
	require(script->n_assumed <= WEFT_SCRIPT_TEXTS);
	require(script->n_missing <= WEFT_SCRIPT_TEXTS);
	for (uint32_t i = 0; i < script->n_keys; i++) {
		require(script->keys[i].key && *script->keys[i].key);
		require_printable(script->keys[i].value);
	}
	for (uint32_t i = 0; i < script->n_assumed; i++)
		require_printable(script->assumed[i]);
	for (uint32_t i = 0; i < script->n_missing; i++)
		require_printable(script->missing[i]);
	if (!script->n_missing)
		require(weft_spec_parse(script->spec, &spec, &err) == 0);
}

/* The reader gets a copy with a NUL behind, as from a file. */
static void text_read(const char *text, size_t size, const char *name,
		      uint32_t nodes)
{
	const struct weft_script_options options = {
		.nodes = nodes,
		.gpus_per_node = nodes ? 8 : 0,
		.load = config_load,
		.most_bytes = 1u << 20,
	};
	static struct weft_script script;
	struct weft_error err = {0};

	if (weft_script_read(text, size, name, &options, &script, &err)) {
		require_message(&err);
		require_printable(err.text);
	} else {
		script_check(&script);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"-", "c.yaml", "c.json", "c.toml"};
	char *text = malloc(size + 1);

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		text_read(text, size, names[i], (uint32_t)(size & 3));
	free(text);
	return 0;
}
