/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_daemon.c - slurmctld, and the plugins that it has loaded */
#include "cli/setup/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int doctor_slurm(struct doctor *d, bool *go_on, struct weft_error *err)
{
	char select[64], user[128], *paren;
	struct weft_error why = {0};

	if (slurm_config_read(&d->config, &why)) {
		*go_on = false;
		return checks_add(&d->checks, "slurm", false, err, "%s",
				  why.text);
	}
	slurm_config_value(&d->config, "SLURM_VERSION", d->release,
			   sizeof(d->release));
	slurm_config_value(&d->config, "SelectType", select, sizeof(select));
	slurm_config_value(&d->config, "SlurmUser", user, sizeof(user));
	paren = strchr(user, '(');
	d->slurm_user = paren ? (uid_t)strtoul(paren + 1, NULL, 10) : 0;
	d->named = strcmp(select, "select/cons_tres_weft") == 0;
	return checks_add(&d->checks, "slurm",
			  strncmp(select, "select/cons_tres", 16) == 0, err,
			  "Slurm %s answers; %s", d->release, select);
}

/* Every folder of PluginDir must be there: slurmctld ends at a reconfigure
 * where one is not. */
static int folders_check(struct doctor *d, const char *folders,
			 struct weft_error *err)
{
	char folder[PATH_MAX];

	for (const char *at = folders; *at;) {
		size_t n = strcspn(at, ":");

		snprintf(folder, sizeof(folder), "%.*s", (int)n, at);
		if (access(folder, X_OK) != 0 &&
		    checks_add(&d->checks, "folder", false, err,
			       "PluginDir names %s, which is not there: "
			       "slurmctld would end at a reconfigure",
			       folder))
			return -1;
		at += n + (at[n] == ':');
	}
	return 0;
}

int doctor_plugin(struct doctor *d, bool *go_on, struct weft_error *err)
{
	const char *name =
		d->named ? "select_cons_tres_weft.so" : "select_cons_tres.so";
	uint32_t release = plugin_file_release(d->release);
	char folders[4096];

	slurm_config_value(&d->config, "PluginDir", folders, sizeof(folders));
	plugin_file_find(folders, name, &d->plugin);
	if (folders_check(d, folders, err))
		return -1;
	if (!d->plugin.found || !d->plugin.weft) {
		*go_on = false;
		return checks_add(&d->checks, "plugin", false, err,
				  "weft is not in use: the first %s in "
				  "PluginDir (%s) is %s; weft setup says what "
				  "to do",
				  name, folders,
				  d->plugin.found ? "Slurm's own" : "missing");
	}
	return checks_add(&d->checks, "plugin", d->plugin.release == release,
			  err, "%s mode, %s is for Slurm %u.%02u.%u%s",
			  d->named ? "named" : "shadow", d->plugin.path,
			  d->plugin.release >> 16,
			  d->plugin.release >> 8 & 0xff,
			  d->plugin.release & 0xff,
			  d->plugin.release == release
				  ? ""
				  : ": build weft for the release that runs");
}

/* Of slurmctld, from its file; 0: not here, or not to be read. */
static long daemon_pid(const struct doctor *d)
{
	char path[PATH_MAX];
	long pid = 0;
	FILE *in;

	slurm_config_value(&d->config, "SlurmctldPidFile", path, sizeof(path));
	in = fopen(path, "re");
	if (in && fscanf(in, "%ld", &pid) != 1)
		pid = 0;
	if (in)
		fclose(in);
	return pid;
}

int doctor_running(struct doctor *d, bool *go_on, struct weft_error *err)
{
	long pid = daemon_pid(d);
	int mapped = pid > 0 ? plugin_file_is_mapped(&d->plugin, pid) : -1;

	(void)go_on;
	if (mapped < 0)
		return checks_add(&d->checks, "running", true, err,
				  "which files slurmctld has loaded is not "
				  "known here; on its host, as root, it is");
	return checks_add(&d->checks, "running", mapped, err,
			  mapped ? "slurmctld (%ld) runs the plugin that is "
				   "installed"
				 : "slurmctld (%ld) runs another plugin than "
				   "the one installed: systemctl restart "
				   "slurmctld",
			  pid);
}

int doctor_submit(struct doctor *d, bool *go_on, struct weft_error *err)
{
	char plugins[256], folders[4096];
	struct plugin_file file;
	uint32_t release = plugin_file_release(d->release);

	(void)go_on;
	slurm_config_value(&d->config, "JobSubmitPlugins", plugins,
			   sizeof(plugins));
	if (!strstr(plugins, "weft"))
		return checks_add(&d->checks, "submit", true, err,
				  "specs in comments are not checked at "
				  "submission (JobSubmitPlugins=weft would)");
	slurm_config_value(&d->config, "PluginDir", folders, sizeof(folders));
	plugin_file_find(folders, "job_submit_weft.so", &file);
	return checks_add(&d->checks, "submit",
			  file.found && file.release == release, err,
			  !file.found ? "JobSubmitPlugins names weft, but "
					"no job_submit_weft.so is in PluginDir"
			  : file.release == release
				  ? "specs are checked at submission"
				  : "job_submit_weft.so is for another release "
				    "than %s, and checks nothing",
			  d->release);
}
