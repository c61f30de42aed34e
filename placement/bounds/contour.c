/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contour.c - the least weight that leaves a set of a lattice, by its size
 *
 * Axis by axis, the heaviest first.  Let b(a) be the least cost of a vertices
 * of the product so far, and let R copies of it, one per coordinate of the next
 * axis, hold a_1 ... a_R vertices of the set.  Of the lines along that axis, at
 * least max a_i meet the set and at least max a_i - min a_i are filled in part;
 * hence the cost of s vertices of the larger product is at least
 *
 *	min over a_1 + ... + a_R = s of
 *	sum b(a_i) + piece * max a_i + part * (max a_i - min a_i),
 *
 * which is attained where sets of growing size can be nested, as on grids.
 *
 * The heaviest axis is most often one that no sensible set divides.  Its k
 * copies of all the rest hold s_1 ... s_k vertices; where its lines are heavy
 * beside all others, the sizes that differ by one at most are the cheapest.
 */
#include "placement/bounds/contour.h"

#include "placement/bounds/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int contour_lines_build(const struct lattice *l, struct contour_lines *lines,
			struct weft_error *err)
{
	memset(lines, 0, sizeof(*lines));
	for (uint32_t i = 0; i < l->n_axes; i++) {
		const struct lattice_axis *axis = &l->axis[i];

		lines->n = i + 1;
		if (line_build(axis->size, axis->edge, axis->n_edges,
			       &lines->line[i], err) ||
		    line_build(axis->size, axis->cover, axis->n_cover,
			       &lines->cover[i], err))
			return -1;
	}
	return 0;
}

void contour_lines_free(struct contour_lines *lines)
{
	for (uint32_t i = 0; i < lines->n; i++) {
		line_free(&lines->line[i]);
		line_free(&lines->cover[i]);
	}
	lines->n = 0;
}

/* Axes first ... last - 1 of the lattice, with the lines of layer z. */
struct tower {
	const struct lattice *l;
	const struct contour_lines *lines;
	double pieces;
	uint32_t first, max;
	uint32_t even_at; /* of contour_terms, but in one copy; 0: no */
	bool inside, quick;
	struct effort *effort;
	bool *exact;
	double given; /* to all vertices, to be taken back */
};

static bool counts_inside(const struct tower *t, uint32_t axis)
{
	return t->inside && axis > 0;
}

/* Prices along one axis, in layer z. */
struct price {
	double piece; /* of each line met */
	double part;  /* of each filled in part */
	double each;  /* of each vertex: less than 0 */
};

static struct price price_of(const struct tower *t, uint32_t axis, uint32_t z)
{
	const struct line *line = &t->lines->line[axis];
	double scale = t->l->axis[axis].scale[z];

	if (counts_inside(t, axis)) {
		/* a line that is met holds step * (n - 1), all of it `last`
		 * more */
		line = &t->lines->cover[axis];
		scale = t->l->axis[axis].cover_scale[z];
		return (struct price){scale * (line->step - line->last),
				      scale * line->last, -scale * line->step};
	}
	if (line->path == 0)
		return (struct price){0, scale * line->least / 2, 0};
	return (struct price){
		scale * t->pieces * line->path,
		scale * (line->other + (1 - t->pieces) * line->path) / 2, 0};
}

/* One line of the first axis alone. */
static void start_line(const struct tower *t, uint32_t z, struct layer *c)
{
	const struct line *line = &t->lines->line[t->first];
	const struct line *cover = &t->lines->cover[t->first];
	double scale = t->l->axis[t->first].scale[z];
	double cover_scale = t->l->axis[t->first].cover_scale[z];
	struct price p = price_of(t, t->first, z);

	c->cost[0] = 0;
	for (uint32_t a = 1; a <= c->n; a++) {
		/* part is what a clique pays at a = 1, the least */
		double more = line->clique * (a - 1.0) * (line->size - a - 1.0);
		double part = a < line->size && line->path > 0
				      ? p.part + scale * more / 2
				      : 0;

		c->cost[a] = counts_inside(t, t->first)
				     ? -cover_scale * cover->most[a]
				     : fmax(scale * line->cut[a] / 2,
					    p.piece + part);
	}
}

/* Replaces *c by the sum of layers of it, or of others as told. */
static int stack_layers(const struct tower *t, const struct layers *s,
			double each, uint64_t vertices, struct layer *c,
			struct weft_error *err)
{
	struct layer out;

	if (layer_start(&out, vertices, t->max, err))
		return -1;
	if (layers_sum(s, t->effort, &out, t->exact, err)) {
		free(out.cost);
		return -1;
	}
	for (uint32_t a = 1; a <= out.n; a++)
		out.cost[a] += each * a;
	free(c->cost);
	*c = out;
	return 0;
}

/* The costs of one layer along the last axis. */
static int layer_costs(const struct tower *t, uint32_t z, struct layer *c,
		       struct weft_error *err)
{
	uint64_t vertices = t->l->axis[t->first].size;

	if (layer_start(c, vertices, t->max, err))
		return -1;
	start_line(t, z, c);
	for (uint32_t i = t->first + 1; i + 1 < t->l->n_axes; i++) {
		uint32_t size = t->l->axis[i].size;
		struct price p = price_of(t, i, z);
		const struct layer **same =
			weft_calloc(size, sizeof(*same), err);
		struct layers s = {same, size, p.piece, p.part, t->quick};
		int rc;

		if (!same)
			return -1;
		for (uint32_t k = 0; k < size; k++)
			same[k] = c;
		vertices *= size;
		rc = stack_layers(t, &s, p.each, vertices, c, err);
		free(same);
		if (rc)
			return -1;
	}
	return 0;
}

/* A layer before z whose lines weigh the same; z when there is none. */
static uint32_t layer_like(const struct tower *t, uint32_t z)
{
	for (uint32_t y = 0; y < z; y++) {
		uint32_t i = t->first;

		while (i < t->l->n_axes &&
		       t->l->axis[i].scale[y] == t->l->axis[i].scale[z] &&
		       t->l->axis[i].cover_scale[y] ==
			       t->l->axis[i].cover_scale[z])
			i++;
		if (i == t->l->n_axes)
			return y;
	}
	return z;
}

/* Earns each vertex of a layer what one costs there more than in the cheapest
 * layer, in sets of even_at.  What is earned in all goes into *given.  all[]:
 * the layers, those alike as one; own[z]: without costs where z is not the
 * first of them. */
static void even_out(struct tower *t, struct layer *own,
		     const struct layer *const *all, uint32_t layers)
{
	uint32_t at = t->even_at < own[0].n ? t->even_at : own[0].n;
	double least = INFINITY;

	for (uint32_t z = 0; z < layers; z++)
		least = fmin(least, all[z]->cost[at]);
	for (uint32_t z = 0; z < layers; z++)
		t->given +=
			(all[z]->cost[at] - least) / at * (t->l->n / layers);
	for (uint32_t z = 0; z < layers; z++) {
		double bonus;

		if (!own[z].cost)
			continue;
		bonus = (own[z].cost[at] - least) / at;
		for (uint32_t a = 0; a <= own[z].n; a++)
			own[z].cost[a] -= bonus * a;
	}
}

/* All layers along the last axis. */
static int tower_top(struct tower *t, struct layer *out, struct weft_error *err)
{
	const struct lattice *l = t->l;
	const struct line *line = &t->lines->line[l->n_axes - 1];
	struct layer *layer = weft_calloc(line->size, sizeof(*layer), err);
	const struct layer **all = weft_calloc(line->size, sizeof(*all), err);
	struct price p = price_of(t, l->n_axes - 1, 0);
	struct layers s = {all, line->size, p.piece, p.part, t->quick};
	uint64_t vertices = 1;
	int rc = -1;

	if (!layer || !all)
		goto out;
	for (uint32_t i = t->first; i < l->n_axes; i++)
		vertices *= l->axis[i].size;
	for (uint32_t z = 0; z < line->size; z++) {
		uint32_t like = layer_like(t, z);

		all[z] = &layer[like];
		if (like == z && layer_costs(t, z, &layer[z], err))
			goto out;
	}
	if (t->even_at)
		even_out(t, layer, all, line->size);
	rc = stack_layers(t, &s, p.each, vertices, out, err);
out:
	for (uint32_t z = 0; layer && z < line->size; z++)
		free(layer[z].cost);
	free(layer);
	free(all);
	return rc;
}

/* The product of all axes from t->first on. */
static int tower_build(struct tower *t, struct layer *out,
		       struct weft_error *err)
{
	memset(out, 0, sizeof(*out));
	t->given = 0;
	if (t->first + 1 < t->l->n_axes)
		return tower_top(t, out, err);
	return layer_costs(t, 0, out, err);
}

/* What a vertex more or less changes at the most, on the lines of axes first,
 * first + 1, ...: what its edges weigh and a piece each, and no more than that
 * in what it earns. */
static double steepest(const struct tower *t)
{
	uint32_t layers = t->l->axis[t->l->n_axes - 1].size;
	double sum = 0;

	for (uint32_t i = t->first; i < t->l->n_axes; i++) {
		double most = 0;

		for (uint32_t z = 0; z < layers; z++) {
			const struct lattice_axis *axis = &t->l->axis[i];
			double step = axis->cover_scale[z] *
				      t->lines->cover[i].degree;

			if (!counts_inside(t, i))
				step = axis->scale[z] *
					       t->lines->line[i].degree / 2 +
				       price_of(t, i, z).piece;
			most = fmax(most, step);
		}
		sum += most;
	}
	return t->even_at ? 2 * sum : sum;
}

/* Two copies, w between the two vertices of each pair: s1 + s2 vertices cost
 * b(s1) + b(s2) + w / 2 * |s1 - s2|.  A vertex more on one side adds w, and
 * saves two steps at most, which tells how far on a lower sum can be: nowhere
 * where w is as much.  To look at all would take the square of max. */
static void share_by_two(const struct layer *c, double w, double step,
			 struct contour *out)
{
	double saves = 2 * step > w ? 2 * step - w : 0;

	for (uint32_t s = 1; s <= out->max; s++) {
		double best = INFINITY;
		uint32_t a = (s + 1) / 2;

		while (a <= s && a <= c->n) {
			double cost = c->cost[a] + c->cost[s - a] +
				      w / 2 * (2 * a - s);

			best = cost < best ? cost : best;
			if (saves * (s - a) <= cost - best)
				break;
			a += cost - best > saves
				     ? (uint32_t)((cost - best) / saves)
				     : 1;
		}
		out->least[s] = best;
	}
}

/* Sets of k copies.  Numbers s_1 ... s_k can be evened out, vertex by vertex;
 * each move costs two steps at most.  Of s vertices, r are more than a multiple
 * of k.  A clique of weight w between the copies saves w / 2 * k by each move
 * but the last k - 1, which save w / 2 * min(r, k - r), and are none where r is
 * 0.  Any line that costs c / 2 where it is filled in part saves that by every
 * (k - 1) / 2 moves, except that one stays so where r is not 0. */
struct sharing {
	uint32_t k;
	double clique; /* w; 0: not to be counted on */
	double step, least;
};

static bool shares_evenly(const struct tower *t, struct sharing *sharing)
{
	const struct line *line = &t->lines->line[0];

	sharing->k = line->size;
	sharing->step = steepest(t);
	sharing->least = line->least / 2;
	sharing->clique = line->clique;
	if (line->clique * line->size >= 4 * sharing->step)
		return true;
	sharing->clique = 0;
	return sharing->least >= sharing->step * (line->size - 1);
}

static void share_evenly(const struct layer *c, const struct sharing *sharing,
			 struct contour *out)
{
	double w = sharing->clique / 2, step = sharing->step;
	uint32_t k = sharing->k;

	for (uint32_t s = 1; s <= out->max; s++) {
		uint32_t each = s / k, more = s % k;
		uint32_t saves = more < k - more ? more : k - more;
		double sum = (k - more) * c->cost[each];

		if (more && w > 0)
			sum += more * c->cost[each + 1] +
			       w * more * (k - more) -
			       (k - 1) * fmax(0, 2 * step - w * saves);
		else if (more)
			sum += more * c->cost[each + 1] + sharing->least -
			       step * (k - 1);
		out->least[s] = sum;
	}
}

/* What has been counted too much, along the axes from t->first on: a piece of
 * each line; or not at all: what is on lines that are not cut. */
static double give_back(const struct tower *t)
{
	uint32_t layers = t->l->axis[t->l->n_axes - 1].size;
	double sum = t->given;

	for (uint32_t i = t->first; i < t->l->n_axes; i++) {
		double lines = t->l->n / t->l->axis[i].size;

		if (counts_inside(t, i)) {
			sum += t->l->axis[i].weight;
			continue;
		}
		/* lines of an inner axis, layer by layer */
		for (uint32_t z = 0; z < layers; z++)
			sum -= price_of(t, i, z).piece * lines / layers;
	}
	return -sum;
}

/* The sum of all copies along the heaviest axis, by how the rest is shared
 * between them.  Small sets may well divide it, and are quickly summed up. */
static int share(struct tower *t, struct contour *c, struct weft_error *err)
{
	const struct line *line = &t->lines->line[0];
	struct layer rest = {0};
	struct sharing sharing;
	uint32_t even_at = t->even_at;
	int rc;

	t->first = 1;
	t->even_at = (even_at + line->size - 1) / line->size;
	if (t->l->n_axes > 1 && line->size == 2) {
		t->max = c->max;
		rc = tower_build(t, &rest, err);
		if (rc == 0)
			share_by_two(&rest, line->least, steepest(t), c);
	} else if (t->l->n_axes > 1 && c->max >= 2 * line->size &&
		   shares_evenly(t, &sharing)) {
		t->max = c->max / line->size + 1;
		rc = tower_build(t, &rest, err);
		if (rc == 0)
			share_evenly(&rest, &sharing, c);
	} else {
		t->first = 0;
		t->even_at = even_at;
		t->max = c->max;
		rc = tower_build(t, &rest, err);
		if (rc == 0)
			memcpy(c->least, rest.cost,
			       ((size_t)c->max + 1) * sizeof(*c->least));
	}
	free(rest.cost);
	return rc;
}

int contour_build(const struct lattice *l, const struct contour_lines *lines,
		  const struct contour_terms *terms, uint32_t max,
		  struct effort *effort, struct contour *c,
		  struct weft_error *err)
{
	struct tower t = {.l = l,
			  .lines = lines,
			  .pieces = terms->pieces,
			  .even_at = terms->even_at,
			  .inside = terms->inside,
			  .quick = terms->quick,
			  .effort = effort,
			  .exact = &c->exact};

	memset(c, 0, sizeof(*c));
	c->max = max;
	c->exact = true;
	c->least = weft_calloc((size_t)max + 1, sizeof(*c->least), err);
	if (!c->least || share(&t, c, err))
		return -1;
	c->complete = !effort_spent(effort);
	c->back = give_back(&t);
	return 0;
}

void contour_free(struct contour *c)
{
	free(c->least);
	memset(c, 0, sizeof(*c));
}
