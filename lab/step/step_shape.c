/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_shape.c - the shape that a name in a table of runs means */
#include "lab/step/step_source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Other names of a shape, as plain_name has them: what comes first in a name,
 * and what it stands for. */
static const struct {
	const char *prefix, *meant;
} aliases[] = {
	{"metallama", "llama"},
	{"llama3.1", "llama3"},
	{"llama3.3", "llama3"},
	{"gpt22b", "megatron22b"},
	{"gpt145b", "gpt145.6b"},
	{"gpt175b", "gpt3175b"},
	{"opt175b", "gpt3175b"},
	{"gpt310b", "gpt310.1b"},
	{"gpt530b", "turing530b"},
	{"mtnlg530b", "turing530b"},
	{"gpt1t", "gpt1008b"},
	{"grok1", "grok1314b"},
	{"deepseekv3671b", "deepseekv3"},
	{"deepseekr1", "deepseekv3"},
	{"nemotron3nano", "nemotron3nano30b"},
	{"nemotron3super", "nemotron3super120b"},
};

/* Letters, digits and the points between digits, lower case: "DeepSeekV3" is
 * "deepseek-v3", but "gpt-17B" not "gpt-1.7B". */
static void plain_name(const char *name, char *plain, size_t size)
{
	size_t used = 0;

	for (; *name && used + 1 < size; name++) {
		bool point = *name == '.' && used &&
			     isdigit((unsigned char)plain[used - 1]) &&
			     isdigit((unsigned char)name[1]);

		if (point || isalnum((unsigned char)*name))
			plain[used++] = (char)tolower((unsigned char)*name);
	}
	plain[used] = '\0';
}

/* A name that goes on is of the same shape, as in "(MoE)" or "-chat", unless
 * another number or size follows. */
static bool begins(const char *plain, const char *with)
{
	size_t length = strlen(with);

	return strncmp(plain, with, length) == 0 && plain[length] != '.' &&
	       !isdigit((unsigned char)plain[length]);
}

/* The longest name that `plain` begins with: "qwen3-30B-a3B" is not to be
 * taken for one that ends before. */
static const struct weft_model *known_by(const char *plain)
{
	const struct weft_model *best = NULL;
	size_t longest = 0;
	char known[64];

	for (uint32_t i = 0; i < weft_n_models; i++) {
		plain_name(weft_models[i].name, known, sizeof(known));
		if (strlen(known) > longest && begins(plain, known)) {
			longest = strlen(known);
			best = &weft_models[i];
		}
	}
	return best;
}

const struct weft_model *step_shape_named(const char *name)
{
	const struct weft_model *found;
	char plain[64], meant[80];

	plain_name(name, plain, sizeof(plain));
	found = known_by(plain);
	for (size_t i = 0; !found && i < sizeof(aliases) / sizeof(*aliases);
	     i++) {
		const char *prefix = aliases[i].prefix;

		if (strncmp(plain, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(meant, sizeof(meant), "%s%s", aliases[i].meant,
			 plain + strlen(prefix));
		memcpy(plain, meant, sizeof(plain) - 1);
		plain[sizeof(plain) - 1] = '\0';
		found = known_by(plain);
	}
	return found;
}

static bool same(uint32_t known, uint32_t said)
{
	return said == 0 || known == said;
}

const struct weft_model *step_shape_of(uint32_t hidden, uint32_t ffn,
				       uint32_t heads, uint32_t kv_heads)
{
	if (!hidden || (!ffn && !heads))
		return NULL;
	for (uint32_t i = 0; i < weft_n_models; i++) {
		const struct weft_model *m = &weft_models[i];

		if (m->hidden == hidden && same(m->ffn, ffn) &&
		    same(m->heads, heads) && same(m->kv_heads, kv_heads))
			return m;
	}
	return NULL;
}
