/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wishes.c - the job without one of its wishes, and how much less it costs */
#include "cli/plan/wishes.h"
#include "costmodel/job/spec_words.h"

#include <stdio.h>
#include <string.h>

/* A saving below this share is not worth a line. */
#define WORTH 0.01
/* Larger jobs are placed once only. */
#define MOST_GPUS 16384

static const char *const wishes[] = {"segment", "split", "spread", "within",
				     "prefer"};
#define N_WISHES (sizeof(wishes) / sizeof(wishes[0]))

/* Copies the spec without the entry of that key, which goes to entry. */
static void spec_without(const char *spec, const char *key, char *rest,
			 char *entry)
{
	size_t used = 0;

	rest[0] = entry[0] = '\0';
	while (*spec) {
		size_t n = strcspn(spec, ",");
		size_t name = strspn(spec, " ");
		char folded[WEFT_SPEC_WORD_SIZE] = "";
		size_t length = strcspn(spec + name, "= ,");

		weft_spec_word_fold(spec + name, length, folded);
		if (strcmp(folded, key) == 0)
			snprintf(entry, WEFT_SPEC_MAX_BYTES, "%.*s", (int)n,
				 spec);
		else
			used += (size_t)snprintf(
				rest + used, WEFT_SPEC_MAX_BYTES + 1 - used,
				"%s%.*s", used ? "," : "", (int)n, spec);
		spec += n;
		spec += *spec == ',';
	}
}

static int wish_price(const struct request *request, const char *spec,
		      const char *wish,
		      const struct weft_place_options *options,
		      struct weft_placement *placement, struct weft_error *err)
{
	struct weft_placement other = {0};
	struct weft_error why = {0};
	struct weft_job job;
	double with = placement->cost.total[placement->metric], without;
	int rc = 0;

	if (weft_job_build(spec, 0, true, request->fabric, &job, &why)) {
		weft_job_free(&job);
		return why.code == WEFT_ENOMEM
			       ? weft_fail(err, why.code, "%s", why.text)
			       : 0;
	}
	rc = weft_place(request->fabric, &job, &request->occupancy, options,
			&other, err);
	without = rc || !other.placed ? with : other.cost.total[other.metric];
	if (with > 0 && without < with * (1 - WORTH))
		weft_placement_explain(placement,
				       "%s costs: without it the job would "
				       "cost %.0f %% less",
				       wish, 100 * (1 - without / with));
	weft_placement_free(&other);
	weft_job_free(&job);
	return rc;
}

int wishes_explain(const struct request *request,
		   const struct weft_place_options *options,
		   struct weft_placement *placement, struct weft_error *err)
{
	struct weft_place_options quick = *options;
	char rest[WEFT_SPEC_MAX_BYTES + 1], entry[WEFT_SPEC_MAX_BYTES];

	if (!placement->placed || placement->n_ranks > MOST_GPUS ||
	    options->strategy)
		return 0;
	quick.progress = NULL;
	quick.certificate = NULL;
	for (size_t w = 0; w < N_WISHES; w++) {
		if (!weft_spec_given(&request->job.spec, wishes[w]))
			continue;
		spec_without(request->job_text, wishes[w], rest, entry);
		if (entry[0] &&
		    wish_price(request, rest, entry, &quick, placement, err))
			return -1;
	}
	return 0;
}
