/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.c - from text to a tree of nodes, refusing what hides mistakes
 *
 * Built on libyaml's events: its document API resolves anchors silently, which
 * is what makes alias bombs.
 */
#include "base/yaml.h"

#include "base/arena.h"
#include "base/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml.h>

/* An open list or map, and in a map the key that waits for its value. */
struct frame {
	struct weft_yaml_node *node, *last;
	struct weft_yaml_node key;
};

struct builder {
	yaml_parser_t parser;
	struct weft_yaml *doc;
	struct weft_arena arena;
	struct frame stack[WEFT_YAML_MAX_DEPTH];
	uint32_t depth, n_nodes;
	bool done;
	struct weft_error *err;
};

static int fail_at(struct builder *b, const yaml_mark_t *mark, const char *what)
{
	return weft_fail_at(b->err, WEFT_EINVAL, b->doc->source,
			    (int)mark->line + 1, (int)mark->column + 1, "%s",
			    what);
}

static bool expects_key(const struct builder *b)
{
	const struct frame *top = b->depth ? &b->stack[b->depth - 1] : NULL;

	return top && top->node->kind == WEFT_YAML_MAP && !top->key.key;
}

/* A new node for the event's value, linked to what it stands in. */
static struct weft_yaml_node *node_add(struct builder *b, const yaml_event_t *e,
				       enum weft_yaml_kind kind)
{
	struct frame *top = b->depth ? &b->stack[b->depth - 1] : NULL;
	struct weft_yaml_node *node;

	if (++b->n_nodes > WEFT_YAML_MAX_NODES)
		return fail_at(b, &e->start_mark, "too many values in a file"),
		       NULL;
	node = weft_arena_alloc(&b->arena, sizeof(*node), b->err);
	if (!node)
		return NULL;
	if (top) {
		*node = top->key;
		top->key = (struct weft_yaml_node){0};
		if (top->last)
			top->last->next = node;
		else
			top->node->child = node;
		top->last = node;
		top->node->n_children++;
	} else {
		b->doc->root = node;
	}
	node->kind = kind;
	node->line = (int)e->start_mark.line + 1;
	node->column = (int)e->start_mark.column + 1;
	return node;
}

static int anchor_check(struct builder *b, const yaml_event_t *e,
			const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		return fail_at(b, &e->start_mark,
			       "anchors (&name) are not allowed; write the "
			       "value out");
	if (tag)
		return fail_at(b, &e->start_mark,
			       "tags (!name) are not allowed; write the plain "
			       "value");
	return 0;
}

/* Where the scalar's text stands in the file unchanged: its column; else 0.
 * Escapes and folded lines make the text shorter than its source. */
static int literal_column(const yaml_event_t *e)
{
	size_t quotes = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	size_t characters = 0;

	for (size_t i = 0; i < e->data.scalar.length; i++)
		characters += (e->data.scalar.value[i] & 0xc0) != 0x80;
	if (e->start_mark.line != e->end_mark.line ||
	    e->end_mark.index - e->start_mark.index != characters + 2 * quotes)
		return 0;
	return (int)(e->start_mark.column + quotes) + 1;
}

static int key_take(struct builder *b, const yaml_event_t *e, const char *text)
{
	struct weft_yaml_node *key = &b->stack[b->depth - 1].key;

	if (!*text)
		return fail_at(b, &e->start_mark, "expected a key before ':'");
	key->key = text;
	key->key_line = (int)e->start_mark.line + 1;
	key->key_column = (int)e->start_mark.column + 1;
	key->key_text_column = literal_column(e);
	return 0;
}

static int on_scalar(struct builder *b, const yaml_event_t *e)
{
	const unsigned char *value = e->data.scalar.value;
	struct weft_yaml_node *node;
	const char *text;

	if (anchor_check(b, e, e->data.scalar.anchor, e->data.scalar.tag))
		return -1;
	for (size_t i = 0; i < e->data.scalar.length; i++)
		if (value[i] < ' ' || value[i] == 127)
			return fail_at(b, &e->start_mark,
				       "a control character or line break in "
				       "a value; expected one line of text");
	text = weft_arena_text(&b->arena, (const char *)value,
			       e->data.scalar.length, b->err);
	if (!text)
		return -1;
	if (expects_key(b))
		return key_take(b, e, text);
	node = node_add(b, e, WEFT_YAML_SCALAR);
	if (!node)
		return -1;
	node->text = text;
	node->text_column = literal_column(e);
	return 0;
}

static int frame_push(struct builder *b, const yaml_event_t *e,
		      enum weft_yaml_kind kind)
{
	struct weft_yaml_node *node;

	if (expects_key(b))
		return fail_at(b, &e->start_mark,
			       "a list or map cannot be a key; expected a "
			       "word");
	if (b->depth == WEFT_YAML_MAX_DEPTH)
		return weft_fail_at(b->err, WEFT_EINVAL, b->doc->source,
				    (int)e->start_mark.line + 1,
				    (int)e->start_mark.column + 1,
				    "nested more than %d deep",
				    WEFT_YAML_MAX_DEPTH);
	node = node_add(b, e, kind);
	if (!node)
		return -1;
	b->stack[b->depth++] = (struct frame){.node = node};
	return 0;
}

static int on_list(struct builder *b, const yaml_event_t *e)
{
	if (anchor_check(b, e, e->data.sequence_start.anchor,
			 e->data.sequence_start.tag))
		return -1;
	return frame_push(b, e, WEFT_YAML_LIST);
}

static int on_map(struct builder *b, const yaml_event_t *e)
{
	if (anchor_check(b, e, e->data.mapping_start.anchor,
			 e->data.mapping_start.tag))
		return -1;
	return frame_push(b, e, WEFT_YAML_MAP);
}

static int on_list_end(struct builder *b, const yaml_event_t *e)
{
	(void)e;
	b->depth--;
	return 0;
}

static bool is_earlier(const struct weft_yaml_node *a,
		       const struct weft_yaml_node *b)
{
	return a->key_line != b->key_line ? a->key_line < b->key_line
					  : a->key_column < b->key_column;
}

static int key_compare(const void *a, const void *b)
{
	const struct weft_yaml_node *const *x = a, *const *y = b;
	int order = strcmp((*x)->key, (*y)->key);

	return order ? order : is_earlier(*x, *y) ? -1 : 1;
}

/* libyaml passes "a: 1, a: 2" on as two pairs.  Sorted, so that a map of a
 * million names stays fast; the duplicate first in the file is reported. */
static int on_map_end(struct builder *b, const yaml_event_t *e)
{
	const struct weft_yaml_node *map = b->stack[--b->depth].node;
	const struct weft_yaml_node **sorted, *again = NULL, *before = NULL;
	uint32_t n = 0;

	(void)e;
	sorted = weft_calloc(map->n_children, sizeof(*sorted), b->err);
	if (!sorted)
		return -1;
	for (const struct weft_yaml_node *c = map->child; c; c = c->next)
		sorted[n++] = c;
	WEFT_SORT(sorted, n, key_compare);
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 &&
		    (!again || is_earlier(sorted[i], again))) {
			again = sorted[i];
			before = sorted[i - 1];
		}
	free(sorted);
	if (!again)
		return 0;
	return weft_yaml_fail_key(b->doc, again, b->err,
				  "key \"%.80s\" is given twice, first in line "
				  "%d",
				  again->key, before->key_line);
}

static int on_alias(struct builder *b, const yaml_event_t *e)
{
	return fail_at(b, &e->start_mark,
		       "aliases (*name) are not allowed; write the value out");
}

static int on_document(struct builder *b, const yaml_event_t *e)
{
	if (b->doc->root)
		return fail_at(b, &e->start_mark,
			       "a second document starts; expected one");
	return 0;
}

static int on_end(struct builder *b, const yaml_event_t *e)
{
	(void)e;
	b->done = true;
	if (!b->doc->root)
		return weft_fail_at(b->err, WEFT_EINVAL, b->doc->source, 1, 1,
				    "the file is empty; expected KEY: VALUE "
				    "lines");
	return 0;
}

static int on_nothing(struct builder *b, const yaml_event_t *e)
{
	(void)b;
	(void)e;
	return 0;
}

static int (*const handlers[])(struct builder *, const yaml_event_t *) = {
	[YAML_NO_EVENT] = on_nothing,
	[YAML_STREAM_START_EVENT] = on_nothing,
	[YAML_STREAM_END_EVENT] = on_end,
	[YAML_DOCUMENT_START_EVENT] = on_document,
	[YAML_DOCUMENT_END_EVENT] = on_nothing,
	[YAML_ALIAS_EVENT] = on_alias,
	[YAML_SCALAR_EVENT] = on_scalar,
	[YAML_SEQUENCE_START_EVENT] = on_list,
	[YAML_SEQUENCE_END_EVENT] = on_list_end,
	[YAML_MAPPING_START_EVENT] = on_map,
	[YAML_MAPPING_END_EVENT] = on_map_end,
};

/* libyaml speaks of tokens; the mistakes that people make most with hostlists
 * and tabs get a hint. */
static int syntax_fail(struct builder *b, const char *text, size_t size)
{
	const yaml_parser_t *p = &b->parser;
	const char *hint = "";

	if (p->error == YAML_MEMORY_ERROR)
		return weft_fail(b->err, WEFT_ENOMEM, "out of memory");
	if (p->context && strstr(p->context, "flow mapping"))
		hint = "; inside { } put names with brackets in quotes";
	else if (p->problem_mark.index < size &&
		 text[p->problem_mark.index] == '\t')
		hint = "; indent with blanks, not tabs";
	else if (p->problem_mark.column > 1024)
		hint = "; a key has at most 1024 characters, use more lines";
	return weft_fail_at(
		b->err, WEFT_EINVAL, b->doc->source,
		(int)p->problem_mark.line + 1, (int)p->problem_mark.column + 1,
		"not valid YAML: %s%s%s%s", p->context ? p->context : "",
		p->context ? ", " : "", p->problem ? p->problem : "unreadable",
		hint);
}

static int events_read(struct builder *b, const char *text, size_t size)
{
	while (!b->done) {
		yaml_event_t event;
		int rc;

		if (!yaml_parser_parse(&b->parser, &event))
			return syntax_fail(b, text, size);
		rc = handlers[event.type](b, &event);
		yaml_event_delete(&event);
		if (rc)
			return -1;
	}
	return 0;
}

/* Length of the UTF-8 character at p and its code point, or 0. */
static size_t character_read(const unsigned char *p, size_t left,
			     uint32_t *point)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *p < 0x80   ? 1
		   : *p < 0xc0 ? 0
		   : *p < 0xe0 ? 2
		   : *p < 0xf0 ? 3
		   : *p < 0xf8 ? 4
			       : 0;

	if (!n || n > left)
		return 0;
	*point = n == 1 ? *p : *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (p[i] & 0x3f);
	}
	return *point < smallest[n] || *point > 0x10ffff ? 0 : n;
}

/* The characters that YAML allows in a file at all. */
static bool is_allowed(uint32_t point)
{
	if (point < 0xa0)
		return (point >= ' ' && point < 127) || point == '\t' ||
		       point == '\n' || point == '\r' || point == 0x85;
	return point < 0xd800 ||
	       (point >= 0xe000 && point <= 0xfffd && point != 0xfeff) ||
	       point >= 0x10000;
}

/* Before libyaml, whose reader knows only byte offsets. */
static int encoding_check(const struct weft_yaml *doc, const char *text,
			  size_t size, struct weft_error *err)
{
	int line = 1, column = 1;

	for (size_t i = 0, n; i < size; i += n) {
		const unsigned char *p = (const unsigned char *)text + i;
		uint32_t point = 0;

		n = character_read(p, size - i, &point);
		if (!n)
			return weft_fail_at(
				err, WEFT_EINVAL, doc->source, line, column,
				"byte 0x%02x is not UTF-8 text", *p);
		if (!is_allowed(point))
			return weft_fail_at(err, WEFT_EINVAL, doc->source, line,
					    column,
					    "character U+%04X is not allowed "
					    "in a text file",
					    point);
		column++;
		if (point == '\n' ||
		    (point == '\r' && (i + 1 == size || p[1] != '\n'))) {
			line++;
			column = 1;
		}
	}
	return 0;
}

int weft_yaml_parse(const char *text, size_t size, const char *source,
		    struct weft_yaml *doc, struct weft_error *err)
{
	struct builder b = {.doc = doc, .err = err};
	int rc = -1;

	*doc = (struct weft_yaml){0};
	snprintf(doc->source, sizeof(doc->source), "%s", source);
	if (size > WEFT_YAML_MAX_BYTES)
		return weft_fail_at(err, WEFT_EINVAL, doc->source, 0, 0,
				    "the file is larger than %u MiB",
				    WEFT_YAML_MAX_BYTES >> 20);
	/* The byte order mark of some editors. */
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	if (encoding_check(doc, text, size, err))
		return -1;
	if (!yaml_parser_initialize(&b.parser))
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text,
				     size);
	rc = events_read(&b, text, size);
	yaml_parser_delete(&b.parser);
	doc->memory = b.arena.chunk;
	if (rc)
		weft_yaml_free(doc);
	return rc;
}

void weft_yaml_free(struct weft_yaml *doc)
{
	struct weft_arena arena = {doc->memory};

	weft_arena_free(&arena);
	doc->memory = NULL;
	doc->root = NULL;
}

static int io_fail(const char *path, struct weft_error *err)
{
	return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s", strerror(errno));
}

/* Reads fd to its end, which need not be a regular file's (pipes), but no more
 * than one byte beyond the limit. */
static int bytes_read(int fd, const char *path, char **text, size_t *size,
		      struct weft_error *err)
{
	size_t room = 1 << 14, used = 0;
	char *buffer = NULL;

	for (;;) {
		char *larger = weft_realloc(buffer, room, 1, err);
		ssize_t got;

		if (!larger)
			break;
		buffer = larger;
		got = read(fd, buffer + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			io_fail(path, err);
			break;
		}
		used += (size_t)got;
		if (got == 0 || used > WEFT_YAML_MAX_BYTES) {
			*text = buffer;
			*size = used;
			return 0;
		}
		if (used == room)
			room *= 2;
	}
	free(buffer);
	return -1;
}

int (*weft_yaml_unpack)(const char *path, size_t most, char **text,
			size_t *size, struct weft_error *err);

static bool is_packed(const char *path)
{
	size_t n = strlen(path);

	return weft_yaml_unpack &&
	       (strcmp(path, "-") == 0 ||
		(n > 3 && strcmp(path + n - 3, ".gz") == 0));
}

static int packed_load(const char *path, struct weft_yaml *doc,
		       struct weft_error *err)
{
	char *text;
	size_t size;
	int rc;

	*doc = (struct weft_yaml){0};
	if (weft_yaml_unpack(path, WEFT_YAML_MAX_BYTES, &text, &size, err))
		return -1;
	rc = weft_yaml_parse(text, size, strcmp(path, "-") ? path : "stdin",
			     doc, err);
	free(text);
	return rc;
}

int weft_yaml_load(const char *path, struct weft_yaml *doc,
		   struct weft_error *err)
{
	struct stat info;
	char *text = NULL;
	size_t size = 0;
	int fd, rc = -1;

	if (is_packed(path))
		return packed_load(path, doc, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	*doc = (struct weft_yaml){0};
	if (fd < 0)
		return io_fail(path, err);
	if (fstat(fd, &info))
		io_fail(path, err);
	else if (S_ISDIR(info.st_mode))
		weft_fail_at(err, WEFT_EIO, path, 0, 0,
			     "is a directory; expected a YAML file");
	else if (bytes_read(fd, path, &text, &size, err) == 0)
		rc = weft_yaml_parse(text, size, path, doc, err);
	free(text);
	close(fd);
	return rc;
}
