/* SPDX-License-Identifier: GPL-3.0-or-later */
/* running.c - the jobs of a state file */
#include "placement/capacity/running.h"

#include "costmodel/time/cost.h"
#include "costmodel/time/step.h"
#include "placement/capacity/occupancy_parts.h"
#include "placement/objective/evaluation.h"
#include "placement/objective/objective.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 30,000 years: a number beyond is a mistake of the unit. */
#define MAX_TIME_S 1e12

struct reader {
	const struct weft_yaml *doc;
	struct weft_occupancy *o;
	uint32_t *owner; /* [n_gpus] job's number from 1; 0: none */
	struct weft_running_list list;
	const struct weft_yaml_node **node; /* [n] id of each, for messages */
	bool builds;			    /* what the jobs compute, too */
	uint32_t *gpu;			    /* [n_gpus] of the job at hand */
	uint32_t n;
};

static int gpu_add(struct reader *r, uint32_t gpu, struct weft_error *err)
{
	const struct weft_fabric *f = r->o->fabric;
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	uint32_t owner = r->owner[gpu], k = weft_fabric_number(f, gpu);

	if (owner == r->list.n + 1)
		return weft_fail(err, WEFT_EINVAL,
				 "GPU %u of %s is named twice", k, node->name);
	if (owner)
		return weft_fail(err, WEFT_EINVAL,
				 "GPU %u of %s is job %s's already", k,
				 node->name, r->list.jobs[owner - 1].id);
	r->owner[gpu] = r->list.n + 1;
	r->gpu[r->n++] = gpu;
	return 0;
}

/* What is wrong with the text of a node, at its column in it. */
static int fail_inside(const struct reader *r,
		       const struct weft_yaml_node *node,
		       const struct weft_error *why, struct weft_error *err)
{
	if (why->code == WEFT_ENOMEM)
		return weft_fail(err, why->code, "%s", why->text);
	if (why->column > 0)
		return weft_yaml_fail_inside(r->doc, node, false, why->column,
					     err, "%s", why->text);
	return weft_yaml_fail(r->doc, node, err, "%s", why->text);
}

static int gpus_visit(void *reader, uint32_t node, uint64_t mask,
		      struct weft_error *err)
{
	struct reader *r = reader;
	uint32_t k;

	weft_occupancy_take(r->o, node,
			    weft_fabric_places(r->o->fabric, node, mask));
	weft_mask_foreach (k, mask)
		if (gpu_add(r, weft_fabric_numbered(r->o->fabric, node, k),
			    err))
			return -1;
	return 0;
}

/* "nodes:" is a hostlist, "gpus:" may have GPU lists in it; one of them. */
static int read_gpus(struct reader *r, const struct weft_yaml_node *entry,
		     struct weft_running *job, struct weft_error *err)
{
	const struct occupancy_visitor visitor = {gpus_visit, r};
	const struct weft_yaml_node *nodes = weft_yaml_find(entry, "nodes");
	const struct weft_yaml_node *gpus = weft_yaml_find(entry, "gpus");
	const struct weft_yaml_node *given = nodes ? nodes : gpus;
	struct weft_error why = {0};

	if (!nodes == !gpus)
		return weft_yaml_fail(r->doc, entry, err,
				      "where does job %s run? Give either "
				      "nodes or gpus",
				      job->id);
	if (weft_yaml_expect(r->doc, given, WEFT_YAML_SCALAR,
			     nodes ? "nodes" : "gpus", err))
		return -1;
	if (nodes && strchr(nodes->text, ':'))
		return weft_yaml_fail(r->doc, nodes, err,
				      "nodes are a hostlist; \"gpus\" may name "
				      "single GPUs");
	r->n = 0;
	if (occupancy_visit(r->o->fabric, given->text, &visitor, &why))
		return fail_inside(r, given, &why, err);
	job->gpu = weft_calloc(r->n, sizeof(*job->gpu), err);
	if (!job->gpu)
		return -1;
	memcpy(job->gpu, r->gpu, r->n * sizeof(*job->gpu));
	job->n_gpus = r->n;
	return 0;
}

static int read_id(struct reader *r, const struct weft_yaml_node *entry,
		   struct weft_running *job, struct weft_error *err)
{
	const struct weft_yaml_node *id = weft_yaml_find(entry, "id");

	if (!id)
		return weft_yaml_fail(r->doc, entry, err, "a job needs an id");
	if (weft_yaml_expect(r->doc, id, WEFT_YAML_SCALAR, "id", err))
		return -1;
	if (!*id->text || strlen(id->text) >= WEFT_NAME_SIZE)
		return weft_yaml_fail(r->doc, id, err,
				      "expected an id of 1 to %d characters",
				      WEFT_NAME_SIZE - 1);
	r->node[r->list.n] = id;
	job->id = weft_strdup(id->text, err);
	return job->id ? 0 : -1;
}

static int read_times(struct reader *r, const struct weft_yaml_node *entry,
		      struct weft_running *job, struct weft_error *err)
{
	const struct weft_yaml_node *end = weft_yaml_find(entry, "remaining_s");
	const struct weft_yaml_node *step = weft_yaml_find(entry, "step_s");

	job->remaining_s = (double)INFINITY;
	if (end && weft_yaml_number(r->doc, end, 0, MAX_TIME_S,
				    &job->remaining_s, err))
		return -1;
	return step ? weft_yaml_number(r->doc, step, 1e-9, MAX_TIME_S,
				       &job->step_s, err)
		    : 0;
}

static int read_spec(struct reader *r, const struct weft_yaml_node *entry,
		     struct weft_running *job, struct weft_error *err)
{
	const struct weft_yaml_node *spec = weft_yaml_find(entry, "job");
	struct weft_error why = {0};

	if (!spec)
		return 0;
	if (weft_yaml_expect(r->doc, spec, WEFT_YAML_SCALAR, "job", err))
		return -1;
	if (!r->builds)
		return 0;
	job->known = true;
	if (weft_job_build(spec->text, job->n_gpus, true, r->o->fabric,
			   &job->job, &why) == 0)
		return 0;
	/* an error in a file that the spec names keeps its place */
	if (why.source[0] && strcmp(why.source, "job spec") != 0)
		return weft_fail_at(err, why.code, why.source, why.line,
				    why.column, "%s", why.text);
	return fail_inside(r, spec, &why, err);
}

static int read_job(struct reader *r, const struct weft_yaml_node *entry,
		    struct weft_error *err)
{
	static const char *const keys[] = {
		"id", "nodes", "gpus", "job", "remaining_s", "step_s",
	};
	struct weft_running *job = &r->list.jobs[r->list.n];
	int rc;

	if (weft_yaml_expect(r->doc, entry, WEFT_YAML_MAP, "a job", err) ||
	    weft_yaml_known_keys(r->doc, entry, keys,
				 sizeof(keys) / sizeof(keys[0]), "a job", err))
		return -1;
	rc = read_id(r, entry, job, err) || read_gpus(r, entry, job, err) ||
	     read_times(r, entry, job, err) || read_spec(r, entry, job, err);
	/* counted in either case, so that what it has is freed */
	r->list.n++;
	return rc ? -1 : 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct weft_yaml_node *x =
		*(const struct weft_yaml_node *const *)a;
	const struct weft_yaml_node *y =
		*(const struct weft_yaml_node *const *)b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int check_ids(struct reader *r, struct weft_error *err)
{
	qsort(r->node, r->list.n, sizeof(*r->node), compare_ids);
	for (uint32_t i = 1; i < r->list.n; i++)
		if (strcmp(r->node[i - 1]->text, r->node[i]->text) == 0)
			return weft_yaml_fail(r->doc, r->node[i], err,
					      "job %s is in line %d already",
					      r->node[i]->text,
					      r->node[i - 1]->line);
	return 0;
}

static int read_jobs(struct reader *r, const struct weft_yaml_node *jobs,
		     struct weft_error *err)
{
	uint32_t n_gpus = r->o->fabric->n_gpus;
	uint32_t n;

	if (!jobs || (jobs->kind == WEFT_YAML_SCALAR && !*jobs->text))
		return 0;
	if (weft_yaml_expect(r->doc, jobs, WEFT_YAML_LIST, "jobs", err))
		return -1;
	n = jobs->n_children;
	r->owner = weft_calloc(n_gpus, sizeof(*r->owner), err);
	r->gpu = weft_calloc(n_gpus, sizeof(*r->gpu), err);
	r->node = weft_calloc(n + (size_t)1, sizeof(*r->node), err);
	r->list.jobs = weft_calloc(n + (size_t)1, sizeof(*r->list.jobs), err);
	if (!r->owner || !r->gpu || !r->node || !r->list.jobs)
		return -1;
	for (const struct weft_yaml_node *e = jobs->child; e; e = e->next)
		if (read_job(r, e, err))
			return -1;
	return check_ids(r, err);
}

static int read_document(struct weft_occupancy *o, const struct weft_yaml *doc,
			 struct weft_running_list *list, struct weft_error *err)
{
	struct reader r = {.doc = doc, .o = o, .builds = list != NULL};
	int rc = -1;

	if (occupancy_read(o, doc, err) == 0)
		rc = read_jobs(&r, weft_yaml_find(doc->root, "jobs"), err);
	free(r.owner);
	free(r.gpu);
	free(r.node);
	if (list)
		*list = r.list;
	else
		weft_running_free(&r.list);
	return rc;
}

int weft_running_parse(struct weft_occupancy *o, const char *text, size_t size,
		       const char *source, struct weft_running_list *list,
		       struct weft_error *err)
{
	struct weft_yaml doc;
	int rc;

	if (list)
		memset(list, 0, sizeof(*list));
	if (weft_yaml_parse(text, size, source, &doc, err))
		return -1;
	rc = read_document(o, &doc, list, err);
	weft_yaml_free(&doc);
	return rc;
}

int weft_running_load(struct weft_occupancy *o, const char *path,
		      struct weft_running_list *list, struct weft_error *err)
{
	struct weft_yaml doc;
	int rc;

	if (list)
		memset(list, 0, sizeof(*list));
	if (weft_yaml_load(path, &doc, err))
		return -1;
	rc = read_document(o, &doc, list, err);
	weft_yaml_free(&doc);
	return rc;
}

uint32_t *weft_running_owners(const struct weft_running_list *list,
			      uint32_t n_gpus, struct weft_error *err)
{
	uint32_t *owner = weft_calloc_none(n_gpus, err);

	for (uint32_t i = 0; owner && i < list->n; i++)
		for (uint32_t k = 0; k < list->jobs[i].n_gpus; k++)
			owner[list->jobs[i].gpu[k]] = i;
	return owner;
}

void weft_running_release(const struct weft_running *job,
			  struct weft_occupancy *o)
{
	const struct weft_fabric *f = o->fabric;

	for (uint32_t i = 0; i < job->n_gpus; i++) {
		uint32_t node = f->gpu_node[job->gpu[i]];

		weft_occupancy_release(
			o, node,
			UINT64_C(1)
				<< (job->gpu[i] - f->nodes[node].first_gpu));
	}
}

static bool has_one_of(const struct weft_running *job, const uint64_t *gpus)
{
	for (uint32_t r = 0; gpus && r < job->n_gpus; r++)
		if (weft_bitset_has(gpus, job->gpu[r]))
			return true;
	return false;
}

/* Traffic that was measured: one call that keeps its busiest link busy, in
 * flows of a NIC each. */
static int measured_parts(const struct weft_fabric *f,
			  const struct weft_job *job, const uint32_t *where,
			  double step_s, struct weft_load_parts *parts,
			  struct weft_error *err)
{
	uint32_t n = f->n_domains;
	double *bytes = weft_calloc(2 * (size_t)n, sizeof(*bytes), err);
	struct weft_cost cost;
	int rc = -1;

	if (bytes && weft_cost(f, &job->traffic, where, NULL, &cost, err) == 0)
		rc = weft_cost_links(f, &job->traffic, where, bytes, bytes + n,
				     err);
	for (uint32_t i = 0; rc == 0 && i < 2 * n; i++) {
		double duty = fmin(cost.busiest.time_s / step_s, 1);
		double nic = f->levels[f->node_level + 1].link.rate_bytes_per_s;
		double rate = bytes[i] / step_s;
		const struct weft_load_part part = {
			.link = 2 * (i % n) + (i >= n),
			.add = {.duty = duty,
				.flows =
					duty * fmax(1, ceil(rate / duty / nic)),
				.rate_bytes_per_s = rate,
				.gpus = duty * job->n_gpus},
		};

		if (bytes[i] > 0)
			rc = weft_load_parts_add(parts, &part, err);
	}
	free(bytes);
	return rc;
}

int weft_running_parts(const struct weft_fabric *f, const struct weft_job *job,
		       const uint32_t *where, const struct weft_gpu *gpu,
		       double step_s, struct weft_load_parts *parts,
		       struct weft_error *err)
{
	struct weft_step_options options = {0};
	struct weft_step step;
	const struct weft_step_job placed = {
		.fabric = f,
		.spec = &job->spec,
		.model = &job->model,
		.where = where,
		.schedule = &job->schedule,
		.parts = parts,
		.step_s = step_s,
		.communication_share = WEFT_ASSUMED_SHARE,
	};

	if (job->spec.traffic[0])
		return step_s > 0 ? measured_parts(f, job, where, step_s, parts,
						   err)
				  : 0;
	if (weft_spec_given(&job->spec, "model"))
		options.gpu = weft_evaluation_gpu(f, job, gpu, NULL);
	if (options.gpu)
		return weft_step(&placed, &options, &step, err);
	return weft_step_communication(&placed, &step, err);
}

/* Of a job that does not say what it computes: none where its nodes are not
 * connected. */
static int silent_parts(const struct weft_fabric *f,
			const struct weft_running *running,
			struct weft_load_parts *parts, struct weft_error *err)
{
	struct weft_error why = {0};
	struct weft_job job;
	int rc = weft_job_build("", running->n_gpus, false, f, &job, &why);

	if (rc == 0)
		rc = weft_running_parts(f, &job, running->gpu, NULL,
					running->step_s, parts, &why);
	weft_job_free(&job);
	if (rc == 0 || why.code == WEFT_EINVAL)
		return 0;
	return weft_fail(err, why.code, "%s", why.text);
}

int weft_running_traffic(const struct weft_running_list *list,
			 const struct weft_gpu *gpu, const uint64_t *except,
			 struct weft_load *load, uint32_t *n_silent,
			 struct weft_error *err)
{
	const struct weft_fabric *f = load->fabric;

	*n_silent = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct weft_running *job = &list->jobs[i];
		struct weft_load_parts parts = {0};
		int rc;

		if (has_one_of(job, except))
			continue;
		*n_silent += !job->known;
		rc = job->known
			     ? weft_running_parts(f, &job->job, job->gpu, gpu,
						  job->step_s, &parts, err)
			     : silent_parts(f, job, &parts, err);
		if (rc == 0 && parts.n)
			weft_load_add(load, &parts);
		weft_load_parts_free(&parts);
		if (rc)
			return -1;
	}
	return 0;
}

void weft_running_free(struct weft_running_list *list)
{
	int saved = errno;

	if (!list)
		return;
	for (uint32_t i = 0; list->jobs && i < list->n; i++) {
		free(list->jobs[i].id);
		free(list->jobs[i].gpu);
		weft_job_free(&list->jobs[i].job);
	}
	free(list->jobs);
	memset(list, 0, sizeof(*list));
	errno = saved;
}
