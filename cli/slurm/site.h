/* SPDX-License-Identifier: GPL-3.0-or-later */
/* site.h - what the site's weft.yaml says to the command line of the running
 * Slurm
 */
#ifndef WEFT_CLI_SLURM_SITE_H
#define WEFT_CLI_SLURM_SITE_H

#include "base/yaml.h"
#include "costmodel/job/model.h"

/* Paths are malloc'ed; NULL: not known. */
struct site {
	char *fabric_path, *status_path;
	struct weft_yaml doc;
	bool read;  /* doc is that of weft.yaml */
	bool alone; /* contention: off */
	char *yaml_path;
};

/* Looks for weft.yaml(5) beside $SLURM_CONF (default /etc/slurm/slurm.conf).
 * fabric_path (NULL: not given), else $WEFT_FABRIC, goes before the file's;
 * only without either must the file be there.  Free with site_close in either
 * case.
 */
int site_open(struct site *site, const char *fabric_path,
	      struct weft_error *err);
void site_close(struct site *site);

/* The model that the site registered under that name: 1 with *model; 0: none;
 * -1 with err when its file is no model. */
int site_model(const struct site *site, const char *name,
	       struct weft_model *model, struct weft_error *err);

#endif
