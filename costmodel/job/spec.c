/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.c - the job spec grammar: key=value pairs, their defaults and sense */
#include "costmodel/job/spec.h"

#include "base/size.h"
#include "base/suggest.h"
#include "costmodel/job/spec_words.h"
#include "topology/fabric.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_AXIS   (1u << 20)
#define MAX_WAIT_S (366.0 * 86400)
/* Messages quote at most this much of a value. */
#define QUOTE 40

const char *const weft_metric_names[WEFT_N_METRICS] = {"hops", "latency",
						       "time"};
static const char *const dtype_names[WEFT_N_DTYPES] = {
	"bf16", "fp16", "fp32", "fp8", "mxfp8", "nvfp4"};
static const char *const spread_names[WEFT_N_SPREADS] = {"pack", "balance",
							 "failure-domain"};
static const char *const ranks_names[WEFT_N_RANKS_BY] = {"order", "leave"};
static const char *const from_names[WEFT_N_FROMS] = {"user", "script"};
static const char *const recompute_names[WEFT_N_RECOMPUTES] = {
	"none", "selective", "full"};
const char *const weft_framework_names[WEFT_N_FRAMEWORKS] = {
	"usual", "megatron-2021", "megatron-core", "nemo",
	"fsdp",	 "deepspeed",	  "torchtitan",	   "maxtext"};
static const char *const attention_names[WEFT_N_ATTENTIONS] = {
	"plain", "flash1", "flash2", "flash3", "eager"};
static const char *const pipeline_names[WEFT_N_PIPELINES] = {"1f1b",
							     "zero-bubble"};
static const char *const expert_kernel_names[WEFT_N_EXPERT_KERNELS] = {
	"grouped", "fused"};
static const char *const zero_by_names[WEFT_N_ZERO_BYS] = {"slices", "tensors"};
static const char *const cp_comm_names[WEFT_N_CP_COMMS] = {"p2p", "allgather",
							   "a2a"};
static const char *const algorithm_names[WEFT_N_CHOICES_OF_ALGORITHM] = {
	"auto",	     "ring", "tree", "hierarchical", "halving-doubling",
	"in-network"};

/* One entry of the text, blanks stripped.  Its bytes are printable ASCII. */
struct entry {
	const char *name, *value;
	size_t name_length, value_length;
	int name_column, value_column;
};

struct key;
typedef int (*key_reader)(const struct key *key, const struct entry *entry,
			  void *field, struct weft_error *err);

/* min and max: of a number; max: how many words, or the size of a name. */
struct key {
	const char *name;
	key_reader read;
	size_t offset;
	uint32_t min, max;
	const char *const *words;
};

static int fail_value(const struct key *key, const struct entry *entry,
		      struct weft_error *err, const char *expected)
{
	int length =
		entry->value_length > QUOTE ? QUOTE : (int)entry->value_length;

	return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
			    entry->value_column, "%s: \"%.*s\" is not %s",
			    key->name, length, entry->value, expected);
}

/* Why a number is none, where its reason is a usual one. */
static void number_hint(const struct key *key, const struct entry *entry,
			size_t digits, uint64_t value, char hint[64])
{
	hint[0] = '\0';
	if (strcmp(key->name, "zero") == 0)
		snprintf(hint, 64, " (hybrid: zero=3,shard=N)");
	else if (digits && digits + 1 == entry->value_length &&
		 strchr("kK", entry->value[digits]))
		snprintf(hint, 64, "; write it out: %" PRIu64 " or %" PRIu64,
			 value * 1024, value * 1000);
}

static int read_number(const struct key *key, const struct entry *entry,
		       void *field, struct weft_error *err)
{
	uint64_t value = 0;
	char expected[128], hint[64];
	size_t i;

	for (i = 0; i < entry->value_length && value <= UINT32_MAX; i++) {
		if (!isdigit((unsigned char)entry->value[i]))
			break;
		value = value * 10 + (uint64_t)(entry->value[i] - '0');
	}
	if (i < entry->value_length || value < key->min || value > key->max) {
		number_hint(key, entry, i, value, hint);
		snprintf(expected, sizeof(expected),
			 "a whole number from %u to %u%s", key->min, key->max,
			 hint);
		return fail_value(key, entry, err, expected);
	}
	*(uint32_t *)field = (uint32_t)value;
	return 0;
}

/* Digits up to a number of at most max, from 1; what follows, or NULL. */
static const char *count_read(const char *text, const char *end, uint32_t max,
			      uint32_t *value)
{
	uint64_t sum = 0;

	while (text < end && isdigit((unsigned char)*text) && sum <= max)
		sum = sum * 10 + (uint64_t)(*text++ - '0');
	*value = (uint32_t)sum;
	return sum >= 1 && sum <= max ? text : NULL;
}

/* "8" or "4-16": the least and the most, two numbers that stand together. */
static int read_range(const struct key *key, const struct entry *entry,
		      void *field, struct weft_error *err)
{
	const char *end = entry->value + entry->value_length, *text;
	uint32_t range[2] = {0};
	char expected[80];

	text = count_read(entry->value, end, key->max, &range[0]);
	range[1] = range[0];
	if (text && text < end && *text == '-')
		text = count_read(text + 1, end, key->max, &range[1]);
	if (text != end || range[0] > range[1]) {
		snprintf(expected, sizeof(expected),
			 "a whole number from 1 to %u, or two of them such as "
			 "4-16",
			 key->max);
		return fail_value(key, entry, err, expected);
	}
	memcpy(field, range, sizeof(range));
	return 0;
}
_Static_assert(offsetof(struct weft_spec, nodes_max) ==
		       offsetof(struct weft_spec, nodes) + sizeof(uint32_t),
	       "read_range stores both ends");

/* "8+8+4" or "8x2+4": how many each part has. */
static int read_parts(const struct key *key, const struct entry *entry,
		      void *field, struct weft_error *err)
{
	uint32_t *part = field, *n_parts = part + WEFT_MAX_PARTS;
	const char *text = entry->value, *end = text + entry->value_length;
	uint32_t each, times;

	while (text && text <= end) {
		text = count_read(text, end, key->max, &each);
		times = 1;
		if (text && text < end && *text == 'x')
			text = count_read(text + 1, end, WEFT_MAX_PARTS,
					  &times);
		if (!text || (text < end && *text != '+') ||
		    *n_parts + times > WEFT_MAX_PARTS)
			break;
		while (times--)
			part[(*n_parts)++] = each;
		if (text++ == end)
			return 0;
	}
	return fail_value(key, entry, err,
			  "numbers such as 8+8 or 4x2, at most 256 parts");
}
_Static_assert(offsetof(struct weft_spec, n_split) ==
			       offsetof(struct weft_spec, split) +
				       WEFT_MAX_PARTS * sizeof(uint32_t) &&
		       offsetof(struct weft_spec, n_stages) ==
			       offsetof(struct weft_spec, stages) +
				       WEFT_MAX_PARTS * sizeof(uint32_t),
	       "read_parts counts behind the parts");

static int read_word(const struct key *key, const struct entry *entry,
		     void *field, struct weft_error *err)
{
	char expected[128] = "one of";

	for (uint32_t i = 0; i < key->max; i++) {
		size_t used = strlen(expected);

		if (strlen(key->words[i]) == entry->value_length &&
		    memcmp(key->words[i], entry->value, entry->value_length) ==
			    0) {
			/* The fields are enums, whose type is the compiler's
			 * choice; all have the size of an unsigned int. */
			memcpy(field, &i, sizeof(i));
			return 0;
		}
		snprintf(expected + used, sizeof(expected) - used, "%s%s",
			 i ? ", " : " ", key->words[i]);
	}
	return fail_value(key, entry, err, expected);
}
_Static_assert(sizeof(enum weft_dtype) == sizeof(uint32_t) &&
		       sizeof(enum weft_metric) == sizeof(uint32_t) &&
		       sizeof(enum weft_spread) == sizeof(uint32_t) &&
		       sizeof(enum weft_ranks_by) == sizeof(uint32_t) &&
		       sizeof(enum weft_env) == sizeof(uint32_t) &&
		       sizeof(enum weft_spec_from) == sizeof(uint32_t) &&
		       sizeof(enum weft_recompute) == sizeof(uint32_t) &&
		       sizeof(enum weft_framework) == sizeof(uint32_t) &&
		       sizeof(enum weft_attention) == sizeof(uint32_t) &&
		       sizeof(enum weft_pipeline_order) == sizeof(uint32_t) &&
		       sizeof(enum weft_expert_kernels) == sizeof(uint32_t) &&
		       sizeof(enum weft_cp_comm) == sizeof(uint32_t) &&
		       sizeof(enum weft_zero_by) == sizeof(uint32_t) &&
		       sizeof(enum weft_choice_of_algorithm) ==
			       sizeof(uint32_t),
	       "read_word stores enums as uint32_t");

static int read_switch(const struct key *key, const struct entry *entry,
		       void *field, struct weft_error *err)
{
	static const char *const words[] = {"off", "on",  "false", "true",
					    "no",  "yes", "0",	   "1"};

	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		if (strlen(words[w]) == entry->value_length &&
		    strncasecmp(words[w], entry->value, entry->value_length) ==
			    0) {
			*(bool *)field = w % 2;
			return 0;
		}
	}
	return fail_value(key, entry, err, "on or off");
}

/* Reads "25" or "1.25" and returns what follows; NULL where no number stands
 * or it has more than 15 digits, which a double would not hold. */
static const char *decimal_read(const char *text, const char *end,
				double *value)
{
	uint32_t n_digits = 0;
	double place = 1;
	bool fraction = false;

	*value = 0;
	for (; text < end; text++) {
		if (*text == '.' && !fraction && n_digits) {
			fraction = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			break;
		if (++n_digits > 15)
			return NULL;
		*value = *value * 10 + (*text - '0');
		place *= fraction ? 10 : 1;
	}
	if (!n_digits || text[-1] == '.')
		return NULL;
	*value /= place;
	return text;
}

/* "1.25": from min to max. */
static int read_factor(const struct key *key, const struct entry *entry,
		       void *field, struct weft_error *err)
{
	const char *end = entry->value + entry->value_length;
	char expected[64];
	double value;

	if (decimal_read(entry->value, end, &value) != end ||
	    value < key->min || value > key->max) {
		snprintf(expected, sizeof(expected), "a number from %u to %u",
			 key->min, key->max);
		return fail_value(key, entry, err, expected);
	}
	*(double *)field = value;
	return 0;
}

/* "25MiB", "40MB", "4096": from a byte to 2^40. */
static int read_size(const struct key *key, const struct entry *entry,
		     void *field, struct weft_error *err)
{
	double value;

	if (weft_size_read(entry->value, entry->value_length, &value) ||
	    value < 1 || value > 1099511627776.0)
		return fail_value(key, entry, err,
				  "a size such as 25MiB, 40MB or 4096, at "
				  "most 1024GiB");
	*(double *)field = value;
	return 0;
}

/* "90", "30s", "5m", "1h30m": units in falling order, bare seconds alone. */
static int read_duration(const struct key *key, const struct entry *entry,
			 void *field, struct weft_error *err)
{
	static const char units[] = "dhms";
	static const double unit_s[] = {86400, 3600, 60, 1};
	const char *text = entry->value, *end = text + entry->value_length;
	size_t next_unit = 0;
	double total_s = 0;
	bool wrong = false;

	while (text < end && !wrong) {
		const char *digits = text;
		const char *unit = NULL;
		double number = 0;

		for (; text < end && isdigit((unsigned char)*text); text++)
			number = number * 10 + (*text - '0');
		if (text < end && *text)
			unit = strchr(units + next_unit, *text);
		wrong = text == digits || (text < end && !unit) ||
			(text == end && digits != entry->value);
		if (unit) {
			next_unit = (size_t)(unit - units) + 1;
			number *= unit_s[next_unit - 1];
			text++;
		}
		total_s += number;
		wrong = wrong || total_s > MAX_WAIT_S;
	}
	if (wrong)
		return fail_value(key, entry, err,
				  "a time such as 30s, 5m or 1h30m, at most "
				  "366d");
	*(double *)field = total_s;
	return 0;
}

static int read_name(const struct key *key, const struct entry *entry,
		     void *field, struct weft_error *err)
{
	char *text = field;

	if (entry->value_length >= key->max)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->value_column,
				    "%s: longer than %u characters", key->name,
				    key->max - 1);
	memcpy(text, entry->value, entry->value_length);
	text[entry->value_length] = '\0';
	return 0;
}

#define RANGE(KEY, READ, FIELD, MIN, MAX)                                      \
	{                                                                      \
		.name = KEY, .read = READ,                                     \
		.offset = offsetof(struct weft_spec, FIELD), .min = MIN,       \
		.max = MAX                                                     \
	}
#define NUMBER(KEY, MIN, MAX) RANGE(#KEY, read_number, KEY, MIN, MAX)
#define SHAPE(KEY, MAX)	      RANGE(#KEY, read_number, shape.KEY, 1, MAX)
#define WORD(KEY, FIELD, WORDS)                                                \
	{                                                                      \
		.name = KEY, .read = read_word,                                \
		.offset = offsetof(struct weft_spec, FIELD), .words = WORDS,   \
		.max = sizeof(WORDS) / sizeof(WORDS[0])                        \
	}
#define PLAIN(KEY, READ, FIELD)                                                \
	{                                                                      \
		.name = KEY, .read = READ,                                     \
		.offset = offsetof(struct weft_spec, FIELD)                    \
	}
#define NAME(KEY)                                                              \
	{                                                                      \
		.name = #KEY, .read = read_name,                               \
		.offset = offsetof(struct weft_spec, KEY),                     \
		.max = sizeof(((struct weft_spec *)0)->KEY)                    \
	}

/* The grammar.  An entry's index is its bit in spec.given. */
static const struct key keys[] = {
	NUMBER(gpus, 1, WEFT_MAX_GPUS),
	RANGE("nodes", read_range, nodes, 1, WEFT_MAX_GPUS),
	NUMBER(gpus_per_node, 1, WEFT_MAX_GPUS_PER_NODE),
	NUMBER(tp, 1, MAX_AXIS),
	NUMBER(cp, 1, MAX_AXIS),
	NUMBER(ep, 1, MAX_AXIS),
	NUMBER(etp, 1, MAX_AXIS),
	NUMBER(pp, 1, MAX_AXIS),
	NUMBER(vpp, 1, 1024),
	NUMBER(dp, 1, MAX_AXIS),
	NAME(order),
	NUMBER(zero, 0, 3),
	NUMBER(mbs, 1, 1u << 20),
	NUMBER(gbs, 1, WEFT_MAX_GBS),
	NUMBER(seq, 1, 1u << 27),
	PLAIN("sp", read_switch, sequence_parallel),
	PLAIN("scatter", read_switch, scatter),
	WORD("recompute", recompute, recompute_names),
	WORD("software", software, weft_framework_names),
	WORD("attention", attention, attention_names),
	PLAIN("fused", read_switch, fused),
	WORD("expert_kernels", expert_kernels, expert_kernel_names),
	WORD("pipeline", pipeline, pipeline_names),
	RANGE("stages", read_parts, stages, 1, 1u << 16),
	RANGE("offload", read_factor, offload, 0, 1),
	RANGE("power_cap", read_factor, power_cap_w, 50, 10000),
	WORD("cp_comm", cp_comm, cp_comm_names),
	NUMBER(shard, 1, MAX_AXIS),
	WORD("zero_by", zero_by, zero_by_names),
	RANGE("capacity", read_factor, capacity, 1, 1024),
	RANGE("imbalance", read_factor, imbalance, 1, 1024),
	NUMBER(route_nodes, 1, 1024),
	PLAIN("bucket", read_size, bucket_bytes),
	RANGE("compress", read_factor, compress, 1, 1u << 20),
	NUMBER(sync_every, 1, 1u << 20),
	WORD("algorithm", algorithm, algorithm_names),
	NUMBER(channels, 1, WEFT_MAX_GPUS_PER_NODE),
	WORD("dtype", dtype, dtype_names),
	WORD("grad_dtype", gradient_dtype, dtype_names),
	WORD("param_dtype", parameter_dtype, dtype_names),
	WORD("dispatch_dtype", dispatch_dtype, dtype_names),
	NAME(model),
	NAME(traffic),
	WORD("metric", metric, weft_metric_names),
	NAME(within),
	NAME(prefer),
	NUMBER(segment, 1, WEFT_MAX_GPUS),
	RANGE("split", read_parts, split, 1, WEFT_MAX_GPUS),
	WORD("spread", spread, spread_names),
	PLAIN("wait", read_duration, wait_s),
	WORD("ranks", ranks, ranks_names),
	WORD("env", env, weft_env_names),
	WORD("from", from, from_names),
	SHAPE(layers, 1u << 16),
	SHAPE(hidden, 1u << 24),
	SHAPE(ffn, 1u << 26),
	SHAPE(heads, 1u << 16),
	SHAPE(kv_heads, 1u << 16),
	SHAPE(vocab, 1u << 28),
	PLAIN("gated_mlp", read_switch, shape.gated_mlp),
	SHAPE(experts, 1u << 16),
	SHAPE(top_k, 1u << 16),
	SHAPE(expert_ffn, 1u << 26),
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(N_KEYS <= 64, "spec.given has one bit a key");

static size_t key_find(const char *name, size_t length)
{
	size_t k = 0;

	while (k < N_KEYS && (strlen(keys[k].name) != length ||
			      memcmp(keys[k].name, name, length) != 0))
		k++;
	return k;
}

/* The key of that name, or of that word of a framework. */
static size_t key_of_word(const char *name, size_t length)
{
	char folded[WEFT_SPEC_WORD_SIZE];
	const char *key;
	size_t k = key_find(name, length);

	if (k < N_KEYS || weft_spec_word_fold(name, length, folded))
		return k;
	k = key_find(folded, strlen(folded));
	key = k < N_KEYS ? NULL : weft_spec_word_key(folded);
	return key ? key_find(key, strlen(key)) : k;
}

static int unknown_key(const struct entry *entry, struct weft_error *err)
{
	const char *known[N_KEYS], *advice = NULL, *near;
	char name[QUOTE + 1], folded[WEFT_SPEC_WORD_SIZE];
	char word[WEFT_SPEC_WORD_SIZE];

	for (size_t k = 0; k < N_KEYS; k++)
		known[k] = keys[k].name;
	snprintf(name, sizeof(name), "%.*s", (int)entry->name_length,
		 entry->name);
	if (weft_spec_word_fold(entry->name, entry->name_length, folded) == 0)
		advice = weft_spec_word_advice(folded);
	near = weft_suggest_near(name, known, N_KEYS);
	if (!near && !advice &&
	    weft_spec_word_fold(entry->name, entry->name_length, folded) == 0 &&
	    weft_spec_word_near(folded, word))
		near = word;
	if (advice)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->name_column, "no key \"%s\": %s",
				    name, advice);
	if (near)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->name_column,
				    "unknown key \"%s\"; did you mean "
				    "\"%s\"?",
				    name, near);
	return weft_fail_at(
		err, WEFT_EINVAL, "job spec", 0, entry->name_column,
		"unknown key \"%s\"; keys are gpus, nodes, tp, cp, "
		"ep, pp, dp, zero, mbs, gbs, seq, model and others: "
		"weft-spec(7)",
		name);
}

/* Narrows [*text, *text + *length) to what blanks surround. */
static void strip(const char **text, size_t *length)
{
	while (*length > 0 && **text == ' ') {
		(*text)++;
		(*length)--;
	}
	while (*length > 0 && (*text)[*length - 1] == ' ')
		(*length)--;
}

/* Another key behind a blank or a semicolon, or the options of a command. */
static bool is_not_split(const char *at, size_t length)
{
	const char *equals = memchr(at, '=', length);

	while (length > 0 && *at == ' ') {
		at++;
		length--;
	}
	if (!equals)
		return length > 2 && at[0] == '-' && memchr(at, ' ', length);
	length -= (size_t)(equals + 1 - at);
	return memchr(equals + 1, '=', length) &&
	       (memchr(equals + 1, ' ', length) ||
		memchr(equals + 1, ';', length));
}

/* Splits the entry of `length` bytes at `at` in the whole text. */
static int entry_split(const char *text, const char *at, size_t length,
		       struct entry *entry, struct weft_error *err)
{
	const char *equals = memchr(at, '=', length);
	size_t name_length = equals ? (size_t)(equals - at) : length;

	entry->name = at;
	entry->name_length = name_length;
	strip(&entry->name, &entry->name_length);
	entry->name_column = (int)(entry->name - text) + 1;
	if (is_not_split(at, length))
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->name_column,
				    "commas part keys, as in gpus=64,tp=8; "
				    "found \"%.*s\"; weft spec reads commands",
				    (int)(length > QUOTE ? QUOTE : length), at);
	if (!equals || entry->name_length == 0)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->name_column,
				    "expected key=value, found \"%.*s\"",
				    (int)(length > QUOTE ? QUOTE : length), at);
	entry->value = equals + 1;
	entry->value_length = length - name_length - 1;
	strip(&entry->value, &entry->value_length);
	entry->value_column = (int)(entry->value - text) + 1;
	if (entry->value_length == 0)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->name_column, "%.*s has no value",
				    (int)(entry->name_length > QUOTE
						  ? QUOTE
						  : entry->name_length),
				    entry->name);
	return 0;
}

static int entry_read(const struct entry *entry, struct weft_spec *spec,
		      struct weft_error *err)
{
	size_t k = key_of_word(entry->name, entry->name_length);
	struct entry own = *entry;
	char folded[WEFT_SPEC_WORD_SIZE];
	const char *value = NULL;

	if (k == N_KEYS)
		return unknown_key(entry, err);
	if (spec->given & UINT64_C(1) << k)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
				    entry->name_column, "%s is given twice",
				    keys[k].name);
	spec->given |= UINT64_C(1) << k;
	if (weft_spec_word_fold(entry->name, entry->name_length, folded) == 0)
		value = weft_spec_word_value(folded, entry->value,
					     entry->value_length);
	if (!value)
		value = weft_spec_word_value(keys[k].name, entry->value,
					     entry->value_length);
	if (value) {
		own.value = value;
		own.value_length = strlen(value);
	}
	return keys[k].read(&keys[k], &own, (char *)spec + keys[k].offset, err);
}

/* Length and characters of the whole text; its own first, because messages
 * about entries quote them. */
static int text_check(const char *text, struct weft_error *err)
{
	size_t length = strnlen(text, WEFT_SPEC_MAX_BYTES + 1);

	if (length > WEFT_SPEC_MAX_BYTES)
		return weft_fail_at(err, WEFT_EINVAL, "job spec", 0, 0,
				    "longer than %d bytes",
				    WEFT_SPEC_MAX_BYTES);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c > 0x7e)
			return weft_fail_at(err, WEFT_EINVAL, "job spec", 0,
					    (int)i + 1,
					    "byte \\x%02x: expected printable "
					    "ASCII only",
					    c);
	}
	return 0;
}

int weft_spec_parse(const char *text, struct weft_spec *spec,
		    struct weft_error *err)
{
	const char *at = text;

	memset(spec, 0, sizeof(*spec));
	spec->metric = WEFT_TIME;
	if (text_check(text, err))
		return -1;
	if (text[strspn(text, " ")] == '\0')
		return 0;
	do {
		size_t length = strcspn(at, ",");
		struct entry entry;

		if (entry_split(text, at, length, &entry, err) ||
		    entry_read(&entry, spec, err))
			return -1;
		at += length;
	} while (*at++ == ',');
	return 0;
}

const char *weft_spec_key(uint32_t k)
{
	return k < N_KEYS ? keys[k].name : NULL;
}

bool weft_spec_given(const struct weft_spec *spec, const char *key)
{
	size_t k = key_find(key, strlen(key));

	return k < N_KEYS && (spec->given >> k & 1);
}

double weft_dtype_bytes(enum weft_dtype dtype)
{
	static const double bytes[WEFT_N_DTYPES] = {
		2, 2, 4, 1, 1 + 1.0 / 32, 0.5 + 1.0 / 16};

	return bytes[dtype];
}
