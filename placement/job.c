/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job.c - from a job spec to everything that placing it needs */
#include "placement/job.h"

#include "base/suggest.h"
#include "costmodel/traffic/matrix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int weft_job_level(const struct weft_fabric *f, const char *key,
		   const char *name, uint32_t *level, struct weft_error *err)
{
	const char *known[WEFT_MAX_LEVELS], *near;
	char list[200] = "";
	size_t used = 0;

	*level = WEFT_NONE;
	if (!*name || !f)
		return 0;
	*level = weft_fabric_level(f, name);
	if (*level != WEFT_NONE)
		return 0;
	for (uint32_t i = 0; i < f->n_levels; i++)
		known[i] = f->levels[i].name;
	near = weft_suggest_near(name, known, f->n_levels);
	if (near)
		return weft_fail(err, WEFT_EINVAL,
				 "%s=%s: the fabric has no such level; the "
				 "nearest is \"%s\"",
				 key, name, near);
	for (uint32_t i = 0; i < f->n_levels && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s%s", i ? ", " : "",
					 f->levels[i].name);
	return weft_fail(err, WEFT_EINVAL,
			 "%s=%s: the fabric has no such level; it has %s", key,
			 name, list);
}

/* Only a file is called so. */
static bool names_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strchr(name, '/') ||
	       (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") ||
			!strcmp(dot, ".json")));
}

/* A built-in name; where files are allowed, a text with a dot or a slash, which
 * only few built-ins have, is a file.  seq= of the spec wins over the model's.
 */
static int load_model(struct weft_spec *spec, bool allow_files,
		      struct weft_model *model, struct weft_error *err)
{
	struct weft_error why = {0};

	if (!weft_spec_given(spec, "model") && weft_spec_has_shape(spec))
		return 0; /* weft_spec_shape makes it */
	if (weft_model_find(spec->model, model, NULL) == 0)
		return 0;
	if (!strpbrk(spec->model, "./") || !allow_files)
		return weft_model_find(spec->model, model, err);
	if (weft_model_load(spec->model, model, &why)) {
		/* "llama3.1-7T" rather is a name that does not exist */
		if (why.code == WEFT_EIO && !names_file(spec->model))
			return weft_model_find(spec->model, model, err);
		return weft_fail_at(err, why.code, why.source, why.line,
				    why.column, "%s", why.text);
	}
	if (!spec->seq)
		spec->seq = model->seq;
	return 0;
}

/* How the job lies on nodes, as far as the user fixed it. */
static void build_shape(struct weft_job *job)
{
	const struct weft_spec *spec = &job->spec;

	job->n_gpus = job->grid.n_ranks;
	if (weft_spec_given(spec, "gpus_per_node"))
		job->gpus_per_node = spec->gpus_per_node;
	if (weft_spec_given(spec, "nodes") || spec->n_split) {
		job->min_nodes = spec->nodes;
		job->max_nodes = spec->nodes_max;
	}
}

/* model: the one to take, or NULL for the spec's. */
static int build(const char *text, uint32_t gpus, bool allow_files,
		 const struct weft_model *model, enum weft_detail detail,
		 const struct weft_fabric *f, struct weft_job *job,
		 struct weft_error *err)
{
	struct weft_spec *spec = &job->spec;

	memset(job, 0, sizeof(*job));
	job->within_level = job->prefer_level = WEFT_NONE;
	if (weft_spec_parse(text, spec, err))
		return -1;
	if (spec->traffic[0] && !allow_files)
		return weft_fail(err, WEFT_EINVAL,
				 "traffic=%s: files are not read here, only "
				 "on the command line",
				 spec->traffic);
	if (model) {
		job->model = *model;
		if (!spec->seq)
			spec->seq = model->seq;
	}
	if (weft_spec_resolve(spec, gpus, err) ||
	    weft_job_level(f, "within", spec->within, &job->within_level,
			   err) ||
	    weft_job_level(f, "prefer", spec->prefer, &job->prefer_level,
			   err) ||
	    (!model && load_model(spec, allow_files, &job->model, err)) ||
	    weft_spec_shape(spec, &job->model, err) ||
	    weft_spec_grid(spec, &job->grid, err))
		return -1;
	build_shape(job);
	if (spec->traffic[0])
		return weft_matrix_load(spec->traffic, job->n_gpus,
					&job->traffic, err);
	if (weft_schedule_build(spec, &job->model, &job->schedule, err))
		return -1;
	return weft_traffic_of_schedule(spec, &job->schedule, detail,
					&job->traffic, err);
}

int weft_job_build(const char *text, uint32_t gpus, bool allow_files,
		   const struct weft_fabric *f, struct weft_job *job,
		   struct weft_error *err)
{
	return build(text, gpus, allow_files, NULL, WEFT_ALL_PAIRS, f, job,
		     err);
}

int weft_job_build_model(const char *text, uint32_t gpus,
			 const struct weft_model *model,
			 enum weft_detail detail, const struct weft_fabric *f,
			 struct weft_job *job, struct weft_error *err)
{
	return build(text, gpus, false, model, detail, f, job, err);
}

void weft_job_free(struct weft_job *job)
{
	int saved = errno;

	if (job) {
		weft_schedule_free(&job->schedule);
		weft_traffic_free(&job->traffic);
		memset(job, 0, sizeof(*job));
	}
	errno = saved;
}
