/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_cache.h - copies of the last files that could be read: no Slurm types
 *
 * A file that is broken must leave the last good one in force.  In memory that
 * does until slurmctld ends, which from Slurm 23.11 on it does at each
 * reconfigure: a new one takes over.
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_CONFIG_CACHE_H
#define WEFT_PLUGIN_BRIDGE_FILES_CONFIG_CACHE_H

#include "plugin/bridge/files/settings.h"

/* Copies what `settings` were read from.  `name` becomes a link to a folder
 * beside it that holds the copies, once they are known to read well; a folder
 * that it led to before is removed, and so are old ones that a slurmctld which
 * was killed had not filled.  -1 with err, and the former link stays. */
int weft_config_cache_save(const struct weft_settings *settings,
			   const char *name, struct weft_error *err);

#endif
