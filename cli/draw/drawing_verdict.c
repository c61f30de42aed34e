/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing_verdict.c - how good the place of a job is, in a few words */
#include "cli/draw/drawing_parts.h"
#include "placement/place.h"

#include <math.h>

/* Smaller differences count as none. */
#define SAME 0.005
/* The search on the empty cluster goes on for so long at most. */
#define SEARCH_BUDGET_S 2

/* Seconds of a step where the job names its model, else the cost in the job's
 * metric. */
static double value_of(const struct drawing *d,
		       const struct weft_evaluation *evaluation)
{
	return drawing_is_predicted(d)
		       ? evaluation->step.step_s
		       : evaluation->cost.total[d->request.objective.metric];
}

/* The least of the same job alone on the empty cluster; NAN: not known. */
static int empty_find(const struct drawing *d, double *least,
		      struct weft_error *err)
{
	const struct request *request = &d->request;
	struct weft_objective objective = request->objective;
	const struct weft_place_options options = {
		.objective = &objective,
		.budget_s = SEARCH_BUDGET_S,
	};
	struct weft_evaluation alone = {.gpu = request->gpu,
					.exact_sharing = true};
	struct weft_placement p = {0};
	struct weft_occupancy o = {0};
	struct weft_error why = {0};
	int rc = -1;

	*least = (double)NAN;
	objective.load = NULL;
	if (weft_occupancy_build(request->fabric, &o, err))
		goto out;
	rc = weft_place(request->fabric, &request->job, &o, &options, &p, &why);
	if (rc == 0 && p.placed)
		rc = weft_evaluate(request->fabric, &request->job, p.where,
				   NULL, &alone, &why);
	if (rc == 0 && p.placed)
		*least = value_of(d, &alone);
	if (rc)
		rc = weft_fail(err, why.code, "%s", why.text);
out:
	weft_placement_free(&p);
	weft_occupancy_free(&o);
	return rc;
}

int drawing_verdict(struct drawing *d, const char **verdict, const char **note,
		    struct weft_error *err)
{
	bool proven = d->gap <= SAME;
	double here = value_of(d, &d->evaluation), least, more;

	*note = "";
	if (empty_find(d, &least, err))
		return -1;
	more = least > 0 ? here / least - 1 : 0;
	if (more > SAME && proven)
		*note = "proven: no placement on what is free is better";
	if (more > SAME)
		*verdict = drawing_text(
			d, err, "%.*f %% %s than on an empty cluster",
			more < 0.1 ? 1 : 0, 100 * more,
			drawing_is_predicted(d) ? "slower" : "dearer");
	else
		*verdict = proven ? "as good as can be"
				  : "as good as on an empty cluster";
	return *verdict ? 0 : -1;
}
