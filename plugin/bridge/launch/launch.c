/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.c - lists and variables by which tasks find their ranks and GPUs */
#include "plugin/bridge/launch/launch.h"

#include "base/bitset.h"
#include "base/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below the ports that Linux hands to clients (32768 on). */
#define FIRST_PORT 20000
#define N_PORTS	   10000

/* ---- nodes ---- */

struct named {
	const char *name; /* first: weft_compare_texts looks at nothing else */
	uint32_t node;
};

/* The rank map's nodes by name; malloc'ed. */
static struct named *sort_names(const struct weft_rank_map *r)
{
	struct named *sorted = weft_calloc(r->n_nodes, sizeof(*sorted), NULL);

	for (uint32_t i = 0; sorted && i < r->n_nodes; i++)
		sorted[i] = (struct named){r->nodes[i], i};
	if (sorted)
		qsort(sorted, r->n_nodes, sizeof(*sorted), weft_compare_texts);
	return sorted;
}

/* For each name of the list its index in the rank map, each once; malloc'ed,
 * NULL where the two differ. */
static uint32_t *match_nodes(const struct weft_rank_map *r,
			     const char *hostlist)
{
	struct weft_hostlist list = {0};
	struct named *sorted = NULL;
	uint64_t *seen = NULL;
	uint32_t *node = NULL;
	bool same =
		r->n_nodes > 0 &&
		weft_hostlist_decode(hostlist, r->n_nodes, &list, NULL) == 0 &&
		list.n == r->n_nodes;

	if (same) {
		sorted = sort_names(r);
		seen = weft_calloc(weft_bitset_words(r->n_nodes), sizeof(*seen),
				   NULL);
		node = weft_calloc(r->n_nodes, sizeof(*node), NULL);
		same = sorted && seen && node;
	}
	for (uint32_t i = 0; same && i < list.n; i++) {
		const char *name = list.names[i];
		const struct named *found =
			bsearch(&name, sorted, list.n, sizeof(*found),
				weft_compare_texts);

		same = found && !weft_bitset_has(seen, found->node);
		if (!same)
			break;
		weft_bitset_add(seen, found->node);
		node[i] = found->node;
	}
	weft_hostlist_free(&list);
	free(sorted);
	free(seen);
	if (same)
		return node;
	free(node);
	return NULL;
}

bool weft_launch_same_nodes(const struct weft_rank_map *r, const char *hostlist)
{
	uint32_t *node = match_nodes(r, hostlist);

	free(node);
	return node != NULL;
}

char *weft_launch_nodes(const struct weft_rank_map *r, uint32_t n_tasks)
{
	bool by_rank = n_tasks == r->n_ranks;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!n_tasks || (!by_rank && n_tasks != r->n_nodes))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (uint32_t i = 0; i < n_tasks; i++)
		fprintf(out, "%s%s", i ? "," : "",
			r->nodes[by_rank ? r->node[i] : i]);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- tasks per node ---- */

uint32_t weft_launch_most(const struct weft_rank_map *r)
{
	uint32_t *n = weft_calloc(r->n_nodes, sizeof(*n), NULL);
	uint32_t most = 0;

	for (uint32_t i = 0; n && i < r->n_ranks; i++)
		if (++n[r->node[i]] > most)
			most = n[r->node[i]];
	free(n);
	return most;
}

static bool read_number(const char **text, uint32_t *value)
{
	char *end;
	unsigned long number;

	if (**text < '0' || **text > '9')
		return false;
	number = strtoul(*text, &end, 10);
	*text = end;
	*value = (uint32_t)number;
	return number <= WEFT_RANK_MAP_MAX_RANKS;
}

/* "8(x3)": a number and how often. */
static bool read_repeated(const char **text, uint32_t *value, uint32_t *times)
{
	*times = 1;
	if (!read_number(text, value))
		return false;
	if (strncmp(*text, "(x", 2) != 0)
		return true;
	*text += 2;
	return read_number(text, times) && *(*text)++ == ')';
}

bool weft_launch_task_per_rank(const struct weft_rank_map *r,
			       const char *hostlist, const char *tasks)
{
	uint32_t *node = match_nodes(r, hostlist);
	uint32_t *n_ranks = weft_calloc(r->n_nodes, sizeof(*n_ranks), NULL);
	uint32_t n = 0, value = 0, times = 0;
	bool same = node && n_ranks;

	for (uint32_t i = 0; same && i < r->n_ranks; i++)
		n_ranks[r->node[i]]++;
	while (same && *tasks) {
		same = read_repeated(&tasks, &value, &times) &&
		       times <= r->n_nodes - n;
		for (; same && times; times--, n++)
			same = n_ranks[node[n]] == value;
		if (same && *tasks)
			same = *tasks++ == ',' && *tasks;
	}
	free(n_ranks);
	free(node);
	return same && n == r->n_nodes;
}

uint32_t weft_launch_nth_rank(const struct weft_rank_map *r, uint32_t node,
			      uint32_t nth)
{
	for (uint32_t i = 0; i < r->n_ranks; i++)
		if (r->node[i] == node && !nth--)
			return i;
	return WEFT_NONE;
}

/* ---- GPUs ---- */

struct entry {
	const char *text;
	size_t length;
};

static uint32_t split(const char *list,
		      struct entry entries[WEFT_MAX_GPUS_PER_NODE])
{
	uint32_t n = 0;

	while (n < WEFT_MAX_GPUS_PER_NODE) {
		size_t length = strcspn(list, ",");

		if (!length)
			return 0;
		entries[n++] = (struct entry){list, length};
		if (!list[length])
			return n;
		list += length + 1;
	}
	return 0;
}

bool weft_launch_gpus(const struct weft_rank_map *r, uint32_t node,
		      const char *list, char *text, size_t size)
{
	struct entry entries[WEFT_MAX_GPUS_PER_NODE];
	uint32_t n = split(list, entries), nth = 0;
	uint64_t gpus = 0;
	bool moved = false;
	size_t used = 0;

	for (uint32_t i = 0; i < r->n_ranks; i++)
		if (r->node[i] == node)
			gpus |= UINT64_C(1) << r->gpu[i];
	if (!n || weft_mask_count(gpus) != n || strlen(list) >= size)
		return false;
	/* Slurm lists a job's GPUs in the order of their indices, numbered as
	 * the node or as the job's cgroup has them. */
	for (uint32_t i = 0; i < r->n_ranks; i++) {
		const struct entry *entry;
		uint32_t place;

		if (r->node[i] != node)
			continue;
		place = weft_mask_count(gpus & weft_mask_first(r->gpu[i]));
		moved |= place != nth++;
		entry = &entries[place];
		used += (size_t)snprintf(text + used, size - used, "%s%.*s",
					 used ? "," : "", (int)entry->length,
					 entry->text);
	}
	return moved;
}

bool weft_launch_by_node(const struct weft_rank_map *r)
{
	uint32_t n = 0;

	/* Nodes are numbered by their first ranks. */
	for (uint32_t i = 0; i < r->n_ranks; i++) {
		if (r->node[i] < n)
			return false;
		n = r->node[i];
	}
	return true;
}

/* ---- variables ---- */

uint32_t
weft_launch_variables(const struct weft_task *task,
		      struct weft_variable variables[WEFT_LAUNCH_MAX_VARIABLES])
{
	const struct weft_rank_nvlink *nvlink = &task->nvlink;
	/* Steps of a job that run side by side must not meet. */
	const uint32_t port =
		FIRST_PORT +
		(task->job_id % N_PORTS + task->step_id % N_PORTS) % N_PORTS;
	const struct {
		const char *name;
		uint32_t value;
		bool absent, slurms;
	} numbers[] = {
		{"RANK", task->rank, false, false},
		{"WORLD_SIZE", task->world, false, false},
		{"LOCAL_RANK", task->local_rank, false, false},
		{"LOCAL_WORLD_SIZE", task->local_world, false, false},
		{"NODE_RANK", task->node, false, false},
		{"GROUP_RANK", task->node, false, false},
		{"GROUP_WORLD_SIZE", task->n_nodes, false, false},
		{"MASTER_PORT", port, false, false},
		{"NVLINK_DOMAIN_SIZE", nvlink->n_gpus, !nvlink->n_gpus, false},
		{"USE_MNNVL", nvlink->n_nodes > 1, !nvlink->n_gpus, false},
		{"NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN", nvlink->n_experts,
		 !nvlink->n_experts, false},
		{"SLURM_NODEID", task->node, task->env != WEFT_ENV_LIGHTNING,
		 true},
	};
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].absent)
			continue;
		variables[n].name = numbers[i].name;
		variables[n].slurms = numbers[i].slurms;
		snprintf(variables[n].value, sizeof(variables[n].value),
			 "%" PRIu32, numbers[i].value);
		n++;
	}
	if (task->master && strlen(task->master) < WEFT_LAUNCH_VALUE_SIZE) {
		variables[n].name = "MASTER_ADDR";
		variables[n].slurms = false;
		snprintf(variables[n].value, sizeof(variables[n].value), "%s",
			 task->master);
		n++;
	}
	return n;
}
