/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_json.c - a scene as JSON, for the page and for programs
 *
 * Lists with an entry for each GPU, node or domain are written as runs: count,
 * first value, step; three numbers for what would be thousands.
 */
#include "topology/draw/draw_parts.h"
#include "topology/draw/node.h"
#include "topology/draw/palette.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are not UTF-8 become "?". */
static json_t *words(const char *text)
{
	json_t *string = json_string(text);
	char *plain;

	if (string)
		return string;
	plain = strdup(text);
	if (!plain)
		return NULL;
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	string = json_string(plain);
	free(plain);
	return string;
}

static json_t *words_array(const char *const *texts, uint32_t n)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(array, words(texts[i]));
	return array;
}

/* ---- runs ---- */

struct runs {
	json_t *array;
	uint32_t count;
	int64_t first, step, last;
};

static void runs_flush(struct runs *r)
{
	if (!r->count)
		return;
	json_array_append_new(r->array, json_integer(r->count));
	json_array_append_new(r->array, json_integer(r->first));
	json_array_append_new(r->array,
			      json_integer(r->count > 1 ? r->step : 0));
	r->count = 0;
}

static void runs_add(struct runs *r, int64_t value)
{
	if (r->count == 1)
		r->step = value - r->last;
	/* two values that differ by chance are no run: only small steps pay */
	if (r->count >= 1 && (value - r->last != r->step ||
			      (r->count == 1 && (r->step < -1 || r->step > 1))))
		runs_flush(r);
	if (!r->count)
		r->first = value;
	r->last = value;
	r->count++;
}

/* WEFT_NONE is -1. */
static int64_t index_value(uint32_t value)
{
	return value == WEFT_NONE ? -1 : (int64_t)value;
}

static json_t *runs_of(const uint32_t *values, uint32_t n)
{
	struct runs r = {.array = json_array()};

	for (uint32_t i = 0; i < n; i++)
		runs_add(&r, index_value(values[i]));
	runs_flush(&r);
	return r.array;
}

/* ---- parts ---- */

/* Sides of a torus. */
static json_t *json_dims(const struct weft_level *level)
{
	json_t *array = json_array();

	for (int i = 0; i < 3 && level->dims[i]; i++)
		json_array_append_new(array, json_integer(level->dims[i]));
	return array;
}

static json_t *json_level(const struct weft_fabric *f, uint32_t l)
{
	const struct weft_level *level = &f->levels[l];
	struct runs gpus = {.array = json_array()};
	json_t *names = json_array();

	for (uint32_t i = 0; i < level->n_domains; i++) {
		const struct weft_domain *d =
			&f->domains[level->first_domain + i];

		runs_add(&gpus, d->n_gpus);
		/* nodes have the names of domains that are nodes */
		if (l > f->node_level || level->n_domains < f->n_nodes)
			json_array_append_new(names, words(d->name));
	}
	runs_flush(&gpus);
	return json_pack(
		"{s:s, s:f, s:f, s:f, s:I, s:s, s:o, s:o, s:o}", "name",
		level->name, "rate_bytes_per_s", level->link.rate_bytes_per_s,
		"latency_s", level->link.latency_s, "oversubscription",
		level->link.oversubscription, "hops", (json_int_t)level->hops,
		"shape", weft_shape_names[level->shape], "dims",
		json_dims(level), "gpus", gpus.array, "names", names);
}

static json_t *json_fabric(const struct weft_fabric *f)
{
	struct runs gpus = {.array = json_array()};
	struct runs racks = {.array = json_array()};
	json_t *names = json_array(), *levels = json_array();

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		json_array_append_new(names, words(f->nodes[i].name));
		runs_add(&gpus, f->nodes[i].n_gpus);
		runs_add(&racks, index_value(f->nodes[i].rack));
	}
	runs_flush(&gpus);
	runs_flush(&racks);
	for (uint32_t l = 0; l < f->n_levels; l++)
		json_array_append_new(levels, json_level(f, l));
	return json_pack(
		"{s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o}",
		"name", words(f->name), "gpus", (json_int_t)f->n_gpus, "nodes",
		(json_int_t)f->n_nodes, "rails", (json_int_t)f->n_rails,
		"node_level", (json_int_t)f->node_level, "connected",
		f->connected, "node_names", names, "node_gpus", gpus.array,
		"node_racks", racks.array, "racks",
		words_array(f->racks, f->n_racks), "levels", levels);
}

static json_t *json_colouring(const struct weft_colouring *c, uint32_t n_gpus)
{
	return json_pack("{s:s, s:s, s:b, s:I, s:o, s:o}", "name", c->name,
			 "noun", c->noun, "ordered", c->ordered, "groups",
			 (json_int_t)c->n_groups, "names",
			 c->names ? words_array(c->names, c->n_groups)
				  : json_null(),
			 "of", runs_of(c->group, n_gpus));
}

static json_t *json_uses(const struct weft_scene *scene)
{
	struct runs r = {.array = json_array()};

	for (uint32_t g = 0; g < scene->fabric->n_gpus; g++)
		runs_add(&r, scene->use[g]);
	runs_flush(&r);
	return r.array;
}

static json_t *json_facts(const struct weft_scene *scene)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < scene->n_facts; i++) {
		const struct weft_fact *fact = &scene->facts[i];

		json_array_append_new(array,
				      json_pack("{s:o, s:o, s:o}", "label",
						words(fact->label), "value",
						words(fact->value), "note",
						words(fact->note)));
	}
	return array;
}

static json_t *json_table(const struct weft_table *t)
{
	json_t *values = json_array();

	for (uint32_t i = 0; i < t->n_rows * t->n_columns; i++)
		json_array_append_new(values, json_real(t->values[i]));
	return json_pack("{s:s, s:o, s:o, s:I, s:o, s:o}", "title", t->title,
			 "columns", words_array(t->columns, t->n_columns),
			 "units", words_array(t->units, t->n_columns), "main",
			 (json_int_t)t->main_column, "rows",
			 words_array(t->rows, t->n_rows), "values", values);
}

static json_t *json_tables(const struct weft_scene *scene)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < scene->n_tables; i++)
		json_array_append_new(array, json_table(&scene->tables[i]));
	return array;
}

/* Cells that are not zero: how many after the last one, and the bytes. */
static json_t *json_layer(const struct weft_heat *heat, uint32_t layer)
{
	const double *bytes = heat->bytes[layer];
	size_t n = (size_t)heat->n_cells * heat->n_cells, last = 0;
	json_t *cells = json_array();

	for (size_t i = 0; i < n; i++) {
		if (!(bytes[i] > 0))
			continue;
		json_array_append_new(cells,
				      json_integer((json_int_t)(i - last)));
		json_array_append_new(cells, json_real(bytes[i]));
		last = i;
	}
	return json_pack("{s:s, s:o}", "name", heat->layers[layer], "cells",
			 cells);
}

static json_t *json_heat(const struct weft_heat *heat)
{
	json_t *layers;

	if (!heat)
		return json_null();
	layers = json_array();
	for (uint32_t i = 0; i < heat->n_layers; i++)
		json_array_append_new(layers, json_layer(heat, i));
	return json_pack("{s:I, s:I, s:I, s:o}", "ranks",
			 (json_int_t)heat->n_ranks, "per_cell",
			 (json_int_t)heat->per_cell, "cells",
			 (json_int_t)heat->n_cells, "layers", layers);
}

static json_t *json_ramp(int paper)
{
	json_t *ramp = json_array();
	char colour[WEFT_COLOUR_SIZE];

	for (int i = 0; i <= 20; i++)
		json_array_append_new(
			ramp, json_string(weft_ramp(paper, i / 20.0, colour)));
	return ramp;
}

static json_t *json_palette(void)
{
	json_t *papers = json_array();

	for (int p = 0; p < WEFT_N_PAPERS; p++)
		json_array_append_new(
			papers,
			json_pack("{s:o, s:o, s:o, s:o}", "use",
				  words_array(weft_shades[p].use, WEFT_N_USES),
				  "hue",
				  words_array(weft_shades[p].hue, WEFT_N_HUES),
				  "ramp", json_ramp(p), "heat",
				  json_ramp(WEFT_HEAT + p)));
	return json_pack("{s:o, s:o}", "papers", papers, "heat",
			 json_ramp(WEFT_HEAT + WEFT_LIGHT));
}

static json_t *json_census(const struct weft_scene *scene)
{
	struct weft_census census =
		weft_scene_count(scene, 0, scene->fabric->n_gpus);
	json_t *object = json_object();

	for (int u = 0; u < WEFT_N_USES; u++)
		json_object_set_new(object, weft_use_names[u],
				    json_integer(census.n[u]));
	return object;
}

json_t *draw_document(const struct weft_scene *scene, struct weft_error *err)
{
	uint32_t n = scene->fabric->n_gpus;
	json_t *colourings = json_array(), *document;

	for (uint32_t i = 0; i < scene->n_colourings; i++)
		json_array_append_new(colourings,
				      json_colouring(&scene->colourings[i], n));
	document = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, "
		"s:o, s:o, s:o, s:o}",
		"schema", "weft.draw/1", "title", words(scene->title), "facts",
		json_facts(scene), "gpus", json_census(scene), "fabric",
		json_fabric(scene->fabric), "use", json_uses(scene), "owners",
		words_array(scene->owners, scene->n_owners), "owner",
		scene->owner ? runs_of(scene->owner, n) : json_null(), "ranks",
		(json_int_t)scene->n_ranks, "rank",
		scene->rank ? runs_of(scene->rank, n) : json_null(), "chosen",
		(json_int_t)index_value(scene->chosen), "colourings",
		colourings, "tables", json_tables(scene), "heat",
		json_heat(scene->heat), "palette", json_palette());
	if (document && scene->inside)
		json_object_set_new(document, "inside", node_json(scene, err));
	if (!document)
		weft_fail(err, WEFT_ENOMEM, "out of memory");
	return document;
}

int draw_json(const struct weft_scene *scene,
	      const struct weft_draw_options *options, FILE *out,
	      struct weft_error *err)
{
	json_t *document = draw_document(scene, err);
	int result = 0;

	(void)options;
	if (!document)
		return -1;
	if (json_dumpf(document, out, JSON_COMPACT | JSON_REAL_PRECISION(6)) !=
	    0)
		result = weft_fail(err, WEFT_ENOMEM, "out of memory");
	fputc('\n', out);
	json_decref(document);
	return result;
}
