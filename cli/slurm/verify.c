/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verify.c - comparing the status file with a recount */
#include "cli/slurm/verify.h"

#include "base/bitset.h"
#include "cli/report.h"
#include "cli/slurm/slurm_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A difference is one when it is the same so many times, a second apart: the
 * file is at most a second behind. */
#define SAME_TIMES 3
#define MAX_TIMES  15

/* One look at both, by node of the fabric. */
struct look {
	uint64_t *believed, *counted; /* GPUs taken */
	bool *paired;
	uint32_t *n_same; /* looks in a row that showed this difference */
};

static void look_free(struct look *look)
{
	free(look->believed);
	free(look->counted);
	free(look->paired);
	free(look->n_same);
}

static int look_build(uint32_t n_nodes, struct look *look,
		      struct weft_error *err)
{
	look->believed = weft_calloc(n_nodes, sizeof(*look->believed), err);
	look->counted = weft_calloc(n_nodes, sizeof(*look->counted), err);
	look->paired = weft_calloc(n_nodes, sizeof(*look->paired), err);
	look->n_same = weft_calloc(n_nodes, sizeof(*look->n_same), err);
	return look->believed && look->counted && look->paired && look->n_same
		       ? 0
		       : -1;
}

static int read_believed(const struct weft_fabric *f, const char *path,
			 struct look *look, struct weft_error *err)
{
	struct snapshot s = {0};
	json_t *node;
	size_t i;
	int rc = snapshot_load(path, &s, err);

	memset(look->paired, 0, f->n_nodes * sizeof(*look->paired));
	json_array_foreach(s.nodes, i, node)
	{
		const char *name =
			json_string_value(json_object_get(node, "name"));
		uint32_t n = name ? weft_fabric_node(f, name) : WEFT_NONE;

		if (n == WEFT_NONE)
			continue;
		look->paired[n] = true;
		look->believed[n] =
			snapshot_mask(json_string_value(
				json_object_get(node, "gpus"))) &
			~snapshot_mask(json_string_value(
				json_object_get(node, "gpus_free")));
	}
	snapshot_free(&s);
	return rc;
}

static int read_counted(const struct weft_fabric *f, struct look *look,
			struct weft_error *err)
{
	struct weft_running_list list = {0};
	struct weft_occupancy o = {0};
	int rc = -1;

	if (weft_occupancy_build(f, &o, err) == 0 &&
	    slurm_jobs_read(&o, &list, err) == 0) {
		for (uint32_t i = 0; i < f->n_nodes; i++)
			look->counted[i] = weft_mask_first(f->nodes[i].n_gpus) &
					   ~o.free[i];
		rc = 0;
	}
	weft_running_free(&list);
	weft_occupancy_free(&o);
	return rc;
}

/* Looks once.  *n_open: differences that are not old enough yet; returns those
 * that are. */
static int look_again(const struct weft_fabric *f, const char *path,
		      struct look *now, const struct look *before,
		      uint32_t *n_open, struct weft_error *err)
{
	int n = 0;

	*n_open = 0;
	if (read_counted(f, now, err) < 0 ||
	    read_believed(f, path, now, err) < 0)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		bool differs =
			now->paired[i] && now->believed[i] != now->counted[i];
		bool same = before->believed[i] == now->believed[i] &&
			    before->counted[i] == now->counted[i];

		now->n_same[i] = 0;
		if (!differs)
			continue;
		now->n_same[i] = 1 + (same ? before->n_same[i] : 0);
		if (now->n_same[i] >= SAME_TIMES)
			n++;
		else
			(*n_open)++;
	}
	return n;
}

/* ---- telling ---- */

static void mask_text(uint64_t mask, char *text, size_t size)
{
	size_t used = 0;
	uint32_t k;

	text[0] = '\0';
	weft_mask_foreach (k, mask)
		if (used < size)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%u", used ? "," : "", k);
	if (!used)
		snprintf(text, size, "none");
}

static json_t *difference_json(const char *node, const char *believed,
			       const char *counted)
{
	return json_pack("{s:s, s:s, s:s}", "node", node, "weft", believed,
			 "slurm", counted);
}

static int tell(const struct weft_fabric *f, const struct look *look, bool json,
		struct weft_error *err)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		char believed[256], counted[256];

		if (look->n_same[i] < SAME_TIMES)
			continue;
		mask_text(look->believed[i], believed, sizeof(believed));
		mask_text(look->counted[i], counted, sizeof(counted));
		if (json)
			json_array_append_new(
				list, difference_json(f->nodes[i].name,
						      believed, counted));
		else
			printf("%s: weft takes GPUs %s as taken, jobs have "
			       "%s\n",
			       f->nodes[i].name, believed, counted);
	}
	if (json)
		return report_print(json_pack("{s:s, s:o}", "schema",
					      "weft.status/1", "verify", list),
				    err);
	json_decref(list);
	return 0;
}

int verify_run(const struct weft_fabric *f, const char *status_path, bool json,
	       struct weft_error *err)
{
	struct look looks[2] = {{0}, {0}};
	uint32_t n_open = 1, times = 0;
	int n = -1;

	if (look_build(f->n_nodes, &looks[0], err) < 0 ||
	    look_build(f->n_nodes, &looks[1], err) < 0)
		goto out;
	for (; n_open && times < MAX_TIMES; times++) {
		if (times)
			sleep(1);
		n = look_again(f, status_path, &looks[times % 2],
			       &looks[(times + 1) % 2], &n_open, err);
		if (n < 0)
			goto out;
	}
	if (n_open) {
		n = weft_fail(err, WEFT_EIO,
			      "%u nodes differ and keep changing: jobs come "
			      "and go too fast to compare",
			      n_open);
		goto out;
	}
	if (tell(f, &looks[(times + 1) % 2], json, err) < 0)
		n = -1;
	else if (n == 0 && !json)
		printf("all %u nodes agree with Slurm's jobs\n", f->n_nodes);
out:
	look_free(&looks[0]);
	look_free(&looks[1]);
	return n;
}
