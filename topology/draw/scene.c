/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.c - questions about what a picture shows */
#include "topology/draw/scene.h"

#include <stdio.h>

const char *const weft_use_names[WEFT_N_USES] = {
	[WEFT_USE_FREE] = "free",
	[WEFT_USE_BUSY] = "busy",
	[WEFT_USE_CLOSED] = "closed",
	[WEFT_USE_JOB] = "job",
};

struct weft_census weft_scene_count(const struct weft_scene *scene,
				    uint32_t first_gpu, uint32_t n_gpus)
{
	struct weft_census census = {{0}};

	for (uint32_t g = first_gpu; g < first_gpu + n_gpus; g++)
		census.n[scene->use[g]]++;
	return census;
}

uint32_t weft_scene_group(const struct weft_scene *scene, uint32_t gpu)
{
	if (scene->chosen == WEFT_NONE)
		return WEFT_NONE;
	return scene->colourings[scene->chosen].group[gpu];
}

void weft_scene_tally(const struct weft_scene *scene, uint32_t first_gpu,
		      uint32_t n_gpus, struct weft_tally *tally)
{
	tally->n = 0;
	for (uint32_t g = first_gpu; g < first_gpu + n_gpus; g++) {
		uint32_t group = weft_scene_group(scene, g), i = 0;

		if (group == WEFT_NONE || scene->use[g] != WEFT_USE_JOB)
			continue;
		while (i < tally->n && tally->group[i] != group)
			i++;
		if (i == WEFT_TALLY_GROUPS) {
			tally->n = 0;
			return;
		}
		if (i == tally->n) {
			tally->group[tally->n] = group;
			tally->count[tally->n++] = 0;
		}
		tally->count[i]++;
	}
}

bool weft_scene_alike(const struct weft_scene *scene, uint32_t a, uint32_t b)
{
	return scene->use[a] == scene->use[b] &&
	       weft_scene_group(scene, a) == weft_scene_group(scene, b);
}

const char *weft_colouring_group(const struct weft_colouring *colouring,
				 uint32_t group, char *buffer, size_t size)
{
	if (colouring->names)
		snprintf(buffer, size, "%s %s", colouring->noun,
			 colouring->names[group]);
	else
		snprintf(buffer, size, "%s %u", colouring->noun, group);
	return buffer;
}
