/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - prints calibrations as a table, JSON, or links of a fabric */
#include "lab/calibrate/calibration.h"

#include "base/size.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of many flaws the table shows this many; JSON has all. */
#define MAX_FLAWS_SHOWN 10

static const char *collective_name(enum weft_collective collective)
{
	return collective < WEFT_N_COLLECTIVES
		       ? weft_collective_names[collective]
		       : "unknown";
}

static const char *level_name(const struct calibration_view *view,
			      const struct weft_calibration_entry *entry)
{
	if (!entry->n_nodes)
		return "";
	return entry->n_nodes == 1 ? "nvlink" : view->level;
}

/* One prediction after the other; `next` 0 begins. */
struct prediction {
	const struct weft_calibration_entry *entry;
	uint32_t n_nodes;
	double size_bytes, time_s;
	enum weft_calibration_basis basis;
};

/* On the nodes asked for, prints each collective (of a system) once: by its
 * first entry. */
static bool first_of_kind(const struct weft_calibration *c, uint32_t index)
{
	const struct weft_calibration_entry *e = &c->entries[index];

	for (uint32_t i = 0; i < index; i++) {
		if (c->entries[i].fitted && c->entries[i].n_nodes &&
		    c->entries[i].collective == e->collective &&
		    strcmp(c->entries[i].label, e->label) == 0)
			return false;
	}
	return e->n_nodes != 0;
}

static bool prediction_next(const struct calibration_view *view,
			    const struct weft_calibration *c, uint32_t *next,
			    struct prediction *p)
{
	uint32_t n_nodes = view->n_nodes ? view->n_nodes : 1;

	while (view->n_sizes) {
		uint32_t at = (*next)++;
		uint32_t size = at % view->n_sizes;
		uint32_t node = at / view->n_sizes % n_nodes;
		uint32_t entry = at / view->n_sizes / n_nodes;

		if (entry >= c->n_entries)
			break;
		p->entry = &c->entries[entry];
		if (!p->entry->fitted ||
		    (view->n_nodes && !first_of_kind(c, entry)))
			continue;
		p->size_bytes = view->sizes[size];
		p->n_nodes =
			view->n_nodes ? view->nodes[node] : p->entry->n_nodes;
		p->time_s = view->n_nodes ? weft_calibration_time(
						    c, p->entry->label,
						    p->entry->collective,
						    p->n_nodes, p->size_bytes)
					  : weft_curve_time(&p->entry->curve,
							    p->size_bytes);
		p->basis = view->n_nodes
				   ? weft_calibration_basis(
					     c, p->entry->label,
					     p->entry->collective, p->n_nodes)
				   : WEFT_CALIBRATION_MEASURED;
		return true;
	}
	return false;
}

static json_t *json_count(uint32_t n)
{
	return n ? json_integer(n) : json_null();
}

static void json_add_curve(json_t *object,
			   const struct weft_calibration_entry *e)
{
	const struct weft_curve *curve = &e->curve;
	const struct {
		const char *key;
		double value;
	} figures[] = {
		{"latency_s",
		 curve->latency_seen ? curve->latency_s : (double)NAN},
		{"fill_s", curve->fill_s},
		{"algbw_bytes_per_s", curve->rate_bytes_per_s},
		{"busbw_bytes_per_s", curve->rate_bytes_per_s * e->bus_factor},
		{"peak_busbw_bytes_per_s",
		 curve->peak_bytes_per_s * e->bus_factor},
		{"mape_pct", curve->mape_pct},
		{"median_err_pct", curve->median_pct},
		{"worst_err_pct", curve->worst_pct},
		{"holdout_small_pct", e->holdout_small_pct},
		{"holdout_large_pct", e->holdout_large_pct},
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		JSON_PUT(object, figures[i].key, figures[i].value);
	JSON_PUT(object, "rate_reached", curve->rate_reached);
	JSON_PUT(object, "outliers", curve->n_outliers);
	JSON_PUT(object, "scattered_sizes", curve->n_scattered);
	JSON_PUT(object, "smallest_bytes", curve->smallest_bytes);
	JSON_PUT(object, "largest_bytes", curve->largest_bytes);
}

static json_t *json_entry(const struct calibration_view *view,
			  const struct weft_calibration_entry *e)
{
	json_t *object = json_pack(
		"{s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:f}", "system",
		json_text_or_null(e->label), "collective",
		collective_name(e->collective), "level",
		json_text_or_null(level_name(view, e)), "ranks",
		json_count(e->n_ranks), "nodes", json_count(e->n_nodes), "runs",
		(json_int_t)e->n_runs, "rows", (json_int_t)e->n_rows, "sizes",
		(json_int_t)e->curve.n_sizes, "wrong_rows",
		(json_int_t)e->n_wrong, "bus_factor", e->bus_factor);

	if (object && e->fitted)
		json_add_curve(object, e);
	else if (object)
		JSON_PUT(object, "refusal", e->refusal);
	return object;
}

static json_t *json_entries(const struct calibration_view *view,
			    const struct weft_calibration *c, bool fitted)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < c->n_entries; i++) {
		if (c->entries[i].fitted == fitted)
			json_array_append_new(list,
					      json_entry(view, &c->entries[i]));
	}
	return list;
}

static json_t *json_shares(const struct weft_calibration *c,
			   const struct weft_calibration_link *link)
{
	struct weft_rate_share shares[WEFT_MAX_SHARES];
	uint32_t n = weft_calibration_shares(c, link, shares);
	json_t *list = json_array();

	for (uint32_t k = 0; k < n; k++)
		json_array_append_new(list,
				      json_pack("[f,f]", shares[k].size_bytes,
						shares[k].share));
	return list;
}

static json_t *json_fabric(const struct calibration_view *view,
			   const struct weft_calibration *c)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < c->n_links; i++) {
		const struct weft_calibration_link *link = &c->links[i];
		const struct weft_calibration_entry *from =
			&c->entries[link->rate_entry];

		json_array_append_new(
			list,
			json_pack("{s:s, s:f, s:o, s:b, s:s, s:I, s:I, s:o}",
				  "level", level_name(view, from),
				  "rate_bytes_per_s", link->rate_bytes_per_s,
				  "latency_s",
				  json_real_or_null(link->latency_s),
				  "rate_is_lower_bound", link->rate_is_bound,
				  "from_collective",
				  collective_name(from->collective),
				  "from_ranks", (json_int_t)from->n_ranks,
				  "from_nodes", (json_int_t)from->n_nodes,
				  "shares", json_shares(c, link)));
	}
	return list;
}

static json_t *json_flaws(const struct calibration_view *view)
{
	json_t *list = json_array();

	for (size_t i = 0; i < view->n_logs; i++) {
		const struct weft_nccl_log *log = &view->logs[i];

		for (uint32_t k = 0; k < log->n_flaws; k++)
			json_array_append_new(
				list, json_pack("{s:s, s:I, s:s}", "file",
						log->source, "line",
						(json_int_t)log->flaws[k].line,
						"text", log->flaws[k].why));
	}
	return list;
}

static json_t *json_predictions(const struct calibration_view *view,
				const struct weft_calibration *c)
{
	json_t *list = json_array();
	struct prediction p;
	uint32_t next = 0;

	while (prediction_next(view, c, &next, &p))
		json_array_append_new(
			list,
			json_pack("{s:o, s:s, s:o, s:f, s:o, s:s}", "system",
				  json_text_or_null(p.entry->label),
				  "collective",
				  collective_name(p.entry->collective), "nodes",
				  json_count(p.n_nodes), "size_bytes",
				  p.size_bytes, "time_s",
				  json_real_or_null(p.time_s), "basis",
				  weft_calibration_basis_names[p.basis]));
	return list;
}

static int print_json(const struct calibration_view *view,
		      const struct weft_calibration *c, struct weft_error *err)
{
	uint32_t n_runs = 0, n_rows = 0, n_partial = 0;

	for (size_t i = 0; i < view->n_logs; i++) {
		n_runs += view->logs[i].n_runs;
		n_rows += view->logs[i].n_rows;
		for (uint32_t r = 0; r < view->logs[i].n_runs; r++)
			n_partial += !view->logs[i].runs[r].complete;
	}
	return report_print(
		json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
			  "s:o}",
			  "schema", "weft.calibrate/1", "files",
			  (json_int_t)view->n_logs, "runs", (json_int_t)n_runs,
			  "partial_runs", (json_int_t)n_partial, "rows",
			  (json_int_t)n_rows, "mape_pct",
			  json_real_or_null(c->mape_pct), "links",
			  json_entries(view, c, true), "fabric_links",
			  json_fabric(view, c), "refused",
			  json_entries(view, c, false), "unused_rows",
			  json_flaws(view), "predictions",
			  json_predictions(view, c)),
		err);
}

/* A switch that adds up makes it faster than the links are. */
static bool may_be_added_up(const struct weft_calibration_entry *from)
{
	return from->n_nodes == 1 && from->collective == WEFT_ALL_REDUCE;
}

static const char *number_or_dash(double value, const char *format,
				  char *buffer, size_t size)
{
	if (!isfinite(value))
		return "-";
	if (!format)
		return weft_quantity_text(value, "s", buffer, size);
	snprintf(buffer, size, "%.1f", value);
	return buffer;
}

static void print_entry(const struct weft_calibration_entry *e)
{
	const struct weft_curve *curve = &e->curve;
	double latency = curve->latency_seen ? curve->latency_s : (double)NAN;
	char ranks[32], shown[32], small[32], large[32];

	if (e->n_nodes)
		snprintf(ranks, sizeof(ranks), "%u/%u", e->n_ranks, e->n_nodes);
	else
		snprintf(ranks, sizeof(ranks), "%u/?", e->n_ranks);
	printf("%-15s %10s %5u %9s %9s %11s%s %6.1f %6s %6s\n",
	       collective_name(e->collective), ranks, curve->n_sizes,
	       number_or_dash(latency, NULL, shown, sizeof(shown)),
	       IN_UNIT(curve->fill_s < 1e-9 ? 0 : curve->fill_s, "s"),
	       IN_UNIT(curve->rate_bytes_per_s * e->bus_factor, "B/s"),
	       curve->rate_reached ? " " : "+", curve->mape_pct,
	       number_or_dash(e->holdout_small_pct, "%", small, sizeof(small)),
	       number_or_dash(e->holdout_large_pct, "%", large, sizeof(large)));
}

static void print_table(const struct weft_calibration *c)
{
	const char *label = "";

	if (c->n_fitted)
		printf("%-15s %10s %5s %9s %9s %12s %6s %6s %6s\n",
		       "collective", "GPUs/nodes", "sizes", "latency", "fill",
		       "bus rate", "MAPE %", "<1MiB", ">=1MiB");
	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];

		if (!e->fitted)
			continue;
		if (strcmp(label, e->label) != 0)
			printf("%s\n", e->label);
		label = e->label;
		print_entry(e);
	}
}

/* What a fit does not show by its figures. */
static void print_doubts(const struct weft_calibration *c)
{
	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];

		if (!e->fitted || e->curve.n_scattered * 4 < e->curve.n_sizes)
			continue;
		printf("%s on %u GPUs: of %u sizes, %u were measured twice as "
		       "slow another time: are these runs of one setting?\n",
		       collective_name(e->collective), e->n_ranks,
		       e->curve.n_sizes, e->curve.n_scattered);
	}
}

static void print_refused(FILE *out, const char *lead,
			  const struct weft_calibration *c)
{
	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];

		if (e->fitted)
			continue;
		fprintf(out, "%snot fitted: %s%s%s", lead, e->label,
			e->label[0] ? ", " : "",
			collective_name(e->collective));
		if (e->n_ranks)
			fprintf(out, " on %u GPUs", e->n_ranks);
		fprintf(out, ": %s\n", e->refusal);
	}
}

static void print_flaws(const struct calibration_view *view)
{
	for (size_t i = 0; i < view->n_logs; i++) {
		const struct weft_nccl_log *log = &view->logs[i];

		for (uint32_t k = 0; k < log->n_flaws; k++) {
			if (k == MAX_FLAWS_SHOWN) {
				printf("%s: %u more rows not used\n",
				       log->source, log->n_flaws - k);
				break;
			}
			printf("%s:%u: row not used: %s\n", log->source,
			       log->flaws[k].line, log->flaws[k].why);
		}
		for (uint32_t r = 0; r < log->n_runs; r++) {
			if (!log->runs[r].complete && log->runs[r].n_rows)
				printf("%s:%u: this run did not end; its %u "
				       "rows are used\n",
				       log->source, log->runs[r].line,
				       log->runs[r].n_rows);
		}
	}
}

static void print_predictions(const struct calibration_view *view,
			      const struct weft_calibration *c)
{
	static const char *const notes[WEFT_N_CALIBRATION_BASES] = {
		[WEFT_CALIBRATION_BETWEEN] = " (from fewer and more nodes)",
		[WEFT_CALIBRATION_BEYOND] =
			" (beyond the numbers of nodes that were measured)",
		[WEFT_CALIBRATION_SINGLE] =
			" (a guess: one number of nodes was measured)",
	};
	struct prediction p;
	uint32_t next = 0;
	char time[32];

	while (prediction_next(view, c, &next, &p)) {
		printf("%s%s%s of %.0f bytes", p.entry->label,
		       p.entry->label[0] ? ": " : "",
		       collective_name(p.entry->collective), p.size_bytes);
		if (p.n_nodes)
			printf(" on %u node%s", p.n_nodes,
			       p.n_nodes == 1 ? "" : "s");
		printf(": %s%s\n",
		       number_or_dash(p.time_s, NULL, time, sizeof(time)),
		       notes[p.basis] ? notes[p.basis] : "");
	}
}

static void print_text(const struct calibration_view *view,
		       const struct weft_calibration *c)
{
	print_table(c);
	for (uint32_t i = 0; i < c->n_links; i++) {
		const struct weft_calibration_link *link = &c->links[i];

		printf("link %s: %s%s per GPU",
		       level_name(view, &c->entries[link->rate_entry]),
		       link->rate_is_bound ? "at least " : "",
		       IN_UNIT(link->rate_bytes_per_s, "B/s"));
		if (isfinite(link->latency_s))
			printf(", %s", IN_UNIT(link->latency_s, "s"));
		printf("%s\n",
		       may_be_added_up(&c->entries[link->rate_entry])
			       ? " (an all-reduce; switches that add up "
				 "make it look faster)"
			       : "");
	}
	print_predictions(view, c);
	print_doubts(c);
	print_refused(stdout, "", c);
	print_flaws(view);
}

/* "64MiB", or bytes where that is not all of it. */
static void size_print(double bytes)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}};

	for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
		if (fmod(bytes, units[k].bytes) == 0) {
			printf("%.0f%s", bytes / units[k].bytes, units[k].name);
			return;
		}
	}
	printf("%.0fB", bytes);
}

static void print_shares(const struct weft_calibration *c,
			 const struct weft_calibration_link *link)
{
	struct weft_rate_share shares[WEFT_MAX_SHARES];
	uint32_t n = weft_calibration_shares(c, link, shares);

	for (uint32_t k = 0; k < n; k++) {
		if (k == 0)
			printf(",\n    shares: {");
		else
			printf(k % 4 ? ", " : ",\n      ");
		size_print(shares[k].size_bytes);
		printf(": %.4g", shares[k].share);
	}
	if (n)
		putchar('}');
}

static void print_yaml(const struct calibration_view *view,
		       const struct weft_calibration *c)
{
	print_refused(stdout, "# ", c);
	if (!c->n_links) {
		printf("# no links: nothing was fitted whose nodes are "
		       "known\n");
		return;
	}
	printf("links:\n");
	for (uint32_t i = 0; i < c->n_links; i++) {
		const struct weft_calibration_link *link = &c->links[i];
		const struct weft_calibration_entry *from =
			&c->entries[link->rate_entry];

		bool fast = link->rate_bytes_per_s >= 1e8;

		printf("  # %s on %u GPUs, %u node%s; line fits to %.1f "
		       "%%%s%s\n"
		       "  %s: {bandwidth: %.4f %s",
		       collective_name(from->collective), from->n_ranks,
		       from->n_nodes, from->n_nodes == 1 ? "" : "s",
		       from->curve.mape_pct,
		       link->rate_is_bound ? "; a lower bound" : "",
		       may_be_added_up(from)
			       ? "; switches that add up make it look faster"
			       : "",
		       level_name(view, from),
		       link->rate_bytes_per_s * (fast ? 1e-9 : 1e-3),
		       fast ? "GB/s" : "kB/s");
		if (isfinite(link->latency_s))
			printf(", latency: %.3f us", link->latency_s * 1e6);
		print_shares(c, link);
		printf("}\n");
	}
}

int calibration_print(const struct calibration_view *view,
		      const struct weft_calibration *calibration,
		      struct weft_error *err)
{
	if (view->json)
		return print_json(view, calibration, err);
	if (view->yaml)
		print_yaml(view, calibration);
	else
		print_text(view, calibration);
	return 0;
}
