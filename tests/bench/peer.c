/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peer.c - a mapping problem in the words of another mapper, and its answer
 *
 * For the script `map`: numbers anew, writes for SCOTCH, prices anyone's answer
 * and takes the time of a program.  The price is a plain sum of its own, so
 * that weft's is checked against it.
 */
#include "base/clock.h"
#include "lab/map/arch.h"
#include "lab/map/metis.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

struct problem {
	struct graph graph;
	struct arch arch;
};

static int die(const struct weft_error *err)
{
	char text[512];

	fprintf(stderr, "peer: %s\n", weft_error_text(err, text, sizeof(text)));
	return 1;
}

static int graph_load(const char *path, struct graph *g, struct weft_error *err)
{
	struct scan s;
	int rc = scan_load(&s, path, err);

	if (rc == 0)
		rc = metis_read(&s, g);
	scan_free(&s);
	return rc;
}

static int problem_load(char **file, struct problem *p, struct weft_error *err)
{
	struct scan s;
	int rc;

	if (graph_load(file[0], &p->graph, err))
		return -1;
	rc = scan_load(&s, file[1], err);
	if (rc == 0)
		rc = arch_read(&s, &p->arch);
	scan_free(&s);
	if (rc == 0 && p->arch.sites.n < p->graph.n)
		return weft_fail(err, WEFT_EINVAL, "too few slots");
	return rc;
}

static void problem_free(struct problem *p)
{
	graph_free(&p->graph);
	arch_free(&p->arch);
}

/* ---- shuffle: the same graph under other numbers ---- */

static uint32_t random_below(uint64_t *state, uint32_t n)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

/* new_of[]: each vertex' new number; old_of[]: the other way. */
static void shuffle(uint32_t n, uint64_t seed, uint32_t *new_of,
		    uint32_t *old_of)
{
	for (uint32_t i = 0; i < n; i++)
		old_of[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = random_below(&seed, i), old = old_of[k];

		old_of[k] = old_of[i - 1];
		old_of[i - 1] = old;
	}
	for (uint32_t i = 0; i < n; i++)
		new_of[old_of[i]] = i;
}

static int run_shuffle(char **arg, struct weft_error *err)
{
	struct graph g = {0};
	uint32_t *new_of = NULL, *old_of = NULL;
	int rc = -1;

	if (graph_load(arg[1], &g, err))
		goto out;
	new_of = weft_calloc(g.n, sizeof(*new_of), err);
	old_of = weft_calloc(g.n, sizeof(*old_of), err);
	if (!new_of || !old_of)
		goto out;
	shuffle(g.n, strtoull(arg[0], NULL, 10), new_of, old_of);
	printf("%u %u 001\n", g.n, g.n_edges / 2);
	for (uint32_t i = 0; i < g.n; i++) {
		uint32_t v = old_of[i];

		for (uint32_t k = g.row[v]; k < g.row[v + 1]; k++)
			printf("%u %.17g ", new_of[g.peer[k]] + 1, g.weight[k]);
		putchar('\n');
	}
	rc = 0;
out:
	free(new_of);
	free(old_of);
	graph_free(&g);
	return rc;
}

/* ---- scotch: PREFIX.grf and, for each choice of slots, PREFIX.CHOICE.tgt and
 * PREFIX.CHOICE.slots, the slot of each target terminal ---- */

static FILE *create(const char *prefix, const char *suffix,
		    struct weft_error *err)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", prefix, suffix);
	file = fopen(path, "w");
	if (!file)
		weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s", strerror(errno));
	return file;
}

static int close_written(FILE *file, struct weft_error *err)
{
	if (ferror(file) | fclose(file))
		return weft_fail(err, WEFT_EIO, "could not write");
	return 0;
}

/* SCOTCH's graph: base 0, weights of edges, each before its neighbour. */
static int write_graph(const struct graph *g, const char *prefix,
		       struct weft_error *err)
{
	FILE *out = create(prefix, ".grf", err);

	if (!out)
		return -1;
	fprintf(out, "0\n%u %u\n0 010\n", g->n, g->n_edges);
	for (uint32_t v = 0; v < g->n; v++) {
		fprintf(out, "%u", g->row[v + 1] - g->row[v]);
		for (uint32_t k = g->row[v]; k < g->row[v + 1]; k++) {
			if (g->weight[k] != floor(g->weight[k])) {
				fclose(out);
				return weft_fail(err, WEFT_EINVAL,
						 "SCOTCH takes whole weights");
			}
			fprintf(out, " %.0f %u", g->weight[k], g->peer[k]);
		}
		fputc('\n', out);
	}
	return close_written(out, err);
}

/* The tree padded to the same fan-out everywhere, as SCOTCH's "tleaf" wants it:
 * a site's number there is its digits, one per level. */
struct padded {
	uint32_t n_levels;
	uint32_t fan_out[WEFT_MAX_LEVELS];
	uint64_t *terminal; /* [sites] rising */
	uint64_t n_terminals;
};

/* digit[]: of the site before; a step up at `level` begins anew below. */
static void digits_step(const struct sites *s, uint32_t site, uint32_t *digit)
{
	uint32_t level = sites_meet(s, site - 1, site);

	digit[level]++;
	for (uint32_t l = 0; l < level; l++)
		digit[l] = 0;
}

static int padded_build(const struct sites *s, struct padded *p,
			struct weft_error *err)
{
	uint32_t digit[WEFT_MAX_LEVELS] = {0};

	memset(p, 0, sizeof(*p));
	while (isfinite(s->distance[p->n_levels][0]))
		p->fan_out[p->n_levels++] = 1;
	for (uint32_t i = 1; i < s->n; i++) {
		digits_step(s, i, digit);
		for (uint32_t l = 0; l < p->n_levels; l++) {
			if (digit[l] >= p->fan_out[l])
				p->fan_out[l] = digit[l] + 1;
		}
	}
	p->terminal = weft_calloc(s->n, sizeof(*p->terminal), err);
	if (!p->terminal)
		return -1;
	memset(digit, 0, sizeof(digit));
	p->n_terminals = 1;
	for (uint32_t l = 0; l < p->n_levels; l++)
		p->n_terminals *= p->fan_out[l];
	for (uint32_t i = 0; i < s->n; i++) {
		if (i > 0)
			digits_step(s, i, digit);
		for (uint32_t l = p->n_levels; l-- > 0;)
			p->terminal[i] =
				p->terminal[i] * p->fan_out[l] + digit[l];
	}
	return 0;
}

static void write_tleaf(const struct sites *s, const struct padded *p,
			FILE *out)
{
	uint32_t n = 0;

	for (uint32_t l = 0; l < p->n_levels; l++)
		n += p->fan_out[l] > 1;
	if (n == 0) {
		fputs("tleaf 1 1 1\n", out);
		return;
	}
	fprintf(out, "tleaf %u", n);
	for (uint32_t l = p->n_levels; l-- > 0;) {
		if (p->fan_out[l] > 1)
			fprintf(out, " %u %.0f", p->fan_out[l],
				s->distance[l][0]);
	}
	fputc('\n', out);
}

/* The target of the sites that are chosen. */
static int write_target(const struct problem *problem, const struct padded *p,
			const uint8_t *chosen, const char *prefix,
			const char *choice, struct weft_error *err)
{
	const struct sites *s = &problem->arch.sites;
	char suffix[64];
	uint32_t n = 0;
	FILE *out;

	for (uint32_t i = 0; i < s->n; i++)
		n += chosen[i];
	snprintf(suffix, sizeof(suffix), ".%s.tgt", choice);
	out = create(prefix, suffix, err);
	if (!out)
		return -1;
	if (n < p->n_terminals) {
		fprintf(out, "sub\n%u", n);
		for (uint32_t i = 0; i < s->n; i++) {
			if (chosen[i])
				fprintf(out, " %" PRIu64, p->terminal[i]);
		}
		fputc('\n', out);
	}
	write_tleaf(s, p, out);
	if (close_written(out, err))
		return -1;
	snprintf(suffix, sizeof(suffix), ".%s.slots", choice);
	out = create(prefix, suffix, err);
	if (!out)
		return -1;
	for (uint32_t i = 0; i < s->n; i++) {
		if (chosen[i])
			fprintf(out, "%u\n", problem->arch.slot[i]);
	}
	return close_written(out, err);
}

/* A domain of level 1, neighbouring nodes under one leaf. */
struct leaf {
	uint32_t first, size;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct leaf *a = pa, *b = pb;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* As many sites as there are vertices, from the largest leaves. */
static int choose_large(const struct problem *p, uint8_t *chosen,
			struct weft_error *err)
{
	const struct sites *s = &p->arch.sites;
	struct leaf *leaf = weft_calloc(s->n, sizeof(*leaf), err);
	uint32_t n = 0, left = p->graph.n;

	if (!leaf)
		return -1;
	for (uint32_t i = 0; i < s->n; i++) {
		if (i == 0 || sites_meet(s, i - 1, i) > 1)
			leaf[n++].first = i;
		leaf[n - 1].size++;
	}
	qsort(leaf, n, sizeof(*leaf), larger_first);
	memset(chosen, 0, s->n);
	for (uint32_t l = 0; left > 0; l++) {
		for (uint32_t k = 0; left > 0 && k < leaf[l].size; k++, left--)
			chosen[leaf[l].first + k] = 1;
	}
	free(leaf);
	return 0;
}

static int write_targets(const struct problem *p, const char *prefix,
			 struct weft_error *err)
{
	const struct sites *s = &p->arch.sites;
	uint8_t *chosen = weft_calloc(s->n, 1, err);
	struct padded padded = {0};
	int rc = -1;

	if (!chosen || padded_build(s, &padded, err))
		goto out;
	memset(chosen, 1, s->n);
	rc = write_target(p, &padded, chosen, prefix, "all", err);
	if (rc || p->graph.n == s->n)
		goto out;
	for (uint32_t i = 0; i < s->n; i++)
		chosen[i] = p->arch.slot[i] < p->graph.n;
	rc = write_target(p, &padded, chosen, prefix, "first", err);
	if (rc == 0)
		rc = choose_large(p, chosen, err);
	if (rc == 0)
		rc = write_target(p, &padded, chosen, prefix, "large", err);
out:
	free(padded.terminal);
	free(chosen);
	return rc;
}

static int run_scotch(char **arg, struct weft_error *err)
{
	struct problem p = {0};
	int rc = problem_load(arg, &p, err);

	if (rc == 0)
		rc = write_graph(&p.graph, arg[2], err);
	if (rc == 0)
		rc = write_targets(&p, arg[2], err);
	problem_free(&p);
	return rc;
}

/* ---- price: what an answer costs ---- */

static double price_of(const struct problem *p, const uint32_t *slot_of,
		       uint32_t v, uint32_t slot)
{
	const struct graph *g = &p->graph;
	const uint32_t *site = p->arch.site;
	double cost = 0;

	for (uint32_t k = g->row[v]; k < g->row[v + 1]; k++) {
		uint32_t other = slot_of[g->peer[k]];

		if (other != WEFT_NONE && other != slot)
			cost += g->weight[k] * sites_distance(&p->arch.sites,
							      site[slot],
							      site[other]);
	}
	return cost;
}

/* Vertices on a slot that is taken go where they cost least, in turn; returns
 * how many there were. */
static uint32_t repair(const struct problem *p, uint32_t *slot_of,
		       uint8_t *taken)
{
	uint32_t moved = 0;

	memset(taken, 0, p->arch.sites.n);
	for (uint32_t v = 0; v < p->graph.n; v++) {
		if (slot_of[v] == WEFT_NONE || taken[slot_of[v]])
			slot_of[v] = WEFT_NONE;
		else
			taken[slot_of[v]] = 1;
	}
	for (uint32_t v = 0; v < p->graph.n; v++) {
		double least = INFINITY;
		uint32_t best = 0;

		if (slot_of[v] != WEFT_NONE)
			continue;
		for (uint32_t slot = 0; slot < p->arch.sites.n; slot++) {
			double cost;

			if (taken[slot])
				continue;
			cost = price_of(p, slot_of, v, slot);
			if (cost < least) {
				least = cost;
				best = slot;
			}
		}
		slot_of[v] = best;
		taken[best] = 1;
		moved++;
	}
	return moved;
}

/* A list of slots, or SCOTCH's pairs of vertex and terminal, whose slots
 * `terminals` lists. */
static int answer_read(const struct problem *p, const char *path,
		       const uint32_t *terminals, uint32_t *slot_of,
		       struct weft_error *err)
{
	uint32_t n = p->graph.n, n_slots = p->arch.sites.n;
	uint64_t vertex, value;
	struct scan s;
	int rc = scan_load(&s, path, err);

	if (rc == 0 && terminals) {
		scan_space(&s);
		rc = scan_count(&s, n, n, "the number of vertices", &value);
	}
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		vertex = i;
		scan_space(&s);
		if (terminals)
			rc = scan_count(&s, 0, n - 1, "a vertex", &vertex);
		scan_space(&s);
		if (rc == 0)
			rc = scan_count(&s, 0, n_slots - 1, "a place", &value);
		if (rc == 0)
			slot_of[vertex] =
				terminals ? terminals[value] : (uint32_t)value;
	}
	scan_free(&s);
	return rc;
}

static int terminals_read(const char *path, uint32_t n, uint32_t *slot,
			  struct weft_error *err)
{
	struct scan s;
	int rc = scan_load(&s, path, err);
	uint64_t value;

	scan_space(&s);
	for (uint32_t i = 0; rc == 0 && i < n && !scan_at_end(&s); i++) {
		rc = scan_count(&s, 0, n - 1, "a slot", &value);
		slot[i] = (uint32_t)value;
		scan_space(&s);
	}
	scan_free(&s);
	return rc;
}

static void print_price(const struct problem *p, uint32_t *slot_of,
			uint8_t *taken)
{
	uint32_t moved = repair(p, slot_of, taken);
	double cost = 0, weight = 0;

	for (uint32_t v = 0; v < p->graph.n; v++) {
		cost += price_of(p, slot_of, v, slot_of[v]) / 2;
		for (uint32_t k = p->graph.row[v]; k < p->graph.row[v + 1]; k++)
			weight += p->graph.weight[k] / 2;
	}
	printf("%.17g %.17g %u\n", cost, weight * p->arch.sites.distance[0][0],
	       moved);
}

static int run_price(char **arg, struct weft_error *err)
{
	struct problem p = {0};
	uint32_t *slot_of = NULL, *terminals = NULL;
	uint8_t *taken = NULL;
	int rc = problem_load(arg, &p, err);

	if (rc)
		goto out;
	rc = -1;
	slot_of = weft_calloc(p.graph.n, sizeof(*slot_of), err);
	terminals = weft_calloc(p.arch.sites.n, sizeof(*terminals), err);
	taken = weft_calloc(p.arch.sites.n, 1, err);
	if (!slot_of || !terminals || !taken)
		goto out;
	memset(slot_of, 0xff, p.graph.n * sizeof(*slot_of));
	if (arg[3] && terminals_read(arg[3], p.arch.sites.n, terminals, err))
		goto out;
	rc = answer_read(&p, arg[2], arg[3] ? terminals : NULL, slot_of, err);
	if (rc == 0)
		print_price(&p, slot_of, taken);
out:
	free(slot_of);
	free(terminals);
	free(taken);
	problem_free(&p);
	return rc;
}

/* ---- time: a program's wall clock, from before it starts until it ends ----
 */

static int run_time(char **arg, struct weft_error *err)
{
	posix_spawn_file_actions_t actions;
	double start_s;
	int rc, status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, arg[0],
					 O_WRONLY | O_CREAT | O_TRUNC, 0666);
	start_s = weft_clock_s();
	rc = posix_spawnp(&pid, arg[1], &actions, NULL, arg + 1, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return weft_fail_at(err, WEFT_EIO, arg[1], 0, 0, "%s",
				    strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	printf("%.3f\n", 1e3 * (weft_clock_s() - start_s));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return weft_fail(err, WEFT_EIO, "%s failed", arg[1]);
	return 0;
}

static const struct verb {
	const char *name, *usage;
	int min_args, max_args; /* max 0: any number */
	int (*run)(char **arg, struct weft_error *err);
} verbs[] = {
	{"shuffle", "SEED GRAPH", 2, 2, run_shuffle},
	{"scotch", "GRAPH ARCH PREFIX", 3, 3, run_scotch},
	{"price", "GRAPH ARCH ANSWER [SLOTS]: cost, floor, vertices moved", 3,
	 4, run_price},
	{"time", "OUTPUT PROGRAM [ARG...]: milliseconds", 2, 0, run_time},
};

int main(int argc, char **argv)
{
	struct weft_error err = {0};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const struct verb *verb = &verbs[i];

		if (argc < 2 || strcmp(argv[1], verb->name) ||
		    argc - 2 < verb->min_args ||
		    (verb->max_args && argc - 2 > verb->max_args))
			continue;
		return verb->run(argv + 2, &err) ? die(&err) : 0;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(stderr, "usage: peer %s %s\n", verbs[i].name,
			verbs[i].usage);
	return 2;
}
