/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.c - reading the plugin's status file */
#include "cli/slurm/snapshot.h"

#include "cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "weft.state/1"

/* A part of the right type, or NULL. */
static json_t *part(const json_t *root, const char *key, json_type type)
{
	json_t *value = json_object_get(root, key);

	return value && json_typeof(value) == type ? value : NULL;
}

int snapshot_load(const char *path, struct snapshot *s, struct weft_error *err)
{
	json_error_t why;

	memset(s, 0, sizeof(*s));
	s->root = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (!s->root)
		return weft_fail_at(err, WEFT_EIO, path,
				    why.line > 0 ? why.line : 0, 0, "%s",
				    why.text);
	if (strcmp(json_text_of(s->root, "schema"), SCHEMA) != 0)
		return weft_fail_at(err, WEFT_EINVAL, path, 0, 0,
				    "expected the schema " SCHEMA
				    ", found \"%.40s\"",
				    json_text_of(s->root, "schema"));
	s->decisions = part(s->root, "decisions", JSON_OBJECT);
	s->planning = part(s->root, "planning", JSON_OBJECT);
	s->nodes = part(s->root, "nodes", JSON_ARRAY);
	s->jobs = part(s->root, "jobs", JSON_ARRAY);
	s->waiting = part(s->root, "waiting", JSON_ARRAY);
	s->troubles = part(s->root, "troubles", JSON_OBJECT);
	s->version = json_text_of(s->root, "version");
	s->fabric = json_text_of(json_object_get(s->root, "fabric"), "name");
	s->written_s = json_number_value(json_object_get(s->root, "written_s"));
	s->generation = (uint64_t)json_integer_value(
		json_object_get(s->root, "generation"));
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	json_decref(s->root);
	memset(s, 0, sizeof(*s));
}

/* The record of a job in a list; NULL: there is none. */
static json_t *job_find(const json_t *list, const char *id)
{
	size_t i;
	json_t *job;

	json_array_foreach(list, i, job)
	{
		if (json_integer_value(json_object_get(job, "job")) ==
		    strtoll(id, NULL, 10))
			return job;
	}
	return NULL;
}

double snapshot_decision_s(const struct snapshot *s, const char *id)
{
	json_t *took = json_object_get(job_find(s->jobs, id), "decision_s");

	return took ? json_number_value(took) : (double)NAN;
}

json_t *snapshot_gain(const struct snapshot *s, const char *id)
{
	return json_object_get(job_find(s->jobs, id), "gain");
}

const char *snapshot_spec(const struct snapshot *s, const char *id)
{
	json_t *job = job_find(s->jobs, id);

	if (!job)
		job = job_find(s->waiting, id);
	return json_string_value(json_object_get(job, "spec"));
}
