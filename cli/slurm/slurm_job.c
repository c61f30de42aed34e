/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_job.c - reading one job's record */
#include "cli/slurm/slurm_job.h"

#include "cli/command.h"
#include "cli/slurm/slurm_fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OURS "weft:"

/* A value ends before the next " Key="; comments have blanks inside. */
static size_t text_length(const char *text)
{
	size_t end = strcspn(text, "\n");

	for (size_t i = 0; i < end; i++) {
		size_t k = i + 1;

		if (text[i] != ' ' || !isupper((unsigned char)text[k]))
			continue;
		while (isalnum((unsigned char)text[k]) || text[k] == '_' ||
		       text[k] == '/' || text[k] == ':')
			k++;
		if (text[k] == '=')
			end = i;
	}
	while (end && text[end - 1] == ' ')
		end--;
	return end;
}

static void field_copy(const char *record, const char *key, bool blanks,
		       char *to, size_t size)
{
	const char *value = slurm_field(record, key);
	size_t length = 0;

	if (value)
		length = blanks ? text_length(value) : strcspn(value, " \n");
	if (length >= size)
		length = size - 1;
	memcpy(to, value ? value : "", length);
	to[length] = '\0';
	if (strcmp(to, "(null)") == 0 || strcmp(to, "Unknown") == 0)
		to[0] = '\0';
}

/* Count of "gres:gpu:h100:4", "gres/gpu=4", "gpu:4". */
static uint32_t tres_gpus(const char *record, const char *key)
{
	char text[256], *gpu, *end;
	unsigned long n;

	field_copy(record, key, false, text, sizeof(text));
	gpu = strstr(text, "gpu");
	if (!gpu)
		return 0;
	gpu[strcspn(gpu, ",")] = '\0';
	end = strrchr(gpu, '=');
	if (!end)
		end = strrchr(gpu, ':');
	if (!end || !isdigit((unsigned char)end[1]))
		return 1;
	n = strtoul(end + 1, NULL, 10);
	return n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* weft's part of a SystemComment, and the spec in it. */
static void said_read(const char *record, struct slurm_job *job)
{
	char all[SLURM_JOB_TEXT], *part, *end;
	const char *spec;

	field_copy(record, "SystemComment", true, all, sizeof(all));
	part = strstr(all, OURS);
	if (!part)
		return;
	end = strstr(part, " | ");
	if (end)
		*end = '\0';
	snprintf(job->said, sizeof(job->said), "%s", part);
	spec = strstr(job->said, "; spec=");
	if (!spec)
		return;
	spec += strlen("; spec=");
	snprintf(job->spec, sizeof(job->spec), "%.*s", (int)strcspn(spec, ";"),
		 spec);
	job->has_spec = true;
}

static void spec_read(const char *record, struct slurm_job *job)
{
	char comment[SLURM_JOB_TEXT];
	const char *text = comment + strlen(OURS);

	field_copy(record, "Comment", true, comment, sizeof(comment));
	if (job->has_spec || strncmp(comment, OURS, strlen(OURS)) != 0)
		return;
	text += strspn(text, " ");
	if (strcmp(text, "off") == 0)
		return;
	snprintf(job->spec, sizeof(job->spec), "%s", text);
	job->has_spec = true;
}

/* What Slurm writes with underscores for blanks where it is a sentence. */
static void reason_read(const char *record, struct slurm_job *job)
{
	field_copy(record, "Reason", false, job->reason, sizeof(job->reason));
	if (strncmp(job->reason, OURS, strlen(OURS)) == 0)
		for (char *c = job->reason; *c; c++)
			if (*c == '_')
				*c = ' ';
}

static void size_read(const char *record, struct slurm_job *job)
{
	const char *nodes = slurm_field(record, "NumNodes");
	uint32_t per_task = tres_gpus(record, "TresPerTask");
	const char *tasks = slurm_field(record, "NumTasks");
	char *end;

	if (nodes) {
		job->min_nodes = (uint32_t)strtoul(nodes, &end, 10);
		job->max_nodes = job->min_nodes;
		if (*end == '-')
			job->max_nodes = (uint32_t)strtoul(end + 1, NULL, 10);
	}
	job->gpus_per_node = tres_gpus(record, "TresPerNode");
	job->n_gpus = tres_gpus(record, "JOB_GRES");
	if (!job->n_gpus)
		job->n_gpus = tres_gpus(record, "TresPerJob");
	if (!job->n_gpus)
		job->n_gpus = job->min_nodes * job->gpus_per_node;
	if (!job->n_gpus && tasks)
		job->n_gpus = per_task * (uint32_t)strtoul(tasks, NULL, 10);
}

void slurm_job_parse(const char *record, struct slurm_job *job)
{
	static const char *const running[] = {"RUNNING", "COMPLETING",
					      "CONFIGURING", "SUSPENDED"};

	memset(job, 0, sizeof(*job));
	field_copy(record, "JobId", false, job->id, sizeof(job->id));
	field_copy(record, "JobState", false, job->state, sizeof(job->state));
	field_copy(record, "NodeList", false, job->nodes, sizeof(job->nodes));
	field_copy(record, "SubmitTime", false, job->submitted,
		   sizeof(job->submitted));
	field_copy(record, "StartTime", false, job->started,
		   sizeof(job->started));
	reason_read(record, job);
	said_read(record, job);
	spec_read(record, job);
	size_read(record, job);
	job->waits = strncmp(job->state, "PENDING", 7) == 0;
	for (size_t i = 0; i < sizeof(running) / sizeof(running[0]); i++)
		job->runs |= strncmp(job->state, running[i],
				     strlen(running[i])) == 0;
}

int slurm_job_read(const char *id, struct slurm_job *job,
		   struct weft_error *err)
{
	char command[128], *line = NULL;
	size_t size = 0;
	FILE *in;
	bool found;

	/* The only text of the user's that reaches a shell. */
	if (!id[0] || strspn(id, "0123456789_+") != strlen(id) ||
	    strlen(id) > 30)
		return weft_fail(err, WEFT_EINVAL,
				 "\"%.40s\" is no job: expected its number, "
				 "N_M of an array or N+M of a heterogeneous "
				 "job",
				 id);
	snprintf(command, sizeof(command),
		 "scontrol --oneliner --details show job %s", id);
	in = command_open(command, err);
	if (!in)
		return -1;
	found = getline(&line, &size, in) > 0;
	if (found)
		slurm_job_parse(line, job);
	while (getline(&line, &size, in) > 0)
		;
	free(line);
	if (pclose(in) == 0 && found && job->id[0])
		return 0;
	return weft_fail(err, WEFT_EIO,
			 "\"%s\" shows no job; is it known yet, Slurm "
			 "running, and SLURM_CONF right?",
			 command);
}
