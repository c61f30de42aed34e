/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constraints.c - domains that a job must stay in */
#include "plugin/bridge/constraints.h"

#include "base/compare.h"
#include "costmodel/job/spec.h"

#include <stdlib.h>
#include <string.h>

static uint32_t usable_in(const struct weft_occupancy *o, uint32_t first,
			  uint32_t n)
{
	uint32_t able = 0;

	for (uint32_t i = first; i < first + n; i++)
		able += weft_occupancy_give(o, i) > 0;
	return able;
}

uint32_t weft_constraints_able(const struct weft_occupancy *o,
			       const struct weft_frame *frame)
{
	const struct weft_fabric *f = o->fabric;
	uint32_t level = frame->within[0] ? weft_fabric_level(f, frame->within)
					  : WEFT_NONE;
	uint32_t most = 0;

	if (level == WEFT_NONE || level < f->node_level)
		return usable_in(o, 0, f->n_nodes);
	for (uint32_t d = 0; d < f->levels[level].n_domains; d++) {
		const struct weft_domain *domain =
			&f->domains[f->levels[level].first_domain + d];
		uint32_t able =
			usable_in(o, domain->first_node, domain->n_nodes);

		most = able > most ? able : most;
	}
	return most;
}

uint32_t weft_constraints_level(const struct weft_fabric *f,
				const struct weft_frame *frame)
{
	if (frame->within[0])
		return weft_fabric_level(f, frame->within);
	return f->connected ? WEFT_NONE : f->n_levels - 1;
}

static uint32_t domain_of(const struct weft_fabric *f, uint32_t level,
			  uint32_t node)
{
	return f->gpu_domain[level][f->nodes[node].first_gpu];
}

static bool in_one_domain(const struct weft_fabric *f, uint32_t level,
			  const uint32_t *nodes, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++)
		if (domain_of(f, level, nodes[k]) !=
		    domain_of(f, level, nodes[0]))
			return false;
	return true;
}

/* The parts of a split, and how many nodes of each domain there are, match in
 * any order: in[] loses what is matched. */
static bool parts_match(const struct weft_spec *spec, uint32_t *in,
			uint32_t n_domains)
{
	for (uint32_t i = 0; i < spec->n_split; i++) {
		uint32_t d = 0;

		while (d < n_domains && in[d] != spec->split[i])
			d++;
		if (d == n_domains)
			return false;
		in[d] = 0;
	}
	for (uint32_t d = 0; d < n_domains; d++)
		if (in[d])
			return false;
	return true;
}

/* Only the last segment may be smaller. */
static bool segments_match(uint32_t segment, const uint32_t *in,
			   uint32_t n_domains)
{
	uint32_t n_broken = 0;

	for (uint32_t d = 0; d < n_domains; d++)
		n_broken += in[d] % segment > 0;
	return n_broken <= 1;
}

/* How many of the nodes lie in each domain of the segment level; malloc'ed,
 * NULL: out of memory. */
static uint32_t *count_groups(const struct weft_fabric *f,
			      const uint32_t *nodes, uint32_t n)
{
	uint32_t level = weft_fabric_segment_level(f);
	const struct weft_level *l = &f->levels[level];
	uint32_t *in = weft_calloc(l->n_domains, sizeof(*in), NULL);

	for (uint32_t k = 0; in && k < n; k++)
		in[domain_of(f, level, nodes[k]) - l->first_domain]++;
	return in;
}

static bool groups_match(const struct weft_fabric *f,
			 const struct weft_spec *spec, const uint32_t *nodes,
			 uint32_t n)
{
	const struct weft_level *l = &f->levels[weft_fabric_segment_level(f)];
	uint32_t *in = count_groups(f, nodes, n);
	bool match = in;

	if (match && spec->segment > 1)
		match = segments_match(spec->segment, in, l->n_domains);
	if (match && spec->n_split)
		match = parts_match(spec, in, l->n_domains);
	free(in);
	return match;
}

bool weft_constraints_holds(const struct weft_fabric *f, const char *text,
			    const uint32_t *nodes, uint32_t n)
{
	struct weft_spec spec;
	struct weft_frame frame;
	uint32_t level;

	if (!n || weft_spec_parse(text, &spec, NULL) < 0 ||
	    weft_frame_read(text, &frame, NULL) < 0)
		return false;
	level = weft_constraints_level(f, &frame);
	if (frame.within[0] && level == WEFT_NONE)
		return false;
	if (level != WEFT_NONE && !in_one_domain(f, level, nodes, n))
		return false;
	return (spec.segment <= 1 && !spec.n_split) ||
	       groups_match(f, &spec, nodes, n);
}

uint32_t weft_constraints_whole(const struct weft_fabric *f, const char *text)
{
	struct weft_spec spec;

	if (weft_spec_parse(text, &spec, NULL) < 0 ||
	    (spec.n_split ? spec.n_split > 1 : spec.segment <= 1))
		return WEFT_NONE;
	return weft_fabric_segment_level(f);
}

/* Each part in the fullest domain that has none yet. */
static void keep_parts(const struct weft_spec *spec, const uint32_t *in,
		       uint32_t n_domains, uint32_t *keep)
{
	uint32_t part[WEFT_MAX_PARTS];

	memcpy(part, spec->split, spec->n_split * sizeof(*part));
	qsort(part, spec->n_split, sizeof(*part), weft_compare_numbers_down);
	for (uint32_t i = 0; i < spec->n_split; i++) {
		uint32_t fullest = WEFT_NONE;

		for (uint32_t d = 0; d < n_domains; d++)
			if (!keep[d] &&
			    (fullest == WEFT_NONE || in[d] > in[fullest]))
				fullest = d;
		if (fullest != WEFT_NONE && in[fullest] >= part[i])
			keep[fullest] = part[i];
	}
}

uint32_t weft_constraints_trim(const struct weft_fabric *f, const char *text,
			       uint32_t *nodes, uint32_t n)
{
	uint32_t level = weft_fabric_segment_level(f), left = 0;
	const struct weft_level *l = &f->levels[level];
	uint32_t *in = count_groups(f, nodes, n);
	uint32_t *keep = weft_calloc(l->n_domains, sizeof(*keep), NULL);
	struct weft_spec spec;
	bool any = !in || !keep || weft_spec_parse(text, &spec, NULL) < 0 ||
		   (spec.segment <= 1 && !spec.n_split);

	if (!any && spec.n_split)
		keep_parts(&spec, in, l->n_domains, keep);
	for (uint32_t d = 0; !any && !spec.n_split && d < l->n_domains; d++)
		keep[d] = in[d] - in[d] % spec.segment;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t d = domain_of(f, level, nodes[k]) - l->first_domain;

		if (!any && !keep[d])
			continue;
		if (!any)
			keep[d]--;
		nodes[left++] = nodes[k];
	}
	free(in);
	free(keep);
	return left;
}
