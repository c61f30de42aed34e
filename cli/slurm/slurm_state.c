/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_state.c - occupancy from scontrol's one-line node records
 *
 * Fields used, as Slurm 22.05 to 26.05 print them:
 *   NodeName=n07 ... GresUsed=gpu:h100:4(IDX:0,2-4),shard:0 ... State=MIXED+...
 */
#include "cli/slurm/slurm_state.h"
#include "base/bitset.h"
#include "cli/command.h"
#include "cli/slurm/slurm_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool begins_with(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Whether a node takes new jobs: its base state is a good one, no flag behind a
 * "+" is a bad one, and its daemon answers (no "*" of older releases).  Slurm
 * powers up a node that is POWERED_DOWN, and gives it a job, but not one that
 * powers down. */
static bool node_takes_jobs(const char *record, bool *powered_down)
{
	static const char *const good[] = {"IDLE", "MIXED", "ALLOCATED"};
	static const char *const bad[] = {
		"DRAIN",   "DOWN",	 "FAIL",	   "MAINT",
		"REBOOT",  "COMPLETING", "POWER_",	   "POWERING",
		"UNKNOWN", "RESERVED",	 "NOT_RESPONDING", "INVALID_REG",
	};
	const char *state = slurm_field(record, "State");
	char text[128], *flag, *rest = text;

	*powered_down = false;
	if (!state)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(state, " \n"), state);
	if (strchr(text, '*') || !begins_with(text, good, 3))
		return false;
	while ((flag = strsep(&rest, "+"))) {
		if (begins_with(flag, bad, sizeof(bad) / sizeof(bad[0])))
			return false;
		*powered_down |= strncmp(flag, "POWERED_DOWN", 12) == 0;
	}
	return true;
}

static void record_apply(struct weft_occupancy *o, const char *record,
			 uint64_t *seen, uint32_t *n_powered_down)
{
	bool powered_down;
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
	if (!node_takes_jobs(record, &powered_down)) {
		weft_occupancy_close(o, node);
		return;
	}
	*n_powered_down += powered_down;
	weft_occupancy_take(o, node,
			    weft_fabric_places(o->fabric, node,
					       slurm_gres_gpus(slurm_field(
						       record, "GresUsed")) &
						       all));
}

int slurm_state_parse(struct weft_occupancy *o, FILE *in, const char *source,
		      uint32_t *n_powered_down, struct weft_error *err)
{
	const struct weft_fabric *f = o->fabric;
	uint64_t *seen =
		weft_calloc(weft_bitset_words(f->n_nodes), sizeof(*seen), err);
	char *line = NULL;
	size_t size = 0;
	int result = -1;

	*n_powered_down = 0;
	if (!seen)
		return -1;
	while (getline(&line, &size, in) >= 0)
		record_apply(o, line, seen, n_powered_down);
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

int slurm_state_read(struct weft_occupancy *o, uint32_t *n_powered_down,
		     struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner --details show node";
	FILE *in = command_open(command, err);
	struct weft_error why = {0};
	uint32_t ignored;
	int result;

	if (!in)
		return -1;
	result = slurm_state_parse(o, in, command,
				   n_powered_down ? n_powered_down : &ignored,
				   &why);
	if (command_close(in, command, 0, err))
		return -1;
	if (result)
		return weft_fail_at(err, why.code, why.source, 0, 0, "%s",
				    why.text);
	return 0;
}
