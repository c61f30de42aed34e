/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor.h - weft doctor: whether what runs is what was installed */
#ifndef WEFT_CLI_SETUP_DOCTOR_H
#define WEFT_CLI_SETUP_DOCTOR_H

#include "cli/setup/checks.h"
#include "cli/setup/plugin_file.h"
#include "cli/slurm/site.h"
#include "cli/slurm/slurm_config.h"
#include "cli/slurm/snapshot.h"
#include "topology/fabric.h"

/* What the checks share; each may use what those before it have found. */
struct doctor {
	bool srun; /* a small job may be started */
	struct checks checks;
	struct slurm_config config;
	char release[32]; /* of Slurm: "22.05.8" */
	bool named;	  /* select/cons_tres_weft, else shadow mode */
	struct plugin_file plugin;
	uid_t slurm_user;
	struct site site;
	bool has_site;
	char mode[16]; /* as weft.yaml says */
	struct weft_fabric *fabric;
	struct snapshot snapshot;
	bool has_snapshot;
};

/* One check, or more; -1 with err only where memory runs out.  *go_on: false
 * where nothing behind it can be looked at. */
struct doctor_check {
	const char *name;
	int (*run)(struct doctor *d, bool *go_on, struct weft_error *err);
};

/* doctor_daemon.c: Slurm, its plugins, the process that runs. */
int doctor_slurm(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_plugin(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_running(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_submit(struct doctor *d, bool *go_on, struct weft_error *err);

/* doctor_files.c: weft.yaml, the fabric, the status file. */
int doctor_settings(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_fabric(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_status(struct doctor *d, bool *go_on, struct weft_error *err);

/* doctor_users.c: the option, the environment, ranks. */
int doctor_option(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_environment(struct doctor *d, bool *go_on, struct weft_error *err);
int doctor_ranks(struct doctor *d, bool *go_on, struct weft_error *err);

#endif
