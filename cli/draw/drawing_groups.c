/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing_groups.c - the ways in which weft draw can colour GPUs */
#include "base/suggest.h"
#include "cli/draw/drawing_parts.h"

#include <string.h>

/* What a colouring says of rank r of a grid. */
enum kind {
	GROUP_OF,      /* the ranks that exchange bytes along an axis */
	COORDINATE_OF, /* the place along it */
};

/* In the order in which they are offered; the first that a job has is shown
 * where the user asks for none. */
static const struct way {
	const char *name, *noun, *axis;
	enum kind kind;
} ways[] = {
	{"stage", "stage", "pp", COORDINATE_OF},
	{"tp", "tp group", "tp", GROUP_OF},
	{"cp", "cp group", "cp", GROUP_OF},
	{"ep", "ep group", "ep", GROUP_OF},
	{"replica", "replica", "dp", COORDINATE_OF},
	{"dp", "dp group", "dp", GROUP_OF},
	{"pp", "pp group", "pp", GROUP_OF},
};
#define N_WAYS	      (sizeof(ways) / sizeof(ways[0]))
#define MAX_COLOURING (N_WAYS + 2) /* rank, job */

/* Groups are numbered by their lowest rank. */
static uint32_t groups_number(const struct weft_grid *grid, uint32_t axis,
			      enum kind kind, uint32_t *group)
{
	uint32_t stride = grid->stride[axis], size = grid->size[axis];

	for (uint32_t r = 0; r < grid->n_ranks; r++) {
		uint32_t low = r % stride, high = r / (stride * size);

		group[r] = kind == COORDINATE_OF
				   ? weft_grid_coordinate(grid, r, axis)
				   : high * stride + low;
	}
	return kind == COORDINATE_OF ? size : grid->n_ranks / size;
}

/* From ranks to GPUs. */
static int colouring_add(struct drawing *d, struct weft_colouring colouring,
			 const uint32_t *of_rank, struct weft_error *err)
{
	uint32_t n = d->request.fabric->n_gpus;
	struct weft_colouring *list =
		(struct weft_colouring *)(uintptr_t)d->scene.colourings;
	uint32_t *group = drawing_array(d, n, sizeof(*group), err);

	if (!group)
		return -1;
	memset(group, 0xff, n * sizeof(*group));
	for (uint32_t r = 0; r < d->n_ranks; r++)
		group[d->where[r]] = of_rank ? of_rank[r] : r;
	colouring.group = group;
	list[d->scene.n_colourings++] = colouring;
	return 0;
}

/* The grid in which the axis is found: experts have one of their own. */
static int way_add(struct drawing *d, const struct way *way,
		   struct weft_error *err)
{
	const struct weft_spec *spec = &d->request.job.spec;
	struct weft_grid grid = d->request.job.grid;
	struct weft_colouring colouring = {.name = way->name,
					   .noun = way->noun,
					   .ordered =
						   way->kind == COORDINATE_OF};
	uint32_t axis, *of_rank;

	if (strcmp(way->axis, "ep") == 0) {
		if (spec->ep < 2)
			return 0;
		if (weft_spec_expert_grid(spec, &grid, err))
			return -1;
	}
	axis = weft_grid_axis(&grid, way->axis);
	if (axis == WEFT_MAX_AXES || grid.size[axis] < 2)
		return 0;
	of_rank = drawing_array(d, d->n_ranks, sizeof(*of_rank), err);
	if (!of_rank)
		return -1;
	colouring.n_groups = groups_number(&grid, axis, way->kind, of_rank);
	return colouring_add(d, colouring, of_rank, err);
}

/* Every running job in a colour of its own, the job itself first. */
static int jobs_add(struct drawing *d, struct weft_error *err)
{
	const struct weft_scene *scene = &d->scene;
	uint32_t n = scene->fabric->n_gpus;
	uint32_t *group = drawing_array(d, n, sizeof(*group), err);
	const char **names =
		drawing_array(d, scene->n_owners + 1, sizeof(*names), err);
	struct weft_colouring *list =
		(struct weft_colouring *)(uintptr_t)scene->colourings;
	uint32_t first = d->where ? 1 : 0;

	if (!group || !names)
		return -1;
	names[0] = "of the picture";
	for (uint32_t j = 0; j < scene->n_owners; j++)
		names[j + first] = scene->owners[j];
	for (uint32_t g = 0; g < n; g++) {
		group[g] = WEFT_NONE;
		if (scene->use[g] == WEFT_USE_JOB)
			group[g] = 0;
		else if (scene->owner[g] != WEFT_NONE)
			group[g] = scene->owner[g] + first;
	}
	list[d->scene.n_colourings++] = (struct weft_colouring){
		.name = "job",
		.noun = "job",
		.n_groups = scene->n_owners + first,
		.names = names,
		.group = group,
	};
	return 0;
}

static int wrong(const struct drawing *d, struct weft_error *err)
{
	const char *words[MAX_COLOURING] = {"rank", "job"};
	char hint[WEFT_SUGGEST_TEXT];

	for (size_t i = 0; i < N_WAYS; i++)
		words[i + 2] = ways[i].name;
	for (size_t i = 0; i < MAX_COLOURING; i++)
		if (strcmp(words[i], d->colour_by) == 0)
			return weft_fail_at(
				err, WEFT_EINVAL, "--color-by", 0, 0,
				i == 1 ? "there are no jobs to tell \"%s\" by; "
					 "give --state or a job"
				: d->where
					? "the job has one rank along the axis "
					  "of \"%s\", or does not say what it "
					  "computes; give --job"
					: "\"%s\" is for a job; give --job or "
					  "--job-file",
				d->colour_by);
	return weft_fail_at(
		err, WEFT_EINVAL, "--color-by", 0, 0,
		"there is no \"%.40s\"; %s", d->colour_by,
		weft_suggest_text(d->colour_by, words, MAX_COLOURING, hint));
}

static int choose(struct drawing *d, struct weft_error *err)
{
	d->scene.chosen = d->scene.n_colourings ? 0 : WEFT_NONE;
	if (!d->colour_by)
		return 0;
	for (uint32_t i = 0; i < d->scene.n_colourings; i++) {
		if (strcmp(d->scene.colourings[i].name, d->colour_by) != 0)
			continue;
		d->scene.chosen = i;
		return 0;
	}
	return wrong(d, err);
}

int drawing_groups(struct drawing *d, struct weft_error *err)
{
	const struct weft_colouring by_rank = {.name = "rank",
					       .noun = "rank",
					       .ordered = true,
					       .n_groups = d->n_ranks};

	d->scene.colourings = drawing_array(d, MAX_COLOURING,
					    sizeof(struct weft_colouring), err);
	if (!d->scene.colourings)
		return -1;
	for (size_t i = 0; i < N_WAYS && d->priced; i++)
		if (way_add(d, &ways[i], err))
			return -1;
	if (d->where && colouring_add(d, by_rank, NULL, err))
		return -1;
	if ((d->scene.n_owners || d->where) && jobs_add(d, err))
		return -1;
	return choose(d, err);
}
