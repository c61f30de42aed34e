/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trouble.c - complaints in slurmctld's log */
#include "plugin/slurm/trouble.h"

#include <inttypes.h>

#include "base/clock.h"

#include "src/common/log.h"

void weft_trouble(enum weft_trouble trouble, uint32_t times)
{
	uint64_t n_since;

	if (times && weft_invariant_broken(&weft_invariants, trouble, times,
					   weft_clock_s(), &n_since))
		error("weft: %s (%" PRIu64 " times since this was last said; "
		      "Slurm decides alone where it matters)",
		      weft_trouble_texts[trouble], n_since);
}
