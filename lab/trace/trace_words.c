/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_words.c - what the words of a trace mean */
#include "lab/trace/trace_draft.h"

#include <ctype.h>
#include <string.h>

/* Letters and digits of the name up to its arguments, in lower case: libraries
 * write AllReduce, all_reduce, allreduce, _allgather_base. */
static void plain_word(const char *name, char *word, size_t size)
{
	size_t n = 0;

	for (; *name && *name != '(' && n + 1 < size; name++) {
		if (isalnum((unsigned char)*name))
			word[n++] = (char)tolower((unsigned char)*name);
	}
	word[n] = '\0';
}

enum weft_trace_op weft_trace_op_of(const char *name)
{
	/* A longer word before those that it contains. */
	static const struct {
		const char *part;
		enum weft_trace_op op;
	} words[] = {
		{"reducescatter", WEFT_OP_REDUCE_SCATTER},
		{"allreduce", WEFT_OP_ALL_REDUCE},
		{"allgather", WEFT_OP_ALL_GATHER},
		{"alltoall", WEFT_OP_ALL_TO_ALL},
		{"broadcast", WEFT_OP_BROADCAST},
		{"sendrecv", WEFT_OP_SEND_RECV},
		{"barrier", WEFT_OP_BARRIER},
		{"reduce", WEFT_OP_REDUCE},
		{"gather", WEFT_OP_GATHER},
		{"scatter", WEFT_OP_SCATTER},
		{"send", WEFT_OP_SEND},
		{"recv", WEFT_OP_RECV},
	};
	char word[96];

	plain_word(name ? name : "", word, sizeof(word));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(word, words[i].part))
			return words[i].op;
	}
	return WEFT_OP_OTHER;
}

bool weft_trace_is_comm(const char *kernel)
{
	static const char *const parts[] = {
		"nccl", /* RCCL keeps these names */
		"msccl",
		"nvshmem",
		"crossdevicereduce",
		"oneshotallreduce",
		"twoshotallreduce",
	};
	char word[96];

	plain_word(kernel, word, sizeof(word));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strstr(word, parts[i]))
			return true;
	}
	return false;
}

void weft_trace_how(const char *kernel, char *how, size_t size)
{
	static const char *const algorithms[] = {
		"RING", "TREE", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS_TREE",
		"NVLS", "PAT",
	};
	static const char *const protocols[] = {"LL128", "LL", "SIMPLE"};
	const char *algorithm = "", *protocol = "";
	char name[96];
	size_t length = strcspn(kernel, "(");

	snprintf(name, sizeof(name), "%.*s",
		 (int)(length < sizeof(name) ? length : sizeof(name) - 1),
		 kernel);
	for (size_t i = 0; i < sizeof(algorithms) / sizeof(char *); i++) {
		if (!*algorithm && strstr(name, algorithms[i]))
			algorithm = algorithms[i];
	}
	for (size_t i = 0; i < sizeof(protocols) / sizeof(char *); i++) {
		if (!*protocol && strstr(name, protocols[i]))
			protocol = protocols[i];
	}
	snprintf(how, size, "%s%s%s", algorithm,
		 *algorithm && *protocol ? "_" : "", protocol);
}

uint32_t weft_trace_dtype_bytes(const char *dtype, bool *is_float)
{
	static const struct {
		const char *word;
		uint32_t bytes;
		bool is_float;
	} types[] = {
		{"float", 4, true},	     {"float32", 4, true},
		{"double", 8, true},	     {"float64", 8, true},
		{"half", 2, true},	     {"c10half", 2, true},
		{"float16", 2, true},	     {"bfloat16", 2, true},
		{"c10bfloat16", 2, true},    {"complexfloat", 8, true},
		{"complexdouble", 16, true}, {"c10complexfloat", 8, true},
		{"byte", 1, false},	     {"unsignedchar", 1, false},
		{"uint8", 1, false},	     {"char", 1, false},
		{"signedchar", 1, false},    {"int8", 1, false},
		{"bool", 1, false},	     {"short", 2, false},
		{"shortint", 2, false},	     {"int16", 2, false},
		{"int", 4, false},	     {"int32", 4, false},
		{"unsignedint", 4, false},   {"long", 8, false},
		{"longint", 8, false},	     {"int64", 8, false},
	};
	char word[64];

	*is_float = false;
	plain_word(dtype ? dtype : "", word, sizeof(word));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(word, types[i].word) != 0)
			continue;
		*is_float = types[i].is_float;
		return types[i].bytes;
	}
	/* "Float8_e4m3fn" and its kin; c10:: in front or not */
	*is_float = strstr(word, "float8") != NULL;
	return *is_float ? 1 : 0;
}

/* "dp" in "mesh_dp_shard", not in "endpoint". */
static bool has_token(const char *text, const char *token)
{
	size_t length = strlen(token);

	for (const char *at = text; *at; at++) {
		bool begins = at == text || !isalnum((unsigned char)at[-1]);

		if (begins && strncasecmp(at, token, length) == 0 &&
		    !isalnum((unsigned char)at[length]))
			return true;
	}
	return false;
}

enum weft_axis weft_trace_axis_of(const char *about)
{
	/* Gradients of experts go over "expert data" groups: data comes before
	 * expert.  "model" alone is the older word for tensor. */
	static const struct {
		const char *token;
		enum weft_axis axis;
	} tokens[] = {
		{"data", WEFT_AXIS_DP},	     {"dp", WEFT_AXIS_DP},
		{"fsdp", WEFT_AXIS_DP},	     {"hsdp", WEFT_AXIS_DP},
		{"edp", WEFT_AXIS_DP},	     {"shard", WEFT_AXIS_DP},
		{"replicate", WEFT_AXIS_DP}, {"pipeline", WEFT_AXIS_PP},
		{"pp", WEFT_AXIS_PP},	     {"embedding", WEFT_AXIS_PP},
		{"context", WEFT_AXIS_CP},   {"cp", WEFT_AXIS_CP},
		{"expert", WEFT_AXIS_EP},    {"ep", WEFT_AXIS_EP},
		{"tensor", WEFT_AXIS_TP},    {"tp", WEFT_AXIS_TP},
		{"model", WEFT_AXIS_TP},
	};

	for (size_t i = 0; about && i < sizeof(tokens) / sizeof(tokens[0]);
	     i++) {
		if (has_token(about, tokens[i].token))
			return tokens[i].axis;
	}
	return WEFT_N_AXES;
}

void weft_trace_group_about(struct weft_trace_group *g, const char *about)
{
	if (g->axis == WEFT_N_AXES)
		g->axis = weft_trace_axis_of(about);
}
