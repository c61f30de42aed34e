/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_rows.c - rows of traffic that has cliques instead */
#include "costmodel/traffic/traffic_rows.h"

#include "base/clock.h"
#include "costmodel/traffic/traffic_parts.h"

#include <stdlib.h>
#include <string.h>

/* Which clique each rank is in, and the longest row there can be. */
static int index_cliques(const struct weft_traffic *t, uint32_t **clique,
			 uint32_t *longest, struct weft_error *err)
{
	uint32_t most = 0;

	*longest = 0;
	*clique = weft_calloc(t->n_ranks, sizeof(**clique), err);
	if (!*clique)
		return -1;
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		uint32_t n = t->loose->row[r + 1] - t->loose->row[r];

		(*clique)[r] = t->n_cliques;
		*longest = n > *longest ? n : *longest;
	}
	for (uint32_t k = 0; k < t->n_cliques; k++) {
		const struct weft_clique *c = &t->cliques[k];

		most = c->n_members > most ? c->n_members : most;
		for (uint32_t i = 0; i < c->n_members; i++)
			(*clique)[t->member[c->first_member + i]] = k;
	}
	*longest += most;
	return 0;
}

/* Where the next edge is written; in registers, as none of the traffic's
 * pointers are while bytes are written that may be anything's. */
struct end {
	uint32_t *peer;
	uint8_t *axis;
	double *bytes;
};

static inline struct end append(struct end at, uint32_t peer, uint8_t axis,
				double bytes)
{
	*at.peer++ = peer;
	*at.axis++ = axis;
	*at.bytes++ = bytes;
	return at;
}

/* A rank's loose edges and those to members of clique k, which ascend. */
static void merge(const struct weft_traffic *t, uint32_t rank, uint32_t k,
		  struct weft_traffic *to)
{
	static const struct weft_clique none;
	const struct weft_clique c = k < t->n_cliques ? t->cliques[k] : none;
	const uint32_t *member = t->member + c.first_member;
	const struct weft_traffic loose = *t->loose;
	uint32_t e = loose.row[rank], last = loose.row[rank + 1];
	struct end at = {to->peer + to->n_edges, to->axis + to->n_edges,
			 to->bytes + to->n_edges};

	for (uint32_t i = 0; i < c.n_members; i++) {
		uint32_t peer = member[i];

		for (; e < last &&
		       (loose.peer[e] < peer ||
			(loose.peer[e] == peer && loose.axis[e] < c.axis));
		     e++)
			at = append(at, loose.peer[e], loose.axis[e],
				    loose.bytes[e]);
		if (peer != rank)
			at = append(at, peer, (uint8_t)c.axis, c.bytes);
	}
	for (; e < last; e++)
		at = append(at, loose.peer[e], loose.axis[e], loose.bytes[e]);
	to->n_edges = (uint32_t)(at.peer - to->peer);
}

int traffic_rows_open(const struct weft_traffic *t, struct traffic_rows *rows,
		      struct weft_error *err)
{
	uint32_t longest;

	memset(rows, 0, sizeof(*rows));
	rows->t = t;
	if (index_cliques(t, &rows->clique, &longest, err))
		return -1;
	return traffic_alloc(&rows->one, 1, longest, err);
}

void traffic_rows_read(struct traffic_rows *rows, uint32_t rank)
{
	rows->one.n_edges = 0;
	merge(rows->t, rank, rows->clique[rank], &rows->one);
}

void traffic_rows_close(struct traffic_rows *rows)
{
	free(rows->clique);
	weft_traffic_free(&rows->one);
	memset(rows, 0, sizeof(*rows));
}

static int merge_all(const struct weft_traffic *t, const uint32_t *clique,
		     struct weft_traffic *rows, struct weft_error *err)
{
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		if (weft_deadline_check_turn(r, err))
			return -1;
		merge(t, r, clique[r], rows);
		rows->row[r + 1] = rows->n_edges;
	}
	return 0;
}

const struct weft_traffic *
weft_traffic_whole(const struct weft_traffic *traffic,
		   struct weft_traffic *rows, struct weft_error *err)
{
	const struct weft_traffic *t = traffic;
	uint32_t *clique = NULL, longest;
	int rc;

	memset(rows, 0, sizeof(*rows));
	if (t->row || !t->loose)
		return t;
	rc = index_cliques(t, &clique, &longest, err);
	if (rc == 0)
		rc = traffic_alloc(rows, t->n_ranks, t->n_edges, err);
	if (rc == 0)
		rc = merge_all(t, clique, rows, err);
	free(clique);
	return rc ? NULL : rows;
}

int weft_traffic_expand(struct weft_traffic *traffic, struct weft_error *err)
{
	struct weft_traffic rows;

	if (!weft_traffic_whole(traffic, &rows, err)) {
		weft_traffic_free(&rows);
		return -1;
	}
	if (rows.row) {
		traffic->row = rows.row;
		traffic->peer = rows.peer;
		traffic->axis = rows.axis;
		traffic->bytes = rows.bytes;
	}
	return 0;
}
