/* SPDX-License-Identifier: GPL-3.0-or-later */
/* effort.h - how much may still be spent on an answer, and its random numbers
 *
 * Every search of the engine draws on one of these: under a work limit the
 * answer is the same on every machine; under a deadline or when told to stop it
 * is the best found so far.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_EFFORT_H
#define WEFT_PLACEMENT_MAPPING_EFFORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct effort {
	uint64_t work;			   /* distances looked up, at most */
	double deadline_s;		   /* of weft_clock_s; 0: none */
	uint64_t random;		   /* state of the generator */
	const volatile sig_atomic_t *stop; /* not 0: end now; NULL: never */
};

/* True when nothing is left.  Reads the clock: some 20 ns. */
bool effort_spent(struct effort *e);

/* True when the time is up or the caller wants an answer. */
bool effort_late(const struct effort *e);

static inline void effort_spend(struct effort *e, uint64_t work)
{
	e->work = e->work > work ? e->work - work : 0;
}

/* Jobs of so many GPUs get all the work on what may yet be better. */
#define EFFORT_FULL_GPUS 512

/* What a job of n GPUs gets of it.  The bound, the orders, the first step and
 * first-fit of a larger job take longer, and there is no way around them; this
 * one shrinks as they grow, so that a decision takes milliseconds. */
static inline uint64_t effort_share(uint64_t work, uint32_t n_gpus)
{
	return n_gpus > EFFORT_FULL_GPUS ? work * EFFORT_FULL_GPUS / n_gpus
					 : work;
}

/* The next 64 random bits (splitmix64, Steele, Lea and Flood 2014). */
static inline uint64_t effort_random(struct effort *e)
{
	uint64_t z = (e->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A random number below n > 0. */
static inline uint32_t effort_below(struct effort *e, uint32_t n)
{
	return (uint32_t)((effort_random(e) >> 32) * n >> 32);
}

#endif
