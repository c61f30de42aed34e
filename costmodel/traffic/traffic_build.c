/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_build.c - from the calls of a step to bytes between ranks
 *
 * The groups of a token are alike: rank r's peers in a group follow from its
 * place there alone.  So each kind of call is turned into pairs once, for one
 * group, and every rank looks up its row of that pattern.
 */
#include "base/clock.h"
#include "costmodel/traffic/collective.h"
#include "costmodel/traffic/schedule.h"
#include "costmodel/traffic/traffic.h"
#include "costmodel/traffic/traffic_parts.h"

#include <stdlib.h>
#include <string.h>

/* An all-reduce whose share per rank is smaller than this fills no link around
 * a ring: then a tree's fewer steps count.  Rates and latencies are not known
 * here; this is what a network card sends in a third of a microsecond. */
#define SMALL_SHARE_BYTES 16384

/* Flows that a pattern may be made of, 24 bytes each while it is built, and the
 * largest group that gets one without being asked to. */
#define MAX_FLOWS (1u << 23)
#define MAX_TREE  (1u << 16)

/* Ranks of a node, where the spec does not say. */
#define GPUS_PER_NODE 8

/* Smaller groups have an edge for each pair: n * (n - 1) of them. */
#define CLIQUE_MIN 8

/* How the bytes of a call go from rank to rank of a group.  Three ways are so
 * regular that no pattern is needed. */
enum way { TO_NEXT, TO_PREVIOUS, TO_ALL, BY_PATTERN, BY_SWITCH };

/* Calls of one way among the same groups. */
struct lane {
	const struct weft_call *call; /* its axis and group */
	enum way way;
	struct weft_traffic pattern; /* places of a group, for size 1 */
	uint32_t *offset; /* [n] of the i-th member from the lowest */
	/* A rank's place is the sum of its coordinates times these; an axis
	 * that is not of the group has 0. */
	const struct weft_grid *grid;
	uint32_t step[WEFT_MAX_AXES];
	bool ends;     /* the group is the first and last of a pipeline */
	double *bytes; /* [stages] that a rank sends; sizes for a pattern */
};

struct build {
	const struct weft_spec *spec;
	const struct weft_schedule *schedule;
	enum weft_detail detail;
	uint32_t n_stages, pp_axis, n_lanes;
	struct lane *lanes;
	struct weft_traffic *traffic;
	uint32_t n_members; /* of traffic->member, so far */
};

static uint32_t stage_of(const struct build *b, uint32_t rank)
{
	if (b->pp_axis == WEFT_MAX_AXES)
		return 0;
	return weft_grid_coordinate(&b->schedule->dense, rank, b->pp_axis);
}

static enum weft_algorithm algorithm_of(const struct weft_spec *spec,
					const struct weft_call *call)
{
	static const enum weft_algorithm chosen[WEFT_N_CHOICES_OF_ALGORITHM] = {
		[WEFT_BY_SIZE] = WEFT_RING,
		[WEFT_BY_RING] = WEFT_RING,
		[WEFT_BY_TREE] = WEFT_DOUBLE_TREE,
		[WEFT_BY_HIERARCHY] = WEFT_HIERARCHICAL,
		[WEFT_BY_HALVING_DOUBLING] = WEFT_HALVING_DOUBLING,
		[WEFT_BY_SWITCH] = WEFT_SHARP,
	};

	if (spec->algorithm == WEFT_BY_SIZE &&
	    call->collective == WEFT_ALL_REDUCE && call->n <= MAX_TREE &&
	    call->size_bytes / call->n < SMALL_SHARE_BYTES)
		return WEFT_DOUBLE_TREE;
	return chosen[spec->algorithm];
}

/* The ranks of a node and the nodes, if ranks fill nodes in order; one ring
 * where a group has one rank on each node or lies on one. */
static struct weft_group group_of(const struct build *b,
				  const struct lane *lane)
{
	uint32_t node =
		b->spec->gpus_per_node ? b->spec->gpus_per_node : GPUS_PER_NODE;
	uint32_t n = lane->call->n, inside = n < node ? n : node;

	while (inside > 1 && (n % inside || lane->offset[inside - 1] >= node))
		inside--;
	if (inside == 1 || inside == n)
		return (struct weft_group){1, n, 1};
	return (struct weft_group){
		inside, n / inside,
		b->spec->channels < inside ? b->spec->channels : inside};
}

static enum way way_of(const struct build *b, const struct weft_call *call)
{
	enum weft_algorithm algorithm = algorithm_of(b->spec, call);

	if (call->collective == WEFT_ALL_TO_ALL && b->detail != WEFT_RINGS)
		return TO_ALL;
	if (call->collective == WEFT_SEND_RECV)
		return call->axis == WEFT_AXIS_PP &&
				       call->phase == WEFT_BACKWARD
			       ? TO_PREVIOUS
			       : TO_NEXT;
	/* Between two ranks every algorithm sends the same.  Broadcasts come
	 * from all over their group. */
	if (b->detail == WEFT_RINGS || call->n == 2 ||
	    call->collective == WEFT_BROADCAST ||
	    (algorithm == WEFT_RING && b->spec->channels == 1))
		return TO_NEXT;
	if (algorithm == WEFT_SHARP)
		return call->collective == WEFT_ALL_REDUCE ? BY_SWITCH
							   : TO_NEXT;
	return BY_PATTERN;
}

static bool same_lane(const struct build *b, const struct lane *lane,
		      const struct weft_call *call)
{
	const struct weft_call *first = lane->call;
	enum way way = way_of(b, call);

	if (way == BY_PATTERN &&
	    (first->collective != call->collective ||
	     algorithm_of(b->spec, first) != algorithm_of(b->spec, call)))
		return false;
	return way_of(b, first) == way && first->axis == call->axis &&
	       first->expert_grid == call->expert_grid && first->n == call->n &&
	       strcmp(first->group, call->group) == 0;
}

/* What each axis adds to a place: members ascend, so faster axes count first.
 * Returns the size of the group. */
static uint32_t lane_steps(struct lane *lane)
{
	const struct weft_grid *grid = lane->grid;
	uint32_t n = 1;

	for (uint32_t done = 0; done < grid->n_axes; done++) {
		uint32_t fastest = WEFT_MAX_AXES;

		for (uint32_t a = 0; a < grid->n_axes; a++) {
			if (grid->size[a] == 1 || lane->step[a] ||
			    !weft_call_has(lane->call, grid->name[a]))
				continue;
			if (fastest == WEFT_MAX_AXES ||
			    grid->stride[a] < grid->stride[fastest])
				fastest = a;
		}
		if (fastest == WEFT_MAX_AXES)
			break;
		lane->step[fastest] = n;
		n *= grid->size[fastest];
	}
	return n;
}

/* What weft_collective_flows says, as it comes. */
struct collected {
	struct weft_flow *flows;
	uint32_t n, room;
	enum weft_axis axis;
	struct weft_error *err;
	bool failed;
};

static void collect(void *data, uint32_t from, uint32_t to, double bytes)
{
	struct collected *c = data;
	if (c->n > TRAFFIC_TIMED_FLOWS && weft_deadline() > 0 && !c->failed) {
		weft_fail(c->err, WEFT_ELATE, "no time was left");
		c->failed = true;
	}
	if (c->n == MAX_FLOWS && !c->failed) {
		weft_fail(c->err, WEFT_EINVAL,
			  "a collective of more than %u pairs of ranks is not "
			  "supported; algorithm=ring needs fewer",
			  MAX_FLOWS);
		c->failed = true;
	}
	c->failed = c->failed || WEFT_GROW(c->flows, c->n, c->room, c->err);
	if (!c->failed)
		c->flows[c->n++] = (struct weft_flow){from, to, c->axis, bytes};
}

/* The pairs of one group; a ring where the algorithm does not do the collective
 * or the number of ranks does not suit it. */
static int pattern_build(const struct build *b, struct lane *lane,
			 struct weft_error *err)
{
	enum weft_collective collective = lane->call->collective;
	enum weft_algorithm algorithm = algorithm_of(b->spec, lane->call);
	struct weft_group group = group_of(b, lane);
	struct collected c = {.axis = lane->call->axis, .err = err};
	int rc = -1;

	if (!weft_collective_applies(collective, algorithm, &group)) {
		algorithm = WEFT_RING;
		group = (struct weft_group){1, lane->call->n, 1};
	}
	weft_collective_flows(collective, algorithm, &group, collect, &c);
	if (!c.failed)
		rc = weft_traffic_from_flows(lane->call->n, c.flows, c.n,
					     &lane->pattern, err);
	free(c.flows);
	return rc;
}

static int lane_open(struct build *b, const struct weft_call *call,
		     struct weft_error *err)
{
	const struct weft_schedule *s = b->schedule;
	struct lane *lane = &b->lanes[b->n_lanes++];
	uint32_t n;

	lane->call = call;
	lane->way = way_of(b, call);
	lane->grid = call->expert_grid ? &s->expert : &s->dense;
	n = lane_steps(lane);
	lane->ends = call->n != n;
	lane->offset = weft_calloc(n, sizeof(*lane->offset), err);
	lane->bytes = weft_calloc(b->n_stages, sizeof(*lane->bytes), err);
	if (!lane->offset || !lane->bytes ||
	    !weft_grid_group(lane->grid, call->group, 0, lane->offset, err))
		return -1;
	if (lane->ends)
		lane->offset[1] = lane->offset[n - 1];
	return lane->way == BY_PATTERN ? pattern_build(b, lane, err) : 0;
}

static int lanes_fill(struct build *b, struct weft_error *err)
{
	for (uint32_t i = 0; i < b->schedule->n_calls; i++) {
		const struct weft_call *call = &b->schedule->calls[i];
		double bytes = call->count * call->size_bytes;
		struct lane *lane = b->lanes;

		while (lane < b->lanes + b->n_lanes &&
		       !same_lane(b, lane, call))
			lane++;
		if (lane == b->lanes + b->n_lanes && lane_open(b, call, err))
			return -1;
		if (lane->way != BY_PATTERN && lane->way != BY_SWITCH)
			bytes = call->count * weft_volume_collective(
						      call->collective, call->n,
						      call->size_bytes);
		for (uint32_t p = 0; p < call->n_stages; p++)
			lane->bytes[call->first_stage + p] += bytes;
	}
	return 0;
}

/* The place of a rank in its group. */
static uint32_t place_of(const struct lane *lane, uint32_t rank)
{
	uint32_t place = 0;

	for (uint32_t a = 0; a < lane->grid->n_axes; a++) {
		if (lane->step[a])
			place += weft_grid_coordinate(lane->grid, rank, a) *
				 lane->step[a];
	}
	/* Of the ends of a pipeline only their stages have bytes to send. */
	return lane->ends && place ? 1 : place;
}

/* What a rank at `place` of its group sends to each other place. */
static void lane_add(const struct lane *lane, uint32_t lowest, uint32_t place,
		     double bytes, uint32_t first, struct weft_traffic *t)
{
	const struct weft_traffic *pattern = &lane->pattern;
	enum weft_axis axis = lane->call->axis;
	uint32_t n = lane->call->n;

	if (lane->way == TO_NEXT || lane->way == TO_PREVIOUS) {
		place += lane->way == TO_NEXT ? 1 : n - 1;
		traffic_row_add(t, first, lowest + lane->offset[place % n],
				axis, bytes);
	} else if (lane->way == TO_ALL) {
		for (uint32_t to = 0; to < n; to++) {
			if (to != place)
				traffic_row_add(t, first,
						lowest + lane->offset[to], axis,
						bytes / (n - 1));
		}
	} else if (lane->way == BY_PATTERN) {
		for (uint32_t k = pattern->row[place];
		     k < pattern->row[place + 1]; k++)
			traffic_row_add(t, first,
					lowest + lane->offset[pattern->peer[k]],
					axis, bytes * pattern->bytes[k]);
	}
}

/* Whether the groups of a lane are cliques worth a word of their own: their
 * members are of one stage, and many. */
static bool has_cliques(const struct lane *lane)
{
	return lane->way == TO_ALL && lane->call->n >= CLIQUE_MIN &&
	       !weft_call_has(lane->call, "pp");
}

/* Edges of a rank; without cliques those that are of none. */
static void rank_fill(const struct build *b, struct weft_traffic *t,
		      uint32_t rank, bool cliques)
{
	uint32_t first = t->n_edges, stage = stage_of(b, rank);

	t->row[rank] = first;
	for (uint32_t i = 0; i < b->n_lanes; i++) {
		const struct lane *lane = &b->lanes[i];
		uint32_t place;

		if (!(lane->bytes[stage] > 0) || lane->way == BY_SWITCH ||
		    (!cliques && has_cliques(lane)))
			continue;
		place = place_of(lane, rank);
		lane_add(lane, rank - lane->offset[place], place,
			 lane->bytes[stage], first, t);
	}
}

/* Appends the members of the group whose lowest is `rank`; returns where. */
static uint32_t members_add(struct build *b, const struct lane *lane,
			    uint32_t rank)
{
	uint32_t first = b->n_members, n = lane->call->n;

	for (uint32_t i = 0; i < n; i++)
		b->traffic->member[first + i] = rank + lane->offset[i];
	b->n_members += n;
	return first;
}

/* A switch for each group that reduces in the network, or a clique. */
static void groups_fill(struct build *b, const struct lane *lane)
{
	struct weft_traffic *t = b->traffic;
	uint32_t n = lane->call->n;

	for (uint32_t rank = 0; rank < t->n_ranks; rank++) {
		double bytes = lane->bytes[stage_of(b, rank)];
		enum weft_axis axis = lane->call->axis;

		if (place_of(lane, rank) || !(bytes > 0))
			continue;
		if (lane->way == BY_SWITCH)
			t->switches[t->n_switches++] = (struct weft_switch){
				members_add(b, lane, rank), n, axis, bytes};
		else
			t->cliques[t->n_cliques++] =
				(struct weft_clique){members_add(b, lane, rank),
						     n, axis, bytes / (n - 1)};
	}
}

/* What the lanes need at most. */
struct size {
	size_t switches, cliques, members;
	uint64_t edges, loose;
};

static struct size size_of(const struct build *b, uint32_t n_ranks)
{
	struct size size = {0};

	for (uint32_t i = 0; i < b->n_lanes; i++) {
		const struct lane *lane = &b->lanes[i];
		uint64_t n = lane->call->n, edges = n_ranks;

		if (lane->way == BY_SWITCH || has_cliques(lane))
			size.members += n_ranks;
		if (lane->way == BY_SWITCH) {
			size.switches += n_ranks / n;
			continue;
		}
		if (lane->way == BY_PATTERN)
			edges = lane->pattern.n_edges * (n_ranks / n);
		else if (lane->way == TO_ALL)
			edges = n_ranks * (n - 1);
		size.edges += edges;
		if (has_cliques(lane))
			size.cliques += n_ranks / n;
		else
			size.loose += edges;
	}
	return size;
}

static int edges_fill(const struct build *b, struct weft_traffic *t,
		      bool cliques, struct weft_error *err)
{
	for (uint32_t rank = 0; rank < t->n_ranks; rank++) {
		if (weft_deadline_check_turn(rank, err))
			return -1;
		rank_fill(b, t, rank, cliques);
	}
	t->row[t->n_ranks] = t->n_edges;
	return 0;
}

static int loose_fill(struct build *b, const struct size *size,
		      struct weft_error *err)
{
	struct weft_traffic *t = b->traffic;

	t->cliques = weft_calloc(size->cliques, sizeof(*t->cliques), err);
	t->loose = weft_calloc(1, sizeof(*t->loose), err);
	if (!t->cliques || !t->loose ||
	    traffic_alloc(t->loose, t->n_ranks, size->loose, err))
		return -1;
	return edges_fill(b, t->loose, false, err);
}

/* Whether cliques and loose edges say all: each rank is in one clique at most,
 * no edge is to be added to one of a clique, and there are no switches, for
 * which cliques do not count. */
static bool cliques_suffice(const struct build *b)
{
	const struct lane *cliques = NULL;

	for (uint32_t i = 0; i < b->n_lanes; i++) {
		const struct lane *lane = &b->lanes[i];

		if (lane->way == BY_SWITCH || (cliques && has_cliques(lane)))
			return false;
		if (has_cliques(lane))
			cliques = lane;
	}
	for (uint32_t i = 0; i < b->n_lanes && cliques; i++)
		if (&b->lanes[i] != cliques &&
		    b->lanes[i].call->axis == cliques->call->axis)
			return false;
	return cliques;
}

/* Edges without their rows. */
static uint32_t count_edges(const struct weft_traffic *t)
{
	uint32_t n = t->loose->n_edges;

	for (uint32_t k = 0; k < t->n_cliques; k++)
		n += t->cliques[k].n_members * (t->cliques[k].n_members - 1);
	return n;
}

static int rows_fill(struct build *b, struct weft_error *err)
{
	struct weft_traffic *t = b->traffic;
	uint32_t n_ranks = b->schedule->dense.n_ranks;
	struct size size = size_of(b, n_ranks);
	bool rows = !cliques_suffice(b);

	t->n_ranks = n_ranks;
	t->switches = weft_calloc(size.switches, sizeof(*t->switches), err);
	t->member = weft_calloc(size.members, sizeof(*t->member), err);
	if (!t->switches || !t->member || traffic_check_size(size.edges, err) ||
	    (rows && (traffic_alloc(t, n_ranks, size.edges, err) ||
		      edges_fill(b, t, true, err))) ||
	    (size.cliques && loose_fill(b, &size, err)))
		return -1;
	for (uint32_t i = 0; i < b->n_lanes; i++) {
		const struct lane *lane = &b->lanes[i];

		if (lane->way == BY_SWITCH || has_cliques(lane))
			groups_fill(b, lane);
	}
	if (!rows)
		t->n_edges = count_edges(t);
	return 0;
}

int weft_traffic_of_schedule(const struct weft_spec *spec,
			     const struct weft_schedule *schedule,
			     enum weft_detail detail,
			     struct weft_traffic *traffic,
			     struct weft_error *err)
{
	struct build b = {
		.spec = spec,
		.schedule = schedule,
		.detail = detail,
		.n_stages = spec->pp,
		.pp_axis = weft_grid_axis(&schedule->dense, "pp"),
		.traffic = traffic,
	};
	int rc = -1;

	memset(traffic, 0, sizeof(*traffic));
	if (detail == WEFT_NO_PAIRS)
		return 0;
	b.lanes = weft_calloc(schedule->n_calls, sizeof(*b.lanes), err);
	if (b.lanes && lanes_fill(&b, err) == 0)
		rc = rows_fill(&b, err);
	for (uint32_t i = 0; i < b.n_lanes; i++) {
		weft_traffic_free(&b.lanes[i].pattern);
		free(b.lanes[i].offset);
		free(b.lanes[i].bytes);
	}
	free(b.lanes);
	return rc;
}
