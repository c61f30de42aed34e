/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setup.h - weft setup: from what a cluster says to mode observe
 *
 * Collecting only reads.  What is written goes into one folder, never over a
 * file that setup has not written itself, and is on record there, so that it
 * can be taken back.
 */
#ifndef WEFT_CLI_SETUP_SETUP_H
#define WEFT_CLI_SETUP_SETUP_H

#include "cli/fabric/sources.h"
#include "cli/setup/checks.h"
#include "cli/slurm/slurm_config.h"

#include <limits.h>

/* What setup ran, or leaves to the admin. */
struct setup_command {
	bool ran;
	char *text;
};

struct setup {
	/* options */
	struct sources sources;
	const char *into;
	uint32_t days;
	bool dry_run, undo, srun, json;
	/* what became of them */
	struct slurm_config config;
	char cluster[64];	     /* its name, as Slurm has it */
	struct weft_inventory nodes; /* as Slurm lists them */
	char folder[PATH_MAX];	     /* where files go */
	char fabric_path[PATH_MAX + 32];
	bool written; /* fabric_path is there */
	struct checks checks;
	struct setup_command *commands;
	uint32_t n_commands;
};

/* A command on record: printed at once for people when it is run. */
int setup_command_add(struct setup *s, bool ran, struct weft_error *err,
		      const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* setup_collect.c: Slurm, InfiniBand, clouds, insides of nodes, and the files
 * that the caller names, into s->sources.  -1 with err where there is nothing
 * to make a fabric from. */
int setup_collect(struct setup *s, struct weft_error *err);

/* setup_jobs.c: the jobs of the last days, as sacct has them, replayed on the
 * fabric under Slurm's rule and weft's. */
int setup_jobs(struct setup *s, struct weft_error *err);

/* setup_files.c: writes fabric and weft.yaml; takes them back. */
int setup_files_write(struct setup *s, struct weft_error *err);
int setup_files_undo(struct setup *s, struct weft_error *err);

/* setup_enable.c: what is left to do as root on slurmctld's host, or to undo:
 * commands, none of which is run. */
int setup_enable(struct setup *s, struct weft_error *err);
int setup_disable(struct setup *s, struct weft_error *err);

#endif
