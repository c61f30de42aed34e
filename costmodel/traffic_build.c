/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_build.c - from the calls of a step to bytes between ranks
 *
 * The groups of a token are alike: rank r's peers in a group follow from its
 * place there alone.  So each kind of call is turned into pairs once, for one
 * group, and every rank looks up its row of that pattern.
 */
#include "costmodel/schedule.h"
#include "costmodel/traffic.h"
#include "costmodel/traffic_parts.h"
#include "costmodel/volume.h"

#include <stdlib.h>
#include <string.h>

/* How the bytes of a call go from rank to rank of a group. */
enum way { TO_NEXT, TO_PREVIOUS, TO_ALL, N_WAYS };

/* Calls of one way among the same groups.  The first four tell lanes apart. */
struct lane {
	const struct weft_call *call; /* its axis and group */
	enum way way;
	uint32_t *offset; /* [n] of the i-th member from the lowest */
	/* A rank's place is the sum of its coordinates times these; an axis
	 * that is not of the group has 0. */
	const struct weft_grid *grid;
	uint32_t place[WEFT_MAX_AXES];
	bool ends;     /* the group is the first and last of a pipeline */
	double *bytes; /* [stages] that a rank sends */
};

struct build {
	const struct weft_schedule *schedule;
	uint32_t n_stages, pp_axis, n_lanes;
	struct lane *lanes;
	struct weft_traffic *traffic;
};

static const struct weft_grid *grid_of(const struct weft_schedule *s,
				       const struct weft_call *call)
{
	return call->expert_grid ? &s->expert : &s->dense;
}

static enum way way_of(const struct weft_call *call)
{
	if (call->collective == WEFT_ALL_TO_ALL)
		return TO_ALL;
	if (call->collective == WEFT_SEND_RECV && call->axis == WEFT_AXIS_PP &&
	    call->phase == WEFT_BACKWARD)
		return TO_PREVIOUS;
	return TO_NEXT;
}

static bool same_lane(const struct lane *lane, const struct weft_call *call)
{
	return lane->way == way_of(call) && lane->call->axis == call->axis &&
	       lane->call->expert_grid == call->expert_grid &&
	       lane->call->n == call->n &&
	       strcmp(lane->call->group, call->group) == 0;
}

/* Whether `name` is one of the words of token. */
static bool token_has(const char *token, const char *name)
{
	size_t length = strlen(name);

	while (*token) {
		size_t word = strcspn(token, "-");

		if (word == length && memcmp(token, name, length) == 0)
			return true;
		token += word + (token[word] == '-');
	}
	return false;
}

/* Where in its group a rank is: members ascend, so faster axes count first. */
static uint32_t lane_places(struct lane *lane)
{
	const struct weft_grid *grid = lane->grid;
	uint32_t n = 1;

	for (uint32_t done = 0; done < grid->n_axes; done++) {
		uint32_t fastest = WEFT_MAX_AXES;

		for (uint32_t a = 0; a < grid->n_axes; a++) {
			if (grid->size[a] == 1 || lane->place[a] ||
			    !token_has(lane->call->group, grid->name[a]))
				continue;
			if (fastest == WEFT_MAX_AXES ||
			    grid->stride[a] < grid->stride[fastest])
				fastest = a;
		}
		if (fastest == WEFT_MAX_AXES)
			break;
		lane->place[fastest] = n;
		n *= grid->size[fastest];
	}
	return n;
}

static int lane_open(struct build *b, const struct weft_call *call,
		     struct weft_error *err)
{
	struct lane *lane = &b->lanes[b->n_lanes++];
	uint32_t n;

	lane->call = call;
	lane->way = way_of(call);
	lane->grid = grid_of(b->schedule, call);
	n = lane_places(lane);
	lane->ends = call->n != n;
	lane->offset = weft_calloc(n, sizeof(*lane->offset), err);
	lane->bytes = weft_calloc(b->n_stages, sizeof(*lane->bytes), err);
	if (!lane->offset || !lane->bytes ||
	    !weft_grid_group(lane->grid, call->group, 0, lane->offset, err))
		return -1;
	if (lane->ends)
		lane->offset[1] = lane->offset[n - 1];
	return 0;
}

static int lanes_fill(struct build *b, struct weft_error *err)
{
	for (uint32_t i = 0; i < b->schedule->n_calls; i++) {
		const struct weft_call *call = &b->schedule->calls[i];
		double bytes = call->count *
			       weft_volume_collective(call->collective, call->n,
						      call->size_bytes);
		struct lane *lane = b->lanes;

		while (lane < b->lanes + b->n_lanes && !same_lane(lane, call))
			lane++;
		if (lane == b->lanes + b->n_lanes && lane_open(b, call, err))
			return -1;
		for (uint32_t p = 0; p < call->n_stages; p++)
			lane->bytes[call->first_stage + p] += bytes;
	}
	return 0;
}

/* The place of a rank in its group, n when it has none. */
static uint32_t place_of(const struct lane *lane, uint32_t rank)
{
	uint32_t place = 0, n = lane->call->n;

	for (uint32_t a = 0; a < lane->grid->n_axes; a++) {
		if (lane->place[a])
			place += weft_grid_coordinate(lane->grid, rank, a) *
				 lane->place[a];
	}
	if (!lane->ends || place == 0)
		return place;
	/* the caller's stage has bytes, so it is the last */
	return n - 1;
}

static void rank_fill(const struct build *b, uint32_t rank)
{
	struct weft_traffic *t = b->traffic;
	const struct weft_grid *dense = &b->schedule->dense;
	uint32_t first = t->n_edges, stage = 0;

	if (b->pp_axis != WEFT_MAX_AXES)
		stage = weft_grid_coordinate(dense, rank, b->pp_axis);
	t->row[rank] = first;
	for (uint32_t i = 0; i < b->n_lanes; i++) {
		const struct lane *lane = &b->lanes[i];
		uint32_t n = lane->call->n, place, lowest;
		double bytes = lane->bytes[stage];

		if (!(bytes > 0))
			continue;
		place = place_of(lane, rank);
		lowest = rank - lane->offset[place];
		for (uint32_t to = 0; lane->way == TO_ALL && to < n; to++) {
			if (to != place)
				traffic_row_add(
					t, first, lowest + lane->offset[to],
					lane->call->axis, bytes / (n - 1));
		}
		if (lane->way == TO_ALL)
			continue;
		place = lane->way == TO_NEXT ? place + 1 : place + n - 1;
		traffic_row_add(t, first, lowest + lane->offset[place % n],
				lane->call->axis, bytes);
	}
}

static int rows_fill(struct build *b, struct weft_error *err)
{
	uint32_t n_ranks = b->schedule->dense.n_ranks;
	uint64_t edges = 0;

	for (uint32_t i = 0; i < b->n_lanes; i++)
		edges +=
			b->lanes[i].way == TO_ALL ? b->lanes[i].call->n - 1 : 1;
	if (traffic_alloc(b->traffic, n_ranks, edges * n_ranks, err))
		return -1;
	for (uint32_t rank = 0; rank < n_ranks; rank++)
		rank_fill(b, rank);
	b->traffic->row[n_ranks] = b->traffic->n_edges;
	return 0;
}

static int build_rows(const struct weft_schedule *schedule,
		      struct weft_traffic *traffic, struct weft_error *err)
{
	struct build b = {
		.schedule = schedule,
		.n_stages = 1,
		.pp_axis = weft_grid_axis(&schedule->dense, "pp"),
		.traffic = traffic,
	};
	int rc = -1;

	if (b.pp_axis != WEFT_MAX_AXES)
		b.n_stages = schedule->dense.size[b.pp_axis];
	b.lanes = weft_calloc(schedule->n_calls, sizeof(*b.lanes), err);
	if (b.lanes && lanes_fill(&b, err) == 0)
		rc = rows_fill(&b, err);
	for (uint32_t i = 0; i < b.n_lanes; i++) {
		free(b.lanes[i].offset);
		free(b.lanes[i].bytes);
	}
	free(b.lanes);
	return rc;
}

int weft_traffic_build(const struct weft_spec *spec,
		       const struct weft_model *model,
		       const struct weft_grid *grid,
		       struct weft_traffic *traffic, struct weft_error *err)
{
	struct weft_schedule schedule;
	int rc = -1;

	memset(traffic, 0, sizeof(*traffic));
	if (grid->n_ranks != spec->gpus)
		return weft_fail(err, WEFT_EINVAL,
				 "the grid of %u ranks is not the spec's",
				 grid->n_ranks);
	if (weft_schedule_build(spec, model, &schedule, err) == 0)
		rc = build_rows(&schedule, traffic, err);
	weft_schedule_free(&schedule);
	return rc;
}
