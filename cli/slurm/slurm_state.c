/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_state.c - occupancy from scontrol's one-line node records
 *
 * Fields used, as Slurm 22.05 to 26.05 print them:
 *   NodeName=n07 ... GresUsed=gpu:h100:4(IDX:0,2-4),shard:0 ... State=MIXED+...
 */
#include "cli/slurm/slurm_state.h"
#include "base/bitset.h"
#include "cli/slurm/slurm_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A node takes new jobs when its base state is one of these, nothing about it
 * hinders, and its daemon answers (no '*' suffix). */
static bool node_takes_jobs(const char *record)
{
	static const char *const good[] = {"IDLE", "MIXED", "ALLOCATED"};
	static const char *const bad[] = {
		"DRAIN",      "DOWN",  "FAIL",	  "MAINT",    "REBOOT",
		"COMPLETING", "POWER", "UNKNOWN", "RESERVED",
	};
	const char *state = slurm_field(record, "State");
	char text[128];
	bool base = false;

	if (!state)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(state, " \n"), state);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		base |= strncmp(text, good[i], strlen(good[i])) == 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		base &= strstr(text, bad[i]) == NULL;
	return base && !strchr(text, '*');
}

static void record_apply(struct weft_occupancy *o, const char *record,
			 uint64_t *seen)
{
	const char *value = slurm_field(record, "NodeName");
	char name[WEFT_NAME_SIZE];
	uint32_t node;
	uint64_t all;

	if (!value)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, " \n"), value);
	node = weft_fabric_node(o->fabric, name);
	if (node == WEFT_NONE)
		return;
	all = weft_mask_first(o->fabric->nodes[node].n_gpus);
	weft_bitset_add(seen, node);
	if (node_takes_jobs(record))
		weft_occupancy_take(
			o, node,
			weft_fabric_places(o->fabric, node,
					   slurm_gres_gpus(slurm_field(
						   record, "GresUsed")) &
						   all));
	else
		weft_occupancy_close(o, node);
}

int slurm_state_parse(struct weft_occupancy *o, FILE *in, const char *source,
		      struct weft_error *err)
{
	const struct weft_fabric *f = o->fabric;
	uint64_t *seen =
		weft_calloc(weft_bitset_words(f->n_nodes), sizeof(*seen), err);
	char *line = NULL;
	size_t size = 0;
	int result = -1;

	if (!seen)
		return -1;
	while (getline(&line, &size, in) >= 0)
		record_apply(o, line, seen);
	if (ferror(in)) {
		weft_fail_at(err, WEFT_EIO, source, 0, 0, "%s",
			     strerror(errno));
		goto out;
	}
	if (weft_bitset_count(seen, f->n_nodes) == 0) {
		weft_fail_at(err, WEFT_EIO, source, 0, 0,
			     "names none of the fabric's %u nodes; expected "
			     "records \"NodeName=... State=...\"",
			     f->n_nodes);
		goto out;
	}
	for (uint32_t node = 0; node < f->n_nodes; node++) {
		if (!weft_bitset_has(seen, node))
			weft_occupancy_close(o, node);
	}
	result = 0;
out:
	free(line);
	free(seen);
	return result;
}

int slurm_state_read(struct weft_occupancy *o, struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner --details show node";
	FILE *in = popen(command, "r");
	struct weft_error why = {0};
	int result, status;

	if (!in)
		return weft_fail(err, WEFT_EIO, "%s: %s", command,
				 strerror(errno));
	result = slurm_state_parse(o, in, command, &why);
	status = pclose(in);
	if (status != 0)
		return weft_fail(err, WEFT_EIO,
				 "\"%s\" failed; is Slurm running, and "
				 "SLURM_CONF right?",
				 command);
	if (result)
		return weft_fail_at(err, why.code, why.source, 0, 0, "%s",
				    why.text);
	return 0;
}
