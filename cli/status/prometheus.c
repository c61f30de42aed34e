/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prometheus.c - metrics in Prometheus' text format, version 0.0.4 */
#include "cli/status/status.h"

#include "cli/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define WEEK_S (7 * 86400.0)

/* Causes that are no fallbacks: weft chose, or was not to. */
static const char *const no_fallbacks[] = {"narrowed", "observed", "pass",
					   "no-spec", "unwanted"};

static void head(FILE *out, const char *name, const char *type,
		 const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: backslash, quote and line feed are escaped. */
static void label(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void sample(FILE *out, const char *name, const char *key,
		   const char *text, double value)
{
	fprintf(out, "%s{%s=\"", name, key);
	label(out, text);
	fprintf(out, "\"} %.12g\n", value);
}

/* ---- metrics ---- */

static void put_info(FILE *out, const struct status *status)
{
	head(out, "weft_info", "gauge",
	     "Release of weft and name of the fabric.");
	fputs("weft_info{version=\"", out);
	label(out, status->snapshot.root ? status->snapshot.version : "");
	fputs("\",fabric=\"", out);
	label(out, status->fabric->name);
	fputs("\"} 1\n", out);
	head(out, "weft_up", "gauge",
	     "Whether the status file of the Slurm plugin could be read.");
	fprintf(out, "weft_up %d\n", status->snapshot.root ? 1 : 0);
	if (!status->snapshot.root)
		return;
	head(out, "weft_status_written_timestamp_seconds", "gauge",
	     "When the Slurm plugin last wrote its status file.");
	fprintf(out, "weft_status_written_timestamp_seconds %.3f\n",
		status->snapshot.written_s);
}

static bool is_fallback(const char *cause)
{
	for (size_t i = 0; i < sizeof(no_fallbacks) / sizeof(no_fallbacks[0]);
	     i++)
		if (strcmp(cause, no_fallbacks[i]) == 0)
			return false;
	return true;
}

static void put_decisions(FILE *out, const struct status *status)
{
	json_t *decisions = status->snapshot.decisions, *value;
	const char *cause;

	head(out, "weft_decisions_total", "counter",
	     "Questions of Slurm's by what became of them.");
	json_object_foreach(decisions, cause, value)
		sample(out, "weft_decisions_total", "cause", cause,
		       json_number_value(value));
	head(out, "weft_fallbacks_total", "counter",
	     "Decisions that were left to stock Slurm, by cause.");
	json_object_foreach(decisions, cause, value) if (is_fallback(cause))
		sample(out, "weft_fallbacks_total", "cause", cause,
		       json_number_value(value));
	head(out, "weft_troubles_total", "counter",
	     "What should never happen and did, by kind.");
	json_object_foreach(status->snapshot.troubles, cause, value)
		sample(out, "weft_troubles_total", "kind", cause,
		       json_number_value(value));
}

static void put_planning(FILE *out, const struct status *status)
{
	json_t *planning = status->snapshot.planning, *step;
	double n = 0;
	size_t i;

	head(out, "weft_decision_seconds", "histogram",
	     "Time that weft itself took for a decision.");
	json_array_foreach(json_object_get(planning, "up_to"), i, step)
	{
		json_t *limit = json_object_get(step, "s");

		n += json_number_value(json_object_get(step, "n"));
		if (limit)
			fprintf(out,
				"weft_decision_seconds_bucket{le=\"%g\"} "
				"%.12g\n",
				json_number_value(limit), n);
	}
	fprintf(out, "weft_decision_seconds_bucket{le=\"+Inf\"} %.12g\n", n);
	fprintf(out, "weft_decision_seconds_sum %.9g\n",
		json_number_value(json_object_get(planning, "sum_s")));
	fprintf(out, "weft_decision_seconds_count %.12g\n", n);
}

static void put_domain(FILE *out, const char *name, const struct status *status,
		       uint32_t domain, uint32_t value)
{
	const struct weft_fabric *f = status->fabric;

	fprintf(out, "%s{level=\"", name);
	label(out, f->levels[f->domains[domain].level].name);
	fputs("\",domain=\"", out);
	label(out, f->domains[domain].name);
	fprintf(out, "\"} %u\n", value);
}

/* Domains above the nodes: nodes have exporters of their own. */
static void put_domains(FILE *out, const struct status *status, bool largest,
			const char *name)
{
	const struct weft_fabric *f = status->fabric;

	for (uint32_t l = f->node_level + 1; l < f->n_levels; l++)
		for (uint32_t i = 0; i < f->levels[l].n_domains; i++) {
			uint32_t d = f->levels[l].first_domain + i;
			uint32_t n_free, most;

			room_domain(&status->occupancy, d, &n_free, &most);
			put_domain(out, name, status, d,
				   largest ? most : n_free);
		}
}

static void put_free(FILE *out, const struct status *status)
{
	const struct room *c = &status->room;

	head(out, "weft_gpus", "gauge", "GPUs of the fabric.");
	fprintf(out, "weft_gpus %u\n", status->fabric->n_gpus);
	head(out, "weft_free_gpus", "gauge",
	     "GPUs that a job could be given now.");
	fprintf(out, "weft_free_gpus %u\n", c->n_free);
	head(out, "weft_domain_free_gpus", "gauge",
	     "GPUs of a domain that a job could be given now.");
	put_domains(out, status, false, "weft_domain_free_gpus");
	head(out, "weft_domain_largest_fit_gpus", "gauge",
	     "GPUs of the largest job that fits into a domain now.");
	put_domains(out, status, true, "weft_domain_largest_fit_gpus");
}

/* All users may read metrics, but not the status file. */
static bool is_private(const struct status *status)
{
	struct stat about;

	return stat(status->site.status_path, &about) == 0 &&
	       !(about.st_mode & S_IROTH);
}

static void put_jobs(FILE *out, const struct status *status)
{
	json_t *job;
	size_t i;

	head(out, "weft_waiting_jobs", "gauge", "GPU jobs that wait.");
	fprintf(out, "weft_waiting_jobs %u\n", status->n_waiting);
	if (is_private(status))
		return;
	head(out, "weft_job_cost_ratio", "gauge",
	     "Cost of a running job over the least that was possible.");
	json_array_foreach(status->snapshot.jobs, i, job)
	{
		double cost = json_number_value(json_object_get(job, "cost"));
		double bound = json_number_value(json_object_get(job, "bound"));
		char id[32];

		snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(json_object_get(job, "job")));
		if (cost > 0 && bound > 0)
			sample(out, "weft_job_cost_ratio", "job", id,
			       cost / bound);
	}
}

/* One metric of the last seven days, by mode. */
static void put_week(FILE *out, const char *name, const char *help,
		     double observed, double placed)
{
	head(out, name, "gauge", help);
	sample(out, name, "mode", saved_mode_names[SAVED_OBSERVE], observed);
	sample(out, name, "mode", saved_mode_names[SAVED_PLACE], placed);
}

#define OF_BOTH(member) sums[SAVED_OBSERVE].member, sums[SAVED_PLACE].member

static void put_saved(FILE *out, const struct saved *saved)
{
	double since_s = (double)time(NULL) - WEEK_S;
	struct saved_sum sums[SAVED_N_MODES];

	for (int mode = 0; mode < SAVED_N_MODES; mode++)
		saved_sum(saved, (enum saved_mode)mode, since_s,
			  (double)INFINITY, &sums[mode]);
	put_week(out, "weft_week_jobs",
		 "GPU jobs that weft looked at and that started in the last "
		 "seven days.",
		 OF_BOTH(n_jobs));
	put_week(out, "weft_week_compared_jobs",
		 "Those of which stock's nodes and weft's were compared.",
		 OF_BOTH(n_compared));
	put_week(out, "weft_week_compared_gpu_seconds",
		 "GPU time of those that have ended.", OF_BOTH(compared_gpu_s));
	put_week(out, "weft_week_saved_gpu_seconds",
		 "GPU time that weft's nodes save of it, by predicted steps.",
		 OF_BOTH(saved_gpu_s));
	put_week(out, "weft_week_saved_at_most_gpu_seconds",
		 "The same of jobs without a model, whose steps are not "
		 "predicted, at most.",
		 OF_BOTH(at_most_gpu_s));
}

static void put_kinds(FILE *out, const char *name, const char *help,
		      const uint32_t n[PROMISE_N_KINDS])
{
	head(out, name, "gauge", help);
	for (int k = 0; k < PROMISE_N_KINDS; k++)
		sample(out, name, "kind", promise_names[k], n[k]);
}

static void put_promises(FILE *out, const struct promises *p)
{
	put_kinds(out, "weft_kept_promises",
		  "What running jobs asked of their nodes and have.",
		  p->n_kept);
	put_kinds(out, "weft_broken_promises",
		  "What running jobs asked of their nodes and do not have.",
		  p->n_broken);
}

static void put_status(FILE *out, const struct status *status)
{
	put_info(out, status);
	put_free(out, status);
	put_promises(out, &status->promises);
	if (!status->snapshot.root)
		return;
	put_decisions(out, status);
	put_planning(out, status);
	put_jobs(out, status);
}

static void put_all(FILE *out, const struct status *status,
		    const struct saved *saved)
{
	if (status)
		put_status(out, status);
	if (saved)
		put_saved(out, saved);
}

/* ---- the file ---- */

/* A collector must not see half a file, and reads only *.prom. */
int prometheus_write(const struct status *status, const struct saved *saved,
		     const char *path, struct weft_error *err)
{
	struct output file;
	int rc;

	if (strcmp(path, "-") == 0) {
		put_all(stdout, status, saved);
		return 0;
	}
	rc = output_open(&file, path, NULL);
	if (rc == 0) {
		put_all(file.out, status, saved);
		/* what is written as it is keeps its mode */
		rc = file.part ? fchmod(fileno(file.out), 0644) : 0;
		rc = output_close(&file, rc, NULL);
	}
	if (rc)
		weft_fail_at(err, WEFT_EIO, path, 0, 0, "cannot be written: %s",
			     strerror(errno));
	return rc;
}
