/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host_facts_audit.c - the odd ones out of an host facts */
#include "base/compare.h"
#include "base/lines.h"
#include "topology/audit/host_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Findings about hosts weigh as those of the audit do, ports half of that. */
#define WEIGHT_HOST 100.0
#define WEIGHT_PORT 50.0

/* Siblings without which nothing can be said to be odd. */
#define MIN_SIBLINGS 3

/* What most alike hosts have, the others should have, too; a count has a limit;
 * a flag should not be set. */
enum rule { RULE_MOST, RULE_COUNT, RULE_FLAG, RULE_CLOCKS, RULE_KIND };

static const struct key {
	const char *name;
	enum rule rule;
	enum weft_finding_id id;
	const char *what; /* for people */
	double limit;	  /* of a count; more than this, */
	double times;	  /* and than this multiple of the siblings' median */
} keys[] = {
	{"kind", RULE_KIND, WEFT_FINDING_INVENTORY_ODD, "kind", 0, 0},
	{"mtu", RULE_MOST, WEFT_FINDING_MTU_ODD, "MTU", 0, 0},
	{"nic_firmware", RULE_MOST, WEFT_FINDING_FIRMWARE_ODD, "NIC firmware",
	 0, 0},
	{"gpu_firmware", RULE_MOST, WEFT_FINDING_FIRMWARE_ODD, "GPU firmware",
	 0, 0},
	{"bios", RULE_MOST, WEFT_FINDING_FIRMWARE_ODD, "BIOS", 0, 0},
	{"bmc", RULE_MOST, WEFT_FINDING_FIRMWARE_ODD, "BMC firmware", 0, 0},
	{"driver", RULE_MOST, WEFT_FINDING_DRIVER_ODD, "GPU driver", 0, 0},
	{"fabric_manager", RULE_MOST, WEFT_FINDING_DRIVER_ODD, "fabric manager",
	 0, 0},
	{"cuda", RULE_MOST, WEFT_FINDING_DRIVER_ODD, "CUDA", 0, 0},
	{"nccl", RULE_MOST, WEFT_FINDING_DRIVER_ODD, "NCCL", 0, 0},
	{"ofed", RULE_MOST, WEFT_FINDING_DRIVER_ODD, "OFED", 0, 0},
	{"kernel", RULE_MOST, WEFT_FINDING_DRIVER_ODD, "kernel", 0, 0},
	{"pstate", RULE_MOST, WEFT_FINDING_THROTTLED, "performance state", 0,
	 0},
	{"throttle", RULE_CLOCKS, WEFT_FINDING_THROTTLED, "throttling", 0, 0},
	{"xid", RULE_COUNT, WEFT_FINDING_GPU_ERRORS, "Xid messages", 0, 0},
	{"ecc_uncorrected", RULE_COUNT, WEFT_FINDING_GPU_ERRORS,
	 "uncorrected ECC errors", 0, 0},
	{"ecc_corrected", RULE_COUNT, WEFT_FINDING_HBM_ERRORS,
	 "corrected ECC errors", 1000, 10},
	{"hbm_remapped_rows", RULE_COUNT, WEFT_FINDING_HBM_ERRORS,
	 "remapped rows of HBM", 0, 10},
	{"hbm_remap_pending", RULE_FLAG, WEFT_FINDING_HBM_ERRORS,
	 "a pending remap of HBM rows", 0, 0},
	{"hbm_remap_failed", RULE_FLAG, WEFT_FINDING_HBM_ERRORS,
	 "a failed remap of HBM rows", 0, 0},
	{"symbol_errors", RULE_COUNT, WEFT_FINDING_PORT_ERRORS, "symbol errors",
	 100, 10},
	{"rcv_errors", RULE_COUNT, WEFT_FINDING_PORT_ERRORS, "receive errors",
	 100, 10},
	{"crc_errors", RULE_COUNT, WEFT_FINDING_PORT_ERRORS, "CRC errors", 100,
	 10},
	{"link_downed", RULE_COUNT, WEFT_FINDING_PORT_ERRORS,
	 "times the link went down", 2, 10},
	{"link_recovery", RULE_COUNT, WEFT_FINDING_PORT_ERRORS,
	 "times the link recovered", 2, 10},
	{"xmit_wait", RULE_COUNT, WEFT_FINDING_PORT_STALLS,
	 "ticks with data that it could not send", 1e6, 10},
	{"rx_pause", RULE_COUNT, WEFT_FINDING_PORT_STALLS,
	 "pause frames received", 1e5, 10},
	{"tx_pause", RULE_COUNT, WEFT_FINDING_PORT_STALLS, "pause frames sent",
	 1e5, 10},
	{"xmit_discards", RULE_COUNT, WEFT_FINDING_PORT_STALLS,
	 "packets discarded", 100, 10},
};
static const struct key unknown_key = {
	NULL, RULE_MOST, WEFT_FINDING_INVENTORY_ODD, NULL, 0, 0};

/* A fact beside what it is compared with. */
struct item {
	const struct weft_host_facts_fact *fact;
	const char *kind; /* of its host */
	bool is_part;	  /* a port or GPU, not the host itself */
	double number;	  /* of a count */
};

struct audit {
	const struct weft_host_facts *host_facts;
	const struct weft_fabric *f;
	struct weft_findings *findings;
	struct weft_error *err;
	struct item *items; /* sorted by key, part, kind, place */
	double *scratch;
	uint32_t n;
};

static const struct key *key_of(const char *name)
{
	for (size_t i = 0; i < WEFT_N_OF(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return &unknown_key;
}

static int add(const struct audit *a, enum weft_finding_id id,
	       const struct item *item, const char *text)
{
	struct weft_finding_at at = {0};

	if (item) {
		at.place = item->fact->place;
		at.source = a->host_facts->sources[item->fact->source];
		at.line = item->fact->line;
		at.weight = item->is_part ? WEIGHT_PORT : WEIGHT_HOST;
	}
	return weft_findings_add(a->findings, id, at, a->err, "%s", text);
}

/* ---- the order of things ---- */

static struct weft_span host_of(const char *place)
{
	return (struct weft_span){place, strcspn(place, ":")};
}

/* A host and all its parts stand together, the host itself first. */
WEFT_COMPARATOR(compare_facts, struct weft_host_facts_fact,
		WEFT_KEY(weft_span_compare(host_of(a->place),
					   host_of(b->place))) WEFT_TEXT(place)
			WEFT_TEXT(key) WEFT_UP(order));

/* The last line of a place and key counts. */
static void facts_sort(struct weft_host_facts *host_facts)
{
	struct weft_host_facts_fact *facts = host_facts->facts;
	uint32_t kept = 0;

	WEFT_SORT(facts, host_facts->n_facts, compare_facts);
	for (uint32_t i = 0; i < host_facts->n_facts; i++) {
		if (kept &&
		    strcmp(facts[kept - 1].place, facts[i].place) == 0 &&
		    strcmp(facts[kept - 1].key, facts[i].key) == 0)
			kept--;
		facts[kept++] = facts[i];
	}
	host_facts->n_facts = kept;
}

/* Index of the host's first fact, or n_facts; facts are sorted. */
static uint32_t host_find(const struct weft_host_facts *host_facts,
			  struct weft_span host)
{
	uint32_t low = 0, high = host_facts->n_facts;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (weft_span_compare(host_of(host_facts->facts[middle].place),
				      host) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < host_facts->n_facts &&
			       weft_span_compare(
				       host_of(host_facts->facts[low].place),
				       host) == 0
		       ? low
		       : host_facts->n_facts;
}

/* What is said of the host itself, or NULL. */
static const struct weft_host_facts_fact *
fact_find(const struct weft_host_facts *host_facts, struct weft_span host,
	  const char *key)
{
	for (uint32_t i = host_find(host_facts, host); i < host_facts->n_facts;
	     i++) {
		const struct weft_host_facts_fact *fact = &host_facts->facts[i];

		if (!weft_span_is(host, fact->place))
			return NULL;
		if (strcmp(fact->key, key) == 0)
			return fact;
	}
	return NULL;
}

static const char *const gpu_counts[] = {
	"0", "1",  "2",	 "3",  "4",  "5",  "6",	 "7",  "8",
	"9", "10", "11", "12", "13", "14", "15", "16",
};

/* As the host facts says, else by the number of GPUs in the fabric. */
static const char *kind_of(const struct audit *a, const char *place)
{
	struct weft_span host = host_of(place);
	const struct weft_host_facts_fact *fact =
		fact_find(a->host_facts, host, "kind");
	char name[WEFT_NAME_SIZE];
	uint32_t node, n;

	if (fact)
		return fact->value;
	if (!a->f || host.size >= sizeof(name))
		return "";
	node = weft_fabric_node(a->f, weft_span_copy(host, name, sizeof(name)));
	if (node == WEFT_NONE)
		return "";
	n = a->f->nodes[node].n_gpus;
	return n < WEFT_N_OF(gpu_counts) ? gpu_counts[n] : "many";
}

/* The letters that the names of like parts begin with ("mlx" of mlx5_3, "gpu",
 * "lo"): a loopback's MTU is no measure of a port's. */
static struct weft_span family_of(const char *place)
{
	const char *part = weft_span_end(host_of(place));

	return (struct weft_span){part, strcspn(part, "0123456789")};
}

static int compare_families(const char *a, const char *b)
{
	return weft_span_compare(family_of(a), family_of(b));
}

WEFT_COMPARATOR(compare_items, struct item,
		WEFT_TEXT(fact->key) WEFT_UP(is_part) WEFT_TEXT(kind)
			WEFT_KEY(compare_families(a->fact->place,
						  b->fact->place))
				WEFT_NAME(fact->place));

static bool is_alike(const struct item *a, const struct item *b)
{
	return strcmp(a->fact->key, b->fact->key) == 0 &&
	       a->is_part == b->is_part && strcmp(a->kind, b->kind) == 0 &&
	       compare_families(a->fact->place, b->fact->place) == 0;
}

/* ---- rules ---- */

/* The value that most have, and how many do. */
static int most_find(const struct audit *a, const struct item *items,
		     uint32_t n, const char **most, uint32_t *n_most)
{
	const char **values = weft_calloc(n, sizeof(*values), a->err);

	if (!values)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		values[i] = items[i].fact->value;
	WEFT_SORT(values, n, weft_compare_texts);
	*n_most = 0;
	for (uint32_t i = 0, first = 0; i < n; i++) {
		if (strcmp(values[i], values[first]) != 0)
			first = i;
		if (i - first + 1 > *n_most) {
			*n_most = i - first + 1;
			*most = values[i];
		}
	}
	free(values);
	return 0;
}

static int most_apply(const struct audit *a, const struct key *key,
		      const struct item *items, uint32_t n)
{
	const char *name = key->what ? key->what : items[0].fact->key;
	const char *most = "";
	uint32_t n_most;
	char text[512];

	if (n < MIN_SIBLINGS)
		return 0;
	if (most_find(a, items, n, &most, &n_most))
		return -1;
	if (2 * n_most <= n) {
		snprintf(text, sizeof(text),
			 "%.64s: no value is that of most; %u of %u have "
			 "\"%.64s\"",
			 name, n_most, n, most);
		return add(a, WEFT_FINDING_INVENTORY_ODD, NULL, text);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(items[i].fact->value, most) == 0)
			continue;
		snprintf(text, sizeof(text),
			 "%.64s is \"%.64s\", but \"%.64s\" on %u of %u of its "
			 "kind",
			 name, items[i].fact->value, most, n_most, n);
		if (add(a, key->id, &items[i], text))
			return -1;
	}
	return 0;
}

static double median_of(const struct audit *a, const struct item *items,
			uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (items[i].number >= 0)
			a->scratch[kept++] = items[i].number;
	if (kept < MIN_SIBLINGS)
		return 0;
	WEFT_SORT(a->scratch, kept, weft_compare_reals);
	return a->scratch[kept / 2];
}

static int count_apply(const struct audit *a, const struct key *key,
		       struct item *items, uint32_t n)
{
	double median, limit;
	char text[256];

	for (uint32_t i = 0; i < n; i++) {
		const char *value = items[i].fact->value;
		char *end;

		items[i].number = strtod(value, &end);
		if (end != value && !*end && items[i].number >= 0 &&
		    isfinite(items[i].number))
			continue;
		items[i].number = -1;
		snprintf(text, sizeof(text),
			 "%s is \"%.64s\"; expected a number",
			 items[i].fact->key, value);
		if (add(a, WEFT_FINDING_LINE_IGNORED, &items[i], text))
			return -1;
	}
	median = median_of(a, items, n);
	limit = fmax(key->limit, key->times * median);
	for (uint32_t i = 0; i < n; i++) {
		if (items[i].number <= limit)
			continue;
		snprintf(text, sizeof(text),
			 "%.0f %s; the median of its siblings is %.0f",
			 items[i].number, key->what, median);
		if (add(a, key->id, &items[i], text))
			return -1;
	}
	return 0;
}

static bool is_off(const char *value)
{
	static const char *const words[] = {
		"",	"0",   "no",  "No",	    "none",  "None",
		"Idle", "off", "N/A", "Not Active", "[N/A]",
	};

	for (size_t i = 0; i < WEFT_N_OF(words); i++)
		if (strcmp(words[i], value) == 0)
			return true;
	return false;
}

/* nvidia-smi's clocks_event_reasons.active is a set of bits, of which idle,
 * user's clocks and a power cap are daily life; slowdowns by hardware, heat and
 * power brake are not. */
static bool is_throttled(const char *value)
{
	if (strncmp(value, "0x", 2) == 0)
		return strtoull(value, NULL, 16) & 0xe8;
	return !is_off(value);
}

static int flag_apply(const struct audit *a, const struct key *key,
		      const struct item *items, uint32_t n)
{
	char text[256];

	for (uint32_t i = 0; i < n; i++) {
		const char *value = items[i].fact->value;
		bool is_set = key->rule == RULE_CLOCKS ? is_throttled(value)
						       : !is_off(value);

		if (!is_set)
			continue;
		snprintf(text, sizeof(text), "%s: \"%.64s\"", key->what, value);
		if (add(a, key->id, &items[i], text))
			return -1;
	}
	return 0;
}

static int group_apply(const struct audit *a, struct item *items, uint32_t n)
{
	const struct key *key = key_of(items[0].fact->key);

	switch (key->rule) {
	case RULE_MOST:
		return most_apply(a, key, items, n);
	case RULE_COUNT:
		return count_apply(a, key, items, n);
	case RULE_FLAG:
	case RULE_CLOCKS:
		return flag_apply(a, key, items, n);
	case RULE_KIND:
		break;
	}
	return 0;
}

/* ---- hosts that are missing ---- */

static int missing_note(const struct audit *a)
{
	uint32_t missing = 0;
	const char *first = "";
	char text[256];

	for (uint32_t i = 0; a->f && i < a->f->n_nodes; i++) {
		const char *name = a->f->nodes[a->f->counted[i]].name;

		if (host_find(a->host_facts,
			      (struct weft_span){name, strlen(name)}) <
		    a->host_facts->n_facts)
			continue;
		if (missing++ == 0)
			first = name;
	}
	if (missing == 0)
		return 0;
	snprintf(text, sizeof(text),
		 "it has nothing of %u of the fabric's %u nodes, the first "
		 "being %s",
		 missing, a->f->n_nodes, first);
	return add(a, WEFT_FINDING_INVENTORY_PARTIAL, NULL, text);
}

/* ---- the whole ---- */

static int audit_run(struct audit *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct weft_host_facts_fact *fact =
			&a->host_facts->facts[i];

		a->items[i] = (struct item){
			.fact = fact,
			.kind = kind_of(a, fact->place),
			.is_part = strchr(fact->place, ':') != NULL,
		};
	}
	WEFT_SORT(a->items, a->n, compare_items);
	for (uint32_t i = 0, first = 0; i < a->n; i++) {
		if (i + 1 < a->n &&
		    is_alike(&a->items[first], &a->items[i + 1]))
			continue;
		if (group_apply(a, &a->items[first], i + 1 - first))
			return -1;
		first = i + 1;
	}
	return missing_note(a);
}

int weft_host_facts_audit(struct weft_host_facts *host_facts,
			  const struct weft_fabric *f,
			  struct weft_findings *findings,
			  struct weft_error *err)
{
	struct audit a = {
		.host_facts = host_facts,
		.f = f,
		.findings = findings,
		.err = err,
	};
	int rc = -1;

	facts_sort(host_facts);
	a.n = host_facts->n_facts;
	a.items = weft_calloc(a.n, sizeof(*a.items), err);
	a.scratch = weft_calloc(a.n, sizeof(*a.scratch), err);
	if (a.items && a.scratch)
		rc = audit_run(&a);
	free(a.items);
	free(a.scratch);
	return rc;
}
