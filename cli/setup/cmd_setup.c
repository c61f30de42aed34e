/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_setup.c - weft setup: from the cluster to mode observe */
#include "config.h" /* first: vasprintf is GNU */

#include "cli/cmd.h"
#include "cli/report.h"
#include "cli/setup/setup.h"
#include "topology/audit/audit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CONF "/etc/slurm/slurm.conf"
#define MAX_DAYS     366

#define QUESTION struct setup

static const struct option_row options[] = {
	{"into", 0, "FOLDER",
	 "where fabric.yaml and weft.yaml go (default: that of slurm.conf)", 0,
	 TEXT(into)},
	{"srun", 0, NULL,
	 "ask one node of each kind what joins its GPUs, by a job of a minute",
	 0, FLAG(srun)},
	{"days", 0, "N",
	 "try the jobs of the last N days (default: 7; 0: none)", 0,
	 WHOLE(days, 0, MAX_DAYS)},
	{"dry-run", 0, NULL, "write and remove nothing", 0, FLAG(dry_run)},
	{"undo", 0, NULL, "take back what setup has written", 0, FLAG(undo)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

int setup_command_add(struct setup *s, bool ran, struct weft_error *err,
		      const char *format, ...)
{
	struct setup_command *more = weft_realloc(
		s->commands, s->n_commands + (size_t)1, sizeof(*more), err);
	va_list args;
	int n;

	if (!more)
		return -1;
	s->commands = more;
	va_start(args, format);
	n = vasprintf(&more[s->n_commands].text, format, args);
	va_end(args);
	if (n < 0)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	more[s->n_commands].ran = ran;
	if (ran && !s->json)
		printf("$ %s\n", more[s->n_commands].text);
	s->n_commands++;
	return fflush(stdout) ? -1 : 0;
}

/* The folder of slurm.conf, as slurmctld names it. */
static int folder_choose(struct setup *s, struct weft_error *err)
{
	const char *conf = getenv("SLURM_CONF");
	char told[PATH_MAX] = "", *slash;

	if (s->config.text)
		slurm_config_value(&s->config, "SLURM_CONF", told,
				   sizeof(told));
	if (!told[0])
		snprintf(told, sizeof(told), "%s",
			 conf && *conf ? conf : DEFAULT_CONF);
	slash = strrchr(told, '/');
	if (slash)
		*slash = '\0';
	snprintf(s->folder, sizeof(s->folder), "%s",
		 s->into	 ? s->into
		 : slash == told ? "/"
		 : slash	 ? told
				 : ".");
	return s->folder[0]
		       ? 0
		       : weft_fail(err, WEFT_EINVAL, "--into: an empty name");
}

/* What several sources say differently, and what was assumed. */
static int sources_tell(struct setup *s, struct weft_error *err)
{
	const struct weft_findings *f = &s->sources.inventory.findings;
	uint32_t n = 0;
	const char *first = NULL;

	for (uint32_t i = 0; i < f->n; i++) {
		if (f->item[i].id == WEFT_FINDING_CONFLICT) {
			first = first ? first : f->item[i].text;
			n++;
		} else if ((f->item[i].id == WEFT_FINDING_PROFILE_ASSUMED ||
			    f->item[i].id == WEFT_FINDING_GPUS_UNKNOWN) &&
			   checks_add(&s->checks, "assumed", true, err, "%s",
				      f->item[i].text)) {
			return -1;
		}
	}
	return checks_add(&s->checks, "conflicts", n == 0, err,
			  n ? "%u, the first: %s" : "none between %u sources",
			  n ? n : s->sources.inventory.n_sources, first);
}

static int fabric_tell(struct setup *s, struct weft_error *err)
{
	const struct weft_fabric *f = s->sources.fabric;
	char levels[200] = "";
	size_t n = 0;

	for (uint32_t l = f->node_level + 1;
	     l < f->n_levels && n < sizeof(levels); l++)
		n += (size_t)snprintf(levels + n, sizeof(levels) - n,
				      ", %u %s%s", f->levels[l].n_domains,
				      f->levels[l].name,
				      f->levels[l].n_domains == 1 ? "" : "s");
	return checks_add(&s->checks, "fabric", true, err,
			  "%u nodes, %u GPUs%s", f->n_nodes, f->n_gpus, levels);
}

static int audit_tell(struct setup *s, struct weft_error *err)
{
	struct weft_findings findings = {0};
	struct weft_audit audit = {
		.inventory = &s->sources.inventory,
		.hierarchy = s->sources.hierarchy,
		.findings = &findings,
	};
	int rc = weft_audit_cabling(&audit, err) || weft_audit_run(&audit, err)
			 ? -1
			 : 0;
	uint32_t errors = weft_findings_count(&findings, WEFT_ERROR);
	uint32_t warnings = weft_findings_count(&findings, WEFT_WARNING);

	if (rc == 0)
		rc = checks_add(&s->checks, "audit", errors == 0, err,
				"%u errors, %u warnings%s%s%s%s", errors,
				warnings, findings.n ? "; the first: " : "",
				findings.n ? findings.item[0].place : "",
				findings.n && findings.item[0].place[0] ? " "
									: "",
				findings.n ? findings.item[0].text : "");
	weft_findings_free(&findings);
	return rc;
}

static int run(struct setup *s, struct weft_error *err)
{
	if (s->undo) {
		slurm_config_read(&s->config, NULL);
		return folder_choose(s, err) || setup_files_undo(s, err) ||
				       setup_disable(s, err)
			       ? -1
			       : 0;
	}
	if (setup_collect(s, err) || folder_choose(s, err) ||
	    sources_load(&s->sources, err))
		return -1;
	weft_findings_sort(&s->sources.inventory.findings);
	if (fabric_tell(s, err) || sources_tell(s, err) || audit_tell(s, err) ||
	    setup_files_write(s, err) || (s->days && setup_jobs(s, err)))
		return -1;
	return setup_enable(s, err);
}

static int answer_json(const struct setup *s, struct weft_error *err)
{
	json_t *commands = json_array();

	for (uint32_t i = 0; i < s->n_commands; i++)
		json_array_append_new(
			commands, json_pack("{s:o, s:b}", "command",
					    report_string(s->commands[i].text),
					    "ran", s->commands[i].ran));
	return report_print(
		json_pack("{s:s, s:o, s:o}", "schema", "weft.setup/1", "checks",
			  checks_json(&s->checks), "commands", commands),
		err);
}

static int answer(const struct setup *s, struct weft_error *err)
{
	bool some = false;

	if (s->json)
		return answer_json(s, err);
	checks_print(&s->checks);
	for (uint32_t i = 0; i < s->n_commands; i++) {
		if (s->commands[i].ran)
			continue;
		if (!some)
			puts("\nLeft to do, as root on slurmctld's host:");
		some = true;
		printf("    %s\n", s->commands[i].text);
	}
	return 0;
}

static void setup_free(struct setup *s)
{
	sources_free(&s->sources);
	weft_inventory_free(&s->nodes);
	slurm_config_free(&s->config);
	checks_free(&s->checks);
	for (uint32_t i = 0; i < s->n_commands; i++)
		free(s->commands[i].text);
	free(s->commands);
}

int cmd_setup(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.shared = &sources_line,
		.in_order = true,
		.arguments = "[--from FORMAT [NODES=]FILE...]",
		.doc = "Asks Slurm, the network and the cloud what the cluster "
		       "is, writes a fabric and a weft.yaml that only "
		       "observes, tries last week's jobs, and says what is "
		       "left to do.  Every command is shown; none changes the "
		       "cluster.",
	};
	struct setup s = {.days = 7};
	struct weft_error err = {0};
	int code = EXIT_YES;

	command_line_read(&line, argc, argv, &s);
	report_start();
	if (run(&s, &err) || answer(&s, &err))
		code = cmd_fail(&err);
	else if (checks_failed(&s.checks))
		code = EXIT_NEGATIVE;
	setup_free(&s);
	return code;
}
