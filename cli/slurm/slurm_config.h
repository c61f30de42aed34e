/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_config.h - what the running Slurm says of its settings */
#ifndef WEFT_CLI_SLURM_SLURM_CONFIG_H
#define WEFT_CLI_SLURM_SLURM_CONFIG_H

#include "base/error.h"

#include <stddef.h>

/* Lines "Key    = value" of "scontrol show config". */
struct slurm_config {
	char *text;
};

/* Asks scontrol.  Free with slurm_config_free in either case. */
int slurm_config_read(struct slurm_config *config, struct weft_error *err);
void slurm_config_free(struct slurm_config *config);

/* The value of a key in buffer; "" where there is none, or Slurm's is
 * "(null)". */
const char *slurm_config_value(const struct slurm_config *config,
			       const char *key, char *buffer, size_t size);

#endif
