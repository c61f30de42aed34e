/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg_sheet.c - paper, colours, title, facts and legend of pictures in SVG
 *
 * Colours are classes, and a style sheet inside the file gives them for light
 * and for dark paper; viewers that know no style sheets' media show the light.
 */
#include "topology/draw/svg_sheet.h"

#include "topology/draw/palette.h"

#include <math.h>
#include <string.h>

#define TITLE	     24.0
#define LINE	     18.0 /* of facts and legend */
#define SHADES	     32	  /* of what has an order */
#define LEGEND_ITEMS 64	  /* groups named; of more, five */

void sheet_escape(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		switch (c) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			/* control characters are not XML */
			fputc(c < 0x20 ? ' ' : c, out);
		}
	}
}

void sheet_label(const struct sheet *s, const char *class, double x, double y,
		 double width, double size, const char *text)
{
	size_t room = (size_t)fmax(0, width / (size * SHEET_LETTER));
	size_t length = strlen(text);
	bool cut = length > room;

	if (room < 2)
		return;
	/* not in the middle of a letter of several bytes */
	while (cut && room > 2 && (text[room - 1] & 0xc0) == 0x80)
		room--;
	fprintf(s->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x,
		y);
	sheet_escape(s->out, text, cut ? room - 1 : length);
	fprintf(s->out, "%s</text>\n", cut ? "&#8230;" : "");
}

/* ---- style ---- */

static void style_paper(FILE *out, int paper)
{
	const struct weft_shades *shades = &weft_shades[paper];
	char colour[WEFT_COLOUR_SIZE];

	fprintf(out,
		".paper{fill:%s}.ink{fill:%s}.dim{fill:%s;fill-opacity:.72}"
		".dom{fill:none;stroke:%s}.nvl{fill:none;stroke:%s;"
		"stroke-width:1.6}.edge{stroke:%s;fill:none}"
		".wire{stroke:%s;fill:none}.cut{stroke:%s;fill:none;"
		"stroke-dasharray:4 3}",
		shades->paper, shades->ink, shades->ink, shades->faint,
		shades->frame, shades->faint, shades->use[WEFT_USE_BUSY],
		shades->cut);
	for (int u = 0; u < WEFT_N_USES; u++)
		fprintf(out, ".u%d{fill:%s}", u, shades->use[u]);
	fprintf(out, ".u0{stroke:%s;stroke-width:.6}", shades->faint);
	for (int h = 0; h < WEFT_N_HUES; h++)
		fprintf(out, ".h%d{fill:%s}", h, shades->hue[h]);
	for (int i = 0; i < SHADES; i++)
		fprintf(out, ".r%d{fill:%s}", i,
			weft_ramp(paper, i / (SHADES - 1.0), colour));
}

static void style(FILE *out)
{
	fputs("<style>text{font-family:system-ui,Helvetica,Arial,"
	      "sans-serif}.t{font-size:16px;font-weight:600}"
	      ".f{font-size:12px}.n{font-size:11px}.s{font-size:9px}.x{font-"
	      "size:8px}",
	      out);
	style_paper(out, WEFT_LIGHT);
	fputs("@media (prefers-color-scheme:dark){", out);
	style_paper(out, WEFT_DARK);
	fputs("}</style>\n", out);
}

/* A lone group is in the middle. */
static uint32_t shade_of(const struct weft_colouring *c, uint32_t group)
{
	if (c->n_groups < 2)
		return SHADES / 3;
	return (uint32_t)((uint64_t)group * (SHADES - 1) / (c->n_groups - 1));
}

void sheet_paint(const struct sheet *s, enum weft_use use, uint32_t group)
{
	const struct weft_colouring *c = s->scene->colourings;

	if (group == WEFT_NONE) {
		fprintf(s->out, "class=\"u%d\"", use);
		return;
	}
	c += s->scene->chosen;
	if (c->ordered)
		fprintf(s->out, "class=\"r%u\"", shade_of(c, group));
	else
		fprintf(s->out, "class=\"h%u\"", group % WEFT_N_HUES);
}

/* ---- above and below ---- */

/* On the next line where this one is full.  Without a file only the place that
 * it takes is found. */
static void swatch(const struct sheet *s, double *x, double *y,
		   enum weft_use use, uint32_t group, const char *text)
{
	double width = 22 + (double)strlen(text) * 12 * SHEET_LETTER + 12;

	if (*x > SHEET_MARGIN && *x + width > SHEET_WIDTH) {
		*x = SHEET_MARGIN;
		*y += LINE;
	}
	*x += width;
	if (!s->out)
		return;
	fprintf(s->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" "
		"rx=\"2\" "
		"stroke-width=\".6\" stroke=\"#808890\" ",
		*x - width, *y - 10);
	sheet_paint(s, use, group);
	fputs("/>", s->out);
	sheet_label(s, "f ink", *x - width + 17, *y, SHEET_WIDTH, 12, text);
}

/* Height of its last line. */
static double legend_groups(const struct sheet *s, double y)
{
	const struct weft_colouring *c =
		&s->scene->colourings[s->scene->chosen];
	uint32_t shown = c->ordered ? LEGEND_ITEMS : WEFT_N_HUES;
	double x = SHEET_MARGIN;
	char text[160];

	if (c->n_groups <= shown) {
		for (uint32_t g = 0; g < c->n_groups; g++)
			swatch(s, &x, &y, WEFT_USE_JOB, g,
			       weft_colouring_group(c, g, text, sizeof(text)));
		return y;
	}
	if (!c->ordered) {
		snprintf(text, sizeof(text),
			 "%u %ss; one colour each, used again after %d",
			 c->n_groups, c->noun, WEFT_N_HUES);
		for (uint32_t g = 0; g < WEFT_N_HUES; g++)
			swatch(s, &x, &y, WEFT_USE_JOB, g, "");
		if (s->out)
			sheet_label(s, "f ink", x, y, SHEET_WIDTH - x, 12,
				    text);
		return y;
	}
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t g = (uint32_t)((uint64_t)(c->n_groups - 1) * i / 4);

		swatch(s, &x, &y, WEFT_USE_JOB, g,
		       weft_colouring_group(c, g, text, sizeof(text)));
	}
	return y;
}

/* Height of the line below it. */
static double legend(const struct sheet *s, double y)
{
	struct weft_census census =
		weft_scene_count(s->scene, 0, s->scene->fabric->n_gpus);
	double x = SHEET_MARGIN;
	char text[64];

	for (int i = 0; i < WEFT_N_USES; i++) {
		int use = (i + WEFT_USE_JOB) % WEFT_N_USES;

		if (!census.n[use] ||
		    (use == WEFT_USE_JOB && s->scene->chosen != WEFT_NONE))
			continue;
		snprintf(text, sizeof(text), "%u GPUs %s", census.n[use],
			 weft_use_names[use]);
		swatch(s, &x, &y, (enum weft_use)use, WEFT_NONE, text);
	}
	if (s->scene->chosen == WEFT_NONE)
		return y + LINE;
	return legend_groups(s, y + LINE) + LINE;
}

void sheet_header(const struct sheet *s, const char *note)
{
	double y = SHEET_MARGIN + TITLE - 8;

	sheet_label(s, "t ink", SHEET_MARGIN, y, SHEET_WIDTH, 15,
		    s->scene->title);
	for (uint32_t i = 0; i < s->scene->n_facts; i++) {
		const struct weft_fact *fact = &s->scene->facts[i];
		char text[400];

		y += LINE;
		snprintf(text, sizeof(text), "%s: %s%s%s", fact->label,
			 fact->value, *fact->note ? "; " : "", fact->note);
		sheet_label(s, "f ink", SHEET_MARGIN, y, SHEET_WIDTH, 11.5,
			    text);
	}
	sheet_label(s, "n dim", SHEET_MARGIN, legend(s, y + LINE + 4),
		    SHEET_WIDTH, 11, note);
}

double sheet_header_height(const struct weft_scene *scene)
{
	const struct sheet unseen = {.scene = scene};
	double y = SHEET_MARGIN + TITLE - 8 + LINE * scene->n_facts + LINE + 4;

	return legend(&unseen, y) + LINE;
}

void sheet_open(const struct sheet *s, double height)
{
	fprintf(s->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<title>",
		SHEET_WIDTH + 2 * SHEET_MARGIN, height,
		SHEET_WIDTH + 2 * SHEET_MARGIN, height);
	sheet_escape(s->out, s->scene->title, SIZE_MAX);
	fputs("</title>\n", s->out);
	style(s->out);
	fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
	      s->out);
}
