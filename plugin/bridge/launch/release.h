/* SPDX-License-Identifier: GPL-3.0-or-later */
/* release.h - which release of Slurm this is: no Slurm types */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_RELEASE_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_RELEASE_H

#include <stdint.h>

/* The release of the program that has loaded this plugin, as plugin_version of
 * the plugins of Slurm's own that it has loaded before; 0: it has none yet. */
uint32_t weft_release_running(void);

#endif
