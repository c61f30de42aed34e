/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_fields.h - fields of scontrol's one-line records */
#ifndef WEFT_CLI_SLURM_SLURM_FIELDS_H
#define WEFT_CLI_SLURM_SLURM_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Value of " KEY=" in a record, or NULL; ends at a blank. */
const char *slurm_field(const char *record, const char *key);

/* Local time, as scontrol prints it; false: "Unknown" and the like, NULL. */
bool slurm_time(const char *text, time_t *at);

/* "0,2-4" as a mask; 0 where an index is none of a GPU. */
uint64_t slurm_indices(const char *text);

/* The GPUs of a GRES list that is in use, "gpu:h100:4(IDX:0,2-4),shard:0", up
 * to the first blank; bit k = GPU k.  Without indices the lowest are assumed.
 */
uint64_t slurm_gres_gpus(const char *text);

#endif
