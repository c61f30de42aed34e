/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rules.c - the keys wait, place and limits of weft.yaml, and what follows from
 * them
 */
#include "plugin/bridge/rules.h"

#include "base/suggest.h"
#include "costmodel/job/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WAIT_MAX_S 1800.0
#define MAX_WAIT_MAX_S	   (7 * 86400.0)
#define DEFAULT_TOLERANCE  0.05
#define MAX_TOLERANCE	   10.0

/* ---- reading ---- */

static int read_names(const struct weft_yaml *doc,
		      const struct weft_yaml_node *map, const char *key,
		      struct weft_names *names, struct weft_error *err)
{
	const struct weft_yaml_node *list = weft_yaml_find(map, key);

	if (!list)
		return 0;
	if (weft_yaml_expect(doc, list, WEFT_YAML_LIST, key, err) < 0)
		return -1;
	if (!list->n_children || list->n_children > WEFT_MAX_NAMES)
		return weft_yaml_fail(doc, list, err,
				      "%s: expected 1 to %d names", key,
				      WEFT_MAX_NAMES);
	names->name = weft_calloc(list->n_children, sizeof(*names->name), err);
	if (!names->name)
		return -1;
	for (const struct weft_yaml_node *node = list->child; node;
	     node = node->next) {
		if (weft_yaml_expect(doc, node, WEFT_YAML_SCALAR, key, err) < 0)
			return -1;
		if (!node->text[0] || strlen(node->text) >= WEFT_NAME_IN_RULES)
			return weft_yaml_fail(doc, node, err,
					      "%s: expected a name of 1 to %d "
					      "bytes",
					      key, WEFT_NAME_IN_RULES - 1);
		snprintf(names->name[names->n++], WEFT_NAME_IN_RULES, "%s",
			 node->text);
	}
	return 0;
}

int weft_rules_read_wait(const struct weft_yaml *doc,
			 const struct weft_yaml_node *map,
			 struct weft_rules *rules, struct weft_error *err)
{
	static const char *const keys[] = {"max", "tolerance", "partitions"};
	const struct weft_yaml_node *node;

	if (weft_yaml_known_keys(doc, map, keys, sizeof(keys) / sizeof(keys[0]),
				 "wait", err) < 0)
		return -1;
	node = weft_yaml_find(map, "max");
	if (node && weft_yaml_time(doc, node, &rules->wait_max_s, err) < 0)
		return -1;
	if (rules->wait_max_s < 0 || rules->wait_max_s > MAX_WAIT_MAX_S)
		return weft_yaml_fail(doc, node, err,
				      "max: expected 0 s to 10080 min");
	node = weft_yaml_find(map, "tolerance");
	if (node && weft_yaml_number(doc, node, 0, MAX_TOLERANCE,
				     &rules->wait_tolerance, err) < 0)
		return -1;
	return read_names(doc, map, "partitions", &rules->wait_partitions, err);
}

int weft_rules_read_place(const struct weft_yaml *doc,
			  const struct weft_yaml_node *map,
			  struct weft_rules *rules, struct weft_error *err)
{
	static const char *const keys[] = {"partitions", "qos", "accounts"};
	struct weft_names *const lists[] = {&rules->place_partitions,
					    &rules->place_qos,
					    &rules->place_accounts};
	const size_t n = sizeof(keys) / sizeof(keys[0]);

	if (weft_yaml_known_keys(doc, map, keys, n, "place", err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (read_names(doc, map, keys[i], lists[i], err) < 0)
			return -1;
	return 0;
}

/* Names of levels are known only where the fabric is. */
static int check_levels(const struct weft_yaml *doc,
			const struct weft_yaml_node *list,
			const struct weft_fabric *f, struct weft_error *err)
{
	const char *known[WEFT_MAX_LEVELS];
	const struct weft_yaml_node *node = list ? list->child : NULL;
	uint32_t level;

	for (level = 0; f && level < f->n_levels; level++)
		known[level] = f->levels[level].name;
	for (; f && node; node = node->next) {
		for (level = 0; level < f->n_levels; level++)
			if (strcmp(node->text, known[level]) == 0)
				break;
		if (level == f->n_levels)
			return weft_yaml_fail(
				doc, node, err,
				"within: the fabric has no level \"%s\"; did "
				"you mean \"%s\"?",
				node->text,
				weft_suggest(node->text, known, f->n_levels));
	}
	return 0;
}

static int read_count(const struct weft_yaml *doc,
		      const struct weft_yaml_node *map, const char *key,
		      uint32_t max, uint32_t *count, struct weft_error *err)
{
	const struct weft_yaml_node *node = weft_yaml_find(map, key);
	uint64_t value = max;

	if (node && weft_yaml_uint(doc, node, 1, max, &value, err) < 0)
		return -1;
	*count = (uint32_t)value;
	return 0;
}

int weft_rules_read_limits(const struct weft_yaml *doc,
			   const struct weft_yaml_node *map,
			   const struct weft_fabric *f,
			   struct weft_rules *rules, struct weft_error *err)
{
	static const char *const keys[] = {"within", "segment", "parts",
					   "partitions"};

	if (weft_yaml_known_keys(doc, map, keys, sizeof(keys) / sizeof(keys[0]),
				 "limits", err) < 0)
		return -1;
	if (read_names(doc, map, "within", &rules->within, err) < 0 ||
	    check_levels(doc, weft_yaml_find(map, "within"), f, err) < 0 ||
	    read_count(doc, map, "segment", WEFT_MAX_GPUS, &rules->max_segment,
		       err) < 0 ||
	    read_count(doc, map, "parts", WEFT_MAX_PARTS, &rules->max_parts,
		       err) < 0)
		return -1;
	return read_names(doc, map, "partitions", &rules->limit_partitions,
			  err);
}

void weft_rules_default(struct weft_rules *rules)
{
	*rules = (struct weft_rules){
		.wait_max_s = DEFAULT_WAIT_MAX_S,
		.wait_tolerance = DEFAULT_TOLERANCE,
	};
}

void weft_rules_free(struct weft_rules *rules)
{
	free(rules->wait_partitions.name);
	free(rules->within.name);
	free(rules->place_partitions.name);
	free(rules->place_qos.name);
	free(rules->place_accounts.name);
	free(rules->limit_partitions.name);
	memset(rules, 0, sizeof(*rules));
}

/* ---- what follows ---- */

/* An empty list has every name. */
static bool names_allow(const struct weft_names *names, const char *name)
{
	for (uint32_t i = 0; name && i < names->n; i++)
		if (strcmp(names->name[i], name) == 0)
			return true;
	return !names->n;
}

bool weft_rules_place(const struct weft_rules *rules,
		      const struct weft_owner *owner)
{
	return names_allow(&rules->place_partitions, owner->partition) &&
	       names_allow(&rules->place_qos, owner->qos) &&
	       names_allow(&rules->place_accounts, owner->account);
}

int weft_rules_check(const struct weft_rules *rules,
		     const struct weft_frame *frame, const char *partition,
		     struct weft_error *err)
{
	if (!frame->hard)
		return 0;
	if (!names_allow(&rules->limit_partitions, partition))
		return weft_fail(err, WEFT_EINVAL,
				 "within, segment and split are not allowed in "
				 "this partition");
	if (frame->within[0] && !names_allow(&rules->within, frame->within))
		return weft_fail(err, WEFT_EINVAL,
				 "within=%s is not allowed here; \"%s\" is",
				 frame->within, rules->within.name[0]);
	if (rules->max_segment && frame->segment > rules->max_segment)
		return weft_fail(err, WEFT_EINVAL,
				 "%u nodes in one domain (segment, split): %u "
				 "are allowed here",
				 frame->segment, rules->max_segment);
	if (rules->max_parts && frame->n_parts > rules->max_parts)
		return weft_fail(err, WEFT_EINVAL,
				 "split has %u parts: %u are allowed here",
				 frame->n_parts, rules->max_parts);
	return 0;
}

double weft_rules_wait_s(const struct weft_rules *rules,
			 const struct weft_frame *frame, const char *partition)
{
	if (!names_allow(&rules->wait_partitions, partition))
		return 0;
	return frame->wait_s < rules->wait_max_s ? frame->wait_s
						 : rules->wait_max_s;
}
