/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_svg.c - a scene as SVG, by fprintf
 *
 * Colours are classes, and a style sheet inside the file gives them for light
 * and for dark paper; viewers that know no style sheets' media show the light.
 */
#include "topology/draw/draw_parts.h"
#include "topology/draw/layout.h"
#include "topology/draw/palette.h"

#include <math.h>
#include <string.h>

#define WIDTH	     1200.0
#define HEIGHT	     900.0
#define MARGIN	     16.0
#define TITLE	     24.0
#define LINE	     18.0 /* of facts and legend */
#define LETTER	     0.58 /* mean width of a letter over its height */
#define SHADES	     32	  /* of what has an order */
#define LEGEND_ITEMS 64	  /* groups named; of more, five */

struct sheet {
	const struct weft_scene *scene;
	const struct weft_layout *layout;
	FILE *out;
	double top; /* of the map */
};

static void text_escape(FILE *out, const char *text, size_t length)
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

/* A line of text no wider than `width`; what does not fit is left out, with an
 * ellipsis where that leaves anything to read. */
static void label(const struct sheet *s, const char *class, double x, double y,
		  double width, double size, const char *text)
{
	size_t room = (size_t)fmax(0, width / (size * LETTER));
	size_t length = strlen(text);
	bool cut = length > room;

	if (room < 2)
		return;
	/* not in the middle of a letter of several bytes */
	while (cut && room > 2 && (text[room - 1] & 0xc0) == 0x80)
		room--;
	fprintf(s->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x,
		y);
	text_escape(s->out, text, cut ? room - 1 : length);
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
		"stroke-width:1.6}.edge{stroke:%s;fill:none}",
		shades->paper, shades->ink, shades->ink, shades->faint,
		shades->frame, shades->faint);
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
	      ".f{font-size:12px}.n{font-size:11px}.s{font-size:9px}",
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

/* The attribute that fills a cell in the colour of a group, or of a use. */
static void paint_write(const struct sheet *s, enum weft_use use,
			uint32_t group)
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

static void cell(const struct sheet *s, double x, double y, double w, double h,
		 uint32_t gpu)
{
	fprintf(s->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ",
		x, y, w, h);
	paint_write(s, s->scene->use[gpu], weft_scene_group(s->scene, gpu));
	fputs("/>\n", s->out);
}

/* ---- what hovering tells ---- */

static void gpu_title(const struct sheet *s, uint32_t gpu)
{
	const struct weft_scene *scene = s->scene;
	const struct weft_fabric *f = scene->fabric;
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	uint32_t group = weft_scene_group(scene, gpu);
	char text[160];

	text_escape(s->out, node->name, WEFT_NAME_SIZE);
	fprintf(s->out, " GPU %u: %s", gpu - node->first_gpu,
		weft_use_names[scene->use[gpu]]);
	if (scene->rank && scene->rank[gpu] != WEFT_NONE)
		fprintf(s->out, ", rank %u", scene->rank[gpu]);
	if (group != WEFT_NONE) {
		fputs(", ", s->out);
		weft_colouring_group(&scene->colourings[scene->chosen], group,
				     text, sizeof(text));
		text_escape(s->out, text, sizeof(text));
	}
	if (scene->owner && scene->owner[gpu] != WEFT_NONE) {
		fputs(", job ", s->out);
		text_escape(s->out, scene->owners[scene->owner[gpu]], 64);
	}
	if (f->n_rails > 1)
		fprintf(s->out, ", rail %u", weft_fabric_rail(f, gpu));
}

static void box_title(const struct sheet *s, const struct weft_box *box)
{
	const struct weft_fabric *f = s->scene->fabric;
	struct weft_census census =
		weft_scene_count(s->scene, box->first_gpu, box->n_gpus);

	fputs("<title>", s->out);
	if (box->kind == WEFT_BOX_GPU) {
		gpu_title(s, box->index);
	} else if (box->kind == WEFT_BOX_NODE) {
		const struct weft_node *node = &f->nodes[box->index];

		text_escape(s->out, node->name, WEFT_NAME_SIZE);
		if (node->rack != WEFT_NONE) {
			fputs(" in rack ", s->out);
			text_escape(s->out, f->racks[node->rack],
				    WEFT_NAME_SIZE);
		}
	} else if (box->kind == WEFT_BOX_DOMAIN) {
		const struct weft_domain *d = &f->domains[box->index];

		fprintf(s->out, "%s ", f->levels[d->level].name);
		text_escape(s->out, d->name, WEFT_NAME_SIZE);
		fprintf(s->out, ", %u nodes", d->n_nodes);
	}
	if (box->kind != WEFT_BOX_GPU) {
		fprintf(s->out, ", %u GPUs: ", box->n_gpus);
		draw_census(s->out, &census);
	}
	fputs("</title>\n", s->out);
}

/* ---- the map ---- */

/* A node in one box: its GPUs as stripes, in order, neighbours alike as one. */
static void node_stripes(const struct sheet *s, const struct weft_box *box,
			 double y)
{
	double each = box->w / box->n_gpus;
	uint32_t k = 0;

	while (k < box->n_gpus) {
		uint32_t first = k++;

		while (k < box->n_gpus &&
		       weft_scene_alike(s->scene, box->first_gpu + first,
					box->first_gpu + k))
			k++;
		cell(s, box->x + first * each, y, (k - first) * each, box->h,
		     box->first_gpu + first);
	}
}

static void share(const struct sheet *s, const struct weft_box *box, double *x,
		  double y, uint32_t n, enum weft_use use, uint32_t group)
{
	double w = box->w * n / box->n_gpus;

	if (!n)
		return;
	fprintf(s->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" "
		"height=\"%.1f\" ",
		*x, y, w, box->h);
	paint_write(s, use, group);
	fputs("/>\n", s->out);
	*x += w;
}

/* Many nodes in one box: shares by use, the job first; of a few groups each by
 * itself. */
static void share_stripes(const struct sheet *s, const struct weft_box *box,
			  double y)
{
	struct weft_census census =
		weft_scene_count(s->scene, box->first_gpu, box->n_gpus);
	struct weft_tally tally;
	double x = box->x;

	weft_scene_tally(s->scene, box->first_gpu, box->n_gpus, &tally);
	if (tally.n)
		census.n[WEFT_USE_JOB] = 0;
	for (uint32_t i = 0; i < tally.n; i++)
		share(s, box, &x, y, tally.count[i], WEFT_USE_JOB,
		      tally.group[i]);
	for (int i = 0; i < WEFT_N_USES; i++) {
		int use = (i + WEFT_USE_JOB) % WEFT_N_USES;

		share(s, box, &x, y, census.n[use], (enum weft_use)use,
		      WEFT_NONE);
	}
}

/* "leaf3  12 of the job, 4 free" over what is inside. */
static void domain_head(const struct sheet *s, const struct weft_box *box,
			double y)
{
	const struct weft_domain *d = &s->scene->fabric->domains[box->index];
	double width = (double)strlen(d->name) * 11 * LETTER;
	char text[64];

	label(s, "n ink", box->x + 5, y + 12, box->w - 8, 11, d->name);
	snprintf(text, sizeof(text), "%u GPUs", d->n_gpus);
	if (width + (double)strlen(text) * 6 + 16 < box->w)
		label(s, "s dim", box->x + 10 + width, y + 12,
		      box->w - width - 12, 9, text);
}

/* Rails as marks over the columns of GPUs that they join, over each stack of
 * nodes. */
static void rail_marks(const struct sheet *s, const struct weft_box *box,
		       const struct weft_box *parent)
{
	const struct weft_fabric *f = s->scene->fabric;

	if (f->n_rails < 2 || s->layout->finest != WEFT_BOX_GPU ||
	    box->y > parent->y + parent->head + 8)
		return;
	for (uint32_t k = 0; k < box->n_gpus; k++) {
		const struct weft_box *gpu = box + 1 + k;

		if (gpu >= s->layout->boxes + s->layout->n ||
		    gpu->kind != WEFT_BOX_GPU)
			return;
		fprintf(s->out, "<path class=\"edge\" d=\"M%.1f %.1fv-3\"/>\n",
			gpu->x + gpu->w / 2, box->y + s->top);
	}
}

static void rack_line(const struct sheet *s, const struct weft_box *box,
		      double y)
{
	const struct weft_fabric *f = s->scene->fabric;
	uint32_t rack = f->nodes[box->index].rack;

	if (rack == WEFT_NONE || box->w < 10)
		return;
	fprintf(s->out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"1.5\"/>\n",
		rack % 2 ? "u2" : "u1", box->x, y + box->h + 0.3, box->w);
}

static void frame_draw(const struct sheet *s, const struct weft_box *box,
		       double y)
{
	const struct weft_fabric *f = s->scene->fabric;
	uint32_t level = box->kind == WEFT_BOX_DOMAIN
				 ? f->domains[box->index].level
				 : WEFT_NONE;

	fprintf(s->out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\" rx=\"%d\">",
		level <= f->node_level ? "nvl" : "dom", box->x, y, box->w,
		box->h, box->kind == WEFT_BOX_NODE ? 2 : 4);
	box_title(s, box);
	fputs("</rect>\n", s->out);
}

static void box_open(const struct sheet *s, const struct weft_box *box)
{
	double y = box->y + s->top;

	if (box->kind == WEFT_BOX_FABRIC)
		return;
	frame_draw(s, box, y);
	if (box->kind == WEFT_BOX_NODE) {
		rack_line(s, box, y);
		rail_marks(s, box, &s->layout->boxes[box->parent]);
	}
	if (!(box->head > 0))
		return;
	if (box->kind == WEFT_BOX_NODE)
		label(s, "s ink", box->x + s->layout->gap, y + 9,
		      box->w - s->layout->gap, 9,
		      s->scene->fabric->nodes[box->index].name);
	else
		domain_head(s, box, y);
}

static void box_whole(const struct sheet *s, const struct weft_box *box)
{
	double y = box->y + s->top;

	fputs("<g>", s->out);
	box_title(s, box);
	if (box->kind == WEFT_BOX_DOMAIN)
		share_stripes(s, box, y);
	else
		node_stripes(s, box, y);
	if (box->kind == WEFT_BOX_NODE)
		rack_line(s, box, y);
	fputs("</g>\n", s->out);
}

static void map_draw(const struct sheet *s)
{
	fputs("<g shape-rendering=\"geometricPrecision\">\n", s->out);
	for (uint32_t i = 0; i < s->layout->n; i++) {
		const struct weft_box *box = &s->layout->boxes[i];

		if (box->whole)
			box_whole(s, box);
		else
			box_open(s, box);
	}
	fputs("</g>\n", s->out);
}

/* ---- above and below ---- */

/* On the next line where this one is full.  Without a file only the place that
 * it takes is found. */
static void swatch(const struct sheet *s, double *x, double *y,
		   enum weft_use use, uint32_t group, const char *text)
{
	double width = 22 + (double)strlen(text) * 12 * LETTER + 12;

	if (*x > MARGIN && *x + width > WIDTH) {
		*x = MARGIN;
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
	paint_write(s, use, group);
	fputs("/>", s->out);
	label(s, "f ink", *x - width + 17, *y, WIDTH, 12, text);
}

/* Height of its last line. */
static double legend_groups(const struct sheet *s, double y)
{
	const struct weft_colouring *c =
		&s->scene->colourings[s->scene->chosen];
	uint32_t shown = c->ordered ? LEGEND_ITEMS : WEFT_N_HUES;
	double x = MARGIN;
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
			label(s, "f ink", x, y, WIDTH - x, 12, text);
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
	double x = MARGIN;
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

/* What a box is and what is only there as a sum. */
static void scale_note(const struct sheet *s, double y)
{
	const struct weft_layout *l = s->layout;
	const struct weft_fabric *f = s->scene->fabric;
	char text[320] = "Each cell is a GPU.";

	if (l->finest == WEFT_BOX_NODE)
		snprintf(text, sizeof(text),
			 "Each cell is a node, its GPUs are stripes in it.");
	else if (l->finest == WEFT_BOX_DOMAIN)
		snprintf(text, sizeof(text),
			 "Each cell is a whole %s: %u nodes would be too small "
			 "to see, so stripes are shares of its GPUs.",
			 f->levels[l->finest_level].name, f->n_nodes);
	if (f->n_rails > 1)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " %u rails: columns inside of a node, from left to "
			 "right.",
			 f->n_rails);
	if (f->n_racks)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " A line under a node: its rack.");
	if (f->levels[f->node_level].n_domains < f->n_nodes)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " Green frames are NVLink domains.");
	label(s, "n dim", MARGIN, y, WIDTH, 11, text);
}

static void header(const struct sheet *s)
{
	double y = MARGIN + TITLE - 8;

	label(s, "t ink", MARGIN, y, WIDTH, 15, s->scene->title);
	for (uint32_t i = 0; i < s->scene->n_facts; i++) {
		const struct weft_fact *fact = &s->scene->facts[i];
		char text[400];

		y += LINE;
		snprintf(text, sizeof(text), "%s: %s%s%s", fact->label,
			 fact->value, *fact->note ? "; " : "", fact->note);
		label(s, "f ink", MARGIN, y, WIDTH, 11.5, text);
	}
	scale_note(s, legend(s, y + LINE + 4));
}

/* Of what header() writes: the map begins below it, and the picture's size,
 * which is the first thing written, is that of both. */
static double header_height(const struct weft_scene *scene)
{
	const struct sheet unseen = {.scene = scene};
	double y = MARGIN + TITLE - 8 + LINE * scene->n_facts + LINE + 4;

	return legend(&unseen, y) + LINE;
}

static void sheet_open(const struct sheet *s, double height)
{
	fprintf(s->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<title>",
		WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height);
	text_escape(s->out, s->scene->title, SIZE_MAX);
	fputs("</title>\n", s->out);
	style(s->out);
	fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
	      s->out);
}

int draw_svg(const struct weft_scene *scene,
	     const struct weft_draw_options *options, FILE *out,
	     struct weft_error *err)
{
	struct weft_layout layout = {0};
	struct sheet s = {.scene = scene, .layout = &layout, .out = out};

	(void)options;
	if (weft_layout_build(scene->fabric, WIDTH, HEIGHT, &layout, err)) {
		weft_layout_free(&layout);
		return -1;
	}
	s.top = header_height(scene);
	sheet_open(&s, s.top + layout.height + MARGIN);
	header(&s);
	fprintf(out, "<g transform=\"translate(%.0f 0)\">\n", MARGIN);
	map_draw(&s);
	fputs("</g>\n</svg>\n", out);
	weft_layout_free(&layout);
	return 0;
}
