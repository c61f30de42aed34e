/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_svg.c - what is inside a node as SVG, from NVLink down to the switches:
 * bars of NVLink over the GPUs that it joins, the node's ports under them, and
 * cables from these to the switches outside
 */
#include "topology/draw/node.h"
#include "topology/draw/svg_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_GPUS 16 /* side by side at most */
#define GPU_MAX	 140.0
#define GPU_H	 58.0
#define BAR_H	 20.0
#define BOX_H	 36.0 /* of a port, of a switch */
#define GAP	 8.0
#define PAD	 12.0
#define CABLES_H 46.0
#define HEAD	 26.0
#define LINE	 18.0

struct picture {
	struct sheet sheet;
	const struct weft_node *node;
	struct weft_node_links links;
	uint32_t *to; /* [links.n] number of its switch, from 0 */
	uint32_t n_to, n_ports, n_bars, columns, rows;
	double gpu_w, width; /* of the node's box */
	double gpus_y, ports_y, out_y, levels_y;
};

static double gpu_x(const struct picture *p, uint32_t k)
{
	return SHEET_MARGIN + PAD + (k % p->columns) * (p->gpu_w + GAP);
}

static double gpu_y(const struct picture *p, uint32_t k)
{
	return p->gpus_y + k / p->columns * (GPU_H + BAR_H + 2 * GAP);
}

/* Middle and width of the i-th of n boxes side by side in the node's width. */
static double slot(const struct picture *p, uint32_t i, uint32_t n, double *w)
{
	double each = (p->width - 2 * PAD + GAP) / n;

	*w = fmin(each - GAP, 170);
	return SHEET_MARGIN + PAD + (i + 0.5) * each - GAP / 2;
}

/* ---- measures ---- */

/* Numbers the switches as the links first name them. */
static void switches_number(struct picture *p)
{
	for (uint32_t i = 0; i < p->links.n; i++) {
		const struct weft_node_link *link = &p->links.links[i];
		uint32_t k = 0;

		/* without cables the domain is no switch: each rail has its */
		while (k < i && (!link->n ||
				 strcmp(p->links.links[k].to, link->to) != 0))
			k++;
		p->to[i] = k < i ? p->to[k] : p->n_to++;
		p->n_ports += link->n > 0;
	}
}

static void measure(struct picture *p, double top)
{
	const struct weft_fabric *f = p->sheet.scene->fabric;
	uint32_t n = p->node->n_gpus;
	double room = SHEET_WIDTH - 2 * PAD + GAP;

	p->columns = n < ROW_GPUS ? n : ROW_GPUS;
	p->rows = (n + p->columns - 1) / p->columns;
	p->gpu_w = fmin(GPU_MAX, room / p->columns - GAP);
	p->width = fmax(p->columns * (p->gpu_w + GAP) - GAP,
			fmin(room, fmax(p->n_ports, p->n_to) * 90.0)) +
		   2 * PAD;
	p->n_bars = f->node_level > 0;
	p->gpus_y = top + HEAD + p->n_bars * (BAR_H + GAP) + BAR_H + GAP;
	p->ports_y = gpu_y(p, n - 1) + GPU_H + 2 * GAP;
	p->out_y = p->ports_y + (p->n_ports ? BOX_H + PAD : 0) + CABLES_H;
	p->levels_y = p->out_y + (p->n_to ? BOX_H + 2 * LINE : LINE);
}

/* ---- parts ---- */

static void frame(const struct picture *p, const char *class, double x,
		  double y, double w, double h)
{
	fprintf(p->sheet.out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\" rx=\"4\"/>\n",
		class, x, y, w, h);
}

static void line(const struct picture *p, bool up, double x1, double y1,
		 double x2, double y2)
{
	fprintf(p->sheet.out,
		"<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
		up ? "wire" : "cut", x1, y1, x2, y2);
}

static void two_lines(const struct picture *p, double x, double y, double w,
		      const char *first, const char *second)
{
	sheet_label(&p->sheet, "n ink", x + 5, y + 15, w - 8, 11, first);
	sheet_label(&p->sheet, "s dim", x + 5, y + 28, w - 8, 9, second);
}

/* NVLink over the GPUs of a row that are in one domain. */
static void nvlink_draw(const struct picture *p)
{
	const struct weft_fabric *f = p->sheet.scene->fabric;
	uint32_t k = 0;
	char text[NODE_TEXT_SIZE];

	while (k < p->node->n_gpus) {
		const struct weft_domain *d =
			node_nvlink(f, p->node->first_gpu + k);
		double x = gpu_x(p, k), y = gpu_y(p, k) - BAR_H - GAP;
		uint32_t first = k++;

		while (k < p->node->n_gpus && k % p->columns &&
		       d == node_nvlink(f, p->node->first_gpu + k))
			k++;
		if (!d)
			continue;
		frame(p, "nvl", x, y, gpu_x(p, k - 1) + p->gpu_w - x, BAR_H);
		sheet_label(&p->sheet, "n ink", x + 6, y + 14,
			    gpu_x(p, k - 1) + p->gpu_w - x - 8, 11,
			    node_nvlink_text(f, d, text));
		for (uint32_t g = first; g < k; g++)
			fprintf(p->sheet.out,
				"<path class=\"nvl\" d=\"M%.1f %.1fv%.1f\"/>\n",
				gpu_x(p, g) + p->gpu_w / 2, y + BAR_H, GAP);
	}
}

/* What joins the NVLink domains of one node. */
static void inner_draw(const struct picture *p)
{
	const struct weft_scene *scene = p->sheet.scene;
	double y = gpu_y(p, 0) - 2 * (BAR_H + GAP);
	char text[NODE_TEXT_SIZE];

	if (!p->n_bars)
		return;
	frame(p, "dom", SHEET_MARGIN + PAD, y, p->width - 2 * PAD, BAR_H);
	sheet_label(&p->sheet, "n ink", SHEET_MARGIN + PAD + 6, y + 14,
		    p->width - 2 * PAD, 11,
		    node_level_text(scene, scene->fabric->node_level, text));
}

static void gpu_draw(const struct picture *p, uint32_t k)
{
	const struct weft_scene *scene = p->sheet.scene;
	const struct weft_fabric *f = scene->fabric;
	uint32_t gpu = p->node->first_gpu + k;
	double x = gpu_x(p, k), y = gpu_y(p, k);
	uint32_t number = weft_fabric_number(f, gpu);
	char name[32], text[NODE_TEXT_SIZE], *comma;

	snprintf(name, sizeof(name), "GPU %u", number);
	if (f->n_rails > 1)
		snprintf(name, sizeof(name), "GPU %u, rail %u", number,
			 weft_fabric_rail(f, gpu));
	node_gpu_text(scene, gpu, text);
	comma = strstr(text, ", ");
	fprintf(p->sheet.out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" ", x,
		y, p->gpu_w);
	sheet_paint(&p->sheet, scene->use[gpu], weft_scene_group(scene, gpu));
	fputs("/>", p->sheet.out);
	frame(p, "dom", x, y, p->gpu_w, GPU_H);
	if (comma)
		*comma = '\0';
	two_lines(p, x, y + 11, p->gpu_w, name, text);
	if (comma)
		sheet_label(&p->sheet, "s dim", x + 5, y + 52, p->gpu_w - 8, 9,
			    comma + 2);
}

/* From the GPUs that a port serves, or where no port is known from all that
 * share the link, to (x, y). */
static void gpus_join(const struct picture *p,
		      const struct weft_node_link *link, double x, double y)
{
	const struct weft_fabric *f = p->sheet.scene->fabric;
	uint32_t node = (uint32_t)(p->node - f->nodes);

	for (uint32_t i = 0; i < link->n_gpus && p->rows == 1; i++) {
		uint32_t k =
			weft_fabric_numbered(f, node, link->first_gpu + i) -
			p->node->first_gpu;

		line(p, link->n || link->up, gpu_x(p, k) + p->gpu_w / 2,
		     gpu_y(p, k) + GPU_H, x, y);
	}
}

/* A port, its lines up to its GPUs and its cable down to its switch. */
static void link_draw(const struct picture *p, uint32_t i, uint32_t column)
{
	const struct weft_node_link *link = &p->links.links[i];
	double w, to = slot(p, p->to[i], p->n_to, &w), x;
	char rate[WEFT_LINK_TEXT_SIZE], text[WEFT_LINK_TEXT_SIZE + 32];

	if (!link->n) {
		gpus_join(p, link, to, p->out_y);
		return;
	}
	x = slot(p, column, p->n_ports, &w);
	gpus_join(p, link, x, p->ports_y);
	line(p, link->up, x, p->ports_y + BOX_H, to, p->out_y);
	frame(p, "dom", x - w / 2, p->ports_y, w, BOX_H);
	snprintf(text, sizeof(text), "%s%s", weft_node_link_text(link, rate),
		 link->up ? "" : " down");
	two_lines(p, x - w / 2, p->ports_y, w, link->port ? link->port : "port",
		  text);
}

static void links_draw(const struct picture *p)
{
	uint32_t column = 0;

	for (uint32_t i = 0; i < p->links.n; i++) {
		link_draw(p, i, column);
		column += p->links.links[i].n > 0;
	}
}

static void switches_draw(const struct picture *p)
{
	for (uint32_t i = 0, done = 0; i < p->links.n; i++) {
		const struct weft_node_link *link = &p->links.links[i];
		double w, x;
		char text[32] = "";

		if (p->to[i] != done)
			continue;
		x = slot(p, done++, p->n_to, &w) - w / 2;
		if (link->network)
			snprintf(text, sizeof(text), "%.31s", link->network);
		else if (link->rail != WEFT_NONE)
			snprintf(text, sizeof(text), "rail %u", link->rail);
		frame(p, "dom", x, p->out_y, w, BOX_H);
		two_lines(p, x, p->out_y, w, link->to, text);
	}
}

static void levels_draw(const struct picture *p)
{
	const struct weft_scene *scene = p->sheet.scene;
	double y = p->levels_y;
	char text[NODE_TEXT_SIZE];

	for (uint32_t l = scene->fabric->node_level + 1;
	     l < scene->fabric->n_levels; l++, y += LINE)
		sheet_label(&p->sheet, "f ink", SHEET_MARGIN, y, SHEET_WIDTH,
			    11.5, node_level_text(scene, l, text));
}

static void picture_draw(const struct picture *p)
{
	const struct weft_scene *scene = p->sheet.scene;
	double bottom = p->n_ports
				? p->ports_y + BOX_H + PAD
				: gpu_y(p, p->node->n_gpus - 1) + GPU_H + PAD;
	char text[NODE_TEXT_SIZE];

	frame(p, "dom", SHEET_MARGIN, p->sheet.top, p->width,
	      bottom - p->sheet.top);
	sheet_label(&p->sheet, "f ink", SHEET_MARGIN + PAD, p->sheet.top + 17,
		    p->width, 12, node_name_text(scene, text));
	inner_draw(p);
	nvlink_draw(p);
	for (uint32_t k = 0; k < p->node->n_gpus; k++)
		gpu_draw(p, k);
	links_draw(p);
	switches_draw(p);
	levels_draw(p);
}

int node_svg(const struct weft_scene *scene, bool header, FILE *out,
	     struct weft_error *err)
{
	struct picture p = {
		.sheet = {.scene = scene, .out = out, .top = SHEET_MARGIN},
		.node = scene->inside,
	};
	const struct weft_fabric *f = scene->fabric;
	int rc = weft_node_links(f, scene->inside, &p.links, err);

	if (rc == 0)
		p.to = weft_calloc((size_t)p.links.n + 1, sizeof(*p.to), err);
	if (p.to) {
		if (header)
			p.sheet.top = sheet_header_height(scene);
		switches_number(&p);
		measure(&p, p.sheet.top);
		sheet_open(&p.sheet,
			   p.levels_y + LINE * (f->n_levels - f->node_level));
		if (header)
			sheet_header(&p.sheet,
				     "NVLink above, ports and cables below; "
				     "dashed: a cable that is down.");
		picture_draw(&p);
		fputs("</svg>\n", out);
	}
	free(p.links.links);
	rc = p.to ? 0 : -1;
	free(p.to);
	return rc;
}
