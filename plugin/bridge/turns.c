/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turns.c - turns of weft and stock, job by job and cycle by cycle */
#include "plugin/bridge/turns.h"

#include <stddef.h>

/* A job that was not asked about for so long is gone. */
#define GONE_S 3600

static const struct weft_turn *turn_find(const struct weft_turns *turns,
					 uint32_t job_id)
{
	for (uint32_t i = 0; i < WEFT_MAX_TURNS; i++)
		if (turns->of[i].job_id == job_id)
			return &turns->of[i];
	return NULL;
}

/* The job's own, else the one not asked for longest.  NULL: all are of this
 * cycle. */
static struct weft_turn *turn_open(struct weft_turns *turns, uint32_t job_id)
{
	struct weft_turn *oldest = NULL;
	uint32_t age = 0;

	for (uint32_t i = 0; i < WEFT_MAX_TURNS; i++) {
		struct weft_turn *turn = &turns->of[i];
		uint32_t cycles =
			turn->job_id ? turns->cycle - turn->cycle : UINT32_MAX;

		if (turn->job_id == job_id)
			return turn;
		if (cycles > age) {
			age = cycles;
			oldest = turn;
		}
	}
	return oldest;
}

static uint64_t bit_of(uint32_t offset)
{
	return UINT64_C(1) << offset % 64;
}

/* Weft had the last turn, and the job has not begun: its nodes may be why,
 * unless some component could not start by itself. */
static bool is_stocks_next(const struct weft_turn *turn, uint64_t pending)
{
	return !turn->stocks && turn->narrowed & pending &&
	       !(turn->by_itself & ~turn->startable & pending);
}

bool weft_turns_ask(struct weft_turns *turns, uint32_t job_id, uint32_t cycle,
		    uint64_t pending)
{
	struct weft_turn *turn;

	turns->cycle = cycle;
	turn = turn_open(turns, job_id);
	if (turn && turn->job_id != job_id)
		*turn = (struct weft_turn){.job_id = job_id, .cycle = cycle};
	else if (turn && turn->cycle != cycle)
		*turn = (struct weft_turn){
			.job_id = job_id,
			.cycle = cycle,
			.stocks = is_stocks_next(turn, pending),
		};
	return weft_turns_stocks(turns, job_id);
}

bool weft_turns_stocks(const struct weft_turns *turns, uint32_t job_id)
{
	const struct weft_turn *turn = turn_find(turns, job_id);

	return turn ? turn->stocks : turns->cycle % 2;
}

bool weft_turns_suspect(const struct weft_turns *turns, uint32_t job_id,
			uint32_t offset)
{
	const struct weft_turn *turn = turn_find(turns, job_id);

	return turn && turn->narrowed & ~bit_of(offset);
}

void weft_turns_answer(struct weft_turns *turns, uint32_t job_id,
		       uint32_t offset, const struct weft_turn_answer *answer)
{
	struct weft_turn *turn = turn_open(turns, job_id);

	if (!turn || turn->job_id != job_id)
		return;
	if (answer->narrowed)
		turn->narrowed |= bit_of(offset);
	if (answer->startable)
		turn->startable |= bit_of(offset);
	if (answer->by_itself)
		turn->by_itself |= bit_of(offset);
}

/* ---- jobs of one component ---- */

static const struct weft_last_turn *last_of(const struct weft_last_turns *turns,
					    uint32_t job_id)
{
	return &turns->of[job_id % WEFT_MAX_LAST_TURNS];
}

bool weft_last_turns_stocks_next(const struct weft_last_turns *turns,
				 uint32_t job_id, double now_s)
{
	const struct weft_last_turn *turn = last_of(turns, job_id);

	return turn->job_id == job_id ||
	       (turn->job_id && now_s - turn->at_s < GONE_S);
}

void weft_last_turns_add(struct weft_last_turns *turns, uint32_t job_id,
			 double now_s)
{
	turns->of[job_id % WEFT_MAX_LAST_TURNS] =
		(struct weft_last_turn){job_id, now_s};
}

void weft_last_turns_drop(struct weft_last_turns *turns, uint32_t job_id)
{
	if (last_of(turns, job_id)->job_id == job_id)
		turns->of[job_id % WEFT_MAX_LAST_TURNS] =
			(struct weft_last_turn){0};
}
