/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_text.c - a scene for the terminal: a letter a GPU, or a node, or a bar
 * for each domain, whichever still fits on a page or two
 */
#include "topology/draw/draw_parts.h"
#include "topology/draw/layout.h"
#include "topology/draw/node.h"
#include "topology/draw/palette.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a map that people still scroll through. */
#define MAX_LINES	 90
#define MAX_BAR		 32
#define NAME_MAX_COLUMNS 28
#define LEGEND_GROUPS	 8

enum grain { GRAIN_GPU, GRAIN_NODE, GRAIN_DOMAIN };

struct page {
	const struct weft_scene *scene;
	FILE *out;
	uint32_t columns;
	bool colour, plain;
	enum grain grain;
	uint32_t level;	  /* of the lines, with GRAIN_DOMAIN */
	uint32_t name_w;  /* columns of a node's name */
	uint32_t inner_w; /* columns of the name of a line's domain */
	char *last;	  /* the line before, without its name */
	uint32_t n_alike; /* lines like it since */
	const char *last_name;
	uint32_t last_indent;
	uint32_t key_at; /* column of the legend */
};

/* ---- colour ---- */

/* The nearest of a terminal's 256 colours. */
static unsigned int terminal_colour(const char *hex)
{
	unsigned long rgb = strtoul(hex + 1, NULL, 16);
	unsigned int code = 16, weight = 36;

	for (int shift = 16; shift >= 0; shift -= 8, weight /= 6)
		code += weight *
			(unsigned int)(((rgb >> shift & 0xff) * 5 + 127) / 255);
	return code;
}

/* Dark letters on light colours. */
static bool is_light(const char *hex)
{
	unsigned long rgb = strtoul(hex + 1, NULL, 16);

	return (rgb >> 16) * 299 + (rgb >> 8 & 0xff) * 587 +
		       (rgb & 0xff) * 114 >
	       128000;
}

static void paint(const struct page *p, enum weft_use use, uint32_t group,
		  const char *text)
{
	char colour[WEFT_COLOUR_SIZE];

	if (!p->colour || use == WEFT_USE_FREE) {
		fputs(text, p->out);
		return;
	}
	if (group != WEFT_NONE)
		weft_group_colour(&p->scene->colourings[p->scene->chosen],
				  group, WEFT_DARK, colour);
	else
		snprintf(colour, sizeof(colour), "%s",
			 weft_shades[WEFT_DARK].use[use]);
	fprintf(p->out, "\033[%d;48;5;%um%s\033[0m", is_light(colour) ? 30 : 97,
		terminal_colour(colour), text);
}

/* ---- one sign for a GPU, or for a node ---- */

static const char *free_sign(const struct page *p)
{
	return p->plain ? "." : "\302\267";
}

static const char *use_sign(const struct page *p, enum weft_use use)
{
	static const char *const signs[WEFT_N_USES] = {
		[WEFT_USE_BUSY] = "#",
		[WEFT_USE_CLOSED] = "x",
		[WEFT_USE_JOB] = "@",
	};

	return use == WEFT_USE_FREE ? free_sign(p) : signs[use];
}

static void sign_gpu(const struct page *p, uint32_t gpu)
{
	uint32_t group = weft_scene_group(p->scene, gpu);
	enum weft_use use = (enum weft_use)p->scene->use[gpu];
	char letter[2] = {0};

	if (group == WEFT_NONE) {
		paint(p, use, group, use_sign(p, use));
		return;
	}
	letter[0] = draw_letter(group);
	paint(p, use, group, letter);
}

static void sign_node(const struct page *p, uint32_t index)
{
	const struct weft_node *node = &p->scene->fabric->nodes[index];
	struct weft_census census =
		weft_scene_count(p->scene, node->first_gpu, node->n_gpus);
	bool alike = true;

	for (uint32_t k = 1; k < node->n_gpus && alike; k++)
		alike = weft_scene_alike(p->scene, node->first_gpu,
					 node->first_gpu + k);
	if (alike)
		sign_gpu(p, node->first_gpu);
	else if (census.n[WEFT_USE_JOB])
		paint(p, WEFT_USE_JOB, WEFT_NONE, "+");
	else
		paint(p, WEFT_USE_BUSY, WEFT_NONE, "%");
}

/* Shares by use, the job first; every use that is there has a column. */
static void bar(const struct page *p, const struct weft_domain *d,
		uint32_t width)
{
	struct weft_census census =
		weft_scene_count(p->scene, d->first_gpu, d->n_gpus);
	uint64_t sum = 0;
	uint32_t done = 0;

	for (int i = 0; i < WEFT_N_USES; i++) {
		int use = (i + WEFT_USE_JOB) % WEFT_N_USES;
		uint32_t to;

		sum += census.n[use];
		to = (uint32_t)((sum * width + d->n_gpus / 2) / d->n_gpus);
		if (census.n[use] && to == done && done < width)
			to++;
		for (; done < to; done++)
			paint(p, (enum weft_use)use, WEFT_NONE,
			      use_sign(p, (enum weft_use)use));
	}
}

/* ---- lines, alike ones shown once ---- */

static void alike_flush(struct page *p)
{
	if (p->n_alike == 1)
		fprintf(p->out, "%*s%.*s  the same\n", (int)p->last_indent, "",
			NAME_MAX_COLUMNS, p->last_name);
	else if (p->n_alike > 1)
		fprintf(p->out, "%*s... %u more, to %.*s, the same\n",
			(int)p->last_indent, "", p->n_alike, NAME_MAX_COLUMNS,
			p->last_name);
	p->n_alike = 0;
	free(p->last);
	p->last = NULL;
}

static void name_print(FILE *out, const char *name, uint32_t width)
{
	size_t length = strlen(name);

	if (length <= width)
		fprintf(out, "%-*s", (int)width, name);
	else
		fprintf(out, "%.*s~", (int)width - 1, name);
}

/* What a line shows of a domain behind its name. */
static void line_body(const struct page *p, const struct weft_domain *d,
		      uint32_t room)
{
	struct weft_census census =
		weft_scene_count(p->scene, d->first_gpu, d->n_gpus);

	if (p->grain == GRAIN_DOMAIN) {
		bar(p, d, room < MAX_BAR + 32 ? 16 : MAX_BAR);
	} else {
		for (uint32_t i = 0; i < d->n_nodes; i++) {
			if (i && i % (room > 8 ? room : 8) == 0)
				fprintf(p->out, "\n%*s",
					(int)(p->columns - room), "");
			sign_node(p, d->first_node + i);
		}
	}
	if (p->grain == GRAIN_DOMAIN) {
		fputs("  ", p->out);
		draw_census(p->out, &census);
	}
}

static int line_domain(struct page *p, const struct weft_domain *d,
		       uint32_t indent, struct weft_error *err)
{
	FILE *out = p->out;
	char *body = NULL;
	size_t size;
	uint32_t before = indent + p->inner_w + 2;
	FILE *text = open_memstream(&body, &size);

	if (!text)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	p->out = text;
	line_body(p, d, p->columns > before ? p->columns - before : 8);
	p->out = out;
	if (fclose(text)) {
		free(body);
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	}
	if (p->last && strcmp(p->last, body) == 0) {
		p->n_alike++;
		p->last_name = d->name;
		free(body);
		return 0;
	}
	alike_flush(p);
	fprintf(out, "%*s", (int)indent, "");
	name_print(out, d->name, p->inner_w);
	fprintf(out, "  %s\n", body);
	p->last = body;
	p->last_name = d->name;
	p->last_indent = indent;
	return 0;
}

/* Nodes in a row, each with its name and `gpus` signs: as many as fit, all rows
 * alike. */
static uint32_t row_of(const struct page *p, uint32_t n, uint32_t gpus,
		       uint32_t indent)
{
	uint32_t width = p->name_w + 1 + gpus + 2;
	uint32_t room = p->columns > indent ? p->columns - indent + 2 : 0;
	uint32_t most = room / width ? room / width : 1;
	uint32_t rows = (n + most - 1) / most;

	return rows ? (n + rows - 1) / rows : 1;
}

static void nodes_print(struct page *p, struct weft_inside nodes,
			uint32_t indent)
{
	const struct weft_fabric *f = p->scene->fabric;
	uint32_t gpus = 0, row;

	for (uint32_t i = 0; i < nodes.n; i++)
		if (f->nodes[nodes.first + i].n_gpus > gpus)
			gpus = f->nodes[nodes.first + i].n_gpus;
	row = row_of(p, nodes.n, gpus, indent);
	for (uint32_t i = 0; i < nodes.n; i++) {
		const struct weft_node *node = &f->nodes[nodes.first + i];
		bool last = (i + 1) % row == 0 || i + 1 == nodes.n;

		if (i % row == 0)
			fprintf(p->out, "%*s", (int)indent, "");
		name_print(p->out, node->name, p->name_w);
		fputc(' ', p->out);
		for (uint32_t k = 0; k < node->n_gpus; k++)
			sign_gpu(p, node->first_gpu + k);
		if (last)
			fputc('\n', p->out);
		else
			fprintf(p->out, "%*s", (int)(gpus - node->n_gpus + 2),
				"");
	}
}

static void head_print(struct page *p, const struct weft_domain *d,
		       uint32_t indent)
{
	struct weft_census census =
		weft_scene_count(p->scene, d->first_gpu, d->n_gpus);

	alike_flush(p);
	fprintf(p->out, "%*s%s  %u GPUs: ", (int)indent, "", d->name,
		d->n_gpus);
	draw_census(p->out, &census);
	fputc('\n', p->out);
}

static int inside_print(struct page *p, struct weft_inside inside,
			uint32_t indent, struct weft_error *err);

static int domain_print(struct page *p, uint32_t index, uint32_t indent,
			struct weft_error *err)
{
	const struct weft_fabric *f = p->scene->fabric;
	const struct weft_domain *d = &f->domains[index];
	struct weft_inside inside = weft_inside_of(f, WEFT_BOX_DOMAIN, index);

	if (p->grain == GRAIN_DOMAIN
		    ? d->level <= p->level
		    : p->grain == GRAIN_NODE && inside.kind == WEFT_BOX_NODE)
		return line_domain(p, d, indent, err);
	head_print(p, d, indent);
	if (inside_print(p, inside, indent + 2, err))
		return -1;
	alike_flush(p);
	return 0;
}

/* Depth is that of the fabric. */
static int inside_print(struct page *p, struct weft_inside inside,
			uint32_t indent, struct weft_error *err)
{
	if (inside.kind == WEFT_BOX_NODE) {
		nodes_print(p, inside, indent);
		return 0;
	}
	for (uint32_t i = 0; i < inside.n; i++)
		if (domain_print(p, inside.first + i, indent, err))
			return -1;
	return 0;
}

/* ---- how fine ---- */

static uint32_t longest_domain(const struct weft_fabric *f)
{
	size_t longest = 4;

	for (uint32_t i = 0; i < f->n_domains; i++)
		if (f->domains[i].level > f->node_level ||
		    f->domains[i].n_nodes > 1) {
			size_t n = strlen(f->domains[i].name);

			longest = n > longest ? n : longest;
		}
	return longest < NAME_MAX_COLUMNS ? (uint32_t)longest
					  : NAME_MAX_COLUMNS;
}

static uint32_t longest_node(const struct weft_fabric *f)
{
	size_t longest = 1;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		size_t n = strlen(f->nodes[i].name);

		longest = n > longest ? n : longest;
	}
	return longest < NAME_MAX_COLUMNS ? (uint32_t)longest
					  : NAME_MAX_COLUMNS;
}

/* Lines that nodes with their names would take. */
static uint64_t lines_of_gpus(const struct page *p)
{
	const struct weft_fabric *f = p->scene->fabric;
	uint64_t columns = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		columns += p->name_w + 3 + f->nodes[i].n_gpus;
	return columns / p->columns + f->n_domains -
	       f->levels[f->node_level].n_domains;
}

/* Innermost level whose domains hold several nodes. */
static uint32_t first_level(const struct weft_fabric *f)
{
	uint32_t level = f->node_level;

	if (f->levels[level].n_domains == f->n_nodes && level + 1 < f->n_levels)
		level++;
	return level;
}

static void grain_choose(struct page *p)
{
	const struct weft_fabric *f = p->scene->fabric;
	uint32_t level = first_level(f);

	p->name_w = longest_node(f);
	p->inner_w = longest_domain(f);
	p->grain = GRAIN_GPU;
	if (f->n_nodes < 2 || lines_of_gpus(p) <= MAX_LINES)
		return;
	p->grain = GRAIN_NODE;
	if (f->levels[level].n_domains < f->n_nodes &&
	    f->levels[level].n_domains + f->n_nodes / p->columns <= MAX_LINES)
		return;
	p->grain = GRAIN_DOMAIN;
	while (level + 1 < f->n_levels &&
	       f->levels[level].n_domains > MAX_LINES)
		level++;
	p->level = level;
}

/* ---- above the map ---- */

/* Writes words from column `at` on, further lines from column `hang` on.
 * Returns the column behind them. */
static uint32_t wrap(const struct page *p, uint32_t at, uint32_t hang,
		     const char *text)
{
	const char *separator = "";

	while (*text) {
		uint32_t n = (uint32_t)strcspn(text, " ");

		if (at > hang && at + strlen(separator) + n > p->columns) {
			fprintf(p->out, "\n%*s", (int)hang, "");
			at = hang;
			separator = "";
		}
		fprintf(p->out, "%s%.*s", separator, (int)n, text);
		at += (uint32_t)strlen(separator) + n;
		separator = " ";
		text += n;
		text += strspn(text, " ");
	}
	return at;
}

static void fact_print(const struct page *p, uint32_t width, const char *name,
		       const char *value, const char *note)
{
	uint32_t at = width + 4;

	fprintf(p->out, "  %-*s  ", (int)width, name);
	at = wrap(p, at, width + 4, value);
	if (*note) {
		fputs("; ", p->out);
		wrap(p, at + 2, width + 4, note);
	}
	fputc('\n', p->out);
}

/* A sign and what it stands for. */
static void key(struct page *p, enum weft_use use, uint32_t group,
		const char *sign, const char *text)
{
	uint32_t width = (uint32_t)strlen(text) + 4;

	if (p->key_at && p->key_at + width > p->columns) {
		fputc('\n', p->out);
		p->key_at = 0;
	}
	fputs("  ", p->out);
	paint(p, use, group, sign);
	fprintf(p->out, " %s", text);
	p->key_at += width;
}

static void keys_end(struct page *p)
{
	if (p->key_at)
		fputc('\n', p->out);
	p->key_at = 0;
}

static void legend_groups(struct page *p)
{
	const struct weft_scene *scene = p->scene;
	const struct weft_colouring *c = &scene->colourings[scene->chosen];
	char text[160], sign[2] = {0};

	if (p->grain == GRAIN_DOMAIN)
		return;
	for (uint32_t g = 0; g < c->n_groups && g < LEGEND_GROUPS; g++) {
		sign[0] = draw_letter(g);
		key(p, WEFT_USE_JOB, g, sign,
		    weft_colouring_group(c, g, text, sizeof(text)));
	}
	keys_end(p);
	if (c->n_groups > LEGEND_GROUPS)
		fprintf(p->out, "  ... %u %ss in all%s\n", c->n_groups, c->noun,
			c->n_groups > 62 ? "; letters repeat" : "");
}

static void legend(struct page *p)
{
	static const char *const words[WEFT_N_USES] = {
		[WEFT_USE_FREE] = "free",
		[WEFT_USE_BUSY] = "busy",
		[WEFT_USE_CLOSED] = "closed",
		[WEFT_USE_JOB] = "the job",
	};
	const struct weft_scene *scene = p->scene;
	struct weft_census census =
		weft_scene_count(scene, 0, scene->fabric->n_gpus);

	for (int u = 0; u < WEFT_N_USES; u++) {
		enum weft_use use = (enum weft_use)u;

		if (census.n[u] &&
		    (use != WEFT_USE_JOB || scene->chosen == WEFT_NONE ||
		     p->grain == GRAIN_DOMAIN))
			key(p, use, WEFT_NONE, use_sign(p, use), words[u]);
	}
	if (p->grain == GRAIN_NODE && census.n[WEFT_USE_JOB])
		key(p, WEFT_USE_JOB, WEFT_NONE, "+", "several groups, the job");
	if (p->grain == GRAIN_NODE && census.n[WEFT_USE_BUSY])
		key(p, WEFT_USE_BUSY, WEFT_NONE, "%", "partly busy");
	keys_end(p);
	if (scene->chosen != WEFT_NONE && census.n[WEFT_USE_JOB])
		legend_groups(p);
}

/* What a sign of the map is. */
static void map_print(const struct page *p, uint32_t width)
{
	const struct weft_fabric *f = p->scene->fabric;
	char text[160];

	if (p->grain == GRAIN_DOMAIN)
		snprintf(text, sizeof(text), "a line is a %s",
			 f->levels[p->level].name);
	else if (p->grain == GRAIN_NODE)
		snprintf(text, sizeof(text), "a sign is a node");
	else if (f->n_rails > 1)
		snprintf(text, sizeof(text),
			 "a sign is a GPU; %u rails, a node's GPUs in their "
			 "order",
			 f->n_rails);
	else
		snprintf(text, sizeof(text), "a sign is a GPU");
	fact_print(p, width, "Map", text, "");
}

static void header(struct page *p)
{
	const struct weft_scene *scene = p->scene;
	uint32_t width = 3;

	for (uint32_t i = 0; i < scene->n_facts; i++)
		if (strlen(scene->facts[i].label) > width)
			width = (uint32_t)strlen(scene->facts[i].label);
	wrap(p, 0, 0, scene->title);
	fputc('\n', p->out);
	for (uint32_t i = 0; i < scene->n_facts; i++)
		fact_print(p, width, scene->facts[i].label,
			   scene->facts[i].value, scene->facts[i].note);
	if (!scene->inside)
		map_print(p, width);
	legend(p);
	fputc('\n', p->out);
}

int draw_text(const struct weft_scene *scene,
	      const struct weft_draw_options *options, FILE *out,
	      struct weft_error *err)
{
	struct page p = {
		.scene = scene,
		.out = out,
		.columns = options->columns ? options->columns : 80,
		.colour = options->colour,
		.plain = options->plain,
	};
	int result;

	grain_choose(&p);
	header(&p);
	if (scene->inside)
		return node_text(scene, out, err);
	result = inside_print(
		&p, weft_inside_of(scene->fabric, WEFT_BOX_FABRIC, 0), 0, err);
	alike_flush(&p);
	return result;
}
