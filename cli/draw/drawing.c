/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing.c - gathering what weft draw shows */
#include "cli/draw/drawing.h"

#include "base/bitset.h"
#include "cli/draw/drawing_parts.h"
#include "cli/plan/ranks.h"
#include "placement/place.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the matrix of bytes between ranks, as fine as is seen ---- */

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

/* The matrix of bytes between ranks. */
static int drawing_traffic(struct drawing *d, struct weft_error *err)
{
	struct weft_traffic *t = &d->request.job.traffic;
	struct weft_heat *heat;
	double **bytes;

	if (!d->priced)
		return 0;
	if (weft_traffic_expand(t, err))
		return -1;
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

/* ---- the scene ---- */

void *drawing_array(struct drawing *d, size_t n, size_t size,
		    struct weft_error *err)
{
	if (size && n > SIZE_MAX / 2 / size) {
		weft_fail(err, WEFT_ENOMEM, "out of memory");
		return NULL;
	}
	return weft_arena_alloc(&d->memory, n * size + 1, err);
}

const char *drawing_text(struct drawing *d, struct weft_error *err,
			 const char *format, ...)
{
	char *text;
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(NULL, 0, format, list);
	va_end(list);
	text = drawing_array(d, (size_t)(length > 0 ? length : 0) + 1, 1, err);
	if (!text)
		return NULL;
	va_start(list, format);
	vsnprintf(text, (size_t)length + 1, format, list);
	va_end(list);
	return text;
}

/* ---- the job ---- */

static int plan_load(struct drawing *d, struct weft_error *err)
{
	d->plan = plan_from_file(d->job_path, err);
	if (!d->plan)
		return -1;
	if (!json_is_array(json_object_get(d->plan, "ranks")))
		return weft_fail_at(err, WEFT_EINVAL, d->job_path, 0, 0,
				    "expected an array \"ranks\", as weft plan "
				    "--json writes");
	/* what the job computes; plans of others do not say */
	if (!d->request.job_text)
		d->request.job_text =
			json_string_value(json_object_get(d->plan, "job"));
	return 0;
}

static double plan_number(const struct drawing *d, const char *key)
{
	const json_t *value = json_object_get(d->plan, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int plan_seat(struct drawing *d, struct weft_error *err)
{
	const struct weft_fabric *f = d->request.fabric;
	const json_t *why = json_object_get(d->plan, "why");
	size_t n = json_array_size(json_object_get(d->plan, "ranks"));

	if (n == 0) {
		d->absent = true;
		d->why = json_string_value(json_array_get(why, 0));
		return 0;
	}
	if (n > f->n_gpus)
		return weft_fail_at(err, WEFT_EINVAL, d->job_path, 0, 0,
				    "%zu ranks, but the fabric has %u GPUs", n,
				    f->n_gpus);
	if (d->request.job_text && d->request.job.n_gpus != n)
		return weft_fail_at(err, WEFT_EINVAL, d->job_path, 0, 0,
				    "%zu ranks, but the job has %u", n,
				    d->request.job.n_gpus);
	d->where = drawing_array(d, n, sizeof(*d->where), err);
	if (!d->where)
		return -1;
	d->n_ranks = (uint32_t)n;
	d->bound = plan_number(d, "bound");
	d->gap = plan_number(d, "gap");
	return ranks_from_json(f, d->plan, d->job_path, d->n_ranks, d->where,
			       err);
}

static int job_place(struct drawing *d, drawing_listener *listener,
		     void *context, struct weft_error *err)
{
	struct request *request = &d->request;
	struct weft_place_options options = {
		.objective = &request->objective,
		.progress = listener,
		.listener = context,
	};
	struct weft_placement *p = &d->placement;

	if (request_contend(request, NULL, 0, err) ||
	    weft_place(request->fabric, &request->job, &request->occupancy,
		       &options, p, err))
		return -1;
	d->absent = !p->placed;
	if (d->absent) {
		d->why = p->n_why ? p->why[0] : "";
		return 0;
	}
	d->where = p->where;
	d->n_ranks = p->n_ranks;
	d->bound = p->bound;
	d->gap = p->gap;
	return 0;
}

static int job_price(struct drawing *d, struct weft_error *err)
{
	struct request *request = &d->request;

	if (!d->where || !request->job_text)
		return 0;
	if (!request->objective.load &&
	    request_contend(request, d->where, d->n_ranks, err))
		return -1;
	d->evaluation.gpu = request->gpu;
	d->evaluation.load = request->objective.load;
	d->evaluation.exact_sharing = true;
	if (weft_evaluate(request->fabric, &request->job, d->where, NULL,
			  &d->evaluation, err))
		return -1;
	d->priced = true;
	return 0;
}

/* ---- what becomes of each GPU ---- */

static void use_fill(const struct drawing *d, uint8_t *use)
{
	const struct weft_occupancy *o = &d->request.occupancy;
	const struct weft_fabric *f = o->fabric;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct weft_node *node = &f->nodes[i];

		for (uint32_t k = 0; k < node->n_gpus; k++) {
			uint8_t *one = &use[node->first_gpu + k];

			if (weft_bitset_has(o->closed, i))
				*one = WEFT_USE_CLOSED;
			else if (!(o->free[i] >> k & 1))
				*one = WEFT_USE_BUSY;
		}
	}
	for (uint32_t r = 0; r < d->n_ranks; r++)
		use[d->where[r]] = WEFT_USE_JOB;
}

/* Whose a busy GPU is.  A running job that the picture is about is not its
 * own other job. */
static void owner_fill(const struct drawing *d, const uint8_t *use,
		       uint32_t *owner)
{
	const struct weft_running_list *running = &d->request.running;

	for (uint32_t j = 0; j < running->n; j++) {
		const struct weft_running *job = &running->jobs[j];

		for (uint32_t i = 0; i < job->n_gpus; i++)
			if (use[job->gpu[i]] == WEFT_USE_BUSY)
				owner[job->gpu[i]] = j;
	}
}

static int seats_fill(struct drawing *d, struct weft_error *err)
{
	uint32_t n = d->request.fabric->n_gpus;
	const struct weft_running_list *running = &d->request.running;
	uint8_t *use = drawing_array(d, n, sizeof(*use), err);
	uint32_t *rank = drawing_array(d, n, sizeof(*rank), err);
	uint32_t *owner = drawing_array(d, n, sizeof(*owner), err);
	const char **ids = drawing_array(d, running->n, sizeof(*ids), err);

	if (!use || !rank || !owner || !ids)
		return -1;
	memset(rank, 0xff, n * sizeof(*rank));
	memset(owner, 0xff, n * sizeof(*owner));
	for (uint32_t r = 0; r < d->n_ranks; r++)
		rank[d->where[r]] = r;
	for (uint32_t j = 0; j < running->n; j++)
		ids[j] = running->jobs[j].id;
	use_fill(d, use);
	owner_fill(d, use, owner);
	d->scene.fabric = d->request.fabric;
	d->scene.use = use;
	d->scene.rank = d->where ? rank : NULL;
	d->scene.n_ranks = d->n_ranks;
	d->scene.owner = owner;
	d->scene.owners = ids;
	d->scene.n_owners = running->n;
	return 0;
}

/* The node to look into. */
static int inside_find(struct drawing *d, struct weft_error *err)
{
	uint32_t node;

	if (!d->inside)
		return 0;
	node = weft_fabric_find(d->request.fabric, d->inside, err);
	if (node == WEFT_NONE)
		return -1;
	d->scene.inside = &d->request.fabric->nodes[node];
	return 0;
}

int drawing_open(struct drawing *d, drawing_listener *listener, void *context,
		 struct weft_error *err)
{
	struct request *request = &d->request;
	int placed = 0;

	d->bound = d->gap = (double)NAN;
	d->why = "";
	if ((d->job_path && plan_load(d, err)) || request_open(request, err) ||
	    inside_find(d, err))
		return -1;
	if (d->plan)
		placed = plan_seat(d, err);
	else if (request->job_text)
		placed = job_place(d, listener, context, err);
	if (placed || job_price(d, err) || seats_fill(d, err) ||
	    drawing_groups(d, err) || drawing_traffic(d, err))
		return -1;
	return drawing_facts(d, err);
}

void drawing_close(struct drawing *d)
{
	weft_placement_free(&d->placement);
	request_close(&d->request);
	weft_arena_free(&d->memory);
	json_decref(d->plan);
}
