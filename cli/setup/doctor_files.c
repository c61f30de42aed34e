/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doctor_files.c - weft.yaml, the fabric, and the file of what weft knows */
#include "config.h" /* first: PACKAGE_VERSION */

#include "base/trusted.h"
#include "cli/setup/doctor.h"
#include "cli/slurm/slurm_live.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* weft-status-file(5): older, and slurmctld or weft is gone. */
#define STALE_S 90

static int trust(struct doctor *d, const char *path, struct weft_error *err)
{
	struct weft_error why = {0};
	char text[300];

	if (weft_trusted_file(path, d->slurm_user, &why) == 0)
		return 0;
	return checks_add(&d->checks, "permissions", false, err, "%s",
			  weft_error_text(&why, text, sizeof(text)));
}

int doctor_settings(struct doctor *d, bool *go_on, struct weft_error *err)
{
	const struct weft_yaml_node *mode;
	struct weft_error why = {0};
	char text[300];

	d->has_site = true;
	if (site_open(&d->site, NULL, &why) || !d->site.read) {
		*go_on = false;
		return checks_add(
			&d->checks, "weft.yaml", false, err, "%s; weft is off",
			why.code ? weft_error_text(&why, text, sizeof(text))
				 : "there is none");
	}
	mode = weft_yaml_find(d->site.doc.root, "mode");
	snprintf(d->mode, sizeof(d->mode), "%s",
		 mode && mode->text ? mode->text : "observe");
	if (trust(d, d->site.yaml_path, err))
		return -1;
	return checks_add(&d->checks, "weft.yaml", true, err, "%s: mode %s",
			  d->site.yaml_path, d->mode);
}

/* Slurm's nodes with GPUs that the fabric lacks, and the other way round. */
static int nodes_compare(struct doctor *d, struct weft_error *err)
{
	const struct weft_import_options none = {0};
	const struct weft_fabric *f = d->fabric;
	struct weft_inventory s = {0};
	uint32_t lacking = 0, other = 0, known = 0;
	const char *first = NULL;
	int rc;

	rc = slurm_live_read(&s, &none, err);
	for (uint32_t h = 0; rc == 0 && h < s.n_hosts; h++) {
		uint32_t n = weft_fabric_node(f, s.hosts[h].name);
		double gpus = s.hosts[h].gpus.value;
		bool lacks = n == WEFT_NONE && gpus > 0;
		bool differs = n != WEFT_NONE && f->nodes[n].n_gpus != gpus;

		lacking += lacks;
		other += differs;
		known += n != WEFT_NONE;
		if (!first && (lacks || differs))
			first = s.hosts[h].name;
	}
	if (rc == 0 && !first && known == f->n_nodes)
		rc = checks_add(&d->checks, "nodes", true, err,
				"Slurm and the fabric have the same %u nodes "
				"with as many GPUs",
				known);
	else if (rc == 0)
		rc = checks_add(&d->checks, "nodes", false, err,
				"the fabric lacks %u nodes of Slurm's, has %u "
				"that Slurm lacks, and %u with another number "
				"of GPUs%s%s",
				lacking, f->n_nodes - known, other,
				first ? "; the first is " : "",
				first ? first : "");
	weft_inventory_free(&s);
	return rc;
}

int doctor_fabric(struct doctor *d, bool *go_on, struct weft_error *err)
{
	struct weft_error why = {0};
	char text[300];

	d->fabric = weft_fabric_load(d->site.fabric_path, &why);
	if (!d->fabric) {
		*go_on = false;
		return checks_add(&d->checks, "fabric", false, err, "%s",
				  weft_error_text(&why, text, sizeof(text)));
	}
	if (trust(d, d->site.fabric_path, err) ||
	    checks_add(&d->checks, "fabric", true, err, "%s: %u nodes, %u GPUs",
		       d->site.fabric_path, d->fabric->n_nodes,
		       d->fabric->n_gpus))
		return -1;
	return nodes_compare(d, err);
}

/* What the plugin took over is what the files say. */
static int loaded_check(struct doctor *d, struct weft_error *err)
{
	const json_t *told = json_object_get(d->snapshot.root, "fabric");
	json_int_t nodes = json_integer_value(json_object_get(told, "nodes"));
	json_int_t gpus = json_integer_value(json_object_get(told, "gpus"));
	bool off = nodes == 0, same;

	if (off && strcmp(d->mode, "off") == 0)
		return checks_add(&d->checks, "loaded", true, err,
				  "weft is off, as weft.yaml says");
	if (off)
		return checks_add(&d->checks, "loaded", false, err,
				  "weft is off in slurmctld: its log says why "
				  "(grep weft:)");
	same = nodes == d->fabric->n_nodes && gpus == d->fabric->n_gpus &&
	       strcmp(d->snapshot.fabric, d->fabric->name) == 0;
	return checks_add(&d->checks, "loaded", same, err,
			  "slurmctld has fabric %s of %lld nodes and %lld GPUs "
			  "in force%s",
			  d->snapshot.fabric, (long long)nodes, (long long)gpus,
			  same ? ""
			       : ", not that of the file: scontrol "
				 "reconfigure");
}

static int troubles_check(struct doctor *d, struct weft_error *err)
{
	const char *effort =
		json_string_value(json_object_get(d->snapshot.root, "effort"));
	const char *first =
		json_object_iter_key(json_object_iter(d->snapshot.troubles));
	bool full = !effort || strcmp(effort, "full") == 0;

	return checks_add(&d->checks, "health", full && !first, err,
			  "effort %s; troubles: %s%s", effort ? effort : "full",
			  first ? first : "none",
			  first ? " (weft-status-file(5))" : "");
}

int doctor_status(struct doctor *d, bool *go_on, struct weft_error *err)
{
	struct weft_error why = {0};
	char text[300];
	double age_s;

	(void)go_on;
	if (!d->site.status_path)
		return checks_add(&d->checks, "status", true, err,
				  "weft.yaml names no status file: what "
				  "slurmctld has in force is in its log only");
	if (snapshot_load(d->site.status_path, &d->snapshot, &why))
		return checks_add(&d->checks, "status", false, err, "%s",
				  weft_error_text(&why, text, sizeof(text)));
	d->has_snapshot = true;
	age_s = difftime(time(NULL), (time_t)d->snapshot.written_s);
	if (checks_add(&d->checks, "status", age_s < STALE_S, err,
		       "%s is %.0f s old", d->site.status_path, age_s) ||
	    checks_add(&d->checks, "version",
		       strcmp(d->snapshot.version, PACKAGE_VERSION) == 0, err,
		       "slurmctld runs weft %s, the command is %s",
		       d->snapshot.version, PACKAGE_VERSION) ||
	    loaded_check(d, err))
		return -1;
	return troubles_check(d, err);
}
