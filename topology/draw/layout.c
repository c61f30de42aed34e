/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.c - boxes in boxes, as fine as fits */
#include "topology/draw/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More boxes than this no eye tells apart, and no viewer likes. */
#define MAX_BOXES 40000

#define HEAD	     15 /* height of a domain's name */
#define NODE_HEAD    11
#define SMALL_HEAD   10 /* where that is too wide, its short name */
#define SMALL_LETTER 4.7
#define LETTER	     6.4 /* width of a letter of it */

/* How fine, from the finest: the first that fits is taken.  Levels are those
 * above the nodes, counted from the innermost. */
static const struct fineness {
	enum weft_box_kind kind;
	int level;
	double w, h, gap;
} table[] = {
	{WEFT_BOX_GPU, 0, 40, 40, 4},	 {WEFT_BOX_GPU, 0, 32, 32, 4},
	{WEFT_BOX_GPU, 0, 26, 26, 3},	 {WEFT_BOX_GPU, 0, 22, 22, 3},
	{WEFT_BOX_GPU, 0, 18, 18, 2},	 {WEFT_BOX_GPU, 0, 16, 16, 2},
	{WEFT_BOX_GPU, 0, 14, 14, 2},	 {WEFT_BOX_GPU, 0, 12, 12, 2},
	{WEFT_BOX_GPU, 0, 10, 10, 1},	 {WEFT_BOX_GPU, 0, 8, 8, 1},
	{WEFT_BOX_GPU, 0, 6, 6, 1},	 {WEFT_BOX_NODE, 0, 34, 14, 3},
	{WEFT_BOX_NODE, 0, 28, 12, 2},	 {WEFT_BOX_NODE, 0, 24, 10, 2},
	{WEFT_BOX_NODE, 0, 20, 9, 2},	 {WEFT_BOX_NODE, 0, 16, 8, 2},
	{WEFT_BOX_NODE, 0, 13, 7, 1},	 {WEFT_BOX_NODE, 0, 11, 7, 1},
	{WEFT_BOX_NODE, 0, 9, 6, 1},	 {WEFT_BOX_NODE, 0, 7, 5, 1},
	{WEFT_BOX_NODE, 0, 5, 4, 1},	 {WEFT_BOX_NODE, 0, 4, 3, 1},
	{WEFT_BOX_DOMAIN, 0, 42, 14, 3}, {WEFT_BOX_DOMAIN, 0, 24, 10, 2},
	{WEFT_BOX_DOMAIN, 0, 12, 7, 1},	 {WEFT_BOX_DOMAIN, 0, 5, 4, 1},
	{WEFT_BOX_DOMAIN, 1, 42, 14, 3}, {WEFT_BOX_DOMAIN, 1, 12, 7, 1},
	{WEFT_BOX_DOMAIN, 2, 42, 14, 3}, {WEFT_BOX_DOMAIN, 2, 5, 4, 1},
	{WEFT_BOX_DOMAIN, 3, 12, 7, 1},	 {WEFT_BOX_DOMAIN, 9, 12, 7, 1},
};
#define N_FINENESS WEFT_N_OF(table)

/* Width over height of what is inside: of domains of nodes, and of those of
 * domains; tried in this order. */
static const struct shape {
	double nodes, domains;
} shapes[] = {
	{1.7, 1.7}, {1.7, 2.8}, {0.7, 1.7}, {0.7, 2.8}, {2.8, 1.1}, {1.1, 0.6},
};
#define N_SHAPES WEFT_N_OF(shapes)

struct builder {
	const struct weft_fabric *f;
	const struct fineness *fine;
	struct weft_layout *layout;
	const struct shape *shape;
	/* least width for a name, and for a short one */
	double name_w[WEFT_MAX_LEVELS], short_w[WEFT_MAX_LEVELS];
	uint32_t level; /* of the innermost domains, where those are drawn */
	uint32_t capacity;
	struct weft_error *err;
};

/* Level whose domains are the innermost that hold several nodes, plus `up`;
 * WEFT_NONE where there is none so far out. */
static uint32_t level_of(const struct weft_fabric *f, int up)
{
	uint32_t level = f->node_level;

	if (f->levels[level].n_domains == f->n_nodes)
		level++;
	level += (uint32_t)up;
	if (level < f->n_levels)
		return level;
	/* the last row takes the outermost level, whichever that is */
	return up == table[N_FINENESS - 1].level ? f->n_levels - 1 : WEFT_NONE;
}

static uint32_t box_add(struct builder *b, struct weft_box box)
{
	struct weft_layout *l = b->layout;

	if (WEFT_GROW(l->boxes, l->n, b->capacity, b->err))
		return WEFT_NONE;
	l->boxes[l->n] = box;
	return l->n++;
}

static void range_of(const struct weft_fabric *f, struct weft_box *box)
{
	switch (box->kind) {
	case WEFT_BOX_DOMAIN:
		box->first_gpu = f->domains[box->index].first_gpu;
		box->n_gpus = f->domains[box->index].n_gpus;
		break;
	case WEFT_BOX_NODE:
		box->first_gpu = f->nodes[box->index].first_gpu;
		box->n_gpus = f->nodes[box->index].n_gpus;
		break;
	case WEFT_BOX_GPU:
		box->first_gpu = box->index;
		box->n_gpus = 1;
		break;
	default:
		box->first_gpu = 0;
		box->n_gpus = f->n_gpus;
	}
}

static bool is_whole(const struct builder *b, const struct weft_box *box)
{
	const struct fineness *fine = b->fine;

	if (box->kind == WEFT_BOX_FABRIC)
		return false;
	if (fine->kind == WEFT_BOX_DOMAIN)
		return box->kind != WEFT_BOX_DOMAIN ||
		       b->f->domains[box->index].level <= b->level;
	return box->kind == fine->kind || box->kind == WEFT_BOX_GPU;
}

/* Several GPUs of a node that are joined closer than the others. */
static bool is_group(const struct builder *b, const struct weft_box *box)
{
	return box->kind == WEFT_BOX_DOMAIN &&
	       b->f->domains[box->index].level < b->f->node_level;
}

/* Columns for n cells of one size, of which about `wish` should stand in a
 * row and at most `most` can: all rows full where a number near allows it. */
static uint32_t columns_of(uint32_t n, double wish, double most)
{
	uint32_t best = (uint32_t)fmax(1, fmin(fmin(wish + 0.5, most), n));
	uint32_t rows = (n + best - 1) / best;

	for (uint32_t c = best; c <= fmin(most, 1.7 * best); c++)
		if (n % c == 0)
			return c;
	for (uint32_t c = best; c >= 0.6 * best && c > 0; c--)
		if (n % c == 0)
			return c;
	return (n + rows - 1) / rows;
}

struct extent {
	double w, h, area; /* the largest child; all of them with gaps */
	uint32_t n;
	bool uniform;
};

static struct extent extent_of(const struct weft_layout *l, uint32_t at,
			       double gap)
{
	struct extent e = {.uniform = true};

	for (uint32_t i = at + 1; i < l->n; i = l->boxes[i].end) {
		const struct weft_box *box = &l->boxes[i];

		if (e.n &&
		    (fabs(box->w - e.w) > 0.1 || fabs(box->h - e.h) > 0.1))
			e.uniform = false;
		e.w = fmax(e.w, box->w);
		e.h = fmax(e.h, box->h);
		e.area += (box->w + gap) * (box->h + gap);
		e.n++;
	}
	return e;
}

/* The fabric, and what alone fills it: as wide as the picture. */
static bool is_outer(const struct weft_layout *l, uint32_t at)
{
	while (l->boxes[at].parent != WEFT_NONE) {
		uint32_t parent = l->boxes[at].parent;

		if (l->boxes[at].n_gpus < l->boxes[parent].n_gpus)
			return false;
		at = parent;
	}
	return true;
}

/* What stands in a row of a torus; 0: the box is none. */
static uint32_t torus_side(const struct weft_fabric *f,
			   const struct weft_box *box)
{
	const struct weft_level *level;

	if (box->kind != WEFT_BOX_DOMAIN)
		return 0;
	level = &f->levels[f->domains[box->index].level];
	return level->shape == WEFT_SHAPE_TORUS ? level->dims[0] : 0;
}

/* How wide a row of what is inside box `at` may be, with the gap behind it. */
static double row_width(const struct builder *b, uint32_t at, double available,
			double gap)
{
	const struct weft_box *box = &b->layout->boxes[at];
	struct extent e = extent_of(b->layout, at, gap);
	bool domains = b->layout->boxes[at + 1].kind == WEFT_BOX_DOMAIN;
	double wish =
		sqrt(e.area * (domains ? b->shape->domains : b->shape->nodes));

	if (is_outer(b->layout, at) && box->kind != WEFT_BOX_NODE && domains)
		wish = available + gap;
	/* on rails a node is a row, so that a rail is a column */
	if (box->kind == WEFT_BOX_NODE && b->f->n_rails > 1)
		wish = 1e9;
	if (torus_side(b->f, box) &&
	    torus_side(b->f, box) * (e.w + gap) <= available + gap)
		return torus_side(b->f, box) * (e.w + gap);
	wish = fmax(e.w + gap, fmin(wish, available + gap));
	if (e.uniform && e.n)
		wish = (e.w + gap) *
		       columns_of(e.n, wish / (e.w + gap),
				  (available + gap) / (e.w + gap));
	return wish;
}

/* Where cells are small, frames must not take the room. */
static bool is_roomy(const struct builder *b)
{
	return b->fine->w >= (b->fine->kind == WEFT_BOX_GPU ? 10 : 24);
}

static double domain_gap(const struct builder *b)
{
	return is_roomy(b) ? 6 : 4;
}

/* Between a box's frame and what is inside. */
static double pad_of(const struct builder *b, const struct weft_box *box)
{
	if (box->kind == WEFT_BOX_FABRIC)
		return 0;
	if (is_group(b, box))
		return 3;
	if (box->kind == WEFT_BOX_NODE)
		return b->fine->gap;
	return is_roomy(b) ? 4 : 2;
}

/* Height for the name of a box that is w wide, with all of its level alike. */
static double head_of(const struct builder *b, const struct weft_box *box,
		      double w)
{
	bool rails = b->f->n_rails > 1;
	uint32_t level;

	if (box->kind == WEFT_BOX_NODE)
		return b->fine->w >= 16 || (rails && b->fine->w >= 10)
			       ? NODE_HEAD
			       : 0;
	if (box->kind != WEFT_BOX_DOMAIN || is_group(b, box))
		return 0;
	level = b->f->domains[box->index].level;
	if (w < b->short_w[level])
		return 0;
	return w < b->name_w[level] ? SMALL_HEAD : HEAD;
}

/* Puts what is inside box `at` into rows, relative to it, and sizes it. */
static void flow(struct builder *b, uint32_t at, double available, double pad)
{
	struct weft_layout *l = b->layout;
	struct weft_box *box = &l->boxes[at];
	const struct weft_box *first = &l->boxes[at + 1];
	bool cells = first->whole && !is_group(b, first);
	double gap =
		cells ? b->fine->gap
		      : (first->kind == WEFT_BOX_DOMAIN ? domain_gap(b) : 4);
	double most = row_width(b, at, available - 2 * pad, gap);
	double x = 0, y = 0, row = 0, widest = 0;

	for (uint32_t i = at + 1; i < l->n; i = l->boxes[i].end) {
		struct weft_box *child = &l->boxes[i];

		if (x > 0 && x + child->w + gap > most + 0.01) {
			x = 0;
			y += row + gap;
			row = 0;
		}
		child->x = pad + x;
		child->y = pad + y;
		x += child->w + gap;
		row = fmax(row, child->h);
		widest = fmax(widest, x - gap);
	}
	box->w = widest + 2 * pad;
	box->head = head_of(b, box, box->w);
	box->is_short = box->kind == WEFT_BOX_DOMAIN && box->head < HEAD;
	box->h = y + row + 2 * pad + box->head;
	for (uint32_t i = at + 1; i < l->n; i = l->boxes[i].end)
		l->boxes[i].y += box->head;
}

/* Adds a box and all inside it; depth is that of the fabric. */
static int box_build(struct builder *b, struct weft_box box, double available)
{
	struct weft_layout *l = b->layout;
	struct weft_inside inside;
	double pad;
	uint32_t at;

	range_of(b->f, &box);
	box.whole = is_whole(b, &box);
	box.w = b->fine->w;
	box.h = b->fine->h;
	at = box_add(b, box);
	if (at == WEFT_NONE)
		return -1;
	inside = weft_inside_of(b->f, box.kind, box.index);
	pad = pad_of(b, &box);
	for (uint32_t i = 0; i < inside.n && !box.whole; i++) {
		struct weft_box child = {.kind = inside.kind,
					 .index = inside.first + i,
					 .parent = at};

		if (box_build(b, child, available - 2 * pad))
			return -1;
	}
	l->boxes[at].end = l->n;
	if (!box.whole)
		flow(b, at, available, pad);
	return 0;
}

/* From places inside the parent to places in the picture. */
static void settle(struct weft_layout *l)
{
	for (uint32_t i = 1; i < l->n; i++) {
		const struct weft_box *parent = &l->boxes[l->boxes[i].parent];

		l->boxes[i].x += parent->x;
		l->boxes[i].y += parent->y;
	}
	l->width = l->boxes[0].w;
	l->height = l->boxes[0].h;
}

/* Boxes that the fineness would need, about. */
static uint32_t boxes_of(const struct weft_fabric *f,
			 const struct fineness *fine, uint32_t level)
{
	uint32_t n = 1;

	for (uint32_t l = 0; l < f->n_levels; l++)
		if (fine->kind != WEFT_BOX_DOMAIN || l >= level)
			n += f->levels[l].n_domains;
	if (fine->kind != WEFT_BOX_DOMAIN)
		n += f->n_nodes;
	if (fine->kind == WEFT_BOX_GPU)
		n += f->n_gpus;
	return n;
}

static int attempt(struct builder *b, double width)
{
	struct weft_layout *l = b->layout;
	struct weft_box root = {.kind = WEFT_BOX_FABRIC, .parent = WEFT_NONE};

	l->n = 0;
	l->finest = b->fine->kind;
	l->finest_level = b->level;
	l->gap = b->fine->gap;
	if (box_build(b, root, width))
		return -1;
	settle(l);
	return 0;
}

size_t weft_short_name(const char *name)
{
	size_t whole = strcspn(name, "["), n = whole;

	if (!name[whole])
		return whole;
	while (n > 0 && !strchr("-_./", name[n - 1]))
		n--;
	return n > 1 ? n - 1 : whole;
}

/* Names up to nine letters are worth their room in full, longer ones in part:
 * what tells them apart is mostly at the start or not there. */
static void names_measure(struct builder *b)
{
	for (uint32_t l = 0; l < b->f->n_levels; l++) {
		const struct weft_level *level = &b->f->levels[l];
		size_t longest = 0, longest_short = 0;

		for (uint32_t i = 0; i < level->n_domains; i++) {
			const char *name =
				b->f->domains[level->first_domain + i].name;
			size_t n = strlen(name), m = weft_short_name(name);

			longest = n > longest ? n : longest;
			longest_short = m > longest_short ? m : longest_short;
		}
		b->name_w[l] = LETTER * fmin(9, (double)longest) + 6;
		b->short_w[l] =
			SMALL_LETTER * fmin(7, (double)longest_short) + 4;
	}
}

/* The picture cannot be smaller than its cells together. */
static bool is_hopeless(const struct builder *b, double width, double height)
{
	const struct fineness *fine = b->fine;
	uint32_t n = fine->kind == WEFT_BOX_GPU	   ? b->f->n_gpus
		     : fine->kind == WEFT_BOX_NODE ? b->f->n_nodes
						   : 0;

	return boxes_of(b->f, fine, b->level) > MAX_BOXES ||
	       n * (fine->w + fine->gap) * (fine->h + fine->gap) >
		       (width + fine->gap) * (height + fine->gap);
}

int weft_layout_build(const struct weft_fabric *f, double width, double height,
		      struct weft_layout *layout, struct weft_error *err)
{
	struct builder b = {.f = f, .layout = layout, .err = err};

	names_measure(&b);
	for (size_t i = 0; i < N_FINENESS * N_SHAPES; i++) {
		bool last = i / N_SHAPES + 1 == N_FINENESS;

		b.fine = &table[i / N_SHAPES];
		b.shape = &shapes[i % N_SHAPES];
		b.level = b.fine->kind == WEFT_BOX_DOMAIN
				  ? level_of(f, b.fine->level)
				  : WEFT_NONE;
		if (b.fine->kind == WEFT_BOX_DOMAIN && b.level == WEFT_NONE)
			continue;
		if (!last && is_hopeless(&b, width, height))
			continue;
		if (attempt(&b, width))
			return -1;
		if (layout->width <= width + 0.5 && layout->height <= height)
			break;
	}
	return 0;
}

void weft_layout_free(struct weft_layout *layout)
{
	if (!layout)
		return;
	free(layout->boxes);
	*layout = (struct weft_layout){0};
}
