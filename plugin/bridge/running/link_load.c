/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_load.c - sums of jobs' traffic that can be taken apart again */
#include "plugin/bridge/running/link_load.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_STEP 64

int weft_link_load_build(const struct weft_fabric *f,
			 struct weft_link_load *loads, struct weft_error *err)
{
	memset(loads, 0, sizeof(*loads));
	return weft_load_build(f, &loads->total, err);
}

void weft_link_load_free(struct weft_link_load *loads)
{
	for (uint32_t j = 0; j < loads->n; j++)
		weft_load_parts_free(&loads->jobs[j]);
	free(loads->jobs);
	free(loads->ids);
	weft_load_free(&loads->total);
	memset(loads, 0, sizeof(*loads));
}

static bool jobs_grow(struct weft_link_load *loads, struct weft_error *err)
{
	uint32_t room = loads->room + ROOM_STEP;
	struct weft_load_parts *jobs;
	uint32_t *ids;

	if (loads->n < loads->room)
		return true;
	ids = weft_realloc(loads->ids, room, sizeof(*ids), err);
	if (!ids)
		return false;
	loads->ids = ids;
	jobs = weft_realloc(loads->jobs, room, sizeof(*jobs), err);
	if (!jobs)
		return false;
	loads->jobs = jobs;
	loads->room = room;
	return true;
}

void weft_link_load_drop(struct weft_link_load *loads, uint32_t job_id)
{
	uint32_t j = 0;

	while (j < loads->n && loads->ids[j] != job_id)
		j++;
	if (j == loads->n)
		return;
	weft_load_subtract(&loads->total, &loads->jobs[j]);
	weft_load_parts_free(&loads->jobs[j]);
	loads->n--;
	loads->ids[j] = loads->ids[loads->n];
	loads->jobs[j] = loads->jobs[loads->n];
}

int weft_link_load_put(struct weft_link_load *loads, uint32_t job_id,
		       struct weft_load_parts *parts, struct weft_error *err)
{
	weft_link_load_drop(loads, job_id);
	if (!jobs_grow(loads, err)) {
		weft_load_parts_free(parts);
		return -1;
	}
	weft_load_add(&loads->total, parts);
	loads->ids[loads->n] = job_id;
	loads->jobs[loads->n++] = *parts;
	*parts = (struct weft_load_parts){0};
	return 0;
}

void weft_link_load_ill(struct weft_link_load *loads,
			const struct weft_health *health)
{
	loads->total.slowness = health ? health->link : NULL;
}

const struct weft_load *weft_link_load_total(const struct weft_link_load *loads)
{
	return loads->n || loads->total.slowness ? &loads->total : NULL;
}
