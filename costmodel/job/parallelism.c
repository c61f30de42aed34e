/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallelism.c - rank orders: from "tp-cp-dp-pp" to coordinates and groups */
#include "costmodel/job/parallelism.h"

#include "base/suggest.h"
#include "topology/fabric.h"

#include <ctype.h>
#include <string.h>

/* Copies the next word of *text into name and steps over it and the separator
 * behind it, which is returned (0 at the end); -1 when the word is empty, too
 * long or has a character that no axis name has. */
static int word_next(const char **text, char name[WEFT_AXIS_NAME_SIZE])
{
	const char *end = *text;
	size_t length;
	int separator;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	length = (size_t)(end - *text);
	if (length == 0 || length >= WEFT_AXIS_NAME_SIZE)
		return -1;
	if (*end && *end != '-' && *end != '/')
		return -1;
	memcpy(name, *text, length);
	name[length] = '\0';
	separator = *end;
	*text = separator ? end + 1 : end;
	return separator;
}

static const struct weft_axis_size *
size_find(const struct weft_axis_size *sizes, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(sizes[i].name, name) == 0)
			return &sizes[i];
	}
	return NULL;
}

static int unknown_axis(const char *order, const char *name,
			const struct weft_axis_size *sizes, uint32_t n,
			struct weft_error *err)
{
	const char *known[WEFT_MAX_AXES];
	uint32_t n_known = 0;
	const char *nearest;

	for (; n_known < n && n_known < WEFT_MAX_AXES; n_known++)
		known[n_known] = sizes[n_known].name;
	nearest = weft_suggest(name, known, n_known);
	return weft_fail(err, WEFT_EINVAL,
			 "order \"%s\": unknown axis \"%s\"%s%s%s", order, name,
			 nearest ? "; did you mean \"" : "",
			 nearest ? nearest : "", nearest ? "\"?" : "");
}

/* Reads the names of `order` into the grid, with their sizes. */
static int grid_name_axes(const char *order, const struct weft_axis_size *sizes,
			  uint32_t n, struct weft_grid *grid, char *separator,
			  struct weft_error *err)
{
	const struct weft_axis_size *size;
	const char *text = order;
	int next;

	*separator = '\0';
	do {
		char *name;

		if (grid->n_axes == WEFT_MAX_AXES)
			return weft_fail(err, WEFT_EINVAL,
					 "order \"%s\": more than %d axes",
					 order, WEFT_MAX_AXES);
		name = grid->name[grid->n_axes];
		next = word_next(&text, name);
		if (next < 0)
			return weft_fail(
				err, WEFT_EINVAL,
				"order \"%s\": expected axis names joined by "
				"'-' (first varies fastest) or by '/' (last "
				"varies fastest)",
				order);
		if (next && *separator && next != *separator)
			return weft_fail(err, WEFT_EINVAL,
					 "order \"%s\" mixes '-' and '/'",
					 order);
		if (next)
			*separator = (char)next;
		if (weft_grid_axis(grid, name) != WEFT_MAX_AXES)
			return weft_fail(err, WEFT_EINVAL,
					 "order \"%s\" names \"%s\" twice",
					 order, name);
		size = size_find(sizes, n, name);
		if (!size)
			return unknown_axis(order, name, sizes, n, err);
		grid->size[grid->n_axes++] = size->size;
	} while (next);
	return 0;
}

int weft_grid_build(const char *order, const struct weft_axis_size *sizes,
		    uint32_t n, struct weft_grid *grid, struct weft_error *err)
{
	uint64_t stride = 1;
	char separator;

	memset(grid, 0, sizeof(*grid));
	if (grid_name_axes(order, sizes, n, grid, &separator, err))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (sizes[i].size == 0)
			return weft_fail(err, WEFT_EINVAL, "axis %s has size 0",
					 sizes[i].name);
		if (sizes[i].size > 1 &&
		    weft_grid_axis(grid, sizes[i].name) == WEFT_MAX_AXES)
			return weft_fail(
				err, WEFT_EINVAL,
				"order \"%s\" does not say where %s=%u goes",
				order, sizes[i].name, sizes[i].size);
	}
	for (uint32_t i = 0; i < grid->n_axes; i++) {
		uint32_t a = separator == '/' ? grid->n_axes - 1 - i : i;

		grid->stride[a] = (uint32_t)stride;
		stride *= grid->size[a];
		if (stride > WEFT_MAX_GPUS)
			return weft_fail(err, WEFT_EINVAL,
					 "order \"%s\": more than %u ranks",
					 order, WEFT_MAX_GPUS);
	}
	grid->n_ranks = (uint32_t)stride;
	return 0;
}

uint32_t weft_grid_axis(const struct weft_grid *grid, const char *name)
{
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		if (strcmp(grid->name[a], name) == 0)
			return a;
	}
	return WEFT_MAX_AXES;
}

/* Marks the axes that token ("dp", "tp-pp") names; returns the product of their
 * sizes, or 0 with err. */
static uint32_t token_axes(const struct weft_grid *grid, const char *token,
			   bool in[WEFT_MAX_AXES], struct weft_error *err)
{
	char name[WEFT_AXIS_NAME_SIZE];
	const char *text = token;
	uint32_t product = 1;
	int next;

	memset(in, 0, WEFT_MAX_AXES * sizeof(*in));
	do {
		uint32_t axis;

		next = word_next(&text, name);
		axis = next < 0 ? WEFT_MAX_AXES : weft_grid_axis(grid, name);
		if (axis == WEFT_MAX_AXES || in[axis]) {
			weft_fail(err, WEFT_EINVAL,
				  "group \"%s\": expected axes of the grid, "
				  "each once, joined by '-'",
				  token);
			return 0;
		}
		in[axis] = true;
		product *= grid->size[axis];
	} while (next);
	return product;
}

/* The k-th fastest axis.  Those that a tie leaves in doubt have size 1 and add
 * nothing. */
static uint32_t axis_at(const struct weft_grid *grid, uint32_t k)
{
	bool first_fastest = grid->stride[0] <= grid->stride[grid->n_axes - 1];

	return first_fastest ? k : grid->n_axes - 1 - k;
}

int weft_grid_groups(const struct weft_grid *grid, const char *token,
		     struct weft_grid_groups *groups, struct weft_error *err)
{
	groups->n = token_axes(grid, token, groups->in, err);
	return groups->n ? 0 : -1;
}

uint32_t weft_grid_lowest(const struct weft_grid *grid,
			  const struct weft_grid_groups *groups, uint32_t index)
{
	uint32_t rank = 0, at;

	/* index in mixed radix, the fastest axis first */
	for (uint32_t k = 0; k < grid->n_axes; k++) {
		uint32_t a = axis_at(grid, k);

		if (groups->in[a])
			continue;
		index = weft_grid_divide(index, grid->size[a], &at);
		rank += at * grid->stride[a];
	}
	return rank;
}

void weft_grid_members(const struct weft_grid *grid,
		       const struct weft_grid_groups *groups, uint32_t index,
		       uint32_t *ranks)
{
	uint32_t n = 1;

	ranks[0] = weft_grid_lowest(grid, groups, index);
	for (uint32_t k = 0; k < grid->n_axes; k++) {
		uint32_t a = axis_at(grid, k), stride = grid->stride[a];
		uint32_t before = n, size = n * grid->size[a];

		if (!groups->in[a])
			continue;
		for (; n < size; n++)
			ranks[n] = ranks[n - before] + stride;
	}
}

uint32_t weft_grid_group(const struct weft_grid *grid, const char *token,
			 uint32_t index, uint32_t *ranks,
			 struct weft_error *err)
{
	struct weft_grid_groups groups;

	if (weft_grid_groups(grid, token, &groups, err))
		return 0;
	if (index >= grid->n_ranks / groups.n) {
		weft_fail(err, WEFT_EINVAL,
			  "group %u of \"%s\": there are only %u", index, token,
			  grid->n_ranks / groups.n);
		return 0;
	}
	weft_grid_members(grid, &groups, index, ranks);
	return groups.n;
}
