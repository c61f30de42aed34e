/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node.c - what is inside a node, in words and as JSON */
#include "topology/draw/node.h"

#include "base/append.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* Behind a text of NODE_TEXT_SIZE. */
#define append(text, ...) weft_append(text, NODE_TEXT_SIZE, __VA_ARGS__)

static void append_census(const struct weft_scene *scene, uint32_t first_gpu,
			  uint32_t n_gpus, char text[NODE_TEXT_SIZE])
{
	struct weft_census census = weft_scene_count(scene, first_gpu, n_gpus);
	const char *separator = ": ";

	for (int i = 0; i < WEFT_N_USES; i++) {
		int use = (i + WEFT_USE_JOB) % WEFT_N_USES;

		if (!census.n[use])
			continue;
		append(text, "%s%u %s%s", separator, census.n[use],
		       use == WEFT_USE_JOB ? "of the " : "",
		       weft_use_names[use]);
		separator = ", ";
	}
}

const char *node_name_text(const struct weft_scene *scene,
			   char text[NODE_TEXT_SIZE])
{
	const struct weft_fabric *f = scene->fabric;
	const struct weft_node *node = scene->inside;

	snprintf(text, NODE_TEXT_SIZE, "Node %s", node->name);
	if (node->kind != WEFT_NONE)
		append(text, ", %s", f->kinds[node->kind]);
	if (node->rack != WEFT_NONE)
		append(text, ", rack %s", f->racks[node->rack]);
	append(text, ", %u GPU%s", node->n_gpus, node->n_gpus == 1 ? "" : "s");
	append_census(scene, node->first_gpu, node->n_gpus, text);
	return text;
}

const char *node_gpu_text(const struct weft_scene *scene, uint32_t gpu,
			  char text[NODE_TEXT_SIZE])
{
	uint32_t group = weft_scene_group(scene, gpu);
	char name[NODE_TEXT_SIZE / 2];

	snprintf(text, NODE_TEXT_SIZE, "%s", weft_use_names[scene->use[gpu]]);
	if (scene->rank && scene->rank[gpu] != WEFT_NONE)
		snprintf(text, NODE_TEXT_SIZE, "rank %u", scene->rank[gpu]);
	if (group != WEFT_NONE)
		append(text, ", %s",
		       weft_colouring_group(&scene->colourings[scene->chosen],
					    group, name, sizeof(name)));
	if (scene->owner && scene->owner[gpu] != WEFT_NONE)
		append(text, ", job %.40s", scene->owners[scene->owner[gpu]]);
	return text;
}

const struct weft_domain *node_nvlink(const struct weft_fabric *f, uint32_t gpu)
{
	const struct weft_domain *d = &f->domains[f->gpu_domain[0][gpu]];

	return d->n_gpus > 1 ? d : NULL;
}

uint32_t node_first_level(const struct weft_fabric *f)
{
	return f->node_level > 0 ? f->node_level : 1;
}

static void append_rate(const struct weft_level *level,
			char text[NODE_TEXT_SIZE])
{
	char rate[32];

	append(text, "%s per GPU",
	       weft_quantity_text(level->link.rate_bytes_per_s, "B/s", rate,
				  sizeof(rate)));
	if (level->link.oversubscription > 1)
		append(text, ", %.3g:1", level->link.oversubscription);
}

const char *node_nvlink_text(const struct weft_fabric *f,
			     const struct weft_domain *d,
			     char text[NODE_TEXT_SIZE])
{
	snprintf(text, NODE_TEXT_SIZE, "NVLink domain");
	if (d->n_nodes > 1)
		append(text, " %s, %u GPUs on %u nodes", d->name, d->n_gpus,
		       d->n_nodes);
	else
		append(text, " of %u GPUs", d->n_gpus);
	append(text, ": ");
	append_rate(&f->levels[0], text);
	return text;
}

const char *node_level_text(const struct weft_scene *scene, uint32_t level,
			    char text[NODE_TEXT_SIZE])
{
	const struct weft_fabric *f = scene->fabric;
	const struct weft_level *l = &f->levels[level];
	const struct weft_domain *d =
		&f->domains[f->gpu_domain[level][scene->inside->first_gpu]];

	snprintf(text, NODE_TEXT_SIZE, "%s", l->name);
	if (level > f->node_level && strcmp(l->name, d->name) != 0)
		append(text, " %s", d->name);
	append(text, ", ");
	append_rate(l, text);
	append(text, "; %u node%s, %u GPUs", d->n_nodes,
	       d->n_nodes == 1 ? "" : "s", d->n_gpus);
	append_census(scene, d->first_gpu, d->n_gpus, text);
	return text;
}

/* ---- JSON ---- */

static json_t *number_or_null(uint32_t value)
{
	return value == WEFT_NONE ? json_null()
				  : json_integer((json_int_t)value);
}

static json_t *port_json(const struct weft_node_link *link)
{
	json_t *gpus = json_array();

	for (uint32_t k = 0; k < link->n_gpus; k++)
		json_array_append_new(
			gpus, json_integer((json_int_t)link->first_gpu + k));
	return json_pack("{s:s?, s:s, s:s?, s:o, s:o, s:I, s:o, s:b}", "port",
			 link->port, "to", link->to, "network", link->network,
			 "rail", number_or_null(link->rail), "gpus", gpus,
			 "cables", (json_int_t)link->n, "rate_bytes_per_s",
			 link->rate_bytes_per_s > 0
				 ? json_real(link->rate_bytes_per_s)
				 : json_null(),
			 "up", link->up);
}

json_t *node_json(const struct weft_scene *scene, struct weft_error *err)
{
	struct weft_node_links links;
	json_t *ports;

	if (!scene->inside ||
	    weft_node_links(scene->fabric, scene->inside, &links, err))
		return NULL;
	ports = json_array();
	for (uint32_t i = 0; i < links.n; i++)
		json_array_append_new(ports, port_json(&links.links[i]));
	free(links.links);
	return json_pack("{s:s, s:I, s:I, s:o}", "node", scene->inside->name,
			 "first_gpu", (json_int_t)scene->inside->first_gpu,
			 "gpus", (json_int_t)scene->inside->n_gpus, "ports",
			 ports);
}
