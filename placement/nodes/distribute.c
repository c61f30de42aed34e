/* SPDX-License-Identifier: GPL-3.0-or-later */
/* distribute.c - dealing a demand to the parts of a domain */
#include "placement/nodes/distribute.h"

/* Position of the smallest unused part that can give `need`, the first of its
 * equals; h->n when none can. */
static uint32_t hand_best_fit(const struct hand *h, uint32_t need)
{
	uint32_t low = 0, high = h->n, fit, i;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (hand_cap(h, middle) >= need)
			low = middle + 1;
		else
			high = middle;
	}
	/* parts before `low` are large enough; go through them by size */
	while (low > 0) {
		uint32_t size = hand_cap(h, low - 1);

		fit = h->n;
		for (i = low; i > 0 && hand_cap(h, i - 1) == size; i--)
			if (!h->share[i - 1])
				fit = i - 1;
		if (fit < h->n)
			return fit;
		low = i;
	}
	return h->n;
}

uint32_t distribute_compact(struct hand *h, uint32_t need)
{
	for (uint32_t i = 0; i < h->n && need; i++) {
		uint32_t cap = hand_cap(h, i);

		if (h->share[i])
			continue;
		if (cap >= need) {
			h->share[hand_best_fit(h, need)] = need;
			return 0;
		}
		if (!cap)
			break;
		h->share[i] = cap;
		need -= cap;
	}
	return need;
}

static uint32_t round_up(uint32_t n, uint32_t multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

uint32_t distribute_even(struct hand *h, uint32_t need, uint32_t unit)
{
	uint32_t m = 0, sum = 0, share, i;

	while (m < h->n && sum < need)
		if (!h->share[m])
			sum += hand_cap(h, m++);
		else
			m++;
	if (sum < need || m == 0)
		return need;
	share = round_up((need + m - 1) / m, unit);
	while (need) {
		if (share > need)
			share = need;
		i = hand_best_fit(h, share);
		if (i == h->n)
			return need;
		h->share[i] = share;
		need -= share;
	}
	return 0;
}

uint32_t distribute_aligned(struct hand *h, uint32_t need, uint32_t chunk)
{
	uint32_t whole = need / chunk * chunk, rest = need - whole, give;

	for (uint32_t i = 0; i < h->n && whole; i++) {
		if (h->share[i])
			continue;
		give = hand_cap(h, i) / chunk * chunk;
		if (give >= whole) {
			h->share[hand_best_fit(h, whole)] = whole;
			whole = 0;
		} else {
			h->share[i] = give;
			whole -= give;
		}
	}
	need = whole + rest;
	if (need)
		need = distribute_compact(h, need);
	for (uint32_t i = 0; i < h->n && need; i++) {
		give = hand_cap(h, i) - h->share[i];
		give = give < need ? give : need;
		h->share[i] += give;
		need -= give;
	}
	return need;
}
