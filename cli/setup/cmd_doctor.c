/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_doctor.c - weft doctor: is what runs what was installed */
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/setup/doctor.h"

/* In the order in which one thing needs the other. */
static const struct doctor_check doctor_checks[] = {
	{"slurm", doctor_slurm},
	{"plugin", doctor_plugin},
	{"running", doctor_running},
	{"submit", doctor_submit},
	{"settings", doctor_settings},
	{"fabric", doctor_fabric},
	{"status", doctor_status},
	{"option", doctor_option},
	{"environment", doctor_environment},
	{"ranks", doctor_ranks},
};
#define N_CHECKS (sizeof(doctor_checks) / sizeof(doctor_checks[0]))

struct invocation {
	bool json;
	struct doctor doctor;
};

#define QUESTION struct invocation

static const struct option_row options[] = {
	{"srun", 0, NULL,
	 "start a small job on two nodes, to see whether its ranks arrive", 0,
	 FLAG(doctor.srun)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

static int run(struct doctor *d, struct weft_error *err)
{
	bool go_on = true;

	for (size_t i = 0; i < N_CHECKS && go_on; i++)
		if (doctor_checks[i].run(d, &go_on, err))
			return -1;
	return 0;
}

static int answer(const struct invocation *in, struct weft_error *err)
{
	const struct checks *checks = &in->doctor.checks;

	if (in->json)
		return report_print(json_pack("{s:s, s:o}", "schema",
					      "weft.doctor/1", "checks",
					      checks_json(checks)),
				    err);
	checks_print(checks);
	return 0;
}

static void doctor_free(struct doctor *d)
{
	if (d->has_snapshot)
		snapshot_free(&d->snapshot);
	weft_fabric_free(d->fabric);
	if (d->has_site)
		site_close(&d->site);
	slurm_config_free(&d->config);
	checks_free(&d->checks);
}

int cmd_doctor(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.doc = "Looks whether the running Slurm uses what is "
		       "installed: versions, plugin folders, permissions, "
		       "weft.yaml, the fabric, the option --weft, ranks.",
	};
	struct invocation in = {0};
	struct weft_error err = {0};
	int code = EXIT_YES;

	command_line_read(&line, argc, argv, &in);
	report_start();
	if (run(&in.doctor, &err) || answer(&in, &err))
		code = cmd_fail(&err);
	else if (checks_failed(&in.doctor.checks))
		code = EXIT_NEGATIVE;
	doctor_free(&in.doctor);
	return code;
}
