/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_chakra.c - Chakra graphs (NAME.RANK.et): protobuf messages, each behind
 * its length; the first describes the file, the others are nodes
 *
 * Of a node: 2 name, 3 type (5 send, 6 receive, 7 collective), 10 attributes.
 * Of an attribute: 1 name, then a value whose field number tells its type, of
 * which whole numbers (any field, as varint) and texts matter here.
 */
#include "lab/trace/trace_draft.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODE_BYTES ((size_t)64 << 20)

enum wire { WIRE_VARINT, WIRE_8_BYTES, WIRE_BYTES, WIRE_4_BYTES = 5 };
enum node_field { NODE_NAME = 2, NODE_TYPE, NODE_ATTRIBUTE = 10 };
enum node_type { NODE_SEND = 5, NODE_RECEIVE, NODE_COLLECTIVE };

struct bytes {
	const unsigned char *at, *end;
};

struct field {
	uint64_t number;
	enum wire wire;
	uint64_t value;	   /* varint */
	struct bytes body; /* bytes */
};

static bool varint_take(struct bytes *b, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
		unsigned char c = *b->at++;

		*value |= (uint64_t)(c & 127) << shift;
		if (c < 128)
			return true;
	}
	return false;
}

static bool body_take(struct bytes *b, uint64_t length, struct bytes *body)
{
	if (length > (uint64_t)(b->end - b->at))
		return false;
	*body = (struct bytes){b->at, b->at + length};
	b->at += length;
	return true;
}

/* The next field; false at the end (then at == end) or where damaged. */
static bool field_take(struct bytes *b, struct field *f)
{
	uint64_t key;

	*f = (struct field){0};
	if (b->at == b->end || !varint_take(b, &key))
		return false;
	f->number = key >> 3;
	f->wire = (enum wire)(key & 7);
	if (f->wire == WIRE_VARINT)
		return varint_take(b, &f->value);
	if (f->wire == WIRE_BYTES)
		return varint_take(b, &f->value) &&
		       body_take(b, f->value, &f->body);
	if (f->wire == WIRE_8_BYTES)
		return body_take(b, 8, &f->body);
	return f->wire == WIRE_4_BYTES && body_take(b, 4, &f->body);
}

/* A node's attributes by their names. */
struct call {
	char name[128], group[64];
	double type, comm_type, size_bytes, source, target;
};

static void text_copy(const struct bytes *body, char *text, size_t size)
{
	size_t n = (size_t)(body->end - body->at), used = 0;

	for (size_t i = 0; i < n && used + 1 < size; i++)
		text[used++] = isprint(body->at[i]) ? (char)body->at[i] : '?';
	text[used] = '\0';
}

/* false where the attribute is damaged. */
static bool attribute_take(struct bytes body, struct call *call)
{
	const struct {
		const char *name;
		double *value;
	} numbers[] = {
		{"comm_type", &call->comm_type},
		{"comm_size", &call->size_bytes},
		{"comm_src", &call->source},
		{"comm_dst", &call->target},
	};
	char name[32] = "";
	struct field f;

	while (field_take(&body, &f)) {
		if (f.number == 1 && f.wire == WIRE_BYTES)
			text_copy(&f.body, name, sizeof(name));
		else if (f.wire == WIRE_BYTES && strcmp(name, "pg_name") == 0)
			text_copy(&f.body, call->group, sizeof(call->group));
		for (size_t i = 0; f.wire == WIRE_VARINT && i < 4; i++) {
			if (strcmp(name, numbers[i].name) == 0)
				*numbers[i].value = (double)f.value;
		}
	}
	return body.at == body.end;
}

static bool node_take(struct bytes body, struct call *call)
{
	struct field f;

	while (field_take(&body, &f)) {
		if (f.number == NODE_NAME && f.wire == WIRE_BYTES)
			text_copy(&f.body, call->name, sizeof(call->name));
		else if (f.number == NODE_TYPE && f.wire == WIRE_VARINT)
			call->type = (double)f.value;
		else if (f.number == NODE_ATTRIBUTE && f.wire == WIRE_BYTES &&
			 !attribute_take(f.body, call))
			return false;
	}
	return body.at == body.end;
}

/* The collectives by Chakra's numbers. */
static const char *const kinds[] = {
	"all_reduce",	  "reduce",    "all_gather", "gather",
	"scatter",	  "broadcast", "all_to_all", "reduce_scatter",
	"reduce_scatter", "barrier",
};

static const char *call_kind(const struct call *call)
{
	if (call->type == NODE_SEND)
		return "send";
	if (call->type == NODE_RECEIVE)
		return "recv";
	if (call->comm_type >= 0 &&
	    call->comm_type < sizeof(kinds) / sizeof(kinds[0]))
		return kinds[(size_t)call->comm_type];
	return call->name;
}

static int call_add(struct weft_trace_draft *d, const struct call *from)
{
	struct weft_trace_call call = WEFT_TRACE_CALL_INIT;
	uint32_t c;

	/* The operator on the CPU is recorded as well, without a size. */
	if (from->type < NODE_SEND || from->type > NODE_COLLECTIVE ||
	    !(from->size_bytes >= 0))
		return 0;
	call.name = call_kind(from);
	call.in_bytes = from->size_bytes;
	call.peer = from->type == NODE_SEND ? from->target : from->source;
	/* Without a group all ranks take part. */
	call.group_name = *from->group ? from->group : "all";
	call.group_is_world = !*from->group;
	c = weft_trace_add_collective(d);
	return c == WEFT_TRACE_NONE ? -1 : weft_trace_describe(d, c, &call);
}

/* "all_reduce.3.et", "chakra.0.et.gz": the number before ".et". */
static const char *extension(const char *path)
{
	const char *at = strstr(path, ".et");

	while (at && at[3] && strcmp(at, ".et.gz") != 0)
		at = strstr(at + 1, ".et");
	return at;
}

static uint32_t rank_of(const char *path)
{
	const char *end = extension(path), *at = end;
	unsigned long rank;

	while (at && at > path && isdigit((unsigned char)at[-1]))
		at--;
	if (!at || at == end || at == path || at[-1] != '.' || end - at > 7)
		return WEFT_TRACE_NONE;
	rank = strtoul(at, NULL, 10);
	return rank < WEFT_TRACE_MAX_RANKS ? (uint32_t)rank : WEFT_TRACE_NONE;
}

/* A length and the first field of the description, which is its version or an
 * attribute.  '{' and newline may be those, too: then the name tells. */
int weft_trace_chakra_told(struct weft_trace_reader *r, bool *is_chakra)
{
	const unsigned char *at;
	struct bytes b;
	uint64_t length;
	size_t n;
	bool json;

	*is_chakra = false;
	if (weft_json_stream_bytes(&r->stream, 8, &at, &n, r->draft.err) < 0)
		return -1;
	b = (struct bytes){at, at + n};
	if (!varint_take(&b, &length) || b.at == b.end)
		return 0;
	json = strchr("{[ \t\r\n", *at) && *at;
	*is_chakra = (*b.at == 0x0a || *b.at == 0x12) &&
		     (!json || extension(r->path));
	return 0;
}

static int chakra_fail(struct weft_trace_reader *r)
{
	return weft_fail_at(r->draft.err, WEFT_EINVAL, r->draft.trace->source,
			    0, 0,
			    "the Chakra graph is damaged or cut short at byte "
			    "%llu",
			    (unsigned long long)r->stream.used_bytes);
}

/* The next message's body; 1, 0 at the end, -1. */
static int message_take(struct weft_trace_reader *r, struct bytes *body,
			size_t *whole)
{
	struct weft_error *err = r->draft.err;
	const unsigned char *at;
	struct bytes b;
	uint64_t length;
	size_t n;

	if (weft_json_stream_bytes(&r->stream, 10, &at, &n, err) < 0)
		return -1;
	if (!n)
		return 0;
	b = (struct bytes){at, at + n};
	if (!varint_take(&b, &length) || length > MAX_NODE_BYTES)
		return chakra_fail(r);
	*whole = (size_t)(b.at - at) + (size_t)length;
	if (weft_json_stream_bytes(&r->stream, *whole, &at, &n, err) < 0)
		return -1;
	if (n < *whole)
		return chakra_fail(r);
	*body = (struct bytes){at + (*whole - length), at + *whole};
	return 1;
}

int weft_trace_chakra_read(struct weft_trace_reader *r)
{
	struct bytes body;
	size_t whole = 0;
	int more;
	bool first = true;

	r->draft.trace->rank = rank_of(r->path);
	while ((more = message_take(r, &body, &whole)) > 0) {
		struct call call = {.comm_type = -1,
				    .size_bytes = -1,
				    .source = -1,
				    .target = -1};

		if (!first && !node_take(body, &call))
			return chakra_fail(r);
		if (call_add(&r->draft, &call))
			return -1;
		first = false;
		weft_json_stream_advance(&r->stream, whole);
	}
	return more;
}
