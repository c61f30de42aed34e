/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.c - the same collective found on several ranks, and who was last */
#include "lab/trace/waits.h"

#include "base/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Profilers start a few calls apart: so many more or less at the front. */
#define MAX_SHIFT 16

/* One trace's calls in one group, in order. */
struct list {
	const struct weft_trace *trace;
	uint32_t *calls; /* [n] indices of collectives */
	uint32_t n;
};

/* One collective on all its ranks. */
struct match {
	int64_t last_ns, end_ns; /* of the one that began last */
	uint32_t last, n;	 /* trace; traces that have it */
};

struct matching {
	const struct weft_trace *traces;
	uint32_t n_traces;
	uint32_t **ids; /* [n_traces][n_collectives] index of matches */
	struct match *matches;
	uint32_t n_matches;
	/* Traces whose clocks are set against each other are an island, named
	 * by one of them; clocks are ahead of the island's own time. */
	int64_t *clock_ns; /* [n_traces] */
	uint32_t *island;  /* [n_traces] */
	int64_t *ends;	   /* scratch: differences of ends */
	/* scratch: pairs found between two lists */
	struct pair {
		uint32_t a, b;
	} * pairs;
	struct weft_error *err;
};

static bool is_matched(const struct weft_trace_collective *c)
{
	return c->start_ns != WEFT_TRACE_NO_TIME && c->op != WEFT_OP_SEND &&
	       c->op != WEFT_OP_RECV && c->op != WEFT_OP_SEND_RECV &&
	       c->op != WEFT_OP_OTHER;
}

static bool same_group(const struct weft_trace_group *a,
		       const struct weft_trace_group *b)
{
	if (!a || !b)
		return a == b;
	if (strcmp(a->name, b->name) != 0 || a->n_ranks != b->n_ranks)
		return false;
	return !a->ranks || !b->ranks ||
	       memcmp(a->ranks, b->ranks, a->n_ranks * sizeof(*a->ranks)) == 0;
}

static const struct weft_trace_group *group_at(const struct weft_trace *t,
					       uint32_t group)
{
	return group == WEFT_TRACE_NONE ? NULL : &t->groups[group];
}

static int list_build(const struct weft_trace *t,
		      const struct weft_trace_group *group, struct list *list,
		      struct weft_error *err)
{
	list->trace = t;
	list->n = 0;
	list->calls = weft_calloc(t->n_collectives, sizeof(uint32_t), err);
	if (!list->calls)
		return -1;
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];

		if (is_matched(c) && same_group(group_at(t, c->group), group))
			list->calls[list->n++] = i;
	}
	return 0;
}

static const struct weft_trace_collective *call(const struct list *list,
						uint32_t i)
{
	return &list->trace->collectives[list->calls[i]];
}

/* What an all-to-all sends differs from rank to rank. */
static bool alike(const struct weft_trace_collective *a,
		  const struct weft_trace_collective *b)
{
	return a->op == b->op && a->element_bytes == b->element_bytes &&
	       (a->op == WEFT_OP_ALL_TO_ALL || a->size_bytes == b->size_bytes);
}

/* No rank can be done before another has begun. */
static bool meet(const struct weft_trace_collective *a,
		 const struct weft_trace_collective *b, int64_t clock_ns)
{
	return a->start_ns <= b->end_ns - clock_ns &&
	       b->start_ns - clock_ns <= a->end_ns;
}

/* Pairs of the two lists whose clocks differ by clock_ns: by sequence number
 * where both have one, else alike and at the same time. */
static uint32_t pairs_find(struct matching *m, const struct list *a,
			   const struct list *b, int64_t clock_ns)
{
	uint32_t n = 0, i = 0, j = 0;

	while (i < a->n && j < b->n) {
		const struct weft_trace_collective *x = call(a, i);
		const struct weft_trace_collective *y = call(b, j);
		bool numbered = x->sequence >= 0 && y->sequence >= 0;
		bool before;

		if (numbered ? x->sequence == y->sequence
			     : alike(x, y) && meet(x, y, clock_ns)) {
			m->pairs[n++] = (struct pair){i++, j++};
			continue;
		}
		before = numbered ? x->sequence < y->sequence
				  : x->end_ns < y->end_ns - clock_ns;
		if (before)
			i++;
		else
			j++;
	}
	return n;
}

/* Median of how much later the second of each pair ends; sorts m->ends. */
static int64_t ends_median(struct matching *m, const struct list *a,
			   const struct list *b, uint32_t n)
{
	if (!n)
		return 0;
	for (uint32_t k = 0; k < n; k++)
		m->ends[k] = call(b, m->pairs[k].b)->end_ns -
			     call(a, m->pairs[k].a)->end_ns;
	qsort(m->ends, n, sizeof(*m->ends), weft_compare_integers);
	return m->ends[n / 2];
}

/* Pairs (i, i + shift) that are all alike; 0 when one is not. */
static uint32_t pairs_shifted(struct matching *m, const struct list *a,
			      const struct list *b, int shift)
{
	uint32_t n = 0;

	for (uint32_t i = shift < 0 ? (uint32_t)-shift : 0; i < a->n; i++) {
		uint32_t j = (uint32_t)((int64_t)i + shift);

		if (j >= b->n)
			break;
		if (!alike(call(a, i), call(b, j)))
			return 0;
		m->pairs[n++] = (struct pair){i, j};
	}
	return n;
}

/* Clocks that were never set alike: the shift at which all calls agree and
 * whose ends agree best.  false: none. */
static bool clock_search(struct matching *m, const struct list *a,
			 const struct list *b, int64_t *clock_ns)
{
	uint32_t fewer = a->n < b->n ? a->n : b->n;
	int64_t best = INT64_MAX;

	for (int shift = -MAX_SHIFT; shift <= MAX_SHIFT; shift++) {
		uint32_t n = pairs_shifted(m, a, b, shift);
		int64_t median, spread;

		/* Few calls agree by chance, unless they are all there are. */
		if (!n || 2 * n < fewer ||
		    (n < 3 && (shift != 0 || a->n != b->n)))
			continue;
		median = ends_median(m, a, b, n);
		spread = m->ends[3 * n / 4] - m->ends[n / 4];
		if (spread >= best)
			continue;
		best = spread;
		*clock_ns = median;
	}
	return best != INT64_MAX;
}

/* Joins the island of trace b to that of trace a, whose clock b's is ahead of
 * by clock_ns. */
static void islands_join(struct matching *m, uint32_t a, uint32_t b,
			 int64_t clock_ns)
{
	int64_t shift = m->clock_ns[a] + clock_ns - m->clock_ns[b];
	uint32_t from = m->island[b];

	for (uint32_t t = 0; t < m->n_traces; t++) {
		if (m->island[t] != from)
			continue;
		m->island[t] = m->island[a];
		m->clock_ns[t] += shift;
	}
}

/* Pairs of two lists, after setting b's clock if it is not yet. */
static uint32_t lists_pair(struct matching *m, const struct list *a,
			   const struct list *b)
{
	uint32_t i = (uint32_t)(a->trace - m->traces);
	uint32_t k = (uint32_t)(b->trace - m->traces);
	uint32_t fewer = a->n < b->n ? a->n : b->n, n;
	int64_t clock = 0;

	if (m->island[i] == m->island[k])
		return pairs_find(m, a, b, m->clock_ns[k] - m->clock_ns[i]);
	n = pairs_find(m, a, b, 0);
	if (2 * n < fewer && clock_search(m, a, b, &clock))
		n = pairs_find(m, a, b, clock);
	if (!n)
		return 0;
	clock = ends_median(m, a, b, n);
	islands_join(m, i, k, clock);
	return pairs_find(m, a, b, clock);
}

/* Matches the group of this call of trace a on all later traces. */
static int group_match(struct matching *m, uint32_t a,
		       const struct weft_trace_group *group)
{
	struct list first, other;
	uint32_t base = m->n_matches;

	if (list_build(&m->traces[a], group, &first, m->err))
		return -1;
	for (uint32_t i = 0; i < first.n; i++)
		m->ids[a][first.calls[i]] = base + i;
	m->n_matches += first.n;
	for (uint32_t b = a + 1; b < m->n_traces; b++) {
		uint32_t n;

		if (list_build(&m->traces[b], group, &other, m->err)) {
			free(first.calls);
			return -1;
		}
		n = lists_pair(m, &first, &other);
		for (uint32_t k = 0; k < n; k++)
			m->ids[b][other.calls[m->pairs[k].b]] =
				base + m->pairs[k].a;
		free(other.calls);
	}
	free(first.calls);
	return 0;
}

static bool is_used(const struct weft_trace *t,
		    const struct weft_trace_group *group)
{
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];

		if (is_matched(c) && group_at(t, c->group) == group)
			return true;
	}
	return false;
}

/* An earlier trace has the group. */
static bool seen_before(const struct matching *m, uint32_t a,
			const struct weft_trace_group *group)
{
	for (uint32_t b = 0; b < a; b++) {
		const struct weft_trace *t = &m->traces[b];

		if (!group && is_used(t, NULL))
			return true;
		for (uint32_t g = 0; group && g < t->n_groups; g++) {
			if (same_group(&t->groups[g], group))
				return true;
		}
	}
	return false;
}

/* Every group of every trace, each once: a call without an id is of a group
 * not yet seen, or was not found on the group's first trace. */
static int groups_match(struct matching *m)
{
	for (uint32_t a = 0; a < m->n_traces; a++) {
		const struct weft_trace *t = &m->traces[a];

		for (uint32_t g = 0; g <= t->n_groups; g++) {
			const struct weft_trace_group *group = group_at(
				t, g < t->n_groups ? g : WEFT_TRACE_NONE);

			if (!seen_before(m, a, group) &&
			    group_match(m, a, group))
				return -1;
		}
	}
	return 0;
}

static int64_t start_of(const struct matching *m, uint32_t trace, uint32_t call)
{
	return m->traces[trace].collectives[call].start_ns - m->clock_ns[trace];
}

/* Who began last, of each match. */
static int last_find(struct matching *m)
{
	m->matches = weft_calloc(m->n_matches, sizeof(*m->matches), m->err);
	if (!m->matches)
		return -1;
	for (uint32_t a = 0; a < m->n_traces; a++) {
		const struct weft_trace *t = &m->traces[a];

		for (uint32_t i = 0; i < t->n_collectives; i++) {
			uint32_t id = m->ids[a][i];
			struct match *match;

			if (id == WEFT_TRACE_NONE)
				continue;
			match = &m->matches[id];
			if (!match->n || start_of(m, a, i) > match->last_ns) {
				match->last_ns = start_of(m, a, i);
				match->end_ns = t->collectives[i].end_ns -
						m->clock_ns[a];
				match->last = a;
			}
			match->n++;
		}
	}
	return 0;
}

/* One call's wait, into the tables. */
static void wait_take(const struct matching *m, struct weft_waits *w,
		      uint32_t a, uint32_t i)
{
	const struct match *match = &m->matches[m->ids[a][i]];
	double time = weft_trace_collective_s(&m->traces[a].collectives[i]);
	double wait = 1e-9 * (double)(match->last_ns - start_of(m, a, i));

	if (wait > time) /* clocks agree only so well */
		wait = time;
	w->wait_s[a][i] = wait;
	w->transfer_s[a][i] = time - wait;
	w->ranks[a].n_matched++;
	w->ranks[a].waited_s += wait;
	if (match->last == a)
		w->ranks[a].n_last++;
	w->ranks[match->last].caused_s += wait;
}

WEFT_COMPARATOR(by_pair, struct weft_wait_pair, WEFT_UP(waiter) WEFT_UP(last));

WEFT_COMPARATOR(by_wait, struct weft_wait_pair,
		WEFT_DOWN(wait_s) WEFT_BY(by_pair));

/* One pair per call that waited. */
static size_t pairs_list(const struct matching *m, struct weft_waits *w)
{
	size_t n = 0;

	for (uint32_t a = 0; a < m->n_traces; a++) {
		for (uint32_t i = 0; i < m->traces[a].n_collectives; i++) {
			if (!(w->wait_s[a][i] > 0))
				continue;
			w->pairs[n++] = (struct weft_wait_pair){
				a, m->matches[m->ids[a][i]].last, 1,
				w->wait_s[a][i]};
		}
	}
	return n;
}

static int pairs_sum(const struct matching *m, struct weft_waits *w)
{
	size_t n = 0, most = 0;

	for (uint32_t a = 0; a < m->n_traces; a++)
		most += m->traces[a].n_collectives;
	w->pairs = weft_calloc(most, sizeof(*w->pairs), m->err);
	if (!w->pairs)
		return -1;
	most = pairs_list(m, w);
	if (!most)
		return 0;
	qsort(w->pairs, most, sizeof(*w->pairs), by_pair);
	for (size_t i = 0; i < most; i++) {
		if (!n || by_pair(&w->pairs[n - 1], &w->pairs[i]) != 0) {
			w->pairs[n++] = w->pairs[i];
			continue;
		}
		w->pairs[n - 1].n++;
		w->pairs[n - 1].wait_s += w->pairs[i].wait_s;
	}
	qsort(w->pairs, n, sizeof(*w->pairs), by_wait);
	w->n_pairs = n;
	return 0;
}

static void waits_fill(const struct matching *m, struct weft_waits *w)
{
	for (uint32_t id = 0; id < m->n_matches; id++)
		w->n_matches += m->matches[id].n > 1;
	for (uint32_t a = 0; a < m->n_traces; a++) {
		w->ranks[a].rank = m->traces[a].rank;
		w->ranks[a].clock_s = m->island[a] == m->island[0]
					      ? 1e-9 * (double)(m->clock_ns[a] -
								m->clock_ns[0])
					      : (double)NAN;
		for (uint32_t i = 0; i < m->traces[a].n_collectives; i++) {
			uint32_t id = m->ids[a][i];

			w->wait_s[a][i] = w->transfer_s[a][i] = -1;
			if (id != WEFT_TRACE_NONE && m->matches[id].n > 1)
				wait_take(m, w, a, i);
		}
	}
}

static int matching_alloc(struct matching *m, struct weft_waits *w)
{
	uint32_t n = m->n_traces, most = 0;

	m->ids = weft_calloc(n, sizeof(*m->ids), m->err);
	m->clock_ns = weft_calloc(n, sizeof(*m->clock_ns), m->err);
	m->island = weft_calloc(n, sizeof(*m->island), m->err);
	w->ranks = weft_calloc(n, sizeof(*w->ranks), m->err);
	w->wait_s = weft_calloc(n, sizeof(*w->wait_s), m->err);
	w->transfer_s = weft_calloc(n, sizeof(*w->transfer_s), m->err);
	if (!m->ids || !m->clock_ns || !m->island || !w->ranks || !w->wait_s ||
	    !w->transfer_s)
		return -1;
	w->n_traces = n;
	for (uint32_t a = 0; a < n; a++) {
		uint32_t k = m->traces[a].n_collectives;

		most = k > most ? k : most;
		m->island[a] = a;
		m->ids[a] = weft_calloc(k, sizeof(uint32_t), m->err);
		w->wait_s[a] = weft_calloc(k, sizeof(double), m->err);
		w->transfer_s[a] = weft_calloc(k, sizeof(double), m->err);
		if (!m->ids[a] || !w->wait_s[a] || !w->transfer_s[a])
			return -1;
		memset(m->ids[a], 0xff, k * sizeof(uint32_t));
	}
	m->ends = weft_calloc(most, sizeof(*m->ends), m->err);
	m->pairs = weft_calloc(most, sizeof(*m->pairs), m->err);
	return m->ends && m->pairs ? 0 : -1;
}

static void matching_free(struct matching *m)
{
	for (uint32_t a = 0; m->ids && a < m->n_traces; a++)
		free(m->ids[a]);
	free(m->ids);
	free(m->matches);
	free(m->clock_ns);
	free(m->island);
	free(m->ends);
	free(m->pairs);
}

int weft_waits_build(const struct weft_trace *traces, uint32_t n_traces,
		     struct weft_waits *waits, struct weft_error *err)
{
	struct matching m = {
		.traces = traces, .n_traces = n_traces, .err = err};
	int code = -1;

	*waits = (struct weft_waits){0};
	if (!matching_alloc(&m, waits) && !groups_match(&m) && !last_find(&m)) {
		waits_fill(&m, waits);
		code = pairs_sum(&m, waits);
	}
	matching_free(&m);
	if (code)
		weft_waits_free(waits);
	return code;
}

void weft_waits_free(struct weft_waits *waits)
{
	if (!waits)
		return;
	for (uint32_t a = 0; a < waits->n_traces; a++) {
		free(waits->wait_s[a]);
		free(waits->transfer_s[a]);
	}
	free(waits->wait_s);
	free(waits->transfer_s);
	free(waits->ranks);
	free(waits->pairs);
	*waits = (struct weft_waits){0};
}
