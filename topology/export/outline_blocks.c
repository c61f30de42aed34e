/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outline_blocks.c - domains as Slurm's blocks, and what no file of Slurm holds
 */
#include "base/divisor.h"
#include "topology/cabling.h"
#include "topology/export/outline.h"

#include <string.h>

bool weft_outline_spans_nodes(const struct weft_fabric *f)
{
	for (uint32_t k = 0; f->node_level == 0 && k < f->levels[0].n_domains;
	     k++)
		if (f->domains[f->levels[0].first_domain + k].n_nodes > 1)
			return true;
	return false;
}

/* ---- what is lost ---- */

struct loss {
	bool lost;
	const char *what;
};

int weft_outline_lost(const struct weft_fabric *f, bool nvlink, bool shapes,
		      struct weft_findings *findings, struct weft_error *err)
{
	bool shaped = false;

	for (uint32_t l = 0; l < f->n_levels; l++)
		shaped = shaped || f->levels[l].shape != WEFT_SHAPE_SWITCHED;
	const struct loss losses[] = {
		{true, "GPUs per node (they are in slurm.conf and gres.conf), "
		       "rates and latencies"},
		{nvlink && weft_outline_spans_nodes(f),
		 "NVLink domains that span nodes"},
		{f->node_level == 1, "NVLink domains inside of nodes"},
		{f->n_rails > 1, "rails: each bundle of leafs is written as "
				 "one switch"},
		{f->n_racks > 0, "racks"},
		{f->cabling && f->cabling->n_cables, "cables"},
		{shapes && shaped, "rings, tori and groups of a level"},
	};

	for (size_t i = 0; i < WEFT_N_OF(losses); i++)
		if (losses[i].lost &&
		    weft_findings_add(findings, WEFT_FINDING_EXPORT_LOST,
				      (struct weft_finding_at){0}, err,
				      "not in this format: %s", losses[i].what))
			return -1;
	return 0;
}

/* ---- blocks ---- */

static int level_choose(const struct weft_fabric *f, const char *name,
			uint32_t *level, struct weft_error *err)
{
	if (!name) {
		*level = weft_outline_spans_nodes(f) ? 0 : f->node_level + 1;
		if (*level >= f->n_levels)
			return weft_fail(err, WEFT_EINVAL,
					 "the fabric has no level above nodes: "
					 "there are no blocks");
		return 0;
	}
	*level = weft_fabric_level(f, name);
	if (*level == WEFT_NONE || *level < f->node_level)
		return weft_fail(err, WEFT_EINVAL,
				 "no level \"%s\" that holds whole nodes",
				 name);
	return 0;
}

/* Fewest and most nodes in a block. */
static void blocks_range(const struct weft_fabric *f, uint32_t level,
			 uint32_t *min, uint32_t *max)
{
	const struct weft_level *l = &f->levels[level];

	*min = UINT32_MAX;
	*max = 0;
	for (uint32_t k = 0; k < l->n_domains; k++) {
		uint32_t n = f->domains[l->first_domain + k].n_nodes;

		*min = n < *min ? n : *min;
		*max = n > *max ? n : *max;
	}
}

/* Blocks of level `base` in a domain, and the number of its first. */
static uint32_t blocks_in(const struct weft_fabric *f, uint32_t base,
			  uint32_t domain, uint32_t *first)
{
	uint32_t low = domain, high = domain;

	while (f->domains[low].level > base)
		low = f->domains[low].first_child;
	while (f->domains[high].level > base)
		high = f->domains[high].first_child +
		       f->domains[high].n_children - 1;
	*first = low - f->levels[base].first_domain;
	return high - low + 1;
}

/* How many blocks Slurm must join to get the domains of a level: each run of
 * that many, in order, only the last may be short.  0: it cannot. */
static uint32_t level_times(const struct weft_fabric *f, uint32_t base,
			    uint32_t level)
{
	const struct weft_level *l = &f->levels[level];
	uint32_t first, times = blocks_in(f, base, l->first_domain, &first);

	times = weft_power_from(times);
	for (uint32_t k = 0; k < l->n_domains; k++) {
		uint32_t n = blocks_in(f, base, l->first_domain + k, &first);

		if (first != k * times || n > times ||
		    (n < times && k + 1 < l->n_domains))
			return 0;
	}
	return times;
}

static int size_add(const struct weft_fabric *f, uint32_t base, uint32_t level,
		    struct weft_outline *o, struct weft_findings *findings,
		    struct weft_error *err)
{
	/* the level on top that weft itself adds only says that all is joined,
	 * which to Slurm blocks are anyway */
	bool own = strcmp(f->levels[level].name, "core") == 0;
	uint32_t times = own ? 0 : level_times(f, base, level);

	if (own)
		return 0;
	if (times > 1u << 15)
		times = 0;
	if (times == 0)
		return weft_findings_add(
			findings, WEFT_FINDING_EXPORT_LOST,
			(struct weft_finding_at){.place =
							 f->levels[level].name},
			err,
			"not in BlockSizes: Slurm joins a power of two of "
			"neighbouring blocks, and the domains of this level "
			"are not so");
	for (uint32_t i = 0; i < o->n_sizes; i++)
		if (o->sizes[i] == o->sizes[0] * times)
			return 0;
	if (o->n_sizes < WEFT_SLURM_MAX_SIZES)
		o->sizes[o->n_sizes++] = o->sizes[0] * times;
	return 0;
}

int weft_outline_blocks(const struct weft_fabric *f,
			const struct weft_export_options *options,
			struct weft_outline *o, struct weft_findings *findings,
			struct weft_error *err)
{
	uint32_t base, min, max;

	if (level_choose(f, options->block_level, &base, err) ||
	    weft_outline_level(f, base, false, o, err))
		return -1;
	blocks_range(f, base, &min, &max);
	o->sizes[o->n_sizes++] = min;
	for (uint32_t l = base + 1; l < f->n_levels; l++)
		if (size_add(f, base, l, o, findings, err))
			return -1;
	if (min == max)
		return 0;
	return weft_findings_add(
		findings, WEFT_FINDING_EXPORT_CHANGED,
		(struct weft_finding_at){.place = f->levels[base].name}, err,
		"blocks hold %u to %u nodes; BlockSizes begins with %u, since "
		"Slurm up to 24.11 refuses blocks that are smaller",
		min, max, min);
}
