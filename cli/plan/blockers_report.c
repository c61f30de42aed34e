/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers_report.c - what stands between a job and a better place, in JSON */
#include "cli/plan/blockers_report.h"

#include "cli/json.h"
#include "cli/report.h"

static json_t *relief_json(const struct request *request,
			   const struct weft_relief *relief)
{
	const struct weft_running *jobs = request->running.jobs;

	if (relief->job == WEFT_NONE)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "job",
			 report_string(jobs[relief->job].id), "remaining_s",
			 json_real_or_null(relief->remaining_s), "cost",
			 json_real_or_null(relief->cost));
}

json_t *blockers_json(const struct request *request,
		      const struct weft_blockers *o)
{
	json_t *blockers = json_array();

	for (uint32_t i = 0; i < o->n_blockers; i++)
		json_array_append_new(
			blockers,
			report_string(request->running.jobs[o->blocker[i]].id));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "ideal_cost",
			 json_real_or_null(o->ideal), "blockers", blockers,
			 "alone", relief_json(request, &o->alone), "fits",
			 relief_json(request, &o->fits), "good",
			 relief_json(request, &o->good));
}
