/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cliques.c - a job's traffic as cliques and loose edges */
#include "placement/mapping/cliques.h"

#include "base/clock.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define SAME 1e-9 /* sums of the same terms in another order */

#define TWIN UINT32_MAX /* another clique stands for it */

static void count_cliques(const struct weft_traffic *t, uint32_t *count)
{
	for (uint32_t k = 0; k < t->n_cliques; k++) {
		const struct weft_clique *c = &t->cliques[k];

		for (uint32_t i = 0; i < c->n_members; i++)
			count[t->member[c->first_member + i]]++;
	}
}

static int index_cliques(const struct weft_traffic *t, struct cliques *c,
			 struct weft_error *err)
{
	uint32_t n_members = 0;

	c->n = t->n_cliques;
	for (uint32_t k = 0; k < c->n; k++)
		n_members += t->cliques[k].n_members;
	c->first = weft_calloc((size_t)t->n_ranks + 2, sizeof(*c->first), err);
	c->of = weft_calloc(n_members, sizeof(*c->of), err);
	c->met = weft_calloc((size_t)c->n + 1, sizeof(*c->met), err);
	c->runs_met = weft_calloc(c->n, sizeof(*c->runs_met), err);
	if (!c->first || !c->of || !c->met || !c->runs_met)
		return -1;
	count_cliques(t, c->first + 2);
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		c->disjoint &= c->first[r + 2] < 2;
		c->first[r + 2] += c->first[r + 1];
	}
	for (uint32_t k = 0; k < c->n; k++) {
		const struct weft_clique *one = &t->cliques[k];
		double n = one->n_members;

		for (uint32_t i = 0; i < one->n_members; i++) {
			uint32_t r = t->member[one->first_member + i];

			c->of[c->first[r + 1]++] = k;
		}
		c->pairs += n * (n - 1) * one->bytes;
	}
	return 0;
}

/* Whether the ranks are in one clique. */
static bool share_clique(const struct cliques *c, uint32_t a, uint32_t b)
{
	uint32_t one = cliques_of(c, a);

	if (c->disjoint)
		return one < c->n && one == cliques_of(c, b);
	for (uint32_t i = c->first[a]; i < c->first[a + 1]; i++)
		for (uint32_t k = c->first[b]; k < c->first[b + 1]; k++)
			if (c->of[i] == c->of[k])
				return true;
	return false;
}

/* Entries of the whole graph, a pair that is in several cliques as often. */
static uint32_t count_edges(const struct cliques *c)
{
	const struct graph *g = &c->loose;
	uint32_t n = g->n_edges;

	for (uint32_t k = 0; k < c->n; k++)
		n += c->t.cliques[k].n_members *
		     (c->t.cliques[k].n_members - 1);
	for (uint32_t v = 0; v < g->n && c->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			n -= share_clique(c, v, g->peer[e]);
	return n;
}

int cliques_build(const struct weft_traffic *t, struct cliques *c,
		  struct weft_error *err)
{
	bool counts = t->loose && t->n_cliques && !t->n_switches;

	memset(c, 0, sizeof(*c));
	c->t = *t;
	c->disjoint = true;
	if ((counts && index_cliques(t, c, err)) ||
	    graph_build(counts ? t->loose : t, &c->loose, err))
		return -1;
	c->n_edges = count_edges(c);
	return 0;
}

void cliques_free(struct cliques *c)
{
	free(c->first);
	free(c->of);
	free(c->met);
	free(c->runs_met);
	graph_free(&c->loose);
	graph_free(&c->whole);
	memset(c, 0, sizeof(*c));
}

/* Bytes of its clique, k, between a rank and another. */
static double added(const struct cliques *c, uint32_t k, uint32_t peer)
{
	return k < c->n && cliques_of(c, peer) == k ? 2 * c->t.cliques[k].bytes
						    : 0;
}

static uint32_t longest_row(const struct graph *g)
{
	uint32_t most = 0;

	for (uint32_t v = 0; v < g->n; v++)
		if (g->row[v + 1] - g->row[v] > most)
			most = g->row[v + 1] - g->row[v];
	return most;
}

/* The rows of the graph of all pairs, one at a time, of disjoint cliques. */
struct clique_rows {
	const struct cliques *c;
	uint32_t *seen; /* [n] v + 1 at the loose peers of v */
	uint32_t *peer;
	double *weight;
};

/* The loose edges of v, and the others to members of its clique, by number
 * where the loose ones are. */
static void row_of(void *data, uint32_t v, struct graph_row *row)
{
	const struct clique_rows *rows = data;
	const struct cliques *c = rows->c;
	const struct graph *g = &c->loose;
	uint32_t k = cliques_of(c, v), i = 0, n = 0, at = 0;
	uint32_t *seen = rows->seen, *peer = rows->peer;
	const uint32_t *member = NULL;
	double alike = 0, *weight = rows->weight;

	if (k < c->n) {
		n = c->t.cliques[k].n_members;
		member = c->t.member + c->t.cliques[k].first_member;
		alike = 2 * c->t.cliques[k].bytes;
	}
	seen[v] = v + 1;
	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		seen[g->peer[e]] = v + 1;
	for (uint32_t e = g->row[v]; e <= g->row[v + 1]; e++) {
		bool last = e == g->row[v + 1];
		uint32_t next = last ? UINT32_MAX : g->peer[e];

		for (; i < n && member[i] < next; i++) {
			peer[at] = member[i];
			weight[at] = alike;
			at += seen[member[i]] != v + 1;
		}
		if (last)
			break;
		peer[at] = next;
		weight[at++] = g->weight[e] + added(c, k, next);
	}
	*row = (struct graph_row){at, peer, weight};
}

static int clique_rows_build(const struct cliques *c, struct clique_rows *rows,
			     struct weft_error *err)
{
	uint32_t largest = 0;
	/* an entry that is not kept is written, too */
	size_t most = (size_t)longest_row(&c->loose) + 1;

	for (uint32_t k = 0; k < c->n; k++)
		if (c->t.cliques[k].n_members > largest)
			largest = c->t.cliques[k].n_members;
	most += largest;
	rows->c = c;
	rows->seen = weft_calloc(c->loose.n, sizeof(*rows->seen), err);
	rows->peer = weft_calloc(most, sizeof(*rows->peer), err);
	rows->weight = weft_calloc(most, sizeof(*rows->weight), err);
	return rows->seen && rows->peer && rows->weight ? 0 : -1;
}

static void clique_rows_free(struct clique_rows *rows)
{
	free(rows->seen);
	free(rows->peer);
	free(rows->weight);
}

static int whole_build(struct cliques *c, struct weft_error *err)
{
	struct graph *g = &c->whole;
	uint32_t n = c->loose.n;
	struct clique_rows rows = {0};
	int rc;

	if (!c->disjoint)
		return graph_build(&c->t, g, err);
	rc = clique_rows_build(c, &rows, err);
	if (rc == 0)
		rc = graph_start(g, n, c->n_edges, err);
	for (uint32_t v = 0; v < n && rc == 0; v++) {
		struct graph_row row;

		row_of(&rows, v, &row);
		for (uint32_t k = 0; k < row.n; k++)
			graph_add(g, row.peer[k], row.weight[k]);
		g->row[v + 1] = g->n_edges;
		rc = weft_deadline_check_turn(v, err);
	}
	clique_rows_free(&rows);
	return rc;
}

const struct graph *cliques_whole(struct cliques *c, struct weft_error *err)
{
	if (!c->n)
		return &c->loose;
	if (!c->whole.n && whole_build(c, err)) {
		graph_free(&c->whole);
		return NULL;
	}
	return &c->whole;
}

int cliques_rows(struct cliques *c, struct graph_rows *rows,
		 struct weft_error *err)
{
	struct clique_rows *own;

	*rows = (struct graph_rows){0};
	if (!c->n || !c->disjoint || c->whole.n) {
		if (!cliques_whole(c, err))
			return -1;
		*rows = graph_rows_of(c->n ? &c->whole : &c->loose);
		return 0;
	}
	own = weft_calloc(1, sizeof(*own), err);
	if (!own)
		return -1;
	*rows = (struct graph_rows){c->loose.n, c->n_edges, row_of, own};
	return clique_rows_build(c, own, err);
}

void cliques_rows_free(struct graph_rows *rows)
{
	if (rows->of != row_of)
		return;
	clique_rows_free(rows->data);
	free(rows->data);
}

int cliques_contract(struct cliques *c, const uint32_t *group,
		     uint32_t n_groups, struct graph *out,
		     struct weft_error *err)
{
	struct graph_rows rows;
	int rc = cliques_rows(c, &rows, err);

	memset(out, 0, sizeof(*out));
	if (rc == 0)
		rc = graph_contract_rows(&rows, group, n_groups, out, err);
	cliques_rows_free(&rows);
	return rc;
}

double cliques_weight(const struct cliques *c, uint32_t a, uint32_t b)
{
	const struct graph *g = &c->loose;
	double weight = 0;

	for (uint32_t e = g->row[a]; e < g->row[a + 1]; e++) {
		if (g->peer[e] != b)
			continue;
		weight = g->weight[e];
		break;
	}
	if (!c->n)
		return weight;
	for (uint32_t i = c->first[a]; i < c->first[a + 1]; i++)
		for (uint32_t k = c->first[b]; k < c->first[b + 1]; k++)
			if (c->of[i] == c->of[k])
				weight += 2 * c->t.cliques[c->of[i]].bytes;
	return weight;
}

/* Of one rank what cliques_beyond sums, and the row that it is of. */
struct beyond {
	uint32_t n, n_alike;
	double alike, bytes;
	double *weight; /* [n] */
};

/* Rows that are kept: most ranks have the weights of one that is near, in the
 * same order. */
#define BEYOND_KEPT 8

/* As in one of the rows b, if that is the same, which then comes first. */
static double beyond(struct beyond b[BEYOND_KEPT], const double *weight,
		     uint32_t n, double alike, uint32_t n_alike, uint32_t most,
		     double *scratch)
{
	uint32_t i = 0;
	struct beyond one;

	while (i < BEYOND_KEPT &&
	       (n != b[i].n || n_alike != b[i].n_alike || alike != b[i].alike ||
		memcmp(weight, b[i].weight, n * sizeof(*weight)) != 0))
		i++;
	if (i == 0)
		return b[0].bytes;
	one = b[i < BEYOND_KEPT ? i : BEYOND_KEPT - 1];
	if (i == BEYOND_KEPT) {
		one.n = n;
		one.n_alike = n_alike;
		one.alike = alike;
		memcpy(one.weight, weight, n * sizeof(*weight));
		one.bytes =
			graph_beyond(weight, n, alike, n_alike, most, scratch);
		i--;
	}
	memmove(b + 1, b, i * sizeof(*b));
	b[0] = one;
	return one.bytes;
}

int cliques_beyond(struct cliques *c, uint32_t most, double *bytes,
		   struct weft_error *err)
{
	const struct graph *g = c->disjoint ? &c->loose : cliques_whole(c, err);
	uint32_t longest = g ? longest_row(g) : 0;
	double *weight =
		weft_calloc(longest, (2 + BEYOND_KEPT) * sizeof(*weight), err);
	struct beyond kept[BEYOND_KEPT];

	*bytes = 0;
	if (!g || !weight) {
		free(weight);
		return -1;
	}
	for (uint32_t i = 0; i < BEYOND_KEPT; i++)
		kept[i] = (struct beyond){
			.n = UINT32_MAX,
			.weight = weight + (2 + i) * (size_t)longest,
		};
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t k = c->disjoint ? cliques_of(c, v) : c->n;
		uint32_t n = g->row[v + 1] - g->row[v], alike = 0;

		if (k < c->n)
			alike = c->t.cliques[k].n_members - 1;
		if (n + alike <= most)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t e = g->row[v] + i;
			double more = added(c, k, g->peer[e]);

			weight[i] = g->weight[e] + more;
			alike -= more > 0;
		}
		*bytes += beyond(kept, weight, n,
				 alike ? 2 * c->t.cliques[k].bytes : 0, alike,
				 most, weight + longest);
	}
	free(weight);
	return 0;
}

/* Members met so far in the turn. */
static uint64_t *met_in(const struct cliques *c, uint32_t clique, uint64_t turn)
{
	uint64_t *met = &c->met[clique];

	if (*met >> 32 != (uint32_t)turn)
		*met = turn << 32;
	return met;
}

double cliques_inside(const struct cliques *c, const uint32_t *rank, uint32_t n)
{
	uint64_t turn;
	double bytes = 0;

	if (!c->n)
		return 0;
	turn = ++c->met[c->n];
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = c->first[rank[i]]; k < c->first[rank[i] + 1];
		     k++) {
			uint64_t *met = met_in(c, c->of[k], turn);

			bytes += 2 * (uint32_t)(*met)++ *
				 c->t.cliques[c->of[k]].bytes;
		}
	}
	return bytes;
}

/* Lists the members of one run behind those of the runs before. */
static void list_run(const struct cliques *c, const uint32_t *rank,
		     uint32_t block, struct clique_runs *runs)
{
	uint32_t from = runs->first[runs->n], end = from, kept = from;
	uint64_t turn = ++c->met[c->n];

	for (uint32_t i = 0; i < block; i++) {
		for (uint32_t k = c->first[rank[i]]; k < c->first[rank[i] + 1];
		     k++) {
			uint64_t *met = met_in(c, c->of[k], turn);
			uint32_t before = (uint32_t)(*met)++;

			if (!before)
				runs->entry[end++].clique = c->of[k];
			runs->inside += before * c->t.cliques[c->of[k]].bytes;
		}
	}
	for (uint32_t k = from; k < end; k++) {
		uint32_t clique = runs->entry[k].clique;
		uint32_t n = (uint32_t)c->met[clique];

		if (n < c->t.cliques[clique].n_members)
			runs->entry[kept++] =
				(struct clique_entry){clique, n, 0};
	}
	runs->first[++runs->n] = kept;
}

/* What tells a clique from those that are not alike, and how many it stands
 * for; 0: it has not been met, TWIN: another one stands for it. */
struct clique_sign {
	uint64_t key;
	uint32_t times;
};

static void sign_cliques(const struct cliques *c,
			 const struct clique_runs *runs,
			 struct clique_sign *sign)
{
	for (uint32_t k = 0; k < c->n; k++)
		memcpy(&sign[k].key, &c->t.cliques[k].bytes,
		       sizeof(sign[k].key));
	for (uint32_t i = 0; i < runs->n; i++) {
		for (uint32_t k = runs->first[i]; k < runs->first[i + 1]; k++) {
			const struct clique_entry *e = &runs->entry[k];
			uint64_t *key = &sign[e->clique].key;

			*key = weft_hash_word(*key,
					      (uint64_t)i << 32 | e->n_members);
		}
	}
}

/* Counts clique `one`, which is met for the first time, in with one of its run
 * that is alike, of entries first .. end - 1. */
static void find_twin(const struct clique_entry *first,
		      const struct clique_entry *end, uint32_t one,
		      struct clique_sign *sign)
{
	while (first < end && sign[first->clique].key != sign[one].key)
		first++;
	sign[one].times = first < end ? TWIN : 1;
	if (first < end)
		sign[first->clique].times++;
}

/* Leaves one of the cliques that are alike. */
static int join_twins(const struct cliques *c, struct clique_runs *runs,
		      struct weft_error *err)
{
	struct clique_sign *sign = weft_calloc(c->n, sizeof(*sign), err);
	struct clique_entry *end = runs->entry, *e = end;

	if (!sign)
		return -1;
	sign_cliques(c, runs, sign);
	for (uint32_t i = 0; i < runs->n; i++) {
		struct clique_entry *first = end;

		for (; e < runs->entry + runs->first[i + 1]; e++) {
			if (!sign[e->clique].times)
				find_twin(first, end, e->clique, sign);
			if (sign[e->clique].times != TWIN)
				*end++ = *e;
		}
		runs->first[i + 1] = (uint32_t)(end - runs->entry);
	}
	for (e = runs->entry; e < end; e++)
		e->bytes = c->t.cliques[e->clique].bytes * e->n_members *
			   sign[e->clique].times;
	free(sign);
	return 0;
}

/* Empty runs, with room for so many entries. */
static int runs_start(struct clique_runs *runs, uint32_t n, uint32_t n_entries,
		      struct weft_error *err)
{
	memset(runs, 0, sizeof(*runs));
	runs->first = weft_calloc((size_t)n + 1, sizeof(*runs->first), err);
	runs->entry = weft_realloc(NULL, n_entries, sizeof(*runs->entry), err);
	return runs->first && runs->entry ? 0 : -1;
}

int clique_runs_build(const struct cliques *c, const uint32_t *rank,
		      uint32_t block, struct clique_runs *runs,
		      struct weft_error *err)
{
	uint32_t n_ranks = c->loose.n;

	if (runs_start(runs, n_ranks / block, c->first[n_ranks], err))
		return -1;
	for (uint32_t i = 0; i < n_ranks; i += block)
		list_run(c, rank + i, block, runs);
	return join_twins(c, runs, err);
}

int clique_runs_rename(const struct clique_runs *from, const uint32_t *name,
		       struct clique_runs *runs, struct weft_error *err)
{
	uint32_t n = from->n, *first;

	if (runs_start(runs, n, from->first[n], err))
		return -1;
	first = runs->first;
	for (uint32_t i = 0; i < n; i++)
		first[name[i] + 1] = from->first[i + 1] - from->first[i];
	for (uint32_t i = 0; i < n; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < n; i++)
		memcpy(runs->entry + first[name[i]],
		       from->entry + from->first[i],
		       (from->first[i + 1] - from->first[i]) *
			       sizeof(*runs->entry));
	runs->n = n;
	runs->inside = from->inside;
	return 0;
}

void clique_runs_free(struct clique_runs *runs)
{
	free(runs->first);
	free(runs->entry);
	memset(runs, 0, sizeof(*runs));
}

/* Marks a run as one that run `from` sends to; 1 where it is a new one. */
static uint32_t mark_run(uint32_t *seen, uint32_t from, uint32_t to)
{
	if (seen[to] == from + 1)
		return 0;
	seen[to] = from + 1;
	return 1;
}

int cliques_count_edges(const struct cliques *c, const struct clique_runs *runs,
			const struct graph *loose, uint32_t block, uint32_t *n,
			struct weft_error *err)
{
	uint32_t *seen = weft_calloc(loose->n, sizeof(*seen), err);

	*n = 0;
	if (!seen)
		return -1;
	for (uint32_t run = 0; run < loose->n; run++) {
		for (uint32_t e = loose->row[run]; e < loose->row[run + 1]; e++)
			*n += 2 * mark_run(seen, run, loose->peer[e]);
		for (uint32_t k = runs->first[run]; k < runs->first[run + 1];
		     k++) {
			const struct weft_clique *one =
				&c->t.cliques[runs->entry[k].clique];
			const uint32_t *member =
				c->t.member + one->first_member;
			uint32_t i = one->n_members;

			while (member[--i] / block > run)
				*n += 2 *
				      mark_run(seen, run, member[i] / block);
		}
	}
	free(seen);
	return 0;
}

/* sent[l]: bytes between members in one domain of level + l but in different
 * runs: those that are there send to each that comes. */
static void sent_inside(const struct cliques *c, const struct clique_runs *runs,
			const uint8_t *meet, uint32_t level,
			double sent[CLIQUES_LEVELS])
{
	/* the first run of the domain at hand */
	uint32_t start[CLIQUES_LEVELS] = {0};
	double sum[CLIQUES_LEVELS] = {0};

	memset(c->runs_met, 0, c->n * sizeof(*c->runs_met));
	for (uint32_t i = 0; i < runs->n; i++) {
		for (uint32_t l = 0;
		     l < CLIQUES_LEVELS && i > 0 && meet[i - 1] > level + l;
		     l++)
			start[l] = i;
		for (uint32_t k = runs->first[i]; k < runs->first[i + 1]; k++) {
			const struct clique_entry *e = &runs->entry[k];
			struct clique_met *met = &c->runs_met[e->clique];

			for (uint32_t l = 0; l < CLIQUES_LEVELS; l++) {
				if (met->last <= start[l])
					met->n[l] = 0;
				sum[l] += e->bytes * met->n[l];
				met->n[l] += e->n_members;
			}
			met->last = i + 1;
		}
	}
	memcpy(sent, sum, sizeof(sum));
}

double clique_runs_cost(const struct cliques *c, const struct clique_runs *runs,
			const struct sites *s)
{
	double before = 0, all = c->pairs, cost = 0;
	uint32_t top = 0, least = WEFT_MAX_LEVELS;
	double sent[WEFT_MAX_LEVELS + CLIQUES_LEVELS] = {0};

	for (uint32_t i = 0; i + 1 < s->n; i++) {
		top = s->meet[0][i] > top ? s->meet[0][i] : top;
		least = s->meet[0][i] < least ? s->meet[0][i] : least;
	}
	for (uint32_t l = least; l < top; l += CLIQUES_LEVELS)
		sent_inside(c, runs, s->meet[0], l, &sent[l]);
	for (uint32_t l = 0; l < top; l++) {
		double inside = 2 * runs->inside + 2 * sent[l];

		cost += (inside - before) * s->distance[l][0];
		before = inside;
	}
	/* what is left when nothing is would be infinitely far at times */
	if (all - before > SAME * all)
		cost += (all - before) * s->distance[top][0];
	return cost;
}
