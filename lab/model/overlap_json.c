/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap_json.c - the answer of weft model overlap for programs */
#include "cli/json.h"
#include "cli/report.h"
#include "lab/model/overlap.h"

/* -1 stands for "not known". */
static json_t *known(double value)
{
	return value >= 0 ? json_real(value) : json_null();
}

static json_t *positive(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

static json_t *count_or_null(uint32_t n)
{
	return n && n != WEFT_TRACE_NONE ? json_integer(n) : json_null();
}

static json_t *traces_json(const struct overlap_answer *a)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < a->n_files; i++) {
		const struct weft_trace *t = &a->traces[i];

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:i, s:o, s:o, s:i, s:i}",
					 "file", a->files[t->file], "format",
					 t->format, "rank", (int)t->rank,
					 "steps", count_or_null(t->n_steps),
					 "devices", count_or_null(t->n_devices),
					 "collectives", (int)t->n_collectives,
					 "skipped", (int)t->n_skipped));
	}
	return array;
}

static json_t *kinds_json(const struct overlap_answer *a, uint32_t r)
{
	const struct weft_overlap *o = &a->overlaps[r];
	json_t *array = json_array();

	for (uint32_t op = 0; op < WEFT_N_OPS; op++) {
		const struct weft_overlap_kind *kind = &o->kinds[op];
		double measured, model;

		if (!kind->n)
			continue;
		model = overlap_model_kind_s(a, r, op, &measured);
		json_array_append_new(
			array,
			json_pack("{s:s, s:i, s:f, s:f, s:f, s:o, s:o}",
				  "collective", weft_trace_op_names[op],
				  "count", (int)kind->n, "bytes", kind->bytes,
				  "time_s", kind->time_s, "exposed_s",
				  kind->exposed_s, "model_s", positive(model),
				  "measured_of_model_s",
				  positive(model > 0 ? measured : 0)));
	}
	return array;
}

static json_t *rank_json(const struct overlap_answer *a, uint32_t r)
{
	const struct weft_overlap *o = &a->overlaps[r];
	const struct weft_wait_rank *w = &a->waits.ranks[r];
	json_t *object = json_pack(
		"{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}",
		"rank", (int)a->traces[r].rank, "span_s", o->span_s,
		"tau_comp_s", o->compute_s, "tau_comm_s", o->comm_s,
		"tau_overlap_s", o->overlap_s, "eta_overlap", o->eta_overlap,
		"eta_of_shorter", overlap_eta_seed(o), "exposed_s",
		o->exposed_s, "copy_s", o->copy_s, "idle_s", o->idle_s,
		"unlaunched_s", known(o->unlaunched_s), "by_collective",
		kinds_json(a, r));

	if (!a->waits.n_matches || !object)
		return object;
	JSON_PUT(object, "matched", w->n_matched);
	JSON_PUT(object, "last", w->n_last);
	JSON_PUT(object, "waited_s", w->waited_s);
	JSON_PUT(object, "caused_s", w->caused_s);
	JSON_PUT(object, "clock_ahead_s", w->clock_s);
	return object;
}

static json_t *ranks_json(const struct overlap_answer *a)
{
	json_t *array = json_array();

	for (uint32_t r = 0; r < a->n_files; r++)
		json_array_append_new(array, rank_json(a, r));
	return array;
}

static json_t *collective_json(const struct overlap_answer *a, uint32_t r,
			       uint32_t i)
{
	const struct weft_trace *t = &a->traces[r];
	const struct weft_overlap *o = &a->overlaps[r];
	const struct weft_trace_collective *c = &t->collectives[i];
	bool has_times = c->start_ns != WEFT_TRACE_NO_TIME;
	json_t *object = json_pack(
		"{s:i, s:s, s:s?, s:o, s:o, s:o}", "rank", (int)t->rank,
		"collective", weft_trace_op_names[c->op], "group",
		c->group == WEFT_TRACE_NONE ? NULL : t->groups[c->group].name,
		"ranks", count_or_null(c->n_ranks), "bytes",
		positive(c->size_bytes), "model_s",
		positive(overlap_model_s(a, t, c)));

	if (!object || !has_times)
		return object;
	JSON_PUT(object, "start_s", 1e-9 * (double)(c->start_ns - o->first_ns));
	JSON_PUT(object, "time_s", o->time_each_s[i]);
	JSON_PUT(object, "exposed_s", o->exposed_each_s[i]);
	JSON_PUT(object, "delay_s", known(o->delay_each_s[i]));
	JSON_PUT(object, "wait_s", known(a->waits.wait_s[r][i]));
	JSON_PUT(object, "algorithm", json_text_or_null(c->how));
	return object;
}

static json_t *collectives_json(const struct overlap_answer *a)
{
	json_t *array = json_array();

	for (uint32_t r = 0; r < a->n_files; r++) {
		for (uint32_t i = 0; i < a->traces[r].n_collectives; i++)
			json_array_append_new(array, collective_json(a, r, i));
	}
	return array;
}

static json_t *waits_json(const struct overlap_answer *a)
{
	const struct weft_waits *w = &a->waits;
	json_t *array = json_array();

	for (size_t i = 0; i < w->n_pairs; i++) {
		const struct weft_wait_pair *p = &w->pairs[i];

		json_array_append_new(
			array, json_pack("{s:i, s:i, s:i, s:f}", "rank",
					 (int)a->traces[p->waiter].rank, "for",
					 (int)a->traces[p->last].rank, "count",
					 (int)p->n, "wait_s", p->wait_s));
	}
	return array;
}

static json_t *advice_json(const struct overlap_answer *a)
{
	json_t *array = json_array();

	for (int k = 0; k < WEFT_N_ADVICES; k++) {
		const struct weft_advice *advice = &a->advice[k];

		json_array_append_new(
			array,
			json_pack("{s:s, s:s, s:o, s:o, s:s}", "name",
				  weft_advice_names[advice->kind], "what",
				  advice->what, "gain_s",
				  advice->has_basis ? json_real(advice->gain_s)
						    : json_null(),
				  "gain_per_step_s",
				  advice->has_basis ? json_real(advice->gain_s /
								a->n_steps)
						    : json_null(),
				  "basis", advice->basis));
	}
	return array;
}

static json_t *matrix_json(const struct overlap_answer *a)
{
	const struct weft_exchange *x = &a->exchange;
	json_t *axes = json_object();

	for (int i = 0; i <= WEFT_N_AXES; i++) {
		if (x->axis_bytes[i] > 0)
			JSON_PUT(axes,
				 i < WEFT_N_AXES ? weft_axis_names[i]
						 : "unknown",
				 x->axis_bytes[i]);
	}
	return json_pack("{s:i, s:I, s:f, s:o, s:i, s:f}", "ranks",
			 (int)x->n_ranks, "pairs", (json_int_t)x->n_pairs,
			 "bytes_per_step", x->placed_bytes, "by_axis", axes,
			 "unplaced", (int)x->n_unplaced, "unplaced_bytes",
			 x->unplaced_bytes);
}

int overlap_print_json(const struct overlap_answer *a, struct weft_error *err)
{
	json_t *object = model_json("overlap");

	if (!object)
		return report_print(NULL, err);
	JSON_PUT(object, "steps", a->n_steps);
	JSON_PUT(object, "traces", traces_json(a));
	JSON_PUT(object, "ranks", ranks_json(a));
	JSON_PUT(object, "matched_collectives", a->waits.n_matches);
	JSON_PUT(object, "waits", waits_json(a));
	JSON_PUT(object, "matrix", matrix_json(a));
	JSON_PUT(object, "advice", advice_json(a));
	JSON_PUT(object, "collectives", collectives_json(a));
	return report_print(object, err);
}
