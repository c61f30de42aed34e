/* SPDX-License-Identifier: GPL-3.0-or-later */
/* occupancy.c - which GPUs of a fabric are free */
#include "placement/capacity/occupancy.h"

#include "base/hostlist.h"
#include "placement/capacity/occupancy_parts.h"
#include "placement/capacity/running.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int weft_occupancy_build(const struct weft_fabric *f, struct weft_occupancy *o,
			 struct weft_error *err)
{
	memset(o, 0, sizeof(*o));
	o->fabric = f;
	o->free = weft_calloc(f->n_nodes, sizeof(*o->free), err);
	o->usable = weft_calloc(f->n_nodes, sizeof(*o->usable), err);
	o->closed = weft_calloc(weft_bitset_words(f->n_nodes),
				sizeof(*o->closed), err);
	if (!o->free || !o->usable || !o->closed)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		o->free[i] = weft_mask_first(f->nodes[i].n_gpus);
		o->usable[i] = f->nodes[i].n_gpus;
	}
	return 0;
}

void weft_occupancy_free(struct weft_occupancy *o)
{
	int saved = errno;

	if (o) {
		free(o->free);
		free(o->usable);
		free(o->closed);
		free(o->required);
		free(o->weight);
		memset(o, 0, sizeof(*o));
	}
	errno = saved;
}

void weft_occupancy_take(struct weft_occupancy *o, uint32_t node, uint64_t mask)
{
	uint32_t count;

	o->free[node] &= ~mask;
	count = weft_mask_count(o->free[node]);
	if (o->usable[node] > count)
		o->usable[node] = count;
}

void weft_occupancy_close(struct weft_occupancy *o, uint32_t node)
{
	weft_bitset_add(o->closed, node);
	weft_occupancy_take(o, node, UINT64_MAX);
}

void weft_occupancy_release(struct weft_occupancy *o, uint32_t node,
			    uint64_t mask)
{
	uint32_t given = weft_mask_count(mask & ~o->free[node]);

	if (weft_bitset_has(o->closed, node))
		return;
	o->free[node] |= mask;
	o->usable[node] += given;
}

static int copy_array(void **to, const void *from, size_t n, size_t size,
		      struct weft_error *err)
{
	*to = NULL;
	if (!from)
		return 0;
	*to = weft_calloc(n, size, err);
	if (!*to)
		return -1;
	memcpy(*to, from, n * size);
	return 0;
}

int weft_occupancy_copy(const struct weft_occupancy *from,
			struct weft_occupancy *to, struct weft_error *err)
{
	uint32_t n = from->fabric->n_nodes;
	void *required = NULL, *weight = NULL;

	if (weft_occupancy_build(from->fabric, to, err))
		return -1;
	memcpy(to->free, from->free, n * sizeof(*to->free));
	memcpy(to->usable, from->usable, n * sizeof(*to->usable));
	memcpy(to->closed, from->closed,
	       weft_bitset_words(n) * sizeof(*to->closed));
	if (copy_array(&required, from->required, weft_bitset_words(n),
		       sizeof(*from->required), err) ||
	    copy_array(&weight, from->weight, n, sizeof(*from->weight), err)) {
		free(required);
		return -1;
	}
	to->required = required;
	to->weight = weight;
	return 0;
}

uint32_t weft_occupancy_usable(const struct weft_occupancy *o)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < o->fabric->n_nodes; i++)
		sum += weft_occupancy_give(o, i);
	return sum;
}

/* A decimal number of at most 2 digits more than any GPU index has. */
static const char *parse_index(const char *p, uint32_t *value)
{
	uint32_t digits = 0;

	for (*value = 0; isdigit((unsigned char)*p); p++) {
		if (++digits > 4)
			return NULL;
		*value = *value * 10 + (uint32_t)(*p - '0');
	}
	return digits ? p : NULL;
}

/* "0-3,5" -> bits 0,1,2,3,5.  "[0-3,5]" is the same. */
static int parse_gpus(const char *text, uint64_t *mask, struct weft_error *err)
{
	size_t length = strlen(text);
	const char *p = text, *end = text + length;
	uint32_t first, last;

	*mask = 0;
	if (length > 1 && *p == '[' && end[-1] == ']') {
		p++;
		end--;
	}
	for (;;) {
		p = parse_index(p, &first);
		last = first;
		if (p && *p == '-')
			p = parse_index(p + 1, &last);
		if (!p || first > last)
			goto syntax;
		if (last >= WEFT_MAX_GPUS_PER_NODE)
			return weft_fail(err, WEFT_EINVAL,
					 "GPU %u: a node has at most %u GPUs",
					 last, WEFT_MAX_GPUS_PER_NODE);
		*mask |= weft_mask_first(last - first + 1) << first;
		if (p == end)
			return 0;
		if (*p++ != ',')
			goto syntax;
		while (*p == ' ')
			p++;
	}
syntax:
	return weft_fail(err, WEFT_EINVAL,
			 "\"%.40s\" is not a list of GPU indices like "
			 "\"0-3,5\"",
			 text);
}

/* Visits every node of `hosts` with the GPUs of `mask`; all: with all it has.
 */
static int visit_hosts(const struct weft_fabric *f, const char *hosts, bool all,
		       uint64_t mask, const struct occupancy_visitor *v,
		       struct weft_error *err)
{
	struct weft_hostlist list = {0};
	uint32_t node;
	int rc = -1;

	if (weft_hostlist_decode(hosts, f->n_nodes, &list, err))
		goto out;
	for (uint32_t i = 0; i < list.n; i++) {
		uint64_t has;

		node = weft_fabric_find(f, list.names[i], err);
		if (node == WEFT_NONE)
			goto out;
		has = weft_mask_first(f->nodes[node].n_gpus);
		if (!all && mask & ~has) {
			weft_fail(err, WEFT_EINVAL,
				  "node %s has GPUs 0-%u, not GPU %u",
				  list.names[i], f->nodes[node].n_gpus - 1,
				  63 - (uint32_t)__builtin_clzll(mask));
			goto out;
		}
		if (v->visit(v->context, node, all ? has : mask, err))
			goto out;
	}
	rc = 0;
out:
	weft_hostlist_free(&list);
	return rc;
}

static int take(void *occupancy, uint32_t node, uint64_t mask,
		struct weft_error *err)
{
	struct weft_occupancy *o = occupancy;

	(void)err;
	weft_occupancy_take(o, node, weft_fabric_places(o->fabric, node, mask));
	return 0;
}

/* Marks them busy. */
static int take_hosts(struct weft_occupancy *o, const char *hosts, bool all,
		      uint64_t mask, struct weft_error *err)
{
	const struct occupancy_visitor taker = {take, o};

	return visit_hosts(o->fabric, hosts, all, mask, &taker, err);
}

/* First `stop` in p outside brackets, or the end of the text. */
static char *find_outside(char *p, char stop)
{
	int depth = 0;

	for (; *p && (depth || *p != stop); p++) {
		if (*p == '[')
			depth++;
		else if (*p == ']' && depth)
			depth--;
	}
	return p;
}

/* True when the text up to its next comma is only digits and dashes: the GPU
 * list of the item before goes on ("n07:0-3,5"). */
static bool continues_gpus(const char *p)
{
	size_t n = strspn(p, "0123456789- ");

	return n > 0 && (p[n] == '\0' || p[n] == ',');
}

/* Cuts the next item, "HOSTS" or "HOSTS:GPUS", off *rest.  *gpus is NULL when
 * it names no GPUs. */
static char *next_item(char **rest, char **gpus)
{
	char *item = *rest, *end = find_outside(item, ',');

	*gpus = find_outside(item, ':');
	if (*gpus < end) {
		*(*gpus)++ = '\0';
		while (*end == ',' && continues_gpus(end + 1))
			end = find_outside(end + 1, ',');
	} else {
		*gpus = NULL;
	}
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return item;
}

int occupancy_visit(const struct weft_fabric *f, const char *text,
		    const struct occupancy_visitor *visitor,
		    struct weft_error *err)
{
	struct weft_error local = {0};
	char *copy = weft_strdup(text, err);
	char *rest = copy, *item, *gpus;
	uint64_t mask = 0;
	int rc = -1;

	if (!copy)
		return -1;
	while (rest) {
		item = next_item(&rest, &gpus);
		if (gpus && parse_gpus(gpus, &mask, &local))
			goto out;
		if (visit_hosts(f, item, !gpus, mask, visitor, &local))
			goto out;
	}
	rc = 0;
out:
	if (rc) {
		/* columns count in the whole text, not in the item */
		int column = (int)(item - copy) +
			     (local.column > 0 ? local.column : 1);
		weft_fail_at(err, local.code, "", 0, column, "%s", local.text);
	}
	free(copy);
	return rc;
}

int weft_occupancy_busy(struct weft_occupancy *o, const char *text,
			struct weft_error *err)
{
	const struct occupancy_visitor taker = {take, o};

	return occupancy_visit(o->fabric, text, &taker, err);
}

/* One entry of "busy:": HOSTS: all | GPU list | list of GPU indices. */
static int load_busy(struct weft_occupancy *o, const struct weft_yaml *doc,
		     const struct weft_yaml_node *entry, struct weft_error *err)
{
	struct weft_error local = {0};
	uint64_t mask = 0, index;
	bool all = false;

	if (entry->kind == WEFT_YAML_LIST) {
		for (const struct weft_yaml_node *n = entry->child; n;
		     n = n->next) {
			if (weft_yaml_uint(doc, n, 0,
					   WEFT_MAX_GPUS_PER_NODE - 1, &index,
					   err))
				return -1;
			mask |= UINT64_C(1) << index;
		}
		if (!mask)
			return 0;
	} else if (entry->kind == WEFT_YAML_SCALAR &&
		   !strcmp(entry->text, "all")) {
		all = true;
	} else if (entry->kind != WEFT_YAML_SCALAR ||
		   parse_gpus(entry->text, &mask, &local)) {
		return weft_yaml_fail(doc, entry, err,
				      "busy GPUs of %.40s: expected \"all\" or "
				      "GPU indices like \"0-3,5\"",
				      entry->key);
	}
	if (take_hosts(o, entry->key, all, mask, &local))
		return weft_yaml_fail_key(doc, entry, err, "%s", local.text);
	return 0;
}

static int close_node(void *o, uint32_t node, uint64_t mask,
		      struct weft_error *err)
{
	(void)mask;
	(void)err;
	weft_occupancy_close(o, node);
	return 0;
}

static int load_down_item(struct weft_occupancy *o, const struct weft_yaml *doc,
			  const struct weft_yaml_node *item,
			  struct weft_error *err)
{
	const struct occupancy_visitor closer = {close_node, o};
	struct weft_error local = {0};

	if (weft_yaml_expect(doc, item, WEFT_YAML_SCALAR, "a down node", err))
		return -1;
	if (visit_hosts(o->fabric, item->text, true, 0, &closer, &local))
		return weft_yaml_fail(doc, item, err, "%s", local.text);
	return 0;
}

/* "down:" is a hostlist, or a list of hostlists; empty means none. */
static int load_down(struct weft_occupancy *o, const struct weft_yaml *doc,
		     const struct weft_yaml_node *down, struct weft_error *err)
{
	if (!down || (down->kind == WEFT_YAML_SCALAR && !*down->text))
		return 0;
	if (down->kind == WEFT_YAML_SCALAR)
		return load_down_item(o, doc, down, err);
	if (weft_yaml_expect(doc, down, WEFT_YAML_LIST, "down", err))
		return -1;
	for (const struct weft_yaml_node *n = down->child; n; n = n->next)
		if (load_down_item(o, doc, n, err))
			return -1;
	return 0;
}

int occupancy_read(struct weft_occupancy *o, const struct weft_yaml *doc,
		   struct weft_error *err)
{
	static const char *const keys[] = {"weft", "busy", "down", "jobs"};
	const struct weft_yaml_node *root = doc->root, *weft, *busy;

	if (weft_yaml_expect(doc, root, WEFT_YAML_MAP, "the state file", err))
		return -1;
	weft = weft_yaml_find(root, "weft");
	if (!weft)
		return weft_yaml_fail(doc, root, err,
				      "a state file begins with "
				      "\"weft: state/1\"");
	if (weft->kind != WEFT_YAML_SCALAR || strcmp(weft->text, "state/1"))
		return weft_yaml_fail(doc, weft, err,
				      "expected \"state/1\", the format of "
				      "this file");
	if (weft_yaml_known_keys(doc, root, keys, 4, "the state file", err))
		return -1;
	busy = weft_yaml_find(root, "busy");
	if (busy && !(busy->kind == WEFT_YAML_SCALAR && !*busy->text)) {
		if (weft_yaml_expect(doc, busy, WEFT_YAML_MAP, "busy", err))
			return -1;
		for (const struct weft_yaml_node *n = busy->child; n;
		     n = n->next)
			if (load_busy(o, doc, n, err))
				return -1;
	}
	return load_down(o, doc, weft_yaml_find(root, "down"), err);
}

int weft_occupancy_load(struct weft_occupancy *o, const char *path,
			struct weft_error *err)
{
	return weft_running_load(o, path, NULL, err);
}
