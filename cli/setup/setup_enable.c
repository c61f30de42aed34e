/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setup_enable.c - the commands that are left to the admin
 *
 * Shadow mode, weft-slurm(8): weft's folder comes first in slurmctld's
 * PluginDir.
 */
#include "cli/setup/plugin_file.h"
#include "cli/setup/setup.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const struct setup *s)
{
	char select[64];

	slurm_config_value(&s->config, "SelectType", select, sizeof(select));
	return strcmp(select, "select/cons_tres_weft") == 0;
}

/* Whether slurmctld finds weft's file before Slurm's own. */
static bool is_shadowed(const struct setup *s, struct plugin_file *file)
{
	char folders[4096];

	slurm_config_value(&s->config, "PluginDir", folders, sizeof(folders));
	plugin_file_find(folders, "select_cons_tres.so", file);
	return file->found && file->weft;
}

/* The folder of weft's plugin, installed with this command; false: it is not.
 */
static bool shadow_find(char folder[PATH_MAX])
{
	static const char *const places[] = {
		"lib/*/weft/shadow", "lib/weft/shadow", "lib64/weft/shadow"};
	char pattern[PATH_MAX + 64], self[PATH_MAX] = "";
	bool found = false;
	glob_t list;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	for (int up = 0; up < 2; up++)
		if (strrchr(self, '/'))
			*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !found;
	     i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s/select_cons_tres.so",
			 self, places[i]);
		if (glob(pattern, 0, NULL, &list))
			continue;
		snprintf(folder, PATH_MAX, "%s", list.gl_pathv[0]);
		*strrchr(folder, '/') = '\0';
		globfree(&list);
		found = true;
	}
	return found;
}

static int shadow_commands(struct setup *s, struct weft_error *err)
{
	char conf[PATH_MAX], folders[4096], shadow[PATH_MAX];
	bool found = shadow_find(shadow);

	if (!found)
		snprintf(shadow, sizeof(shadow), "/usr/lib/weft/shadow");
	slurm_config_value(&s->config, "SLURM_CONF", conf, sizeof(conf));
	slurm_config_value(&s->config, "PluginDir", folders, sizeof(folders));
	if (checks_add(&s->checks, "plugin", found, err,
		       found ? "installed: %s"
			     : "not installed (%s): install "
			       "slurm-weft-plugins on slurmctld's host, or "
			       "configure --with-slurm-src and make install",
		       shadow) ||
	    setup_command_add(s, false, err, "cp -p %s %s.before-weft", conf,
			      conf))
		return -1;
	return setup_command_add(s, false, err,
				 "sed -i '/^PluginDir=/Id' %s && echo "
				 "'PluginDir=%s:%s' >>%s",
				 conf, shadow, folders, conf);
}

int setup_enable(struct setup *s, struct weft_error *err)
{
	struct plugin_file file;
	bool running = is_named(s) || is_shadowed(s, &file);

	if (!s->config.text)
		return 0;
	if (!running && shadow_commands(s, err))
		return -1;
	return setup_command_add(s, false, err, "%s",
				 running ? "scontrol reconfigure"
					 : "systemctl restart slurmctld") ||
			       setup_command_add(s, false, err, "weft doctor")
		       ? -1
		       : 0;
}

int setup_disable(struct setup *s, struct weft_error *err)
{
	struct plugin_file file;
	char conf[PATH_MAX];

	if (!s->config.text || !is_shadowed(s, &file))
		return 0;
	slurm_config_value(&s->config, "SLURM_CONF", conf, sizeof(conf));
	*strrchr(file.path, '/') = '\0';
	return setup_command_add(s, false, err,
				 "sed -i 's|^PluginDir=%s:|PluginDir=|' %s",
				 file.path, conf) ||
			       setup_command_add(s, false, err,
						 "systemctl restart slurmctld")
		       ? -1
		       : 0;
}
