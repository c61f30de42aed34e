/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turns.c - turns of weft and stock, job by job and cycle by cycle */
#include "plugin/bridge/turns.h"

static struct weft_turn *turn_of(struct weft_turns *turns, uint32_t job_id)
{
	return &turns->of[job_id % WEFT_MAX_TURNS];
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
	struct weft_turn *turn = turn_of(turns, job_id);

	if (turn->job_id != job_id)
		*turn = (struct weft_turn){.job_id = job_id, .cycle = cycle};
	else if (turn->cycle != cycle)
		*turn = (struct weft_turn){
			.job_id = job_id,
			.cycle = cycle,
			.stocks = is_stocks_next(turn, pending),
		};
	return turn->stocks;
}

bool weft_turns_stocks(const struct weft_turns *turns, uint32_t job_id)
{
	const struct weft_turn *turn = &turns->of[job_id % WEFT_MAX_TURNS];

	return turn->job_id == job_id && turn->stocks;
}

bool weft_turns_suspect(const struct weft_turns *turns, uint32_t job_id,
			uint32_t offset)
{
	const struct weft_turn *turn = &turns->of[job_id % WEFT_MAX_TURNS];

	return turn->job_id == job_id && turn->narrowed & ~bit_of(offset);
}

void weft_turns_answer(struct weft_turns *turns, uint32_t job_id,
		       uint32_t offset, const struct weft_turn_answer *answer)
{
	struct weft_turn *turn = turn_of(turns, job_id);

	if (turn->job_id != job_id)
		return;
	if (answer->narrowed)
		turn->narrowed |= bit_of(offset);
	if (answer->startable)
		turn->startable |= bit_of(offset);
	if (answer->by_itself)
		turn->by_itself |= bit_of(offset);
}
