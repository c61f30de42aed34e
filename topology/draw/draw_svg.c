/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_svg.c - the map of a scene as SVG, by fprintf */
#include "topology/draw/draw_parts.h"
#include "topology/draw/node.h"
#include "topology/draw/svg_sheet.h"

#include <ctype.h>
#include <string.h>

#define HEIGHT	  900.0
#define NOTE_SIZE 320

static void cell(const struct sheet *s, double x, double y, double w, double h,
		 uint32_t gpu)
{
	fprintf(s->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ",
		x, y, w, h);
	sheet_paint(s, s->scene->use[gpu], weft_scene_group(s->scene, gpu));
	fputs("/>\n", s->out);
}

/* ---- what hovering shows ---- */

static void gpu_title(const struct sheet *s, uint32_t gpu)
{
	const struct weft_scene *scene = s->scene;
	const struct weft_fabric *f = scene->fabric;
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	uint32_t group = weft_scene_group(scene, gpu);
	char text[160];

	sheet_escape(s->out, node->name, WEFT_NAME_SIZE);
	fprintf(s->out, " GPU %u: %s", weft_fabric_number(f, gpu),
		weft_use_names[scene->use[gpu]]);
	if (scene->rank && scene->rank[gpu] != WEFT_NONE)
		fprintf(s->out, ", rank %u", scene->rank[gpu]);
	if (group != WEFT_NONE) {
		fputs(", ", s->out);
		weft_colouring_group(&scene->colourings[scene->chosen], group,
				     text, sizeof(text));
		sheet_escape(s->out, text, sizeof(text));
	}
	if (scene->owner && scene->owner[gpu] != WEFT_NONE) {
		fputs(", job ", s->out);
		sheet_escape(s->out, scene->owners[scene->owner[gpu]], 64);
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

		sheet_escape(s->out, node->name, WEFT_NAME_SIZE);
		if (node->rack != WEFT_NONE) {
			fputs(" in rack ", s->out);
			sheet_escape(s->out, f->racks[node->rack],
				     WEFT_NAME_SIZE);
		}
	} else if (box->kind == WEFT_BOX_DOMAIN) {
		const struct weft_domain *d = &f->domains[box->index];

		fprintf(s->out, "%s ", f->levels[d->level].name);
		sheet_escape(s->out, d->name, WEFT_NAME_SIZE);
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
	sheet_paint(s, use, group);
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

/* As much of the short name as there is room for, from its end, where numbers
 * are. */
static void short_head(const struct sheet *s, const struct weft_box *box,
		       double y)
{
	const char *name = s->scene->fabric->domains[box->index].name;
	size_t n = weft_short_name(name);
	size_t room = (size_t)((box->w - 4) / (8 * SHEET_LETTER));
	char text[WEFT_NAME_SIZE];

	snprintf(text, sizeof(text), "%.*s", (int)n, name);
	sheet_label(s, "x dim", box->x + 3, y + 8, box->w, 8,
		    text + (n > room ? n - room : 0));
}

/* Capitals are wider than other letters. */
static double name_width(const char *name, double size)
{
	double width = 0;

	for (; *name; name++)
		width += size *
			 (isupper((unsigned char)*name) ? 0.72 : SHEET_LETTER);
	return width;
}

/* "leaf3  12 of the job, 4 free" over what is inside. */
static void domain_head(const struct sheet *s, const struct weft_box *box,
			double y)
{
	const struct weft_domain *d = &s->scene->fabric->domains[box->index];
	double width = name_width(d->name, 11);
	char text[64];

	if (box->is_short) {
		short_head(s, box, y);
		return;
	}
	sheet_label(s, "n ink", box->x + 5, y + 12, box->w - 8, 11, d->name);
	snprintf(text, sizeof(text), "%u GPUs", d->n_gpus);
	if (width + (double)strlen(text) * 6 + 16 < box->w)
		sheet_label(s, "s dim", box->x + 10 + width, y + 12,
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
		sheet_label(s, "s ink", box->x + s->layout->gap, y + 9,
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

/* What a box is and what is only there as a sum. */
static const char *scale_note(const struct sheet *s, char text[NOTE_SIZE])
{
	const struct weft_layout *l = s->layout;
	const struct weft_fabric *f = s->scene->fabric;
	size_t size = NOTE_SIZE;

	snprintf(text, size, "Each cell is a GPU.");
	if (l->finest == WEFT_BOX_NODE)
		snprintf(text, size,
			 "Each cell is a node, its GPUs are stripes in it.");
	else if (l->finest == WEFT_BOX_DOMAIN)
		snprintf(text, size,
			 "Each cell is a whole %s: %u nodes would be too small "
			 "to see, so stripes are shares of its GPUs.",
			 f->levels[l->finest_level].name, f->n_nodes);
	if (f->n_rails > 1)
		snprintf(text + strlen(text), size - strlen(text),
			 " %u rails: columns inside of a node, from left to "
			 "right.",
			 f->n_rails);
	if (f->n_racks)
		snprintf(text + strlen(text), size - strlen(text),
			 " A line under a node: its rack.");
	if (f->levels[f->node_level].n_domains < f->n_nodes)
		snprintf(text + strlen(text), size - strlen(text),
			 " Green frames are NVLink domains.");
	return text;
}

int draw_svg(const struct weft_scene *scene,
	     const struct weft_draw_options *options, FILE *out,
	     struct weft_error *err)
{
	struct weft_layout layout = {0};
	struct sheet s = {.scene = scene, .layout = &layout, .out = out};
	char note[NOTE_SIZE];

	(void)options;
	if (scene->inside)
		return node_svg(scene, true, out, err);
	if (weft_layout_build(scene->fabric, SHEET_WIDTH, HEIGHT, &layout,
			      err)) {
		weft_layout_free(&layout);
		return -1;
	}
	s.top = sheet_header_height(scene);
	sheet_open(&s, s.top + layout.height + SHEET_MARGIN);
	sheet_header(&s, scale_note(&s, note));
	fprintf(out, "<g transform=\"translate(%.0f 0)\">\n", SHEET_MARGIN);
	map_draw(&s);
	fputs("</g>\n</svg>\n", out);
	weft_layout_free(&layout);
	return 0;
}
