/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing_traffic.c - the matrix of bytes between ranks, as fine as is seen */
#include "cli/draw/drawing_parts.h"

/* Cells a side: what a screen still shows. */
#define MAX_CELLS 256

static void heat_add(struct weft_heat *heat, double *const *bytes,
		     uint32_t axis, uint32_t from, uint32_t to, double amount)
{
	size_t row = from / heat->per_cell, column = to / heat->per_cell;

	bytes[axis][row * heat->n_cells + column] += amount;
}

/* What goes to a switch that reduces has no other rank as its end: it is put
 * where the rank itself is, on the diagonal. */
static void heat_fill(struct weft_heat *heat, double *const *bytes,
		      const struct weft_traffic *t)
{
	for (uint32_t r = 0; r < t->n_ranks; r++)
		for (uint32_t e = t->row[r]; e < t->row[r + 1]; e++)
			heat_add(heat, bytes, t->axis[e], r, t->peer[e],
				 t->bytes[e]);
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct weft_switch *sw = &t->switches[s];

		for (uint32_t i = 0; i < sw->n_members; i++) {
			uint32_t r = t->member[sw->first_member + i];

			heat_add(heat, bytes, sw->axis, r, r, sw->bytes);
		}
	}
}

int drawing_traffic(struct drawing *d, struct weft_error *err)
{
	const struct weft_traffic *t = &d->request.job.traffic;
	struct weft_heat *heat;
	double **bytes;

	if (!d->priced)
		return 0;
	heat = drawing_array(d, 1, sizeof(*heat), err);
	bytes = drawing_array(d, WEFT_N_AXES, sizeof(*bytes), err);
	if (!heat || !bytes)
		return -1;
	heat->n_ranks = t->n_ranks;
	heat->per_cell = (t->n_ranks + MAX_CELLS - 1) / MAX_CELLS;
	heat->n_cells = (t->n_ranks + heat->per_cell - 1) / heat->per_cell;
	heat->n_layers = WEFT_N_AXES;
	heat->layers = weft_axis_names;
	for (int a = 0; a < WEFT_N_AXES; a++) {
		bytes[a] =
			drawing_array(d, (size_t)heat->n_cells * heat->n_cells,
				      sizeof(**bytes), err);
		if (!bytes[a])
			return -1;
	}
	heat->bytes = bytes;
	heat_fill(heat, bytes, t);
	d->scene.heat = heat;
	return 0;
}
