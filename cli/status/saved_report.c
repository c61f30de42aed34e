/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_report.c - the report on records for people and for programs */
#include "base/size.h"
#include "cli/json.h"
#include "cli/slurm/saved.h"

#include "cli/report.h"

#include <math.h>
#include <string.h>

#define WEEK_S (7 * 86400.0)

/* The epoch began on a Thursday. */
#define MONDAY_S (4 * 86400.0)

/* Jobs of the text; more are left to --json. */
#define MAX_LISTED 40

/* Weeks of the report; older ones are in the last. */
#define MAX_WEEKS 520

static double week_of(double at_s)
{
	return floor((at_s - MONDAY_S) / WEEK_S) * WEEK_S + MONDAY_S;
}

/* "2026-11-16T09:12" */
#define DATE_SIZE 32

static void date_text(double at_s, char text[DATE_SIZE])
{
	time_t at = (time_t)at_s;
	struct tm tm;

	if (!gmtime_r(&at, &tm) ||
	    !strftime(text, DATE_SIZE, "%Y-%m-%dT%H:%M", &tm))
		text[0] = '\0';
}

/* Calls use for each week and mode that has jobs, oldest first. */
static void each_sum(const struct saved *saved,
		     void (*use)(void *arg, double week_s, enum saved_mode mode,
				 const struct saved_sum *sum),
		     void *arg)
{
	double first_s = INFINITY, last_s = -INFINITY;
	json_t *job;
	size_t i;

	json_array_foreach(saved->jobs, i, job)
	{
		first_s =
			fmin(first_s, week_of(json_number_of(job, "start_s")));
		last_s = fmax(last_s, week_of(json_number_of(job, "start_s")));
	}
	first_s = fmax(first_s, last_s - MAX_WEEKS * WEEK_S);
	for (double week_s = first_s; week_s <= last_s; week_s += WEEK_S)
		for (int mode = 0; mode < SAVED_N_MODES; mode++) {
			struct saved_sum sum;

			saved_sum(saved, (enum saved_mode)mode, week_s,
				  week_s + WEEK_S, &sum);
			if (sum.n_jobs)
				use(arg, week_s, (enum saved_mode)mode, &sum);
		}
}

/* A row of the table for people, or of that of the page. */
static void week_print(void *arg, double week_s, enum saved_mode mode,
		       const struct saved_sum *sum)
{
	const bool *html = arg;
	double saved_s = sum->saved_gpu_s + sum->at_most_gpu_s;
	char date[DATE_SIZE];

	date_text(week_s, date);
	date[10] = '\0';
	printf(*html ? "<tr><td>%s</td><td>%s</td><td>%u</td><td>%u</td>"
		       "<td>%.1f</td><td>%.1f</td><td>"
		     : "  %-10s  %-8s %6u %9u %11.1f %11.1f",
	       date, saved_mode_names[mode], sum->n_jobs, sum->n_compared,
	       sum->gpu_s / 3600, saved_s / 3600);
	if (sum->compared_gpu_s > 0)
		printf("%s%s%.1f %%", *html ? "" : "  ",
		       sum->at_most_gpu_s != 0 ? "up to " : "",
		       100 * saved_s / sum->compared_gpu_s);
	puts(*html ? "</td></tr>" : "");
}

/* ---- text ---- */

/* " step 3.43 s, with weft 2.39 s: 30.3 %" */
static void gain_print(json_t *job)
{
	json_t *gain = json_object_get(job, "gain");
	const char *basis = json_text_of(gain, "basis");
	char key[64], here[32], stock[32];
	double share = saved_gain(job);

	if (isnan(share)) {
		printf("  not compared: %s",
		       json_is_true(json_object_get(gain, "late"))
			       ? "it would have taken too long"
		       : json_text_of(job, "reason")[0]
			       ? json_text_of(job, "reason")
			       : "nothing is known");
		return;
	}
	snprintf(key, sizeof(key), "%.40s_s", basis);
	weft_quantity_text(json_number_of(gain, key), "s", here, sizeof(here));
	snprintf(key, sizeof(key), "stock_%.40s_s", basis);
	weft_quantity_text(json_number_of(gain, key), "s", stock,
			   sizeof(stock));
	printf("  %s %s, with weft %s: ", basis, stock, here);
	if (json_is_false(json_object_get(gain, "matters")))
		printf("any nodes");
	else
		printf("%s%.1f %%",
		       json_number_of(gain, "share") == 1 ? "" : "up to ",
		       100 * share);
}

static void job_print(json_t *job)
{
	char date[DATE_SIZE];

	date_text(json_number_of(job, "start_s"), date);
	printf("  %-10lld %s %5lld GPUs",
	       (long long)json_integer_value(json_object_get(job, "job")), date,
	       (long long)json_integer_value(json_object_get(job, "gpus")));
	gain_print(job);
	if (json_text_of(job, "plan")[0] &&
	    strcmp(json_text_of(job, "plan"), json_text_of(job, "on")) != 0)
		printf("; on %s, weft: %s", json_text_of(job, "on"),
		       json_text_of(job, "plan"));
	putchar('\n');
}

void saved_text(const struct saved *saved)
{
	size_t n = json_array_size(saved->jobs), i;
	bool html = false;
	json_t *job;

	if (!n) {
		printf("%s has no job yet\n", saved->path);
		return;
	}
	puts("jobs by the week (UTC) in which they started; hours and what is "
	     "saved of them:\nof those that have ended\n"
	     "  week of     mode       jobs  compared   GPU hours    saved by "
	     "weft's nodes");
	each_sum(saved, week_print, &html);
	puts("\nobserve: what weft's nodes would have saved against those that "
	     "Slurm gave;\nplace: what they saved against those that Slurm "
	     "would have given");
	printf("\njobs%s:\n", n > MAX_LISTED ? ", the last of them" : "");
	json_array_foreach(saved->jobs, i, job) if (i + MAX_LISTED >= n)
		job_print(job);
	if (saved->n_broken)
		printf("\n%u line%s of %s cannot be read\n", saved->n_broken,
		       saved->n_broken == 1 ? "" : "s", saved->path);
}

/* ---- HTML ---- */

void saved_html(const struct saved *saved)
{
	bool html = true;

	if (!json_array_size(saved->jobs))
		return;
	puts("<h2>What weft's nodes save, by the week</h2>\n"
	     "<p class=\"dim\">observe: would have saved against those that "
	     "Slurm gave; place: saved against those that Slurm would have "
	     "given. Of jobs that have ended.</p>\n"
	     "<table><tr><th>Week of</th><th>Mode</th><th>Jobs</th>"
	     "<th>Compared</th><th>GPU hours</th><th>Saved</th><th></th></tr>");
	each_sum(saved, week_print, &html);
	puts("</table>");
}

/* ---- JSON ---- */

static void week_json(void *arg, double week_s, enum saved_mode mode,
		      const struct saved_sum *sum)
{
	json_t *weeks = arg;
	char date[DATE_SIZE];

	date_text(week_s, date);
	date[10] = '\0';
	json_array_append_new(
		weeks,
		json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f}", "week",
			  date, "mode", saved_mode_names[mode], "jobs",
			  (json_int_t)sum->n_jobs, "compared",
			  (json_int_t)sum->n_compared, "gpu_s", sum->gpu_s,
			  "compared_gpu_s", sum->compared_gpu_s, "saved_gpu_s",
			  sum->saved_gpu_s, "saved_at_most_gpu_s",
			  sum->at_most_gpu_s));
}

int saved_json(const struct saved *saved, struct weft_error *err)
{
	json_t *weeks = json_array();

	each_sum(saved, week_json, weeks);
	return report_print(
		json_pack("{s:s, s:o, s:o, s:O, s:I}", "schema", "weft.saved/1",
			  "file", report_string(saved->path), "weeks", weeks,
			  "jobs", saved->jobs, "broken_lines",
			  (json_int_t)saved->n_broken),
		err);
}
