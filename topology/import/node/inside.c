/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inside.c - NVLink groups, near NICs and rails of a node */
#include "topology/import/node/inside.h"

#include <string.h>

struct weft_inside_draft *weft_inside_start(struct weft_error *err)
{
	struct weft_inside_draft *d = weft_calloc(1, sizeof(*d), err);

	if (d)
		memset(d->distance, 0xff, sizeof(d->distance));
	return d;
}

uint32_t weft_inside_add_gpu(struct weft_inside_draft *d)
{
	if (d->inside.n_gpus >= WEFT_INSIDE_MAX)
		return WEFT_NONE;
	d->inside.gpus[d->inside.n_gpus].numa = -1;
	return d->inside.n_gpus++;
}

uint32_t weft_inside_add_nic(struct weft_inside_draft *d)
{
	struct weft_inside_nic *nic = &d->inside.nics[d->inside.n_nics];

	if (d->inside.n_nics >= WEFT_INSIDE_MAX)
		return WEFT_NONE;
	nic->numa = -1;
	nic->rail = WEFT_NONE;
	return d->inside.n_nics++;
}

static int note(struct weft_inventory *s, const struct weft_inside_draft *d,
		enum weft_finding_id id, const char *text,
		struct weft_error *err)
{
	return weft_inventory_note(s, id, d->place, d->where, err, "%s", text);
}

/* ---- NVLink ---- */

static bool is_joined(const struct weft_inside_draft *d, uint32_t a, uint32_t b)
{
	return d->links[a][b] || d->links[b][a] ||
	       (d->switched[a] && d->switched[b] &&
		d->switches[a] == d->switches[b]);
}

/* Spreads a's group to all that are joined to it, by whatever way. */
static void group_fill(struct weft_inside_draft *d, uint32_t first,
		       uint32_t group, bool *done)
{
	uint32_t queue[WEFT_INSIDE_MAX], n = 0;

	queue[n++] = first;
	done[first] = true;
	for (uint32_t i = 0; i < n; i++) {
		d->inside.gpus[queue[i]].nvlink_group = group;
		for (uint32_t b = 0; b < d->inside.n_gpus; b++) {
			if (done[b] || !is_joined(d, queue[i], b))
				continue;
			done[b] = true;
			queue[n++] = b;
		}
	}
}

static uint32_t gpu_links(const struct weft_inside_draft *d, uint32_t gpu)
{
	uint32_t n = d->switched[gpu];

	for (uint32_t b = 0; b < d->inside.n_gpus; b++)
		n += d->links[gpu][b] > d->links[b][gpu] ? d->links[gpu][b]
							 : d->links[b][gpu];
	return n;
}

static void groups_find(struct weft_inside_draft *d)
{
	bool done[WEFT_INSIDE_MAX] = {false};
	uint32_t n = 0;

	for (uint32_t g = 0; g < d->inside.n_gpus; g++) {
		d->inside.gpus[g].n_nvlinks = gpu_links(d, g);
		if (d->nvlink_known && !done[g])
			group_fill(d, g, n++, done);
	}
}

/* Jobs over a GPU that has lost its NVLink fall back to the network, or fail.
 * Bridges join some GPUs of a node on purpose: one without is odd only where
 * most have some. */
static int nvlink_lost_note(struct weft_inventory *s,
			    const struct weft_inside_draft *d,
			    struct weft_error *err)
{
	uint32_t linked = 0, missing = 0, first = WEFT_NONE;

	for (uint32_t g = 0; g < d->inside.n_gpus; g++) {
		if (d->inside.gpus[g].n_nvlinks)
			linked++;
		else if (!d->coherent[g] && missing++ == 0)
			first = g;
	}
	if (!missing || linked < WEFT_LEAST_MAJORITY || linked <= missing)
		return 0;
	return weft_inventory_note(s, WEFT_FINDING_NVLINK_MISSING, d->place,
				   d->where, err,
				   "%u of %u GPUs, first GPU %u, %s no NVLink; "
				   "the others have",
				   missing, d->inside.n_gpus, first,
				   missing == 1 ? "has" : "have");
}

/* A GPU that reaches its CPU over C2C but no other GPU, while such machines
 * have NVLink. */
static int nvlink_missing_note(struct weft_inventory *s,
			       const struct weft_inside_draft *d,
			       struct weft_error *err)
{
	uint32_t linked = 0, missing = 0, first = WEFT_NONE;

	for (uint32_t g = 0; g < d->inside.n_gpus; g++) {
		const struct weft_inside_gpu *gpu = &d->inside.gpus[g];

		linked += gpu->n_nvlinks > 0;
		if (gpu->n_nvlinks || !d->coherent[g])
			continue;
		if (missing++ == 0)
			first = g;
	}
	/* A single superchip has no peer. */
	if (missing == 0 || (linked == 0 && d->inside.n_gpus == 1 &&
			     strncmp(d->inside.gpus[0].kind, "gb", 2) != 0))
		return 0;
	return weft_inventory_note(s, WEFT_FINDING_NVLINK_MISSING, d->place,
				   d->where, err,
				   "%u of %u GPUs, first GPU %u, have C2C to "
				   "their CPU but no NVLink",
				   missing, d->inside.n_gpus, first);
}

/* Behind switches all GPUs have the same number of links; those without any are
 * reported already, or are attached to other GPUs. */
static int nvlink_short_note(struct weft_inventory *s,
			     const struct weft_inside_draft *d,
			     struct weft_error *err)
{
	uint32_t most = 0, fewest = UINT32_MAX, which = 0;

	for (uint32_t g = 0; g < d->inside.n_gpus; g++) {
		uint32_t n = d->switched[g];

		if (n == 0)
			continue;
		most = n > most ? n : most;
		if (n >= fewest)
			continue;
		fewest = n;
		which = g;
	}
	if (most == 0 || fewest == most)
		return 0;
	return weft_inventory_note(
		s, WEFT_FINDING_NVLINK_SHORT, d->place, d->where, err,
		"GPU %u has %u NVLinks to switches, others of "
		"its node have %u",
		which, fewest, most);
}

/* GPUs of a group that exchange through a third one: a mesh. */
static int mesh_note(struct weft_inventory *s,
		     const struct weft_inside_draft *d, struct weft_error *err)
{
	uint32_t pairs = 0, direct = 0;

	for (uint32_t a = 0; a < d->inside.n_gpus; a++)
		for (uint32_t b = 0; b < a; b++) {
			if (d->inside.gpus[a].nvlink_group !=
			    d->inside.gpus[b].nvlink_group)
				continue;
			pairs++;
			direct += is_joined(d, a, b);
		}
	if (!d->nvlink_known || direct == pairs)
		return 0;
	return weft_inventory_note(s, WEFT_FINDING_NVLINK_MESH, d->place,
				   d->where, err,
				   "only %u of %u pairs of GPUs in an NVLink "
				   "group are joined directly",
				   direct, pairs);
}

static int nvlink_notes(struct weft_inventory *s,
			const struct weft_inside_draft *d,
			struct weft_error *err)
{
	if (d->inside.n_gpus && !d->nvlink_known &&
	    note(s, d, WEFT_FINDING_INPUT_PARTIAL,
		 "nothing is said of NVLink: the GPUs of the node are taken to "
		 "be one NVLink domain",
		 err))
		return -1;
	if (nvlink_lost_note(s, d, err) || nvlink_missing_note(s, d, err) ||
	    nvlink_short_note(s, d, err))
		return -1;
	return mesh_note(s, d, err);
}

/* ---- NICs ---- */

static void near_find(struct weft_inside_draft *d)
{
	for (uint32_t g = 0; g < d->inside.n_gpus; g++) {
		uint32_t nearest = WEFT_INSIDE_UNKNOWN;

		for (uint32_t n = 0; n < d->inside.n_nics; n++)
			if (d->distance[n][g] < nearest)
				nearest = d->distance[n][g];
		for (uint32_t n = 0;
		     nearest != WEFT_INSIDE_UNKNOWN && n < d->inside.n_nics;
		     n++)
			if (d->distance[n][g] == nearest)
				d->inside.nics[n].near |= (uint64_t)1 << g;
	}
}

/* The NICs that carry what GPUs exchange: the fastest that are near any. */
static uint64_t compute_nics(const struct weft_inventory_inside *inside)
{
	double rate = 0;
	uint64_t set = 0;

	for (uint32_t n = 0; n < inside->n_nics; n++)
		if (inside->nics[n].near &&
		    inside->nics[n].rate_bytes_per_s > rate)
			rate = inside->nics[n].rate_bytes_per_s;
	for (uint32_t n = 0; n < inside->n_nics; n++)
		if (inside->nics[n].near &&
		    inside->nics[n].rate_bytes_per_s >= rate)
			set |= (uint64_t)1 << n;
	return set;
}

/* The NIC of `set` whose first near GPU comes first, in the order told. */
static uint32_t next_nic(const struct weft_inventory_inside *inside,
			 uint64_t set)
{
	uint32_t best = WEFT_NONE;
	uint64_t first = 0;

	for (uint32_t n = 0; n < inside->n_nics; n++) {
		uint64_t near = inside->nics[n].near;

		near &= ~near + 1;
		if (!(set >> n & 1) || (best != WEFT_NONE && near >= first))
			continue;
		best = n;
		first = near;
	}
	return best;
}

static uint32_t last_nic(uint64_t set)
{
	return 63 - (uint32_t)__builtin_clzll(set);
}

/* NICs serve GPUs evenly: their near sets are equal or disjoint, hold all GPUs,
 * and each set has the same number of GPUs and of NICs. */
static bool nics_are_even(const struct weft_inventory_inside *inside,
			  uint64_t set)
{
	uint64_t all = 0;
	int gpus = 0, nics = 0;

	for (uint32_t a = 0; a < inside->n_nics; a++) {
		uint64_t near = inside->nics[a].near;
		int same = 0, n = __builtin_popcountll(near);

		if (!(set >> a & 1))
			continue;
		for (uint32_t b = 0; b < inside->n_nics; b++) {
			if (!(set >> b & 1))
				continue;
			if (inside->nics[b].near == near)
				same++;
			else if (inside->nics[b].near & near)
				return false;
		}
		if ((gpus && n != gpus) || (nics && same != nics))
			return false;
		gpus = n;
		nics = same;
		all |= near;
	}
	return gpus > 0 &&
	       (uint32_t)__builtin_popcountll(all) == inside->n_gpus;
}

/* Rail k is that of GPU k, or of the k-th set of GPUs that share a NIC.  Two
 * ports near one GPU are one rail: a fabric's rails are those of GPUs. */
static void rails_find(struct weft_inventory_inside *inside)
{
	uint64_t set = compute_nics(inside);
	uint32_t n = (uint32_t)__builtin_popcountll(set), each;

	if (n < 2 || inside->n_gpus < 2 || !nics_are_even(inside, set))
		return;
	/* All the same to all GPUs: nothing says which is whose. */
	if (n != inside->n_gpus && inside->nics[next_nic(inside, set)].near ==
					   inside->nics[last_nic(set)].near)
		return;
	each = n > inside->n_gpus && n % inside->n_gpus == 0
		       ? n / inside->n_gpus
		       : 1;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t nic = next_nic(inside, set);

		inside->nics[nic].rail = k / each;
		set &= ~((uint64_t)1 << nic);
	}
}

int weft_inside_finish(struct weft_inventory *s, struct weft_inside_draft *d,
		       struct weft_error *err)
{
	groups_find(d);
	near_find(d);
	if (!d->rails_told)
		rails_find(&d->inside);
	d->inside.hosts = d->hosts;
	d->inside.where = d->where;
	if (nvlink_notes(s, d, err))
		return -1;
	return weft_inventory_add_inside(s, &d->inside, err) == WEFT_NONE ? -1
									  : 0;
}
