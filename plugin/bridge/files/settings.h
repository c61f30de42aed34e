/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.h - what the admin says in weft.yaml, and the fabric it names */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_SETTINGS_H
#define WEFT_PLUGIN_BRIDGE_FILES_SETTINGS_H

#include "costmodel/job/model.h"
#include "plugin/bridge/defaults.h"
#include "plugin/bridge/rules.h"
#include "topology/fabric.h"

#include <stdbool.h>

/* Off: no file but weft.yaml is read.  Observe: weft decides, counts and
 * records, and nothing that a job or a user sees differs.  Place: it acts. */
enum weft_mode {
	WEFT_MODE_OFF,
	WEFT_MODE_OBSERVE,
	WEFT_MODE_PLACE,
	WEFT_N_MODES
};
extern const char *const weft_mode_names[WEFT_N_MODES];

/* Everything that is read from files; built once, then only read. */
struct weft_settings {
	_Atomic uint32_t n_users; /* beside the one that loaded it */
	enum weft_mode mode;
	bool place_unspecified; /* GPU jobs without a spec: a question, too */
	bool order_ranks;	/* unless a spec says otherwise */
	bool accept_missing;	/* a fabric that has lost nodes of Slurm's */
	double budget_s;	/* per decision */
	double heavier; /* share by which a plan must cost less to use heavier
			 * nodes than it needs; 0: weights break ties alone;
			 * INFINITY: none does */
	struct weft_fabric *fabric; /* NULL when off */
	struct weft_rules rules;    /* for users' specs */
	uint32_t n_models;
	struct weft_model *models; /* named by the admin */
	char *health_path; /* how ill nodes and links are; NULL: all are well */
	bool contention;   /* heed the traffic of running jobs */
	/* Every file that was read, in this order: weft.yaml, and what it
	 * names. */
	uint32_t n_files;
	char **files;
	char *status_path; /* what weft knows is written there; NULL: nowhere */
	/* for the check at submission */
	char *fabric_path;
	uint32_t spec_limit; /* bytes of a user's spec */
	bool infer;	     /* specs out of batch scripts */
	struct weft_defaults defaults;
};

/* Reads a weft.yaml (weft.yaml(5)) and every file that it names.  NULL with err
 * on any mistake. */
struct weft_settings *weft_settings_load(const char *path,
					 struct weft_error *err);
void weft_settings_free(struct weft_settings *settings);

/* One user more: freed when all have called weft_settings_free, in any thread.
 */
struct weft_settings *weft_settings_hold(struct weft_settings *settings);

/* The same, of copies: the nth file read is folder/n, but names in it are seen
 * from the folder of `path`. */
struct weft_settings *weft_settings_load_kept(const char *path,
					      const char *folder,
					      struct weft_error *err);

/* Whether weft acts on a job of this partition, QOS and account; NULL: not
 * known, or none. */
bool weft_settings_place(const struct weft_settings *settings,
			 const struct weft_owner *owner);

/* The admin's model of that name (case ignored), or NULL. */
const struct weft_model *
weft_settings_model(const struct weft_settings *settings, const char *name);

#endif
