/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_users.c - what users meet: the option, variables, ranks */
#include "cli/command.h"
#include "cli/setup/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int doctor_option(struct doctor *d, bool *go_on, struct weft_error *err)
{
	char *help = command_read("sbatch --help 2>&1", NULL, NULL);
	bool has = help && strstr(help, "--weft=");
	bool needed = strcmp(d->mode, "place") == 0;
	char path[PATH_MAX];

	(void)go_on;
	free(help);
	slurm_config_value(&d->config, "PlugStackConfig", path, sizeof(path));
	return checks_add(&d->checks, "plugstack", has || !needed, err,
			  has ? "sbatch has the option --weft (%s)"
			      : "sbatch has no option --weft: \"optional "
				"weft_spank.so\" is missing in %s, or the "
				"plugin is not in PluginDir; ranks stay in "
				"Slurm's order",
			  path[0] ? path : "plugstack.conf");
}

/* The weft that PATH has first is this one. */
static int path_check(struct doctor *d, struct weft_error *err)
{
	char *first = command_read("command -v weft", NULL, NULL);
	char own[PATH_MAX] = "", other[PATH_MAX] = "";
	bool same;

	if (first)
		first[strcspn(first, "\n")] = '\0';
	if (!first || !realpath(first, other) ||
	    !realpath("/proc/self/exe", own)) {
		free(first);
		return checks_add(&d->checks, "path", true, err,
				  "weft is not in PATH");
	}
	same = strcmp(own, other) == 0;
	free(first);
	return checks_add(&d->checks, "path", same, err,
			  same ? "%s is the first weft in PATH"
			       : "%s is the first weft in PATH, not this one",
			  other);
}

int doctor_environment(struct doctor *d, bool *go_on, struct weft_error *err)
{
	const char *fabric = getenv("WEFT_FABRIC");
	const char *spec = getenv("WEFT_SPEC");

	(void)go_on;
	if (path_check(d, err))
		return -1;
	return checks_add(&d->checks, "environment", !spec || !*spec, err,
			  spec && *spec ? "WEFT_SPEC is set here: each job "
					  "submitted from here has it"
			  : fabric && *fabric
				  ? "WEFT_FABRIC is set here, and goes before "
				    "the fabric that weft.yaml names"
				  : "no variable of weft's is set");
}

#define RANKS_TASKS 2
#define RANKS_COMMAND                                                          \
	"timeout 120 salloc --quiet --nodes=2 --ntasks-per-node=1 "            \
	"--gpus-per-node=1 --time=1 --immediate=60 "                           \
	"--weft=tp=1,dp=2,env=torch "

/* Tasks of a step say what they were given: on the nodes the plugin wrote it.
 */
static int ranks_ask(struct doctor *d, struct weft_error *err)
{
	char *text = command_read(RANKS_COMMAND
				  "srun sh -c 'echo task $SLURM_PROCID "
				  "rank ${RANK:-none} of ${WORLD_SIZE:-none}' "
				  "2>/dev/null",
				  NULL, NULL);
	uint32_t good = 0, said = 0;

	for (const char *at = text; at && (at = strstr(at, "task ")); at++) {
		unsigned task, rank, world;

		said++;
		good += sscanf(at, "task %u rank %u of %u", &task, &rank,
			       &world) == 3 &&
			task == rank && world == RANKS_TASKS;
	}
	free(text);
	return checks_add(&d->checks, "ranks", good == RANKS_TASKS, err,
			  said ? "%u of %u tasks on the nodes have the rank "
				 "that weft gave them"
			       : "no step of 2 nodes ran within a minute; %u "
				 "of %u tasks answered",
			  good, RANKS_TASKS);
}

int doctor_ranks(struct doctor *d, bool *go_on, struct weft_error *err)
{
	(void)go_on;
	if (strcmp(d->mode, "place") != 0)
		return checks_add(&d->checks, "ranks", true, err,
				  "mode %s: weft orders no ranks", d->mode);
	if (!d->srun)
		return checks_add(&d->checks, "ranks", true, err,
				  "not tried; --srun starts a job on two "
				  "nodes, for a minute at most");
	return ranks_ask(d, err);
}
