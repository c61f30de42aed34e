/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aggregate.c - how many blocks in each box, as an integer program */
#include "placement/exact/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a program that GLPK may be asked to solve. */
#define MAX_COLUMNS 6000
/* Boxes of a layer that distinguishes blocks. */
#define MAX_TOLD   24
#define MAX_PIECES 4000

static uint32_t size_max(const struct aggregate *a, uint32_t box)
{
	uint32_t cap = a->b->box[box].cap;

	return cap < a->b->n ? cap : a->b->n;
}

/* The box around one of kept[k], in the next layer kept. */
static uint32_t box_around(const struct aggregate *a, uint32_t box, uint32_t k)
{
	if (k + 1 >= a->n_kept)
		return WEFT_NONE;
	for (uint32_t l = a->kept[k]; l < a->kept[k + 1]; l++)
		box = a->b->box[box].parent;
	return box;
}

static const struct layer *kept_layer(const struct aggregate *a, uint32_t k)
{
	return &a->b->layer[a->kept[k]];
}

/* What a byte pays for each layer that parts its ends: distances taken as the
 * least at that layer or further out, so that prices are not negative. */
static void set_prices(struct aggregate *a)
{
	const struct blocks *b = a->b;
	double least = b->layer[b->n_layers - 1].distance, total = 0;

	for (uint32_t e = 0; e < b->g.n_edges; e++)
		total += b->g.weight[e] / 2;
	for (uint32_t l = b->n_layers - 1; l-- > 0;) {
		double d = fmin(b->layer[l].distance, least);

		a->price[l] = least - d;
		least = d;
	}
	a->offset = b->base + least * total;
}

/* Layers whose boxes hold one block each part all there is to part. */
static bool is_constant(const struct aggregate *a, uint32_t l)
{
	const struct layer *layer = &a->b->layer[l];

	for (uint32_t i = layer->first; i < layer->first + layer->n; i++)
		if (a->b->box[i].cap > 1)
			return false;
	return true;
}

/* A box may be able to take less than its parts together. */
static bool is_tight(const struct aggregate *a, uint32_t l)
{
	const struct blocks *b = a->b;

	for (uint32_t i = 0; l > 0 && i < b->layer[l].n; i++) {
		uint32_t box = b->layer[l].first + i, sum = 0;

		for (uint32_t k = 0; k < b->layer[l - 1].n; k++) {
			uint32_t part = b->layer[l - 1].first + k;

			sum += b->box[part].parent == box ? b->box[part].cap
							  : 0;
		}
		if (sum > b->box[box].cap)
			return true;
	}
	return false;
}

static bool has_node_limits(const struct aggregate *a)
{
	const struct weft_job *job = a->b->s->job;

	return job->gpus_per_node || job->min_nodes || job->max_nodes ||
	       a->b->s->o->required;
}

static void keep_layers(struct aggregate *a)
{
	const struct blocks *b = a->b;

	for (uint32_t l = 0; l < b->n_layers; l++) {
		bool constant = is_constant(a, l);
		bool needed = a->price[l] > 0 && b->layer[l].n > 1;

		if (constant && needed)
			for (uint32_t e = 0; e < b->g.n_edges; e++)
				a->offset += a->price[l] * b->g.weight[e] / 2;
		if ((needed && !constant) ||
		    (l == b->within_layer && b->layer[l].n > 1) ||
		    (!constant && l == b->node_layer && has_node_limits(a)) ||
		    (!constant && a->n_kept && is_tight(a, l)))
			a->kept[a->n_kept++] = l;
	}
}

/* From outside in: the first layer of few boxes, of which none of those inside
 * it has many. */
static void choose_told(struct aggregate *a)
{
	a->told = a->n_kept;
	while (a->told > 0 && kept_layer(a, a->told - 1)->n <= MAX_TOLD)
		a->told--;
}

/* Boxes of the innermost layer that are alike have their columns together. */
static void merge_boxes(struct aggregate *a, uint32_t k)
{
	const struct blocks *b = a->b;
	const struct layer *layer = kept_layer(a, k);

	for (uint32_t i = layer->first; i < layer->first + layer->n; i++) {
		uint32_t at = i;

		a->like[i] = 1;
		for (uint32_t j = i;
		     k == 0 && a->told > 0 && j-- > layer->first;) {
			if (box_around(a, j, k) != box_around(a, i, k))
				break;
			if (!a->like[j] || b->box[j].cap != b->box[i].cap ||
			    b->box[j].n_required != b->box[i].n_required)
				continue;
			at = j;
			break;
		}
		if (at != i) {
			a->like[i] = 0;
			a->like[at]++;
		}
	}
}

/* Sizes that a box may have: where nodes give fixed shares, all or none. */
static bool is_size(const struct aggregate *a, uint32_t k, uint32_t box,
		    uint32_t s)
{
	const struct blocks *b = a->b;

	return a->kept[k] != b->node_layer || !b->s->job->gpus_per_node ||
	       s == 0 || s == b->box[box].cap;
}

/* True where the least boundaries of sizes are what is paid for. */
static bool has_cost(const struct aggregate *a, uint32_t k)
{
	return k < a->told && (k > 0 || a->detail != AGGREGATE_PIECES);
}

static void add_sizes(struct aggregate *a, uint32_t k, uint32_t box)
{
	uint32_t l = a->kept[k], most = size_max(a, box);
	struct program_column column = {.high = a->like[box], .whole = true};

	a->size_at[box] = a->program.n_columns;
	for (uint32_t s = 0; s <= most; s++) {
		column.cost = has_cost(a, k)
				      ? a->price[l] * a->least[s] / 2 / a->scale
				      : 0;
		column.high = is_size(a, k, box, s) ? a->like[box] : 0;
		program_column(
			&a->program, column, 's',
			(const uint32_t[3]){l, box - a->b->layer[l].first, s});
	}
	program_row(&a->program, a->like[box], a->like[box]);
	for (uint32_t s = 0; s <= most; s++)
		program_put(&a->program, a->size_at[box] + s, 1);
}

static void put_size(struct aggregate *a, uint32_t box, double factor)
{
	for (uint32_t s = 1; a->like[box] && s <= size_max(a, box); s++)
		program_put(&a->program, a->size_at[box] + s, factor * s);
}

/* The size of a box is that of its parts; the outermost hold all blocks. */
static void add_sums(struct aggregate *a, uint32_t k)
{
	const struct layer *layer = kept_layer(a, k), *parts;

	if (k + 1 == a->n_kept) {
		program_row(&a->program, a->b->n, a->b->n);
		for (uint32_t i = 0; i < layer->n; i++)
			put_size(a, layer->first + i, 1);
	}
	if (k == 0)
		return;
	parts = kept_layer(a, k - 1);
	for (uint32_t i = layer->first; i < layer->first + layer->n; i++) {
		program_row(&a->program, 0, 0);
		put_size(a, i, 1);
		for (uint32_t p = parts->first; p < parts->first + parts->n;
		     p++)
			if (box_around(a, p, k - 1) == i)
				put_size(a, p, -1);
	}
}

/* Of twins the first holds most. */
static void order_twins(struct aggregate *a, uint32_t k)
{
	const struct layer *layer = kept_layer(a, k);

	for (uint32_t i = layer->first; i < layer->first + layer->n; i++) {
		uint32_t twin = a->b->box[i].twin;

		if (!a->like[i] || twin == WEFT_NONE || !a->like[twin])
			continue;
		program_row(&a->program, 0, INFINITY);
		put_size(a, twin, 1);
		put_size(a, i, -1);
	}
}

static void limit_nodes(struct aggregate *a)
{
	const struct blocks *b = a->b;
	const struct weft_job *job = b->s->job;
	const struct layer *layer = &b->layer[b->node_layer];
	double most = job->max_nodes ? job->max_nodes : (double)INFINITY;

	if (job->min_nodes || job->max_nodes)
		program_row(&a->program, job->min_nodes, most);
	for (uint32_t i = layer->first;
	     (job->min_nodes || job->max_nodes) && i < layer->first + layer->n;
	     i++)
		for (uint32_t s = 1; a->like[i] && s <= size_max(a, i); s++)
			program_put(&a->program, a->size_at[i] + s, 1);
	for (uint32_t i = layer->first; i < layer->first + layer->n; i++) {
		if (!a->like[i] || !b->box[i].n_required)
			continue;
		program_row(&a->program, 0, 0);
		program_put(&a->program, a->size_at[i], 1);
	}
}

/* One box holds everything: its size is 0 or all. */
static void limit_within(struct aggregate *a)
{
	const struct layer *layer = &a->b->layer[a->b->within_layer];

	for (uint32_t i = layer->first; i < layer->first + layer->n; i++) {
		if (!a->like[i])
			continue;
		program_row(&a->program, 0, 0);
		for (uint32_t s = 1; s < a->b->n && s <= size_max(a, i); s++)
			program_put(&a->program, a->size_at[i] + s, 1);
	}
}

static void add_counts(struct aggregate *a)
{
	for (uint32_t k = a->n_kept; k-- > 0;) {
		const struct layer *layer = kept_layer(a, k);

		merge_boxes(a, k);
		for (uint32_t i = 0; i < layer->n; i++)
			if (a->like[layer->first + i])
				add_sizes(a, k, layer->first + i);
	}
	for (uint32_t k = a->n_kept; k-- > 0;) {
		add_sums(a, k);
		order_twins(a, k);
		if (a->kept[k] == a->b->node_layer)
			limit_nodes(a);
		if (a->kept[k] == a->b->within_layer)
			limit_within(a);
	}
}

/* Which blocks are in a box: columns, and their number is its size. */
static void add_blocks(struct aggregate *a, uint32_t k, uint32_t box)
{
	struct program_column column = {.high = 1, .whole = true};
	uint32_t l = a->kept[k];

	a->block_at[box] = a->program.n_columns;
	for (uint32_t i = 0; i < a->b->n; i++)
		program_column(
			&a->program, column, 'x',
			(const uint32_t[3]){l, box - a->b->layer[l].first, i});
	program_row(&a->program, 0, 0);
	for (uint32_t i = 0; i < a->b->n; i++)
		program_put(&a->program, a->block_at[box] + i, 1);
	put_size(a, box, -1);
}

/* Two blocks that exchange bytes are both in the box, or not: what they save
 * when they are; and what the others send is no less than the least there is
 * for so many blocks. */
static void add_pairs(struct aggregate *a, uint32_t k, uint32_t box)
{
	const struct graph *g = &a->b->g;
	uint32_t l = a->kept[k], at = a->block_at[box];
	uint32_t first = a->program.n_columns, n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			const uint32_t end[2] = {v, g->peer[e]};
			uint32_t z;

			if (g->peer[e] < v)
				continue;
			z = program_column(
				&a->program,
				(struct program_column){.high = 1,
							.cost = -a->price[l] *
								g->weight[e] /
								a->scale},
				'z',
				(const uint32_t[3]){
					l, box - a->b->layer[l].first, n++});
			for (uint32_t i = 0; i < 2; i++) {
				program_row(&a->program, -INFINITY, 0);
				program_put(&a->program, z, 1);
				program_put(&a->program, at + end[i], -1);
			}
		}
	}
	program_row(&a->program, 0, INFINITY);
	for (uint32_t v = 0; v < g->n; v++) {
		double sum = 0;

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			sum += g->weight[e];
		program_put(&a->program, at + v, sum / a->bytes);
	}
	n = 0;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				program_put(&a->program, first + n++,
					    -2 * g->weight[e] / a->bytes);
	for (uint32_t s = 1; s <= size_max(a, box); s++)
		program_put(&a->program, a->size_at[box] + s,
			    -a->least[s] / a->bytes);
}

/* Every block is in one box of each layer, inside the one further out. */
static void nest_blocks(struct aggregate *a, uint32_t k)
{
	const struct layer *layer = kept_layer(a, k), *outer;

	for (uint32_t v = 0; k + 1 == a->n_kept && v < a->b->n; v++) {
		program_row(&a->program, 1, 1);
		for (uint32_t i = 0; i < layer->n; i++)
			program_put(&a->program,
				    a->block_at[layer->first + i] + v, 1);
	}
	if (k + 1 == a->n_kept)
		return;
	outer = kept_layer(a, k + 1);
	for (uint32_t o = outer->first; o < outer->first + outer->n; o++) {
		for (uint32_t v = 0; v < a->b->n; v++) {
			program_row(&a->program, 0, 0);
			program_put(&a->program, a->block_at[o] + v, 1);
			for (uint32_t i = 0; i < layer->n; i++)
				if (box_around(a, layer->first + i, k) == o)
					program_put(
						&a->program,
						a->block_at[layer->first + i] +
							v,
						-1);
		}
	}
}

static void tell_blocks(struct aggregate *a)
{
	const struct graph *g = &a->b->g;

	for (uint32_t k = a->n_kept; k-- > a->told;) {
		const struct layer *layer = kept_layer(a, k);

		for (uint32_t i = 0; i < layer->n; i++) {
			add_blocks(a, k, layer->first + i);
			if (a->price[a->kept[k]] > 0)
				add_pairs(a, k, layer->first + i);
		}
		for (uint32_t e = 0; e < g->n_edges; e++)
			a->offset += a->price[a->kept[k]] * g->weight[e] / 2;
		nest_blocks(a, k);
	}
}

static uint32_t largest_box(const struct aggregate *a)
{
	const struct layer *layer = kept_layer(a, 0);
	uint32_t most = 0;

	for (uint32_t i = layer->first; i < layer->first + layer->n; i++)
		most = size_max(a, i) > most ? size_max(a, i) : most;
	return most;
}

/* Boxes of so many blocks have room for at most that many pieces of more than
 * `size`. */
static void limit_pieces(struct aggregate *a, uint32_t size)
{
	const struct layer *layer = kept_layer(a, 0);

	program_row(&a->program, -INFINITY, 0);
	for (uint32_t i = 0; i < a->pieces.n; i++)
		if (a->pieces.piece[i].n > size)
			program_put(&a->program, a->piece_at + i, 1);
	for (uint32_t i = layer->first; i < layer->first + layer->n; i++)
		for (uint32_t s = 1; a->like[i] && s <= size_max(a, i); s++)
			program_put(&a->program, a->size_at[i] + s,
				    -(double)(s / (size + 1)));
}

/* Every block is in one piece, and pieces have room in the boxes. */
static void add_pieces(struct aggregate *a)
{
	double price = a->price[a->kept[0]];

	a->piece_at = a->program.n_columns;
	for (uint32_t i = 0; i < a->pieces.n; i++)
		program_column(
			&a->program,
			(struct program_column){
				.high = 1,
				.cost = price * a->pieces.piece[i].leaving / 2 /
					a->scale,
				.whole = true},
			'p', (const uint32_t[3]){i, WEFT_NONE, WEFT_NONE});
	for (uint32_t v = 0; v < a->b->n; v++) {
		program_row(&a->program, 1, 1);
		for (uint32_t i = 0; i < a->pieces.n; i++)
			for (uint32_t k = 0; k < a->pieces.piece[i].n; k++)
				if (a->pieces.piece[i].vertex[k] == v)
					program_put(&a->program,
						    a->piece_at + i, 1);
	}
	for (uint32_t size = 0; size < largest_box(a); size++)
		limit_pieces(a, size);
}

/* Numbers of the program are about 1. */
static void set_scale(struct aggregate *a)
{
	const struct graph *g = &a->b->g;
	double price = 0;

	a->bytes = 0;
	for (uint32_t e = 0; e < g->n_edges; e++)
		a->bytes = fmax(a->bytes, g->weight[e]);
	for (uint32_t l = 0; l < a->b->n_layers; l++)
		price = fmax(price, a->price[l]);
	if (!(a->bytes > 0))
		a->bytes = 1;
	a->scale = price > 0 ? price * a->bytes : 1;
}

static double count_columns(const struct aggregate *a)
{
	double n = 0;

	for (uint32_t k = 0; k < a->n_kept; k++) {
		const struct layer *layer = kept_layer(a, k);

		for (uint32_t i = layer->first; i < layer->first + layer->n;
		     i++) {
			n += k == 0 && a->told > 0 ? 0 : size_max(a, i);
			if (k >= a->told)
				n += a->b->n + a->b->g.n_edges / 2.0;
		}
	}
	return n;
}

/* What the detail needs besides; *too_large where there is none of it. */
static int prepare(struct aggregate *a, bool *too_large, struct weft_error *err)
{
	bool complete = true;

	a->told = a->n_kept;
	if (a->detail == AGGREGATE_TOLD) {
		choose_told(a);
		*too_large = a->told == a->n_kept;
	}
	if (a->detail == AGGREGATE_PIECES) {
		if (!a->n_kept || a->price[a->kept[0]] <= 0) {
			*too_large = true;
			return 0;
		}
		if (pieces_list(&a->b->g, largest_box(a), MAX_PIECES,
				&a->pieces, &complete, err))
			return -1;
		*too_large = !complete;
	}
	*too_large = *too_large || count_columns(a) > MAX_COLUMNS;
	return 0;
}

int aggregate_build(const struct blocks *b, const double *least,
		    enum aggregate_detail detail, struct aggregate *a,
		    bool *too_large, struct weft_error *err)
{
	memset(a, 0, sizeof(*a));
	a->b = b;
	a->least = least;
	a->detail = detail;
	*too_large = false;
	a->size_at =
		weft_calloc(3 * (size_t)b->n_boxes, sizeof(*a->size_at), err);
	if (!a->size_at)
		return -1;
	a->like = a->size_at + b->n_boxes;
	a->block_at = a->like + b->n_boxes;
	set_prices(a);
	set_scale(a);
	keep_layers(a);
	if (prepare(a, too_large, err))
		return -1;
	if (*too_large || !a->n_kept)
		return 0;
	add_counts(a);
	*too_large = a->program.n_columns > MAX_COLUMNS;
	if (*too_large) {
		program_free(&a->program);
		return 0;
	}
	tell_blocks(a);
	if (detail == AGGREGATE_PIECES)
		add_pieces(a);
	return program_check(&a->program, err);
}

void aggregate_free(struct aggregate *a)
{
	program_free(&a->program);
	pieces_free(&a->pieces);
	free(a->size_at);
	memset(a, 0, sizeof(*a));
}

static void read_pieces(const struct aggregate *a, const double *x,
			uint32_t *piece)
{
	for (uint32_t i = 0; i < a->pieces.n; i++) {
		const struct piece *p = &a->pieces.piece[i];

		for (uint32_t k = 0; k < p->n && x[a->piece_at + i] > 0.5; k++)
			piece[p->vertex[k]] = i;
	}
}

void aggregate_read(const struct aggregate *a, const double *x, uint32_t *of)
{
	const struct layer *layer;

	if (a->detail == AGGREGATE_PIECES) {
		read_pieces(a, x, of);
		return;
	}
	layer = kept_layer(a, a->told);
	for (uint32_t v = 0; v < a->b->n; v++) {
		of[v] = layer->first;
		for (uint32_t i = layer->first; i < layer->first + layer->n;
		     i++)
			if (x[a->block_at[i] + v] > 0.5)
				of[v] = i;
	}
}
