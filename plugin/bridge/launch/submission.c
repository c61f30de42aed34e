/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submission.c - checking a spec against the fabric and the job's own size */
#include "plugin/bridge/launch/submission.h"

#include "base/clock.h"
#include "base/suggest.h"
#include "plugin/bridge/launch/spec_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Trying a job on the empty fabric: above this the answer may take longer than
 * Slurm's locks should be held. */
#define MAX_TRIED_GPUS 4096

/* ---- what is asked for ---- */

/* GPUs of one element, "gres:gpu:h100:4", "gres/gpu=8", "gpu". */
static uint32_t element_gpus(const char *text, size_t length)
{
	static const char *const prefixes[] = {"gres:", "gres/", ""};
	char element[128], *number;
	unsigned long n;

	if (length >= sizeof(element))
		return 0;
	memcpy(element, text, length);
	element[length] = '\0';
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t skip = strlen(prefixes[i]);
		const char *name = element + skip;

		if (strncmp(element, prefixes[i], skip) != 0 ||
		    strncmp(name, "gpu", 3) != 0 ||
		    (name[3] && !strchr(":=", name[3])))
			continue;
		number = element + strcspn(element, "=");
		if (!*number)
			number = strrchr(element, ':');
		if (!number || !isdigit((unsigned char)number[1]))
			return 1; /* Slurm's own reading of "gpu" */
		n = strtoul(number + 1, NULL, 10);
		return n > WEFT_MAX_GPUS ? WEFT_MAX_GPUS : (uint32_t)n;
	}
	return 0;
}

uint32_t weft_submission_gpus(const char *tres)
{
	uint32_t n = 0;

	while (tres && *tres) {
		size_t length = strcspn(tres, ",;");

		n += element_gpus(tres, length);
		if (n > WEFT_MAX_GPUS)
			return WEFT_MAX_GPUS;
		tres += length;
		tres += *tres ? 1 : 0;
	}
	return n;
}

void weft_submission_complete(struct weft_request *request)
{
	uint64_t total = (uint64_t)request->n_tasks * request->gpus_per_task;

	if (!request->gpus_per_job && total && total <= WEFT_MAX_GPUS)
		request->gpus_per_job = (uint32_t)total;
	if (!request->max_nodes)
		request->max_nodes = request->min_nodes;
	request->want_nodes = request->max_nodes;
}

/* Without the number of nodes the size is open unless the GPUs are counted:
 * what Slurm makes of tasks and CPUs is its own business. */
static bool size_is_known(const struct weft_request *request)
{
	return request->gpus_per_job ||
	       (request->min_nodes && request->gpus_per_node);
}

/* ---- the desk ---- */

int weft_desk_open(struct weft_desk *desk, const struct weft_settings *settings,
		   struct weft_error *err)
{
	memset(desk, 0, sizeof(*desk));
	desk->bridge.settings = settings;
	if (!settings || !settings->fabric)
		return 0;
	return weft_occupancy_build(settings->fabric, &desk->empty, err);
}

void weft_desk_close(struct weft_desk *desk)
{
	weft_bridge_clear(&desk->bridge);
	weft_occupancy_free(&desk->empty);
	memset(desk, 0, sizeof(*desk));
}

static int level_check(const struct weft_fabric *f, const char *key,
		       const char *name, struct weft_error *err)
{
	const char *names[WEFT_MAX_LEVELS];

	if (!f || !name[0] || weft_fabric_level(f, name) != WEFT_NONE)
		return 0;
	for (uint32_t l = 0; l < f->n_levels; l++)
		names[l] = f->levels[l].name;
	return weft_fail(err, WEFT_EINVAL,
			 "%s=%s: the fabric has no such level; did you mean "
			 "\"%s\"?",
			 key, name, weft_suggest(name, names, f->n_levels));
}

static int words_check(const struct weft_settings *settings, const char *text,
		       struct weft_error *err)
{
	const struct weft_fabric *f = settings ? settings->fabric : NULL;
	uint32_t limit = settings ? settings->spec_limit : WEFT_SPEC_MAX_BYTES;
	struct weft_model model;
	struct weft_spec spec;

	if (strlen(text) > limit)
		return weft_fail(err, WEFT_EINVAL,
				 "the spec has %zu bytes, %u are allowed here",
				 strlen(text), limit);
	if (weft_spec_text_parse(text, &spec, err) < 0)
		return -1;
	if (level_check(f, "within", spec.within, err) < 0 ||
	    level_check(f, "prefer", spec.prefer, err) < 0)
		return -1;
	if (!settings || !spec.model[0] ||
	    weft_settings_model(settings, spec.model))
		return 0;
	return weft_model_find(spec.model, &model, err);
}

/* Takes over another's error, by the rules of weft_fail. */
static int refuse(const struct weft_error *why, struct weft_error *err)
{
	if (err && !err->code)
		*err = *why;
	return -1;
}

/* The shapes that the job may take; *n: 0 where its size is not known. */
static int shapes_check(const struct weft_request *request,
			struct weft_shape shapes[WEFT_MAX_SHAPES], uint32_t *n,
			struct weft_error *err)
{
	struct weft_frame frame;
	struct weft_error why = {0};

	*n = 0;
	if (weft_frame_read(request->spec, &frame, err) < 0)
		return -1;
	if (!size_is_known(request))
		return 0;
	*n = weft_request_shapes(request, &frame, UINT32_MAX, shapes, &why);
	/* What weft does not understand is Slurm's to place. */
	return why.code && why.code != WEFT_ENOSYS ? refuse(&why, err) : 0;
}

/* One of the shapes agrees with the spec. */
static int sizes_check(const char *text, const struct weft_shape *shapes,
		       uint32_t n, struct weft_error *err)
{
	struct weft_error first = {0};
	struct weft_spec spec;

	for (uint32_t s = 0; s < n; s++) {
		if (weft_spec_text_parse(text, &spec, err) < 0)
			return -1;
		if (weft_spec_resolve(&spec, shapes[s].n_gpus, &first) == 0)
			return 0;
	}
	return first.code ? refuse(&first, err) : 0;
}

/* Only these may keep a job from a fabric that has enough GPUs; without them
 * stock knows better whether a job can ever run. */
static bool is_bound(const char *text)
{
	struct weft_spec spec;

	return weft_spec_text_parse(text, &spec, NULL) == 0 &&
	       (spec.within[0] || spec.segment || spec.n_split);
}

/* Whether the job, laid out as `shape`, has no place on the empty fabric;
 * why[]: in the words of the first such answer.  What weft cannot build it will
 * not place, either: such a job runs, with a note.  A search that may have been
 * cut short has proved nothing. */
static bool never_fits(struct weft_desk *desk,
		       const struct weft_request *request,
		       const struct weft_shape *shape, char *why, size_t size)
{
	const double budget_s = desk->bridge.settings->budget_s;
	struct weft_placement p = {0};
	double start_s = weft_worked_s(), granted_s = budget_s;
	bool never;

	if (shape->n_gpus > MAX_TRIED_GPUS)
		return false;
	if (weft_deadline() > 0)
		granted_s = fmin(budget_s, weft_deadline_left());
	never = weft_bridge_place(&desk->bridge, request, shape, &desk->empty,
				  budget_s, &p, NULL) == 0 &&
		!p.placed && weft_worked_s() - start_s < granted_s / 2;
	if (!why[0] && p.n_why)
		snprintf(why, size, "%s", p.why[0]);
	weft_placement_free(&p);
	return never;
}

static int room_check(struct weft_desk *desk,
		      const struct weft_request *request,
		      const struct weft_shape *shapes, uint32_t n,
		      struct weft_error *err)
{
	const struct weft_settings *settings = desk->bridge.settings;
	char why[sizeof(((struct weft_placement *)0)->why[0])] = "";

	if (!settings || !settings->fabric || !is_bound(request->spec))
		return 0;
	for (uint32_t s = 0; s < n; s++)
		if (!never_fits(desk, request, &shapes[s], why, sizeof(why)))
			return 0;
	if (!n || (desk->lacks_nodes && desk->lacks_nodes(settings->fabric)))
		return 0;
	return weft_fail(err, WEFT_EINVAL, "can never be placed: %s",
			 why[0] ? why : "no set of nodes suits the spec");
}

int weft_desk_check(struct weft_desk *desk, const struct weft_request *request,
		    struct weft_error *err)
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	uint32_t n;

	if (words_check(desk->bridge.settings, request->spec, err) < 0 ||
	    shapes_check(request, shapes, &n, err) < 0 ||
	    sizes_check(request->spec, shapes, n, err) < 0)
		return -1;
	return room_check(desk, request, shapes, n, err);
}
