/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin_file.h - plugins of Slurm's as files: whose, and for which release */
#ifndef WEFT_CLI_SETUP_PLUGIN_FILE_H
#define WEFT_CLI_SETUP_PLUGIN_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct plugin_file {
	char path[PATH_MAX];
	bool found;
	bool weft;	  /* weft's own, else Slurm's */
	uint32_t release; /* 0x160508 is 22.05.8; 0: not said */
	dev_t device;
	ino_t inode;
};

/* The first file of that name in a list "FOLDER:FOLDER", as Slurm looks for
 * it. */
void plugin_file_find(const char *folders, const char *name,
		      struct plugin_file *file);

/* "22.05.8" as a number; 0: it is none. */
uint32_t plugin_file_release(const char *text);

/* Whether a running process has that very file mapped: 1, or 0 where it has
 * another of that name; -1: its maps cannot be read, or have neither. */
int plugin_file_is_mapped(const struct plugin_file *file, long pid);

#endif
