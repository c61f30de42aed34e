/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_nvlink.c - which GPUs share NVLink: inside of nodes, and across them */
#include "base/append.h"
#include "topology/hierarchy/writer.h"
#include "topology/profile.h"

#include <stdlib.h>

/* ---- inside of a node ---- */

/* GPUs of each NVLink domain of a node, in the order of its GPUs. */
struct islands {
	const struct weft_inventory_inside *in;
	uint32_t size[WEFT_MAX_GPUS_PER_NODE], n;
	uint32_t first[WEFT_MAX_GPUS_PER_NODE]; /* GPU of each */
	uint32_t hosts;				/* that have them */
	bool parted; /* GPUs of one domain are not next to each other */
};

/* The first GPU that is in the domain of GPU g. */
static uint32_t island_first(const struct weft_inventory_inside *in, uint32_t g)
{
	uint32_t first = 0;

	while (in->gpus[first].nvlink_group != in->gpus[g].nvlink_group)
		first++;
	return first;
}

static void islands_find(const struct weft_inventory_inside *in,
			 struct islands *islands)
{
	*islands = (struct islands){.in = in};
	for (uint32_t g = 0; g < in->n_gpus; g++) {
		uint32_t first = island_first(in, g), i = 0;

		while (i < islands->n && islands->first[i] != first)
			i++;
		islands->parted = islands->parted || i + 1 < islands->n;
		if (i == islands->n)
			islands->first[islands->n++] = first;
		islands->size[i]++;
	}
}

/* Whether a node of so many GPUs has domains of `each`, 0: one, and no other.
 */
static bool is_uniform(const struct islands *islands, uint32_t gpus,
		       uint32_t each)
{
	for (uint32_t i = 0; i < islands->n; i++)
		if (islands->parted || islands->size[i] != (each ? each : gpus))
			return false;
	return true;
}

/* "[0, 2]" */
static void island_append(char *text, const struct islands *islands, uint32_t i)
{
	const char *before = "[";

	for (uint32_t g = 0; g < islands->in->n_gpus; g++) {
		if (island_first(islands->in, g) != islands->first[i])
			continue;
		weft_append(text, WEFT_ISLANDS_SIZE, "%s%u", before, g);
		before = ", ";
	}
	weft_append(text, WEFT_ISLANDS_SIZE, "]");
}

/* "6, 2", or "[0, 2], [1, 3]" where that is not in order. */
static const char *islands_text(struct weft_writer *w,
				const struct islands *islands)
{
	char text[WEFT_ISLANDS_SIZE] = "";

	for (uint32_t i = 0; i < islands->n; i++) {
		if (i)
			weft_append(text, sizeof(text), ", ");
		if (islands->parted)
			island_append(text, islands, i);
		else
			weft_append(text, sizeof(text), "%u", islands->size[i]);
	}
	return weft_arena_copy(&w->arena, text, w->err);
}

/* ---- of all nodes ---- */

/* The inside that is known of a host, or that of most for one of as many GPUs;
 * WEFT_NONE: its GPUs are taken to be one domain. */
static uint32_t inside_of(const struct weft_writer *w, uint32_t h,
			  uint32_t usual)
{
	uint32_t inside = w->s->hosts[h].inside;

	inside = inside == WEFT_NONE ? usual : inside;
	if (inside == WEFT_NONE ||
	    w->s->insides[inside].n_gpus != weft_writer_gpus(w, h))
		return WEFT_NONE;
	return inside;
}

static uint32_t islands_list(const struct weft_writer *w,
			     struct islands *islands)
{
	uint32_t usual = WEFT_NONE;

	for (uint32_t i = 0; i < w->s->n_insides; i++)
		islands_find(&w->s->insides[i], &islands[i]);
	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		if (w->host[h] && w->s->hosts[h].inside != WEFT_NONE)
			islands[w->s->hosts[h].inside].hosts++;
	for (uint32_t i = 0; i < w->s->n_insides; i++)
		if (islands[i].hosts &&
		    (usual == WEFT_NONE ||
		     islands[i].hosts > islands[usual].hosts))
			usual = i;
	return usual;
}

/* What divides the GPUs of every node. */
static uint32_t gpus_common(const struct weft_writer *w)
{
	uint32_t common = 0;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		uint32_t n = w->host[h] ? weft_writer_gpus(w, h) : 0;

		while (n) {
			uint32_t rest = common % n;

			common = n;
			n = rest;
		}
	}
	return common;
}

/* The size that all domains of all nodes have; else that of none but what the
 * profile asks for. */
static void size_choose(struct weft_writer *w, const struct islands *islands,
			uint32_t usual)
{
	uint32_t each = 0;
	bool same = true, whole = true;

	for (uint32_t h = 0; same && h < w->s->n_hosts; h++) {
		uint32_t gpus = w->host[h] ? weft_writer_gpus(w, h) : 0;
		uint32_t in = gpus ? inside_of(w, h, usual) : WEFT_NONE;
		uint32_t size = in == WEFT_NONE ? gpus : islands[in].size[0];

		if (!gpus)
			continue;
		each = each ? each : size;
		same = size == each && (in == WEFT_NONE ||
					is_uniform(&islands[in], gpus, each));
		whole = whole && each == gpus;
	}
	if (same && !whole)
		w->nvlink_gpus = each;
	else if (w->profile->nvlink_nodes > 1)
		w->nvlink_gpus = same ? each : gpus_common(w);
}

static int islands_give(struct weft_writer *w, const struct islands *islands,
			uint32_t usual)
{
	const char **text;

	if (WRITER_ARRAY(w, text, w->s->n_insides))
		return -1;
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		uint32_t gpus = w->host[h] ? weft_writer_gpus(w, h) : 0;
		uint32_t in = gpus ? inside_of(w, h, usual) : WEFT_NONE;

		if (in == WEFT_NONE)
			continue;
		if (!text[in] && !(text[in] = islands_text(w, &islands[in])))
			return -1;
		if (!is_uniform(&islands[in], gpus, w->nvlink_gpus))
			w->islands[h] = text[in];
	}
	return 0;
}

int weft_writer_islands(struct weft_writer *w)
{
	struct islands *islands;
	uint32_t usual;

	if (w->n_spans)
		return 0;
	if (WRITER_ARRAY(w, islands, w->s->n_insides))
		return -1;
	usual = islands_list(w, islands);
	size_choose(w, islands, usual);
	return islands_give(w, islands, usual);
}

/* ---- the section ---- */

static int size_write(struct weft_writer *w)
{
	if (w->nvlink_gpus)
		fprintf(w->out, "nvlink: %u\n", w->nvlink_gpus);
	return w->profile->nvlink_nodes > 1
		       ? weft_inventory_note(
				 w->s, WEFT_FINDING_INPUT_PARTIAL, NULL,
				 (struct weft_place){WEFT_NONE, 0}, w->err,
				 "no source says which nodes share an NVLink "
				 "domain (gpu-fabric does); each node's GPUs "
				 "are one")
		       : 0;
}

int weft_writer_nvlink(struct weft_writer *w)
{
	const char **names;

	if (!w->n_spans)
		return size_write(w);
	if (WRITER_ARRAY(w, names, w->s->n_hosts))
		return -1;
	fputs("nvlink:\n", w->out);
	for (uint32_t k = 0; k < w->n_spans; k++) {
		uint32_t n = 0;
		char *text;

		for (uint32_t h = 0; h < w->s->n_hosts; h++)
			if (w->span[h] == k)
				names[n++] = w->host[h];
		if (weft_writer_hostlist(w, names, n, &text))
			return -1;
		fputs("  ", w->out);
		weft_writer_word(w, w->span_name[k]);
		fputs(": ", w->out);
		weft_writer_word(w, text);
		fputc('\n', w->out);
		free(text);
	}
	return 0;
}
