/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_html.c - a scene as one page: page.html with the scene's JSON in it */
#include "topology/draw/draw_parts.h"
#include "topology/draw/node.h"

#include <stdlib.h>
#include <string.h>

/* page.html as a string, made by page.awk: it has to be one file to be edited
 * and one program to be installed. */
static const char page[] = {
#include "topology/draw/page.inc"
};

/* Where the data goes; twice would be a mistake in page.html. */
static const char mark[] = "@SCENE@";
static const char title_mark[] = "@TITLE@";
static const char inside_mark[] = "@INSIDE@";

/* JSON that no name can end the script element with, or begin a comment: "<",
 * ">" and "&" stand only inside of strings, where they may be escaped.
 * Everything that is not ASCII is, already. */
static void data_write(FILE *out, const char *json)
{
	for (const char *c = json; *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned int)*c);
		else
			fputc(*c, out);
	}
}

static void title_write(FILE *out, const char *title)
{
	for (const char *c = title; *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&' || *c == '"' ||
		    (unsigned char)*c < 0x20)
			fprintf(out, "&#%u;",
				(unsigned char)*c < 0x20 ? 32u
							 : (unsigned int)*c);
		else
			fputc(*c, out);
	}
}

/* Copies the page up to the mark; returns what is behind it. */
static const char *page_write(FILE *out, const char *from, const char *until)
{
	const char *end = strstr(from, until);

	if (!end)
		return from;
	fwrite(from, 1, (size_t)(end - from), out);
	return end + strlen(until);
}

int draw_html(const struct weft_scene *scene,
	      const struct weft_draw_options *options, FILE *out,
	      struct weft_error *err)
{
	json_t *document = draw_document(scene, err);
	const char *rest = page;
	int result = 0;
	char *json;

	(void)options;
	if (!document)
		return -1;
	json = json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII |
					    JSON_REAL_PRECISION(5));
	json_decref(document);
	if (!json)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	rest = page_write(out, rest, title_mark);
	title_write(out, scene->title);
	rest = page_write(out, rest, inside_mark);
	if (scene->inside)
		result = node_svg(scene, false, out, err);
	rest = page_write(out, rest, mark);
	data_write(out, json);
	fputs(rest, out);
	free(json);
	return result;
}
