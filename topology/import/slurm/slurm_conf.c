/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_conf.c - the language of Slurm's .conf files */
#include "topology/import/slurm/slurm_conf.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One file that is open, and those around it. */
struct file {
	const char *path, *text;
	size_t size;
	uint32_t source;
	const struct file *outer;
};

struct reader {
	struct weft_inventory *s;
	const struct weft_import_options *options;
	weft_slurm_line_use use;
	void *state;
	struct weft_error *err;
	uint32_t n_files;
};

static int file_read(struct reader *r, const struct file *file);

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool weft_slurm_key_is(struct weft_span key, const char *name)
{
	return key.size == strlen(name) &&
	       strncasecmp(key.at, name, key.size) == 0;
}

static void span_skip(struct weft_span *span, size_t n)
{
	span->at += n;
	span->size -= n;
}

static struct weft_span value_take(struct weft_span *rest)
{
	struct weft_span value = {rest->at, 0};
	bool quoted = rest->size && *rest->at == '"' &&
		      memchr(rest->at + 1, '"', rest->size - 1);

	if (quoted) {
		span_skip(rest, 1);
		value.at = rest->at;
	}
	while (rest->size &&
	       (quoted ? *rest->at != '"' : !is_blank(*rest->at))) {
		span_skip(rest, 1);
		value.size++;
	}
	if (quoted)
		span_skip(rest, 1);
	return value;
}

bool weft_slurm_pair(struct weft_span *rest, struct weft_span *key,
		     struct weft_span *value)
{
	struct weft_span after;

	while (rest->size && is_blank(*rest->at))
		span_skip(rest, 1);
	if (!rest->size)
		return false;
	*key = (struct weft_span){rest->at, 0};
	*value = (struct weft_span){0};
	while (rest->size && !is_blank(*rest->at) && *rest->at != '=') {
		span_skip(rest, 1);
		key->size++;
	}
	after = *rest;
	while (after.size && is_blank(*after.at))
		span_skip(&after, 1);
	if (!after.size || *after.at != '=')
		return true;
	span_skip(&after, 1);
	/* Slurm also takes "Key+=Value" and "Key-=Value". */
	if (key->size > 1 && strchr("+-*/", key->at[key->size - 1]))
		key->size--;
	while (after.size && is_blank(*after.at))
		span_skip(&after, 1);
	*rest = after;
	*value = value_take(rest);
	return true;
}

int weft_slurm_column(const struct weft_slurm_line *line, const char *at)
{
	if (!line->exact || at < line->text.at ||
	    at > line->text.at + line->text.size)
		return 0;
	return (int)(at - line->text.at) + 1;
}

/* ---- lines ---- */

/* Where the comment begins: a "#" behind an even number of backslashes. */
static size_t comment_find(struct weft_span line)
{
	bool escaped = false;

	for (size_t i = 0; i < line.size; i++) {
		if (line.at[i] == '#' && !escaped)
			return i;
		escaped = line.at[i] == '\\' && !escaped;
	}
	return line.size;
}

/* Ends in a backslash, behind which blanks may stand. */
static bool is_continued(struct weft_span *line)
{
	size_t size = line->size;

	while (size && is_blank(line->at[size - 1]))
		size--;
	if (!size || line->at[size - 1] != '\\')
		return false;
	line->size = size - 1;
	return true;
}

/* Drops the backslash before each escaped byte; true where there was one. */
static bool escapes_drop(char *text, size_t *size)
{
	size_t n = 0;
	bool any = false;

	for (size_t i = 0; i < *size; i++) {
		if (text[i] == '\\' && i + 1 < *size) {
			any = true;
			i++;
		}
		text[n++] = text[i];
	}
	*size = n;
	return any;
}

/* Collects a line with its continuations into *buffer, which has room for the
 * whole file. */
static bool line_collect(struct weft_lines *lines, char *buffer,
			 struct weft_slurm_line *line)
{
	struct weft_span part;
	size_t size = 0;
	bool more = true, escaped;

	if (!weft_lines_next(lines, &part))
		return false;
	line->number = lines->number;
	line->comment = (struct weft_span){0};
	line->exact = true;
	for (;;) {
		size_t end = comment_find(part);

		if (end < part.size && !line->comment.at)
			line->comment = (struct weft_span){part.at + end + 1,
							   part.size - end - 1};
		part.size = end;
		more = is_continued(&part);
		memcpy(buffer + size, part.at, part.size);
		size += part.size;
		if (!more || !weft_lines_next(lines, &part))
			break;
		line->exact = false;
	}
	escaped = escapes_drop(buffer, &size);
	line->exact = line->exact && !escaped;
	line->text = (struct weft_span){buffer, size};
	return true;
}

/* ---- files ---- */

static int include_skip(struct reader *r, const struct weft_slurm_line *line,
			const char *path, const char *why)
{
	return weft_inventory_note(
		r->s, WEFT_FINDING_INPUT_PARTIAL, NULL,
		(struct weft_place){line->source, line->number}, r->err,
		"\"Include %s\" was not followed: %s", path, why);
}

static int include_check(const struct reader *r, const struct file *file,
			 const struct weft_slurm_line *line, const char *path)
{
	uint32_t depth = 0;

	for (const struct file *f = file; f; f = f->outer) {
		if (strcmp(f->path, path) == 0)
			return weft_fail_at(r->err, WEFT_EINVAL, line->path,
					    line->number, 0,
					    "%s includes itself", path);
		depth++;
	}
	if (depth > WEFT_SLURM_INCLUDE_DEPTH ||
	    r->n_files >= WEFT_SLURM_INCLUDE_FILES)
		return weft_fail_at(
			r->err, WEFT_EINVAL, line->path, line->number, 0,
			"files include files more than %u deep, or "
			"more than %u in all",
			WEFT_SLURM_INCLUDE_DEPTH, WEFT_SLURM_INCLUDE_FILES);
	return 0;
}

static int include_read(struct reader *r, const struct file *file,
			const struct weft_slurm_line *line, const char *path)
{
	struct file inner = {.path = path, .outer = file};
	struct weft_error why = {0};
	char *text;
	int rc = -1;

	if (include_check(r, file, line, path))
		return -1;
	/* files are often handed on without those that they include */
	if (weft_text_load(path, WEFT_IMPORT_MAX_BYTES, &text, &inner.size,
			   &why))
		return why.code == WEFT_ENOMEM
			       ? weft_fail(r->err, why.code, "%s", why.text)
			       : include_skip(r, line, path, why.text);
	inner.text = text;
	r->n_files++;
	inner.source = weft_inventory_add_source(
		r->s, path, r->s->sources[file->source].format, r->err);
	if (inner.source != WEFT_NONE)
		rc = file_read(r, &inner);
	free(text);
	return rc;
}

static int include_follow(struct reader *r, const struct file *file,
			  const struct weft_slurm_line *line,
			  struct weft_span rest)
{
	char name[4096], *path;
	int rc;

	rest = weft_span_trim(rest);
	weft_span_copy(rest, name, sizeof(name));
	if (rest.size == 0 || rest.size >= sizeof(name) || strlen(name) == 0)
		return weft_fail_at(r->err, WEFT_EINVAL, line->path,
				    line->number, 0,
				    "Include wants the name of a file");
	if (r->options->no_include)
		return include_skip(r, line, name, "told not to");
	if (strchr(name, '%'))
		return include_skip(r, line, name,
				    "only Slurm knows what % stands for");
	path = weft_text_beside(line->path, name, r->err);
	if (!path)
		return -1;
	rc = include_read(r, file, line, path);
	free(path);
	return rc;
}

/* No name of a node or switch has one of these. */
#define TEMPLATE_CHARACTERS "$<>@%{}"

/* Whether "NodeName=..." and the like name what was to be replaced: "$NODES",
 * "@NODE@", "<node>". */
static bool names_template(struct weft_span word)
{
	static const char *const keys[] = {"NodeName", "NodeHostName",
					   "Nodes",    "SwitchName",
					   "Switches", "BlockName"};
	const char *equals = word.size ? memchr(word.at, '=', word.size) : NULL;
	bool is = false;

	if (!equals)
		return false;
	for (size_t i = 0; i < WEFT_N_OF(keys); i++)
		is = is ||
		     ((size_t)(equals - word.at) == strlen(keys[i]) &&
		      strncasecmp(word.at, keys[i], strlen(keys[i])) == 0);
	for (const char *c = equals; is && c < weft_span_end(word); c++)
		if (strchr(TEMPLATE_CHARACTERS, *c) && *c)
			return true;
	return false;
}

/* What a template engine was to replace is no name of a node. */
static bool is_template(struct weft_span text)
{
	static const char *const marks[] = {"{{", "{%", "<%"};
	struct weft_span word;

	for (size_t i = 0; i < WEFT_N_OF(marks); i++)
		if (weft_span_find(text, marks[i]))
			return true;
	while (weft_span_word(&text, " \t", &word))
		if (names_template(word))
			return true;
	return false;
}

static int line_pass(struct reader *r, const struct file *file,
		     const struct weft_slurm_line *line)
{
	struct weft_span rest = line->text, word;

	if (is_template(line->text))
		return weft_fail_at(r->err, WEFT_EINVAL, line->path,
				    line->number, 0,
				    "a template that was not filled in; "
				    "expected what Slurm itself reads");
	if (weft_span_word(&rest, " \t", &word) &&
	    weft_slurm_key_is(word, "include") && rest.size)
		return include_follow(r, file, line, rest);
	if (!word.size && !line->comment.at)
		return 0;
	return r->use(r->state, line, r->err);
}

static int file_read(struct reader *r, const struct file *file)
{
	struct weft_lines lines = weft_lines_start(file->text, file->size);
	struct weft_slurm_line line = {.path = file->path,
				       .source = file->source};
	char *buffer = weft_calloc(file->size + 1, 1, r->err);
	int rc = buffer ? 0 : -1;

	while (rc == 0 && line_collect(&lines, buffer, &line))
		rc = line_pass(r, file, &line);
	free(buffer);
	return rc;
}

int weft_slurm_conf_read(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 weft_slurm_line_use use, void *state,
			 struct weft_error *err)
{
	struct reader r = {.s = s,
			   .options = input->options,
			   .use = use,
			   .state = state,
			   .err = err};
	struct file file = {.path = input->path,
			    .text = input->text,
			    .size = input->size,
			    .source = input->source};

	return file_read(&r, &file);
}
