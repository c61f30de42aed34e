/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_map.c - ranks by node and GPU as text, and back
 *
 * "1;job=812;nodes=n[07,03];ranks=0-1:0-7": fields in this order, of which only
 * the first two must be there.  `ranks` is a list of blocks NODES:GPUS, each a
 * number or a range of them, which seats ranks node by node and there GPU by
 * GPU.  Orders that do not fold are written as "=G" and, for each rank, the
 * number node * G + gpu in digits of base 64, as many as the largest needs.
 */
#include "topology/rank_map.h"

#include "base/bitset.h"
#include "base/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "1"

const char *const weft_env_names[WEFT_N_ENVS] = {"none", "torch", "lightning"};

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz-_";

void weft_rank_map_free(struct weft_rank_map *r)
{
	free(r->nodes);
	free(r->node);
	free(r->gpu);
	weft_hostlist_free(&r->names);
	memset(r, 0, sizeof(*r));
}

static int rank_map_alloc(struct weft_rank_map *r, uint32_t n_nodes,
			  uint32_t n_ranks, struct weft_error *err)
{
	r->nodes = weft_calloc(n_nodes, sizeof(*r->nodes), err);
	r->node = weft_calloc(n_ranks, sizeof(*r->node), err);
	r->gpu = weft_calloc(n_ranks, sizeof(*r->gpu), err);
	return r->nodes && r->node && r->gpu ? 0 : -1;
}

/* ---- from a placement ---- */

int weft_rank_map_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct weft_rank_map *r,
			struct weft_error *err)
{
	uint32_t *index;

	memset(r, 0, sizeof(*r));
	index = weft_calloc(f->n_nodes, sizeof(*index), err);
	if (!index || rank_map_alloc(r, f->n_nodes, n_ranks, err) < 0) {
		free(index);
		return -1;
	}
	for (uint32_t i = 0; i < n_ranks; i++) {
		uint32_t node = f->gpu_node[where[i]];

		/* 0: not seen yet */
		if (!index[node]) {
			r->nodes[r->n_nodes] = f->nodes[node].name;
			index[node] = ++r->n_nodes;
		}
		r->node[i] = index[node] - 1;
		r->gpu[i] = (uint8_t)weft_fabric_number(f, where[i]);
	}
	r->n_ranks = n_ranks;
	free(index);
	return 0;
}

/* ---- writing ---- */

/* Ranks from `rank` on that sit on one node, on ascending neighbours. */
static uint32_t run_length(const struct weft_rank_map *r, uint32_t rank)
{
	uint32_t n = 1;

	while (rank + n < r->n_ranks && r->node[rank + n] == r->node[rank] &&
	       r->gpu[rank + n] == r->gpu[rank] + n)
		n++;
	return n;
}

/* Whether the n ranks from `rank` on sit as those n before them, on the next
 * node. */
static bool run_repeats(const struct weft_rank_map *r, uint32_t rank,
			uint32_t n)
{
	for (uint32_t i = rank; i < rank + n; i++)
		if (i >= r->n_ranks || r->node[i] != r->node[i - n] + 1 ||
		    r->gpu[i] != r->gpu[i - n])
			return false;
	return true;
}

static size_t decimals_of(uint32_t number)
{
	size_t n = 1;

	for (; number >= 10; number /= 10)
		n++;
	return n;
}

/* printf takes ten times as long, and there are thousands. */
static void write_number(FILE *out, uint32_t number)
{
	char text[10];
	size_t at = sizeof(text);

	do
		text[--at] = (char)('0' + number % 10);
	while (number /= 10);
	fwrite_unlocked(text + at, 1, sizeof(text) - at, out);
}

static void write_range(FILE *out, uint32_t first, uint32_t n)
{
	write_number(out, first);
	if (n == 1)
		return;
	fputc_unlocked('-', out);
	write_number(out, first + n - 1);
}

static size_t range_length(uint32_t first, uint32_t n)
{
	return decimals_of(first) +
	       (n > 1 ? 1 + decimals_of(first + n - 1) : 0);
}

/* The block that begins at `rank`, GPUs of each of its nodes. */
static uint32_t block_at(const struct weft_rank_map *r, uint32_t rank,
			 uint32_t *n_gpus)
{
	uint32_t n_nodes = 1;

	*n_gpus = run_length(r, rank);
	while (run_repeats(r, rank + n_nodes * *n_gpus, *n_gpus))
		n_nodes++;
	return n_nodes;
}

/* Whether the blocks fit, without what is before them. */
static bool blocks_fit(const struct weft_rank_map *r)
{
	uint32_t rank = 0, n_gpus, n_nodes;
	size_t length = 0;

	while (rank < r->n_ranks && length <= WEFT_RANK_MAP_MAX_BYTES) {
		n_nodes = block_at(r, rank, &n_gpus);
		length += range_length(r->node[rank], n_nodes) + 1 +
			  range_length(r->gpu[rank], n_gpus) + 1;
		rank += n_nodes * n_gpus;
	}
	return length <= WEFT_RANK_MAP_MAX_BYTES;
}

static void write_blocks(const struct weft_rank_map *r, FILE *out)
{
	uint32_t rank = 0, n_gpus, n_nodes;

	while (rank < r->n_ranks) {
		n_nodes = block_at(r, rank, &n_gpus);
		if (rank)
			fputc_unlocked(',', out);
		write_range(out, r->node[rank], n_nodes);
		fputc_unlocked(':', out);
		write_range(out, r->gpu[rank], n_gpus);
		rank += n_nodes * n_gpus;
	}
}

/* Digits of base 64 that numbers below n need. */
static uint32_t digits_of(uint64_t n)
{
	uint32_t width = 1;

	while (n > UINT64_C(1) << (6 * width))
		width++;
	return width;
}

/* How a rank is packed: digits, and GPUs of a node. */
static uint32_t packed_width(const struct weft_rank_map *r, uint32_t *gpus)
{
	*gpus = 1;
	for (uint32_t i = 0; i < r->n_ranks; i++)
		if (r->gpu[i] >= *gpus)
			*gpus = r->gpu[i] + 1u;
	return digits_of((uint64_t)r->n_nodes * *gpus);
}

static bool packed_fit(const struct weft_rank_map *r)
{
	uint32_t gpus;

	return (uint64_t)r->n_ranks * packed_width(r, &gpus) <=
	       WEFT_RANK_MAP_MAX_BYTES;
}

static void write_packed(const struct weft_rank_map *r, const uint32_t *place,
			 FILE *out)
{
	uint32_t gpus, width = packed_width(r, &gpus);

	fprintf(out, "=%" PRIu32 ":", gpus);
	for (uint32_t i = 0; i < r->n_ranks; i++) {
		uint64_t number =
			(uint64_t)place[r->node[i]] * gpus + r->gpu[i];

		for (uint32_t d = width; d-- > 0;)
			fputc_unlocked(digits[number >> (6 * d) & 63], out);
	}
}

static void write_head(const struct weft_rank_map *r, FILE *out)
{
	fprintf(out, VERSION ";job=%" PRIu32, r->job_id);
	if (r->env == WEFT_ENV_NONE)
		return;
	fprintf(out, ";env=%s", weft_env_names[r->env]);
	if (r->nvlink.n_gpus)
		fprintf(out, ";nvlink=%" PRIu32 ":%" PRIu32 ":%" PRIu32,
			r->nvlink.n_gpus, r->nvlink.n_nodes,
			r->nvlink.n_experts);
}

static int write_nodes(const char *const *names, uint32_t n, FILE *out,
		       struct weft_error *err)
{
	char *list = weft_hostlist_encode(names, n);
	int rc = 0;

	if (!list)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (strchr(list, ';'))
		rc = weft_fail(err, WEFT_ENOSYS,
			       "the name of a node has a semicolon");
	else
		fprintf(out, ";nodes=%s;ranks=", list);
	free(list);
	return rc;
}

struct named {
	const char *name; /* first: weft_compare_names looks at nothing else */
	uint32_t node;
};

/* Names in rising order fold best; place[] is where each went. */
static int write_sorted(const struct weft_rank_map *r, FILE *out,
			struct weft_error *err)
{
	struct named *order = weft_calloc(r->n_nodes, sizeof(*order), err);
	const char **names = weft_calloc(r->n_nodes, sizeof(*names), err);
	uint32_t *place = weft_calloc(r->n_nodes, sizeof(*place), err);
	int rc = -1;

	if (!order || !names || !place)
		goto out;
	for (uint32_t i = 0; i < r->n_nodes; i++)
		order[i] = (struct named){r->nodes[i], i};
	WEFT_SORT(order, r->n_nodes, weft_compare_names);
	for (uint32_t i = 0; i < r->n_nodes; i++) {
		names[i] = order[i].name;
		place[order[i].node] = i;
	}
	rc = write_nodes(names, r->n_nodes, out, err);
	if (rc == 0)
		write_packed(r, place, out);
out:
	free(place);
	free(names);
	free(order);
	return rc;
}

static char *encode(const struct weft_rank_map *r, bool sorted,
		    struct weft_error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = 0;

	if (!out) {
		weft_fail(err, WEFT_ENOMEM, "out of memory");
		return NULL;
	}
	write_head(r, out);
	if (r->n_ranks && sorted) {
		rc = write_sorted(r, out, err);
	} else if (r->n_ranks) {
		rc = write_nodes(r->nodes, r->n_nodes, out, err);
		if (rc == 0)
			write_blocks(r, out);
	}
	if (fclose(out) != 0)
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (rc == 0)
		return text;
	free(text);
	return NULL;
}

char *weft_rank_map_encode(const struct weft_rank_map *r,
			   struct weft_error *err)
{
	char *text;

	if (r->n_ranks > WEFT_RANK_MAP_MAX_RANKS) {
		weft_fail(err, WEFT_ENOSYS, "more than %u ranks",
			  WEFT_RANK_MAP_MAX_RANKS);
		return NULL;
	}
	for (int sorted = 0; sorted < 2; sorted++) {
		if (sorted ? !packed_fit(r) : !blocks_fit(r))
			continue;
		text = encode(r, sorted, err);
		if (!text || strlen(text) <= WEFT_RANK_MAP_MAX_BYTES)
			return text;
		free(text);
	}
	weft_fail(err, WEFT_ENOSYS, "longer than %u bytes as text",
		  WEFT_RANK_MAP_MAX_BYTES);
	return NULL;
}

/* ---- reading ---- */

static int fail_syntax(struct weft_error *err, const char *what)
{
	return weft_fail_at(err, WEFT_EINVAL, WEFT_RANK_MAP_VARIABLE, 0, 0,
			    "%s", what);
}

/* A number below `limit`; moves *text past it. */
static bool read_number(const char **text, uint32_t limit, uint32_t *value)
{
	uint64_t sum = 0;
	const char *c = *text;

	for (; *c >= '0' && *c <= '9' && sum < limit; c++)
		sum = sum * 10 + (uint64_t)(*c - '0');
	if (c == *text || sum >= limit)
		return false;
	*text = c;
	*value = (uint32_t)sum;
	return true;
}

static bool read_range(const char **text, uint32_t limit, uint32_t *first,
		       uint32_t *last)
{
	if (!read_number(text, limit, first))
		return false;
	*last = *first;
	if (**text != '-')
		return true;
	++*text;
	return read_number(text, limit, last) && *last >= *first;
}

static bool seat(struct weft_rank_map *r, uint32_t node, uint32_t gpu)
{
	if (r->n_ranks == WEFT_RANK_MAP_MAX_RANKS)
		return false;
	r->node[r->n_ranks] = node;
	r->gpu[r->n_ranks++] = (uint8_t)gpu;
	return true;
}

static bool read_blocks(struct weft_rank_map *r, const char *text)
{
	uint32_t nodes[2], gpus[2];

	for (;;) {
		if (!read_range(&text, r->n_nodes, &nodes[0], &nodes[1]) ||
		    *text++ != ':' ||
		    !read_range(&text, WEFT_MAX_GPUS_PER_NODE, &gpus[0],
				&gpus[1]))
			return false;
		for (uint32_t n = nodes[0]; n <= nodes[1]; n++)
			for (uint32_t g = gpus[0]; g <= gpus[1]; g++)
				if (!seat(r, n, g))
					return false;
		if (*text != ',')
			return !*text;
		text++;
	}
}

static bool read_packed(struct weft_rank_map *r, const char *text)
{
	uint32_t gpus, width;

	if (!read_number(&text, WEFT_MAX_GPUS_PER_NODE + 1, &gpus) || !gpus ||
	    *text++ != ':')
		return false;
	width = digits_of((uint64_t)r->n_nodes * gpus);
	while (*text) {
		uint64_t number = 0;

		for (uint32_t d = 0; d < width; d++) {
			const char *digit =
				*text ? strchr(digits, *text++) : NULL;

			if (!digit)
				return false;
			number = number * 64 + (uint64_t)(digit - digits);
		}
		if (number >= (uint64_t)r->n_nodes * gpus ||
		    !seat(r, (uint32_t)(number / gpus),
			  (uint32_t)(number % gpus)))
			return false;
	}
	return r->n_ranks > 0;
}

/* Nodes in the order of their first ranks; all must have one, and no GPU two.
 */
static int settle(struct weft_rank_map *r, struct weft_error *err)
{
	uint64_t *taken = weft_calloc(r->n_nodes, sizeof(*taken), err);
	uint32_t *place = weft_calloc(r->n_nodes, sizeof(*place), err);
	const char **nodes = weft_calloc(r->n_nodes, sizeof(*nodes), err);
	uint32_t n = 0;
	bool twice = false;

	if (!taken || !place || !nodes) {
		free(taken);
		free(place);
		free(nodes);
		return -1;
	}
	for (uint32_t i = 0; i < r->n_ranks; i++) {
		uint32_t node = r->node[i];

		if (!taken[node]) {
			nodes[n] = r->nodes[node];
			place[node] = n++;
		}
		twice |= weft_bitset_has(&taken[node], r->gpu[i]);
		weft_bitset_add(&taken[node], r->gpu[i]);
		r->node[i] = place[node];
	}
	free(taken);
	free(place);
	free(r->nodes);
	r->nodes = nodes;
	if (twice)
		return fail_syntax(err, "two ranks on one GPU");
	if (n < r->n_nodes)
		return fail_syntax(err, "a node without ranks");
	return 0;
}

/* A name that stands twice would be two nodes. */
static int check_names(const struct weft_hostlist *list, struct weft_error *err)
{
	const char **order = weft_calloc(list->n, sizeof(*order), err);
	bool twice = false;

	if (!order)
		return -1;
	for (uint32_t i = 0; i < list->n; i++)
		order[i] = list->names[i];
	WEFT_SORT(order, list->n, weft_compare_names);
	for (uint32_t i = 1; i < list->n; i++)
		twice |= strcmp(order[i - 1], order[i]) == 0;
	free(order);
	return twice ? fail_syntax(err, "a node is named twice") : 0;
}

static int read_seats(struct weft_rank_map *r, const char *nodes,
		      const char *ranks, struct weft_error *err)
{
	bool fine;

	if (weft_hostlist_decode(nodes, WEFT_RANK_MAP_MAX_RANKS, &r->names,
				 err) < 0 ||
	    check_names(&r->names, err) < 0 ||
	    rank_map_alloc(r, r->names.n, WEFT_RANK_MAP_MAX_RANKS, err) < 0)
		return -1;
	r->n_nodes = r->names.n;
	for (uint32_t i = 0; i < r->n_nodes; i++)
		r->nodes[i] = r->names.names[i];
	fine = ranks[0] == '=' ? read_packed(r, ranks + 1)
			       : read_blocks(r, ranks);
	if (!fine)
		return fail_syntax(err, "ranks: expected blocks NODES:GPUS of "
					"the nodes named, such as 0-3:0-7");
	return settle(r, err);
}

/* The value of the next field of *rest when it is NAME=, else NULL. */
static char *take(char **rest, const char *name)
{
	size_t length = strlen(name);
	char *field = *rest;

	if (!field || strncmp(field, name, length) != 0 || field[length] != '=')
		return NULL;
	strsep(rest, ";");
	return field + length + 1;
}

static int read_env(struct weft_rank_map *r, const char *env,
		    struct weft_error *err)
{
	for (uint32_t i = WEFT_ENV_TORCH; env && i < WEFT_N_ENVS; i++)
		if (strcmp(env, weft_env_names[i]) == 0)
			r->env = (enum weft_env)i;
	return env && !r->env
		       ? fail_syntax(err, "env: expected torch or lightning")
		       : 0;
}

static int read_nvlink(struct weft_rank_map *r, const char *text,
		       struct weft_error *err)
{
	struct weft_rank_nvlink *v = &r->nvlink;
	const uint32_t limit = WEFT_MAX_GPUS + 1;

	if (!text)
		return 0;
	if (!r->env || !read_number(&text, limit, &v->n_gpus) ||
	    *text++ != ':' || !read_number(&text, limit, &v->n_nodes) ||
	    *text++ != ':' || !read_number(&text, limit, &v->n_experts) ||
	    *text || !v->n_gpus || !v->n_nodes || v->n_experts > v->n_gpus)
		return fail_syntax(err, "nvlink: expected GPUS:NODES:EXPERTS "
					"after env");
	return 0;
}

static int read_fields(struct weft_rank_map *r, char *text,
		       struct weft_error *err)
{
	char *rest = text, *version = strsep(&rest, ";"), *nodes, *ranks;
	const char *job = take(&rest, "job"), *env = take(&rest, "env");
	const char *nvlink = take(&rest, "nvlink");

	if (strcmp(version, VERSION) != 0)
		return fail_syntax(err, "expected version " VERSION);
	if (!job || !read_number(&job, UINT32_MAX, &r->job_id) || *job)
		return fail_syntax(err, "job: expected a job's number");
	if (read_env(r, env, err) < 0 || read_nvlink(r, nvlink, err) < 0)
		return -1;
	nodes = take(&rest, "nodes");
	ranks = take(&rest, "ranks");
	if (rest || !nodes != !ranks)
		return fail_syntax(err, "expected the fields job, env, "
					"nvlink, nodes and ranks, in this "
					"order");
	return nodes ? read_seats(r, nodes, ranks, err) : 0;
}

int weft_rank_map_decode(const char *text, struct weft_rank_map *r,
			 struct weft_error *err)
{
	char *copy;
	int rc;

	memset(r, 0, sizeof(*r));
	if (strlen(text) > WEFT_RANK_MAP_MAX_BYTES)
		return fail_syntax(err, "too long");
	copy = weft_strdup(text, err);
	if (!copy)
		return -1;
	rc = read_fields(r, copy, err);
	free(copy);
	if (rc < 0)
		weft_rank_map_free(r);
	return rc;
}

/* ---- asking ---- */

uint32_t weft_rank_map_node(const struct weft_rank_map *r, const char *name)
{
	for (uint32_t i = 0; i < r->n_nodes; i++)
		if (strcmp(r->nodes[i], name) == 0)
			return i;
	return WEFT_NONE;
}
