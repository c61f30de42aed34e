/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layouts.c - all ways to lay a model out on so many GPUs
 *
 * The axes are chosen one after the other, each among what the ones before
 * leave, so that every layout is listed once.
 */
#include "lab/advise/advise.h"

#include <stddef.h>
#include <stdio.h>

#define MAX_CHOICES 64
#define MAX_STAGES  64
/* From here on a sequence is split, into parts of at least this. */
#define LONG_TOKENS 16384
#define PART_TOKENS 4096
#define MAX_MBS	    8

struct list {
	const struct layout_space *space;
	struct layout *layouts;
	uint32_t n, room;
	struct weft_error *err;
};

typedef uint32_t (*choices_find)(const struct layout_space *s,
				 const struct layout *l, uint32_t *choice);

/* Powers of two up to `most` that divide `of`, and `all` with `times`. */
static uint32_t powers(uint32_t most, uint32_t of, uint32_t all, uint64_t times,
		       uint32_t *choice)
{
	uint32_t n = 0;

	for (uint64_t value = 1; value <= most; value *= 2) {
		if (of % value == 0 && all % (value * times) == 0)
			choice[n++] = (uint32_t)value;
	}
	return n;
}

static uint32_t tensor(const struct layout_space *s, const struct layout *l,
		       uint32_t *choice)
{
	(void)l;
	return powers(s->inside, s->model.heads, s->gpus, 1, choice);
}

static uint32_t context(const struct layout_space *s, const struct layout *l,
			uint32_t *choice)
{
	uint32_t parts = s->seq < LONG_TOKENS ? 1 : s->seq / PART_TOKENS;

	return powers(parts, s->gpus, s->gpus, l->tp, choice);
}

static uint32_t pipeline(const struct layout_space *s, const struct layout *l,
			 uint32_t *choice)
{
	uint32_t left = s->gpus / (l->tp * l->cp), n = 0;

	for (uint32_t pp = 1; pp <= MAX_STAGES && pp <= s->model.layers; pp++) {
		if (left % pp == 0 && n < MAX_CHOICES)
			choice[n++] = pp;
	}
	return n;
}

static uint32_t experts(const struct layout_space *s, const struct layout *l,
			uint32_t *choice)
{
	uint32_t most = s->model.experts ? s->model.experts : 1;
	uint32_t n = powers(most, s->model.experts, s->gpus, l->pp, choice);

	choice[0] = n ? choice[0] : 1;
	return n ? n : 1;
}

/* Weights are gathered where nothing else splits them. */
static uint32_t sharding(const struct layout_space *s, const struct layout *l,
			 uint32_t *choice)
{
	uint32_t dp = s->gpus / (l->tp * l->cp * l->pp);

	choice[0] = 1;
	choice[1] = 3;
	return dp > 1 && l->pp == 1 && l->ep == 1 ? 2 : 1;
}

static uint32_t micro_batch(const struct layout_space *s,
			    const struct layout *l, uint32_t *choice)
{
	uint64_t dp = s->gpus / (l->tp * l->cp * l->pp);

	return powers(MAX_MBS, s->gbs, s->gbs, dp, choice);
}

static uint32_t interleaving(const struct layout_space *s,
			     const struct layout *l, uint32_t *choice)
{
	uint32_t dp = s->gpus / (l->tp * l->cp * l->pp), n = 0;
	uint32_t layers = s->model.layers;
	uint64_t m = s->gbs / ((uint64_t)l->mbs * dp);

	choice[n++] = 1;
	if (l->pp == 1 || m % l->pp || layers % l->pp)
		return n;
	for (uint32_t v = 2; v <= layers / l->pp && n < MAX_CHOICES; v++) {
		if (layers / l->pp % v == 0)
			choice[n++] = v;
	}
	return n;
}

static const struct axis {
	const char *key;
	choices_find choices;
	size_t at, given; /* in a layout, in a spec */
} axes[] = {
	{"tp", tensor, offsetof(struct layout, tp),
	 offsetof(struct weft_spec, tp)},
	{"cp", context, offsetof(struct layout, cp),
	 offsetof(struct weft_spec, cp)},
	{"pp", pipeline, offsetof(struct layout, pp),
	 offsetof(struct weft_spec, pp)},
	{"ep", experts, offsetof(struct layout, ep),
	 offsetof(struct weft_spec, ep)},
	{"zero", sharding, offsetof(struct layout, zero),
	 offsetof(struct weft_spec, zero)},
	{"mbs", micro_batch, offsetof(struct layout, mbs),
	 offsetof(struct weft_spec, mbs)},
	{"vpp", interleaving, offsetof(struct layout, vpp),
	 offsetof(struct weft_spec, vpp)},
};
#define N_AXES (sizeof(axes) / sizeof(axes[0]))

static uint32_t *member(struct layout *l, const struct axis *axis)
{
	return (uint32_t *)(void *)((char *)l + axis->at);
}

static int append(struct list *list, const struct layout *layout)
{
	if (WEFT_GROW(list->layouts, list->n, list->room, list->err))
		return -1;
	list->layouts[list->n++] = *layout;
	return 0;
}

static int extend(struct list *list, size_t a, struct layout layout)
{
	const struct layout_space *s = list->space;
	uint32_t choice[MAX_CHOICES], n = 1;

	if (a == N_AXES)
		return append(list, &layout);
	if (weft_spec_given(&s->fixed, axes[a].key))
		choice[0] = *(const uint32_t *)(const void *)((const char *)&s
								      ->fixed +
							      axes[a].given);
	else
		n = axes[a].choices(s, &layout, choice);
	for (uint32_t i = 0; i < n; i++) {
		*member(&layout, &axes[a]) = choice[i];
		if ((uint64_t)layout.tp * (layout.cp ? layout.cp : 1) *
			    (layout.pp ? layout.pp : 1) >
		    s->gpus)
			continue;
		if (extend(list, a + 1, layout))
			return -1;
	}
	return 0;
}

int layouts_list(const struct layout_space *space, struct layout **layouts,
		 uint32_t *n, struct weft_error *err)
{
	struct list list = {.space = space, .err = err};
	int rc = extend(&list, 0, (struct layout){.tp = 0});

	*layouts = list.layouts;
	*n = list.n;
	return rc;
}

void layout_spec(const struct layout_space *space, const struct layout *layout,
		 char *text, size_t size)
{
	const struct weft_spec *fixed = &space->fixed;
	struct layout l = *layout;
	size_t used;

	used = (size_t)snprintf(text, size, "%s", space->text);
	if (!weft_spec_given(fixed, "gpus") && used < size)
		used += (size_t)snprintf(text + used, size - used, "%sgpus=%u",
					 used ? "," : "", space->gpus);
	for (size_t a = 0; a < N_AXES && used < size; a++) {
		uint32_t value = *member(&l, &axes[a]);
		bool plain = value == 1 && axes[a].at != axes[4].at;

		if (!weft_spec_given(fixed, axes[a].key) && !plain)
			used += (size_t)snprintf(text + used, size - used,
						 ",%s=%u", axes[a].key, value);
	}
	if (!weft_spec_given(fixed, "gbs") && used < size)
		used += (size_t)snprintf(text + used, size - used, ",gbs=%u",
					 space->gbs);
	if (l.recompute && !weft_spec_given(fixed, "recompute") && used < size)
		used += (size_t)snprintf(text + used, size - used,
					 ",recompute=full");
	if (!weft_spec_given(fixed, "model") && used < size)
		snprintf(text + used, size - used, ",model=%s", space->name);
}
