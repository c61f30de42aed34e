/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw.c - the table of renderers */
#include "topology/draw/draw.h"
#include "base/suggest.h"
#include "topology/draw/draw_parts.h"

#include <string.h>

const struct weft_renderer weft_renderers[] = {
	{"text", "for the terminal, as wide as it is", ".txt", draw_text},
	{"svg", "a picture for documents and browsers", ".svg", draw_svg},
	{"dot", "a graph for graphviz", ".dot", draw_dot},
	{"html", "one page to look around in, without any network", ".html",
	 draw_html},
	{"json", "what the page is made from", ".json", draw_json},
};
const uint32_t weft_n_renderers = WEFT_N_OF(weft_renderers);

const struct weft_renderer *weft_renderer_find(const char *name,
					       struct weft_error *err)
{
	const struct weft_renderer *renderer =
		WEFT_ROW(name, weft_renderers, weft_n_renderers);
	char hint[WEFT_SUGGEST_TEXT];

	if (!renderer)
		weft_fail(err, WEFT_EINVAL, "there is no format \"%.40s\"; %s",
			  name,
			  WEFT_ROW_HINT(name, weft_renderers, weft_n_renderers,
					hint));
	return renderer;
}

const struct weft_renderer *weft_renderer_of_file(const char *path)
{
	size_t length = strlen(path);

	for (uint32_t i = 0; i < weft_n_renderers; i++) {
		size_t n = strlen(weft_renderers[i].suffix);

		if (length > n &&
		    strcmp(path + length - n, weft_renderers[i].suffix) == 0)
			return &weft_renderers[i];
	}
	return NULL;
}

void draw_census(FILE *out, const struct weft_census *census)
{
	static const char *const words[WEFT_N_USES] = {
		[WEFT_USE_FREE] = "free",
		[WEFT_USE_BUSY] = "busy",
		[WEFT_USE_CLOSED] = "closed",
		[WEFT_USE_JOB] = "of the job",
	};
	const char *separator = "";

	for (int i = 0; i < WEFT_N_USES; i++) {
		int use = (i + WEFT_USE_JOB) % WEFT_N_USES;

		if (!census->n[use])
			continue;
		fprintf(out, "%s%u %s", separator, census->n[use], words[use]);
		separator = ", ";
	}
}

char draw_letter(uint32_t group)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789";

	return letters[group % (sizeof(letters) - 1)];
}
