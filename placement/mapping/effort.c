/* SPDX-License-Identifier: GPL-3.0-or-later */
/* effort.c - how much may still be spent on an answer */
#include "placement/mapping/effort.h"

#include "base/clock.h"

bool effort_late(const struct effort *e)
{
	return (e->stop && *e->stop) || weft_deadline_passed() ||
	       (e->deadline_s > 0 && weft_budget_passed(e->deadline_s));
}

bool effort_spent(struct effort *e)
{
	return e->work == 0 || effort_late(e);
}
