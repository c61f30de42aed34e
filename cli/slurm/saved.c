/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved.c - reading the plugin's records, and summing them up */
#include "cli/slurm/saved.h"
#include "cli/json.h"
#include "cli/slurm/slurm_config.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_NAME "weft-records"

const char *const saved_mode_names[SAVED_N_MODES] = {
	[SAVED_OBSERVE] = "observe",
	[SAVED_PLACE] = "place",
};

/* ---- reading ---- */

/* A record: of a start, or of an end, which goes with the last start.  latest:
 * jobs by their numbers. */
static void take(struct saved *saved, json_t *latest, json_t *record)
{
	char id[32];
	json_t *before;

	snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(record, "job")));
	before = json_object_get(latest, id);
	if (json_object_get(record, "end_s")) {
		if (before && !json_object_get(before, "end_s"))
			json_object_set(before, "end_s",
					json_object_get(record, "end_s"));
		return;
	}
	/* Written twice, where a disk was full or a file system hung. */
	if (before && json_number_of(before, "start_s") ==
			      json_number_of(record, "start_s"))
		return;
	json_array_append(saved->jobs, record);
	json_object_set(latest, id, record);
}

static void read_lines(struct saved *saved, json_t *latest, FILE *in)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		if (json_is_integer(json_object_get(record, "job")) &&
		    json_is_number(json_object_get(record, "start_s")))
			take(saved, latest, record);
		else
			saved->n_broken++;
		json_decref(record);
	}
	free(line);
}

/* 0 where there is no such file and it may be missing. */
static int read_file(struct saved *saved, json_t *latest, const char *path,
		     bool may_be_missing, struct weft_error *err)
{
	FILE *in = fopen(path, "re");

	if (!in && errno == ENOENT && may_be_missing)
		return 0;
	if (!in)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	read_lines(saved, latest, in);
	fclose(in);
	return 0;
}

/* In the folder that Slurm names; malloc'ed. */
static char *default_path(struct weft_error *err)
{
	struct slurm_config config = {0};
	char folder[PATH_MAX] = "", *path = NULL;

	if (slurm_config_read(&config, NULL) == 0)
		slurm_config_value(&config, "StateSaveLocation", folder,
				   sizeof(folder));
	slurm_config_free(&config);
	if (!folder[0])
		weft_fail(err, WEFT_EIO,
			  "\"scontrol show config\" shows no "
			  "StateSaveLocation; where are the records? Give "
			  "--saved=FILE");
	else
		path = weft_calloc(strlen(folder) + sizeof("/" RECORDS_NAME), 1,
				   err);
	if (path)
		sprintf(path, "%s/" RECORDS_NAME, folder);
	return path;
}

int saved_load(const char *path, struct saved *saved, struct weft_error *err)
{
	json_t *latest = json_object();
	char *aside = NULL;
	size_t size;
	int rc = -1;

	memset(saved, 0, sizeof(*saved));
	saved->jobs = json_array();
	saved->path = path ? weft_strdup(path, err) : default_path(err);
	size = saved->path ? strlen(saved->path) + sizeof(".1") : 0;
	if (saved->path)
		aside = weft_calloc(size, 1, err);
	if (aside) {
		snprintf(aside, size, "%s.1", saved->path);
		rc = read_file(saved, latest, aside, true, err);
	}
	if (rc == 0)
		rc = read_file(saved, latest, saved->path, false, err);
	free(aside);
	json_decref(latest);
	return rc;
}

void saved_free(struct saved *saved)
{
	free(saved->path);
	json_decref(saved->jobs);
	memset(saved, 0, sizeof(*saved));
}

/* ---- sums ---- */

static enum saved_mode mode_of(json_t *job)
{
	const char *cause = json_string_value(json_object_get(job, "cause"));

	return cause && strcmp(cause, "observed") == 0 ? SAVED_OBSERVE
						       : SAVED_PLACE;
}

double saved_gain(json_t *job)
{
	json_t *gain = json_object_get(json_object_get(job, "gain"), "gain");

	return json_is_number(gain) ? json_number_value(gain) : (double)NAN;
}

static void add_job(json_t *job, struct saved_sum *sum)
{
	json_t *gain = json_object_get(job, "gain");
	double end_s = json_number_of(job, "end_s"), share = saved_gain(job);
	double gpu_s =
		end_s > 0 ? json_number_of(job, "gpus") *
				    fmax(0,
					 end_s - json_number_of(job, "start_s"))
			  : 0;

	sum->n_jobs++;
	sum->gpu_s += gpu_s;
	if (isnan(share))
		return;
	sum->n_compared++;
	sum->compared_gpu_s += gpu_s;
	if (json_number_of(gain, "share") == 1)
		sum->saved_gpu_s += share * gpu_s;
	else
		sum->at_most_gpu_s += share * gpu_s;
}

void saved_sum(const struct saved *saved, enum saved_mode mode, double from_s,
	       double to_s, struct saved_sum *sum)
{
	json_t *job;
	size_t i;

	memset(sum, 0, sizeof(*sum));
	json_array_foreach(saved->jobs, i, job)
	{
		double start_s = json_number_of(job, "start_s");

		if (mode_of(job) == mode && start_s >= from_s && start_s < to_s)
			add_job(job, sum);
	}
}
