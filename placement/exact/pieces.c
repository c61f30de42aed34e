/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pieces.c - sets of vertices that hang together
 *
 * Each is met once, from its lowest vertex: a set grows by vertices next to it
 * that were not next to it before (Wernicke, IEEE/ACM TCBB 3(4), 2006).
 */
#include "placement/exact/aggregate.h"

#include <stdlib.h>
#include <string.h>

struct listing {
	const struct graph *g;
	struct pieces *p;
	uint32_t size, limit;
	uint32_t *seen; /* [n] how often in or next to the set */
	uint32_t *next; /* [size + 1][n] candidates */
	struct piece now;
	bool complete;
	struct weft_error *err;
};

static int keep(struct listing *l)
{
	struct pieces *p = l->p;
	const struct graph *g = l->g;

	if (p->n == l->limit) {
		l->complete = false;
		return 0;
	}
	if (WEFT_GROW(p->piece, p->n, p->room, l->err))
		return -1;
	l->now.leaving = 0;
	for (uint32_t i = 0; i < l->now.n; i++) {
		uint32_t v = l->now.vertex[i];

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			bool inside = false;

			for (uint32_t k = 0; k < l->now.n; k++)
				inside |= l->now.vertex[k] == g->peer[e];
			l->now.leaving += inside ? 0 : g->weight[e];
		}
	}
	p->piece[p->n++] = l->now;
	return 0;
}

static void mark(struct listing *l, uint32_t v, uint32_t by)
{
	const struct graph *g = l->g;

	l->seen[v] += by;
	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		l->seen[g->peer[e]] += by;
}

/* As deep as sets are large. */
static int grow(struct listing *l, uint32_t root, uint32_t n_next)
{
	const struct graph *g = l->g;
	uint32_t *next = l->next + (size_t)l->now.n * g->n;
	uint32_t *deeper = next + g->n;

	if (keep(l))
		return -1;
	if (l->now.n == l->size)
		return 0;
	while (n_next && l->complete) {
		uint32_t v = next[--n_next], n = n_next;

		memcpy(deeper, next, n * sizeof(*deeper));
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (!l->seen[g->peer[e]] && g->peer[e] > root)
				deeper[n++] = g->peer[e];
		mark(l, v, 1);
		l->now.vertex[l->now.n++] = v;
		if (grow(l, root, n))
			return -1;
		l->now.n--;
		mark(l, v, UINT32_MAX);
	}
	return 0;
}

int pieces_list(const struct graph *g, uint32_t size, uint32_t limit,
		struct pieces *p, bool *complete, struct weft_error *err)
{
	struct listing l = {.g = g,
			    .p = p,
			    .size = size,
			    .limit = limit,
			    .complete = size <= PIECES_MAX_SIZE,
			    .err = err};
	int rc = -1;

	memset(p, 0, sizeof(*p));
	l.seen = weft_calloc(g->n, sizeof(*l.seen), err);
	l.next = weft_calloc(((size_t)size + 2) * g->n, sizeof(*l.next), err);
	if (!l.seen || !l.next)
		goto out;
	for (uint32_t v = 0; v < g->n && l.complete; v++) {
		uint32_t n = 0;

		l.now.vertex[0] = v;
		l.now.n = 1;
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				l.next[g->n + n++] = g->peer[e];
		mark(&l, v, 1);
		if (grow(&l, v, n))
			goto out;
		mark(&l, v, UINT32_MAX);
	}
	*complete = l.complete;
	rc = 0;
out:
	free(l.seen);
	free(l.next);
	return rc;
}

void pieces_free(struct pieces *p)
{
	free(p->piece);
	memset(p, 0, sizeof(*p));
}
