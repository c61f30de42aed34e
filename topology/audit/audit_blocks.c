/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_blocks.c - block sizes that Slurm would refuse
 *
 * The first of BlockSizes is the size of a base block; each further one must be
 * that times a power of two, at most 2^15.
 */
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#define MAX_FACTOR (1u << 15)

static struct weft_place blocks_place(const struct weft_inventory *s)
{
	for (uint32_t i = 0; i < s->n_groups; i++)
		if (s->groups[i].kind == WEFT_GROUP_BLOCK)
			return s->groups[i].where;
	return (struct weft_place){0};
}

static bool is_allowed(uint32_t size, uint32_t base)
{
	uint32_t factor;

	if (size == 0 || size % base)
		return false;
	factor = size / base;
	return (factor & (factor - 1)) == 0 && factor <= MAX_FACTOR;
}

static int sizes_look(const struct weft_audit *a)
{
	const struct weft_inventory *s = a->inventory;
	uint32_t base = s->block_sizes[0];

	if (base == 0)
		return audit_note(a, WEFT_FINDING_BLOCK_SIZES, "BlockSizes",
				  blocks_place(s), WEFT_WEIGHT_DOMAIN,
				  "the first size is 0");
	for (uint32_t i = 1; i < s->n_block_sizes; i++)
		if (!is_allowed(s->block_sizes[i], base) &&
		    audit_note(a, WEFT_FINDING_BLOCK_SIZES, "BlockSizes",
			       blocks_place(s), WEFT_WEIGHT_DOMAIN,
			       "%u is not %u times a power of two",
			       s->block_sizes[i], base))
			return -1;
	return 0;
}

int audit_blocks(const struct weft_audit *a)
{
	return a->inventory->n_block_sizes ? sizes_look(a) : 0;
}
