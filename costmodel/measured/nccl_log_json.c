/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log_json.c - reads what nccl-tests writes with -J
 *
 * The file is written as the test runs, so that of a killed one everything but
 * its end is there: a loader that wants the whole document would lose all of
 * it.  This one takes values as they come and keeps each result that is whole.
 */
#include "costmodel/measured/nccl_log_draft.h"

#include <ctype.h>
#include <string.h>

#define MAX_DEPTH 32

/* Functions return 0, CUT where the text ends or is no JSON, or -1 for an error
 * of the draft. */
#define CUT 1

struct json {
	struct nccl_draft *draft;
	const char *at, *end;
	uint32_t line;
};

/* A string or number, as it stands in the file. */
struct scalar {
	const char *at;
	size_t size;
};

static void skip_blank(struct json *json)
{
	for (; json->at < json->end && isspace((unsigned char)*json->at);
	     json->at++)
		json->line += *json->at == '\n';
}

static bool next_is(struct json *json, char c)
{
	skip_blank(json);
	return json->at < json->end && *json->at == c;
}

static bool take(struct json *json, char c)
{
	if (!next_is(json, c))
		return false;
	json->at++;
	return true;
}

static int take_string(struct json *json, struct scalar *scalar)
{
	if (!take(json, '"'))
		return CUT;
	scalar->at = json->at;
	for (; json->at < json->end; json->at++) {
		if (*json->at == '"') {
			scalar->size = (size_t)(json->at++ - scalar->at);
			return 0;
		}
		if (*json->at == '\n')
			json->line++;
		if (*json->at == '\\' && json->end - json->at > 1)
			json->at++;
	}
	return CUT;
}

static int take_scalar(struct json *json, struct scalar *scalar)
{
	if (next_is(json, '"'))
		return take_string(json, scalar);
	scalar->at = json->at;
	while (json->at < json->end &&
	       (isalnum((unsigned char)*json->at) ||
		(*json->at && strchr("+-.", *json->at))))
		json->at++;
	scalar->size = (size_t)(json->at - scalar->at);
	/* At the end of the text, a number may have lost digits. */
	return scalar->size && json->at < json->end ? 0 : CUT;
}

static int skip_value(struct json *json)
{
	struct scalar ignored;
	uint32_t depth = 0;

	do {
		skip_blank(json);
		if (json->at >= json->end)
			return CUT;
		if (*json->at == '{' || *json->at == '[') {
			if (++depth > MAX_DEPTH)
				return CUT;
			json->at++;
		} else if (*json->at == '}' || *json->at == ']') {
			if (depth-- == 0)
				return CUT;
			json->at++;
		} else if (*json->at == ',' || *json->at == ':') {
			json->at++;
		} else if (take_scalar(json, &ignored)) {
			return CUT;
		}
	} while (depth);
	return 0;
}

typedef int (*member_fn)(struct json *json, const struct scalar *key,
			 void *context);
typedef int (*element_fn)(struct json *json);

static int each_member(struct json *json, member_fn member, void *context)
{
	struct scalar key;

	if (!take(json, '{'))
		return CUT;
	if (take(json, '}'))
		return 0;
	do {
		int rc = take_string(json, &key);

		if (!rc && !take(json, ':'))
			rc = CUT;
		if (!rc)
			rc = member(json, &key, context);
		if (rc)
			return rc;
	} while (take(json, ','));
	return take(json, '}') ? 0 : CUT;
}

static int each_element(struct json *json, element_fn element)
{
	if (!take(json, '['))
		return CUT;
	if (take(json, ']'))
		return 0;
	do {
		int rc = element(json);

		if (rc)
			return rc;
	} while (take(json, ','));
	return take(json, ']') ? 0 : CUT;
}

static bool key_is(const struct scalar *key, const char *name)
{
	return key->size == strlen(name) &&
	       memcmp(key->at, name, key->size) == 0;
}

static int take_uint(struct json *json, uint64_t *value)
{
	struct scalar scalar;

	if (take_scalar(json, &scalar))
		return CUT;
	return nccl_uint(scalar.at, scalar.size, value) ? 0 : CUT;
}

/* Anything that is no number counts as 0: null, "nan". */
static int take_number(struct json *json, double *value)
{
	struct scalar scalar;

	if (take_scalar(json, &scalar))
		return CUT;
	if (!nccl_number(scalar.at, scalar.size, value))
		*value = 0;
	return 0;
}

struct half {
	double time_us, busbw, wrong;
};

static int half_member(struct json *json, const struct scalar *key,
		       void *context)
{
	struct half *half = context;

	if (key_is(key, "time"))
		return take_number(json, &half->time_us);
	if (key_is(key, "bus_bw"))
		return take_number(json, &half->busbw);
	if (key_is(key, "nwrong"))
		return take_number(json, &half->wrong);
	return skip_value(json);
}

struct result {
	bool has_size;
	uint64_t size_bytes;
	struct half half[2]; /* out of place, in place */
};

static int result_member(struct json *json, const struct scalar *key,
			 void *context)
{
	struct result *result = context;
	uint32_t in_place = key_is(key, "in_place");

	if (key_is(key, "size")) {
		result->has_size = true;
		return take_uint(json, &result->size_bytes);
	}
	if ((in_place || key_is(key, "out_of_place")) && next_is(json, '{'))
		return each_member(json, half_member, &result->half[in_place]);
	return skip_value(json);
}

static int result_element(struct json *json)
{
	struct nccl_draft *draft = json->draft;
	struct result result = {0};
	struct weft_nccl_row row = {0};
	const char *why = NULL;
	int rc;

	skip_blank(json);
	row.line = json->line;
	rc = each_member(json, result_member, &result);
	if (rc)
		return rc;
	row.size_bytes = result.size_bytes;
	row.time_s = result.half[0].time_us * 1e-6;
	row.time_in_place_s = result.half[1].time_us * 1e-6;
	row.busbw_bytes_per_s = result.half[0].busbw * 1e9;
	if (!result.has_size)
		why = "it has no size";
	else if (!row.size_bytes)
		why = "its size is zero";
	else if (result.half[0].wrong > 0 || result.half[1].wrong > 0)
		why = "its results were wrong";
	else if (row.time_s <= 0 && row.time_in_place_s <= 0)
		why = "it has no time";
	if (!why)
		return nccl_draft_row(draft, &row);
	if (result.half[0].wrong > 0 || result.half[1].wrong > 0)
		draft->log->runs[draft->log->n_runs - 1].n_wrong++;
	return nccl_draft_flaw(draft, row.line, why);
}

struct rank {
	uint64_t rank, device;
	struct scalar host;
};

static int rank_member(struct json *json, const struct scalar *key,
		       void *context)
{
	struct rank *rank = context;

	if (key_is(key, "rank"))
		return take_uint(json, &rank->rank);
	if (key_is(key, "device"))
		return take_uint(json, &rank->device);
	if (key_is(key, "hostname"))
		return take_string(json, &rank->host);
	return skip_value(json);
}

static int rank_element(struct json *json)
{
	struct rank rank = {0};
	int rc = each_member(json, rank_member, &rank);

	if (rc)
		return rc;
	if (!rank.host.at || rank.rank >= WEFT_NCCL_MAX_ROWS ||
	    rank.device >= 1024)
		return 0;
	return nccl_draft_rank(json->draft, (uint32_t)rank.rank,
			       (uint32_t)rank.device, rank.host.at,
			       rank.host.size);
}

static int argument_element(struct json *json)
{
	struct scalar argument;

	if (take_scalar(json, &argument))
		return CUT;
	nccl_draft_program(json->draft, argument.at, argument.size,
			   "command line");
	return 0;
}

static int top_member(struct json *json, const struct scalar *key,
		      void *context)
{
	(void)context;
	if (key_is(key, "args") && next_is(json, '['))
		return each_element(json, argument_element);
	if (key_is(key, "ranks") && next_is(json, '[')) {
		nccl_draft_devices(json->draft);
		return each_element(json, rank_element);
	}
	if (key_is(key, "results") && next_is(json, '[')) {
		if (nccl_draft_open(json->draft, json->line))
			return -1;
		return each_element(json, result_element);
	}
	return skip_value(json);
}

int nccl_json_read(struct nccl_draft *draft, const char *text, size_t size)
{
	struct json json = {draft, text, text + size, 1};
	int rc = 0;

	for (skip_blank(&json); !rc && json.at < json.end; skip_blank(&json)) {
		rc = each_member(&json, top_member, NULL);
		if (!rc)
			nccl_draft_close(draft, false);
		draft->open = false;
	}
	draft->log->n_lines = json.line;
	if (rc == CUT)
		return nccl_draft_flaw(draft, json.line,
				       "the JSON ends, or breaks off, here");
	return rc;
}
