/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proof.c - proving with blocks of ranks that no placement costs less
 *
 * A placement either keeps every block whole or parts one.  For the former a
 * bound comes from enumeration, where there are few blocks, or from integer
 * programs: of sizes alone first, then of the pieces that the job is cut into,
 * last of which block is where.  For the latter
 * it comes from parting.c.  The smaller of the two holds for all placements.
 */
#include "placement/exact/proof.h"

#include "base/clock.h"
#include "placement/bounds/boundary.h"
#include "placement/exact/enumeration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that are enumerated before programs are tried. */
#define MAX_ENUMERATED 20
/* What GLPK's answers may be off, in proportion. */
#define SOLVED 1e-7

int proof_start(struct proof *proof, const uint32_t *group, uint32_t n,
		struct weft_error *err)
{
	bool exact;

	if (blocks_build(proof->s, group, n, &proof->blocks, err))
		return -1;
	proof->least = weft_calloc((size_t)n + 1, sizeof(*proof->least), err);
	if (!proof->least || boundary_least(&proof->blocks.g, &proof->effort,
					    proof->least, &exact, err))
		return -1;
	return parting_bound(&proof->blocks, proof->least, proof->known,
			     &proof->effort, &proof->parted, err);
}

void proof_free(struct proof *proof)
{
	blocks_free(&proof->blocks);
	free(proof->least);
	free(proof->certificate);
	proof->least = NULL;
	proof->certificate = NULL;
}

/* `whole`: no placement that keeps blocks whole costs less. */
static void raise_bound(struct proof *proof, double whole)
{
	double bound = fmin(whole, proof->parted);

	if (isfinite(bound) && bound > proof->bound)
		proof->bound = bound;
}

static bool is_proven(const struct proof *proof)
{
	double need = fmin(proof->known, proof->parted) * (1 - SOLVED);

	return (proof->bound >= need && isfinite(need)) &&
	       (!proof->wants_certificate || proof->certified >= need);
}

static void tell(const struct proof *proof, const char *what)
{
	char text[160];

	if (!proof->progress)
		return;
	snprintf(text, sizeof(text),
		 "%s: %u blocks of %u ranks, cost %.6g, bound %.6g "
		 "(parted %.6g)",
		 what, proof->blocks.n, proof->blocks.unit, proof->known,
		 proof->bound, proof->parted);
	proof->progress(proof->listener, text);
}

/* Part of the time that is left. */
static struct effort share_of(const struct effort *e, double share)
{
	struct effort part = *e;

	if (e->deadline_s > 0) {
		double now = weft_budget_clock_s();

		part.deadline_s = now + (e->deadline_s - now) * share;
	}
	return part;
}

static int enumerate(struct proof *proof, struct weft_error *err)
{
	const struct blocks *b = &proof->blocks;
	struct effort part = share_of(&proof->effort, 0.3);
	uint32_t *bin = weft_calloc(2 * (size_t)b->n, sizeof(*bin), err);
	struct enumeration result = {.limit = proof->known};
	int rc = -1;

	if (!bin)
		return -1;
	tell(proof, "enumerating");
	if (proof->start && blocks_gather(b, proof->start, bin + b->n))
		result.start = bin + b->n;
	if (enumeration_run(b, &part, bin, &result, err))
		goto out;
	proof->effort.work = part.work;
	if (result.found) {
		proof->found = true;
		if (blocks_spread(b, bin, proof->where, err))
			goto out;
	}
	if (result.complete)
		raise_bound(proof, result.found ? result.cost : proof->known);
	rc = 0;
out:
	free(bin);
	return rc;
}

/* Keeps the program as a certificate of what it proves. */
static int certify(struct proof *proof, const struct aggregate *a, double value,
		   double whole, struct weft_error *err)
{
	double bound = fmin(whole, proof->parted);
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	if (!proof->wants_certificate || bound <= proof->certified)
		return 0;
	file = open_memstream(&text, &size);
	if (!file)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	fprintf(file,
		"\\ objective %.12g\n\\ offset %.17g\n\\ scale %.17g\n"
		"\\ proven %.12g\n"
		"\\ proven = offset + scale * objective: what placements cost "
		"at least that keep\n\\ each of %u blocks of %u ranks in one "
		"NVLink domain\n",
		value, a->offset, a->scale, whole, proof->blocks.n,
		proof->blocks.unit);
	if (isfinite(proof->parted))
		fprintf(file, "\\ others cost at least %.12g\n", proof->parted);
	if (a->program.n_columns)
		program_write(&a->program, file);
	else
		fprintf(file, "Minimize\n cost: 0 nothing\nSubject To\n"
			      " r0: nothing = 0\nEnd\n");
	if (fclose(file)) {
		free(text);
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	}
	free(proof->certificate);
	proof->certificate = text;
	proof->certified = bound;
	return 0;
}

/* Puts blocks into bins of the boxes that they are in: each to the bin with
 * whose blocks it exchanges most, the fullest of equal ones. */
static int settle(struct proof *proof, uint32_t layer, const uint32_t *box,
		  struct weft_error *err)
{
	const struct blocks *b = &proof->blocks;
	uint32_t *bin = weft_calloc(b->n, sizeof(*bin), err);
	uint32_t *used = weft_calloc(b->n_boxes, sizeof(*used), err);
	double *tie = weft_calloc(b->n_boxes, sizeof(*tie), err);
	int rc = -1;

	if (!bin || !used || !tie)
		goto out;
	for (uint32_t v = 0; v < b->n; v++) {
		uint32_t best = WEFT_NONE;

		memset(tie, 0, b->n_boxes * sizeof(*tie));
		for (uint32_t e = b->g.row[v]; e < b->g.row[v + 1]; e++)
			if (b->g.peer[e] < v)
				tie[bin[b->g.peer[e]]] += b->g.weight[e];
		for (uint32_t i = 0; i < blocks_bins(b); i++) {
			bool room = blocks_around(b, i, layer) == box[v];

			for (uint32_t k = i; k != WEFT_NONE;
			     k = b->box[k].parent)
				room = room && used[k] < b->box[k].cap;
			if (room &&
			    (best == WEFT_NONE || tie[i] > tie[best] ||
			     (!(tie[i] < tie[best]) && used[i] > used[best])))
				best = i;
		}
		if (best == WEFT_NONE)
			goto done;
		bin[v] = best;
		for (uint32_t k = best; k != WEFT_NONE; k = b->box[k].parent)
			used[k]++;
	}
	proof->found = true;
	if (blocks_spread(b, bin, proof->where, err))
		goto out;
done:
	rc = 0;
out:
	free(bin);
	free(used);
	free(tie);
	return rc;
}

/* Puts pieces into boxes of the innermost layer, large ones first, each where
 * it leaves least room: box[v] from the piece of v.  used: [n_boxes + n] zeros.
 * False when one fits nowhere. */
static bool pack_pieces(const struct aggregate *a, uint32_t *box,
			uint32_t *used)
{
	const struct layer *layer = &a->b->layer[a->kept[0]];
	uint32_t *taken = used + a->b->n_boxes;

	for (uint32_t size = PIECES_MAX_SIZE; size > 0; size--) {
		for (uint32_t v = 0; v < a->b->n; v++) {
			const struct piece *p = &a->pieces.piece[box[v]];
			uint32_t best = WEFT_NONE, room = UINT32_MAX;

			if (taken[v] || p->n != size)
				continue;
			for (uint32_t i = layer->first;
			     i < layer->first + layer->n; i++) {
				uint32_t left = a->b->box[i].cap - used[i];

				if (left < size || left >= room)
					continue;
				best = i;
				room = left;
			}
			if (best == WEFT_NONE)
				return false;
			used[best] += size;
			for (uint32_t k = 0; k < size; k++) {
				box[p->vertex[k]] = best;
				taken[p->vertex[k]] = 1;
			}
		}
	}
	return true;
}

/* From a program's answer to a placement. */
static int decode(struct proof *proof, const struct aggregate *a,
		  const double *x, struct weft_error *err)
{
	uint32_t *box = weft_calloc(a->b->n, sizeof(*box), err);
	uint32_t *used = weft_calloc((size_t)a->b->n_boxes + a->b->n,
				     sizeof(*used), err);
	uint32_t layer = a->kept[0];
	bool placed = true;
	int rc = -1;

	if (!box || !used)
		goto out;
	aggregate_read(a, x, box);
	if (a->detail == AGGREGATE_PIECES)
		placed = pack_pieces(a, box, used);
	else
		layer = a->kept[a->told];
	rc = placed ? settle(proof, layer, box, err) : 0;
out:
	free(box);
	free(used);
	return rc;
}

/* The bound of a program that is being solved. */
struct news {
	const struct proof *proof;
	const struct aggregate *a;
};

static void tell_bound(void *listener, double bound)
{
	const struct news *news = listener;
	struct proof now = *news->proof;

	now.bound =
		fmax(now.bound, fmin(now.parted,
				     news->a->offset + news->a->scale * bound));
	tell(&now, "branching");
}

/* Shares of the time that is left for each program. */
static const double time_share[] = {[AGGREGATE_SIZES] = 0.3,
				    [AGGREGATE_PIECES] = 0.5,
				    [AGGREGATE_TOLD] = 1};

/* Solves a program within its share of the time. */
static int solve(struct proof *proof, const struct aggregate *a,
		 struct weft_error *err)
{
	struct effort part = share_of(&proof->effort, time_share[a->detail]);
	struct news news = {proof, a};
	struct program_limits limits = {.effort = &part,
					.cutoff = (double)INFINITY,
					.progress = tell_bound,
					.listener = &news};
	double *x = weft_calloc(a->program.n_columns, sizeof(*x), err);
	struct program_answer answer = {.x = x};
	double whole;
	int rc = -1;

	if (!x)
		goto out;
	/* below what is known there is a better one, or a proof */
	if (a->detail != AGGREGATE_SIZES && isfinite(proof->known))
		limits.cutoff =
			(proof->known * (1 - SOLVED / 100) - a->offset) /
			a->scale;
	if (program_solve(&a->program, &limits, &answer, err))
		goto out;
	whole = a->offset + a->scale * answer.bound;
	if (answer.status == PROGRAM_INFEASIBLE && !isfinite(limits.cutoff))
		whole = proof->parted;
	raise_bound(proof, whole);
	if (answer.status != PROGRAM_STOPPED &&
	    certify(proof, a, answer.bound, whole, err))
		goto out;
	rc = a->detail != AGGREGATE_SIZES && answer.found
		     ? decode(proof, a, x, err)
		     : 0;
out:
	free(x);
	return rc;
}

static int use_program(struct proof *proof, enum aggregate_detail detail,
		       struct weft_error *err)
{
	struct aggregate a;
	bool too_large;
	int rc = aggregate_build(&proof->blocks, proof->least, detail, &a,
				 &too_large, err);

	if (rc == 0 && !too_large) {
		if (a.program.n_columns) {
			rc = solve(proof, &a, err);
		} else {
			raise_bound(proof, a.offset);
			rc = certify(proof, &a, 0, a.offset, err);
		}
	}
	aggregate_free(&a);
	return rc;
}

int proof_run(struct proof *proof, struct weft_error *err)
{
	static const char *const doing[] = {
		[AGGREGATE_SIZES] = "counting blocks by domain",
		[AGGREGATE_PIECES] = "cutting the job into pieces",
		[AGGREGATE_TOLD] = "telling blocks apart"};

	if (!blocks_bins(&proof->blocks)) {
		/* there is no room for whole blocks */
		raise_bound(proof, proof->parted);
		return 0;
	}
	if (proof->blocks.n <= MAX_ENUMERATED && enumerate(proof, err))
		return -1;
	/* with a better one at hand it is worth to begin anew */
	for (enum aggregate_detail d = AGGREGATE_SIZES; d <= AGGREGATE_TOLD;
	     d++) {
		if (proof->found || is_proven(proof) ||
		    effort_spent(&proof->effort) || proof->only_enumerates)
			return 0;
		tell(proof, doing[d]);
		if (use_program(proof, d, err))
			return -1;
	}
	return 0;
}
