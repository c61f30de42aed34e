/* SPDX-License-Identifier: GPL-3.0-or-later */
/* release.c - asking the plugins that Slurm has loaded */
#include "config.h" /* dlinfo */

#include "plugin/bridge/launch/release.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* SPANK plugins need not be for this very release. */
static bool is_slurms_own(const char *type)
{
	return strncmp(type, "spank", strlen("spank")) != 0 &&
	       !strstr(type, "weft");
}

/* What a loaded file says as a plugin of Slurm's; 0: it is none. */
static uint32_t release_of(const char *path)
{
	void *file = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	const uint32_t *version = file ? dlsym(file, "plugin_version") : NULL;
	const char *type = file ? dlsym(file, "plugin_type") : NULL;
	uint32_t release = 0;

	if (version && type && is_slurms_own(type))
		release = *version;
	if (file)
		dlclose(file);
	return release;
}

uint32_t weft_release_running(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	struct link_map *map = NULL;
	uint32_t release = 0;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0)
		map = NULL;
	for (; map && !release; map = map->l_next)
		if (map->l_name[0])
			release = release_of(map->l_name);
	if (program)
		dlclose(program);
	return release;
}
