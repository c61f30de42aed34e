/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spank_weft.c - option --weft=SPEC of sbatch, salloc and srun
 *
 * Slurm itself carries a SPANK option to slurmctld with the job, where the
 * select plugin finds it; here it is only checked, so that a mistake shows at
 * submission.  The variable WEFT_SPEC stands in where the option is not given.
 */
#include "plugin/bridge/launch/spec_text.h"
#include "plugin/spank/spank_ranks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"

#include "slurm/spank.h"

/* Goes with jobs that an srun makes for its one step. */
#define ALONE_VARIABLE "WEFT_ALONE"

/* How Slurm tells a job's own srun which option the job was submitted with. */
#define OUTER_VARIABLE "SLURM_SPANK__SLURM_SPANK_OPTION_weft_weft"

SPANK_PLUGIN(weft, 1)

static int option_read(int value, const char *text, int remote);

/* Slurm's struct has no const. */
static char option_name[] = "weft";
static char option_argument[] = "SPEC";
static char option_usage[] =
	"parallelism of the job, by which weft chooses its nodes: "
	"tp=8,pp=2,dp=4,... (weft-spec(7)); off: leave them to Slurm";

static struct spank_option option = {
	.name = option_name,
	.arginfo = option_argument,
	.usage = option_usage,
	.has_arg = 1,
	.cb = option_read,
};

static bool option_given;

/* Slurm calls it once more on the nodes (remote), where all is settled. */
static int option_read(int value, const char *text, int remote)
{
	struct weft_error err = {0};
	char message[sizeof(err.text) + sizeof(err.source) + 64];

	(void)value;
	if (remote)
		return ESPANK_SUCCESS;
	option_given = true;
	if (weft_spec_text_check(text, &err) == 0)
		return ESPANK_SUCCESS;
	slurm_error("--weft: %s",
		    weft_error_text(&err, message, sizeof(message)));
	return ESPANK_BAD_ARG;
}

extern int slurm_spank_init(spank_t spank, int argc, char *argv[]);
extern int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[]);
extern int slurm_spank_task_init(spank_t spank, int argc, char *argv[]);

/* Not as Slurm's table spank_options, which sbatch and salloc do not read. */
extern int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	/* sbatch and salloc inside of a job make another job, which the spec of
	 * this one does not describe. */
	if (spank_context() == S_CTX_ALLOCATOR)
		unsetenv(OUTER_VARIABLE);
	return spank_option_register(spank, &option);
}

/* Without the option, the variable; it goes with the job as one of its own. */
static int variable_read(spank_t spank)
{
	struct weft_error err = {0};
	char message[sizeof(err.text) + sizeof(err.source) + 64];
	const char *text = getenv(WEFT_SPEC_VARIABLE);

	if (option_given || !text || !text[0])
		return ESPANK_SUCCESS;
	if (weft_spec_text_check(text, &err) < 0) {
		slurm_error(WEFT_SPEC_VARIABLE ": %s",
			    weft_error_text(&err, message, sizeof(message)));
		/* sbatch, salloc and srun go on after anything else. */
		return -1;
	}
	return spank_job_control_setenv(spank, WEFT_SPEC_VARIABLE, text, 1) ==
			       ESPANK_SUCCESS
		       ? ESPANK_SUCCESS
		       : ESPANK_ERROR;
}

extern int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
	enum spank_context context = spank_context();

	(void)argc;
	(void)argv;
	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR)
		return ESPANK_SUCCESS;
	/* srun inside of a job starts a step, whose nodes are settled. */
	if (context == S_CTX_LOCAL && getenv("SLURM_JOB_ID")) {
		weft_spank_order_step();
		return ESPANK_SUCCESS;
	}
	/* One outside makes job and step at once: slurmctld must know that the
	 * order of ranks comes too late for it. */
	if (context == S_CTX_LOCAL)
		spank_job_control_setenv(spank, ALONE_VARIABLE, "1", 1);
	return variable_read(spank);
}

extern int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	weft_spank_prepare_task(spank);
	return ESPANK_SUCCESS;
}
