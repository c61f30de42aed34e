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
	json_object_set_new(object, "matched", json_integer(w->n_matched));
	json_object_set_new(object, "last", json_integer(w->n_last));
	json_object_set_new(object, "waited_s", json_real(w->waited_s));
	json_object_set_new(object, "caused_s", json_real(w->caused_s));
	json_object_set_new(object, "clock_ahead_s",
			    json_real_or_null(w->clock_s));
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
	json_object_set_new(
		object, "start_s",
		json_real(1e-9 * (double)(c->start_ns - o->first_ns)));
	json_object_set_new(object, "time_s", json_real(o->time_each_s[i]));
	json_object_set_new(object, "exposed_s",
			    json_real(o->exposed_each_s[i]));
	json_object_set_new(object, "delay_s", known(o->delay_each_s[i]));
	json_object_set_new(object, "wait_s", known(a->waits.wait_s[r][i]));
	json_object_set_new(object, "algorithm",
			    *c->how ? json_string(c->how) : json_null());
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
			json_object_set_new(axes,
					    i < WEFT_N_AXES ? weft_axis_names[i]
							    : "unknown",
					    json_real(x->axis_bytes[i]));
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
	json_object_set_new(object, "steps", json_integer(a->n_steps));
	json_object_set_new(object, "traces", traces_json(a));
	json_object_set_new(object, "ranks", ranks_json(a));
	json_object_set_new(object, "matched_collectives",
			    json_integer(a->waits.n_matches));
	json_object_set_new(object, "waits", waits_json(a));
	json_object_set_new(object, "matrix", matrix_json(a));
	json_object_set_new(object, "advice", advice_json(a));
	json_object_set_new(object, "collectives", collectives_json(a));
	return report_print(object, err);
}
