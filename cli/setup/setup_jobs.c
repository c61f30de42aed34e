/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setup_jobs.c - what weft would have done with the jobs of the last days: what
 * sacct prints, given to "weft replay"
 */
#include "cli/command.h"
#include "cli/setup/setup.h"
#include "cli/whole_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As many as a person waits for: those of the beginning of the time. */
#define MAX_JOBS 2000
/* Of one decision, so that large clusters do not take minutes. */
#define WORK_LIMIT 200000

/* The rule by which this Slurm chooses nodes. */
static const char *stock_policy(const struct setup *s)
{
	char plugin[64];

	slurm_config_value(&s->config, "TopologyPlugin", plugin,
			   sizeof(plugin));
	if (strcmp(plugin, "topology/tree") == 0)
		return "slurm-tree";
	return strcmp(plugin, "topology/block") == 0 ? "slurm-block"
						     : "first-fit";
}

/* Mean of steps over the ideal under the nth policy; 0: none was timed. */
static double ratio_of(const json_t *answer, size_t n)
{
	const json_t *policy =
		json_array_get(json_object_get(answer, "policies"), n);

	return json_number_value(json_object_get(
		json_object_get(policy, "multi_node"), "mean_step_ratio"));
}

static int replay_tell(struct setup *s, const json_t *answer,
		       struct weft_error *err)
{
	json_int_t jobs = json_integer_value(json_object_get(answer, "jobs"));
	double stock = ratio_of(answer, 0), weft = ratio_of(answer, 1);

	if (!answer)
		return checks_add(&s->checks, "jobs", true, err,
				  "past jobs are not tried: none with GPUs in "
				  "%u days, or weft-lab is not installed",
				  s->days);
	if (!(stock > 0 && weft > 0))
		return checks_add(&s->checks, "jobs", true, err,
				  "%lld jobs with GPUs in %u days, none of "
				  "several nodes with a step that can be "
				  "predicted: any place was as good",
				  (long long)jobs, s->days);
	return checks_add(&s->checks, "jobs", true, err,
			  "%lld jobs with GPUs in %u days: steps of those on "
			  "several nodes would take %.2f times the ideal as "
			  "Slurm places them (%s), %.2f with weft; what they "
			  "train is assumed, weft-replay(1)",
			  (long long)jobs, s->days, stock, stock_policy(s),
			  weft);
}

/* A file of its own below folder. */
static int text_put(const char *folder, const char *name, const char *text,
		    char path[PATH_MAX], struct weft_error *err)
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		return weft_fail(err, WEFT_EINVAL, "path is too long");
	return whole_file_write(path, text, err);
}

static int jobs_replay(struct setup *s, const char *jobs, const char *folder,
		       struct weft_error *err)
{
	char trace[PATH_MAX], fabric[PATH_MAX], self[PATH_MAX] = "";
	char command[4 * PATH_MAX], *text;
	json_t *answer;
	int rc;

	if (text_put(folder, "sacct", jobs, trace, err) ||
	    text_put(folder, "fabric.yaml", s->sources.text, fabric, err))
		return -1;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		snprintf(self, sizeof(self), "weft");
	snprintf(command, sizeof(command),
		 "'%s' replay --fabric %s --trace %s --policy %s,weft "
		 "--limit %u --work %u --json 2>/dev/null",
		 self, fabric, trace, stock_policy(s), MAX_JOBS, WORK_LIMIT);
	text = command_read(command, NULL, NULL);
	answer = text ? json_loads(text, 0, NULL) : NULL;
	rc = replay_tell(s, answer, err);
	json_decref(answer);
	free(text);
	unlink(trace);
	unlink(fabric);
	return rc;
}

/* The jobs as sacct prints them; NULL: it does not know any. */
static char *jobs_ask(struct setup *s, struct weft_error *err)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "timeout 120 sacct --allusers --allocations --parsable2 "
		 "--starttime=now-%udays --format=JobIDRaw,Submit,ElapsedRaw,"
		 "AllocTRES,Comment",
		 s->days);
	if (setup_command_add(s, true, err, "%s", command))
		return NULL;
	strncat(command, " 2>/dev/null", sizeof(command) - strlen(command) - 1);
	return command_read(command, NULL, NULL);
}

int setup_jobs(struct setup *s, struct weft_error *err)
{
	char folder[] = "/tmp/weft-setup.XXXXXX";
	char *jobs;
	int rc;

	if (!s->config.text || !command_exists("sacct"))
		return 0;
	jobs = jobs_ask(s, err);
	if (!jobs || !*jobs) {
		free(jobs);
		return checks_add(&s->checks, "jobs", true, err,
				  "sacct knows no jobs (no accounting here): "
				  "past jobs are not tried");
	}
	if (mkdtemp(folder)) {
		rc = jobs_replay(s, jobs, folder, err);
		rmdir(folder);
	} else {
		rc = weft_fail_at(err, WEFT_EIO, folder, 0, 0,
				  "cannot be made");
	}
	free(jobs);
	return rc;
}
