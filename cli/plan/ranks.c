/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - hostlists, hostfiles and plans as "GPU of rank r" */
#include "cli/plan/ranks.h"
#include "base/bitset.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "placement/capacity/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a file; the plan of 4 million ranks has half. */
#define MAX_BYTES ((size_t)512 << 20)

/* Ranks as they are read: `taken` finds GPUs named twice. */
struct reader {
	const struct weft_fabric *f;
	const char *source;
	uint64_t *taken; /* bitset of GPUs */
	uint32_t *where;
	uint32_t n_ranks, next;
	int line;
};

static int reader_open(struct reader *r, struct weft_error *err)
{
	r->taken = weft_calloc(weft_bitset_words(r->f->n_gpus),
			       sizeof(*r->taken), err);
	return r->taken ? 0 : -1;
}

static int reader_fail(const struct reader *r, struct weft_error *err,
		       const char *text, const char *detail)
{
	return weft_fail_at(err, WEFT_EINVAL, r->source, r->line, 0, "%s%s",
			    text, detail);
}

static int reader_add(struct reader *r, uint32_t rank, uint32_t gpu,
		      struct weft_error *err)
{
	const struct weft_node *node = &r->f->nodes[r->f->gpu_node[gpu]];
	char name[WEFT_NAME_SIZE + 16];

	snprintf(name, sizeof(name), "%s:%u", node->name,
		 weft_fabric_number(r->f, gpu));
	if (rank >= r->n_ranks) {
		char count[32];

		snprintf(count, sizeof(count), "%u", r->n_ranks);
		return reader_fail(r, err, "more ranks than the job's ", count);
	}
	if (weft_bitset_has(r->taken, gpu))
		return reader_fail(r, err, "two ranks on GPU ", name);
	weft_bitset_add(r->taken, gpu);
	r->where[rank] = gpu;
	r->next++;
	return 0;
}

static int reader_close(struct reader *r, int result, struct weft_error *err)
{
	free(r->taken);
	if (result == 0 && r->next < r->n_ranks)
		return weft_fail_at(err, WEFT_EINVAL, r->source, 0, 0,
				    "names %u GPUs, but the job has %u ranks",
				    r->next, r->n_ranks);
	return result;
}

/* ---- hostlist ---- */

/* True for digits and dashes up to the next comma: as to weft_occupancy_busy,
 * they continue the GPU list before the comma, where there is one. */
static bool continues_gpus(const char *p)
{
	size_t n = strspn(p, "0123456789- ");

	return n > 0 && (p[n] == '\0' || p[n] == ',');
}

/* Splits "n[00-03],n07:0-3,n08" at the commas outside brackets that begin a
 * name. */
static size_t piece_length(const char *text)
{
	int depth = 0;
	size_t i;

	for (i = 0; text[i]; i++) {
		depth += (text[i] == '[') - (text[i] == ']');
		if (text[i] != ',' || depth > 0)
			continue;
		if (!memchr(text, ':', i) || !continues_gpus(text + i + 1))
			break;
	}
	return i;
}

/* Calls visit for every (node, mask of its GPUs; 0: no list given). */
static int pieces_visit(struct reader *r, const char *text,
			int (*visit)(struct reader *, uint32_t, uint64_t,
				     void *, struct weft_error *),
			void *context, struct weft_error *err)
{
	while (*text) {
		size_t length = piece_length(text);
		char *piece = strndup(text, length);
		struct weft_occupancy none = {0};
		struct weft_hostlist list = {0};
		struct weft_error why = {0};
		bool has_gpus = piece && strchr(piece, ':');
		int result = -1;

		/* weft_occupancy_busy knows the grammar: what it would mark
		 * busy is what is named here. */
		if (!piece || weft_occupancy_build(r->f, &none, &why) ||
		    weft_occupancy_busy(&none, piece, &why))
			goto out;
		if (has_gpus)
			*strchr(piece, ':') = '\0';
		if (weft_hostlist_decode(piece, WEFT_MAX_GPUS, &list, &why))
			goto out;
		result = 0;
		for (uint32_t i = 0; i < list.n && result == 0; i++) {
			uint32_t node = weft_fabric_node(r->f, list.names[i]);
			uint64_t all =
				weft_mask_first(r->f->nodes[node].n_gpus);
			uint64_t mask = has_gpus ? all & ~none.free[node] : 0;

			result = visit(r, node, mask, context, err);
		}
	out:
		if (why.code)
			weft_fail_at(err, why.code, r->source, 0, why.column,
				     "%s", why.text);
		weft_hostlist_free(&list);
		weft_occupancy_free(&none);
		free(piece);
		if (result)
			return -1;
		text += length;
		text += *text == ',';
	}
	return 0;
}

static int piece_count(struct reader *r, uint32_t node, uint64_t mask,
		       void *context, struct weft_error *err)
{
	uint32_t *n_nodes = context;

	(void)r;
	(void)node;
	(void)mask;
	(void)err;
	++*n_nodes;
	return 0;
}

static int piece_add(struct reader *r, uint32_t node, uint64_t mask,
		     void *context, struct weft_error *err)
{
	const struct weft_node *n = &r->f->nodes[node];
	const uint32_t *each = context;
	uint32_t k;

	if (!mask)
		mask = weft_mask_first(*each ? *each : n->n_gpus);
	mask &= weft_mask_first(n->n_gpus);
	weft_mask_foreach (k, mask) {
		if (reader_add(r, r->next, weft_fabric_numbered(r->f, node, k),
			       err))
			return -1;
	}
	return 0;
}

int ranks_from_hostlist(const struct weft_fabric *f, const char *text,
			uint32_t n_ranks, uint32_t *where,
			struct weft_error *err)
{
	struct reader r = {.f = f,
			   .source = "--nodes",
			   .where = where,
			   .n_ranks = n_ranks};
	uint32_t n_nodes = 0, each;
	int result;

	if (reader_open(&r, err))
		return -1;
	result = pieces_visit(&r, text, piece_count, &n_nodes, err);
	each = n_nodes && n_ranks % n_nodes == 0 ? n_ranks / n_nodes : 0;
	if (result == 0)
		result = pieces_visit(&r, text, piece_add, &each, err);
	return reader_close(&r, result, err);
}

/* ---- files ---- */

static int hostfile_line(struct reader *r, char *line, struct weft_error *err)
{
	const struct weft_node *node;
	struct weft_error why = {0};
	uint32_t gpu, index;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	line[strcspn(line, " \t")] = '\0';
	if (!*line)
		return 0;
	if (strchr(line, ':')) {
		if (weft_fabric_gpu(r->f, line, &gpu, &why))
			return reader_fail(r, err, why.text, "");
		return reader_add(r, r->next, gpu, err);
	}
	index = weft_fabric_find(r->f, line, &why);
	if (index == WEFT_NONE)
		return reader_fail(r, err, why.text, "");
	node = &r->f->nodes[index];
	for (uint32_t k = 0; k < node->n_gpus; k++) {
		gpu = weft_fabric_numbered(r->f, index, k);
		if (!weft_bitset_has(r->taken, gpu))
			return reader_add(r, r->next, gpu, err);
	}
	return reader_fail(r, err, "more ranks than GPUs on node ", line);
}

static int hostfile_read(struct reader *r, char *text, struct weft_error *err)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		r->line++;
		if (hostfile_line(r, line, err))
			return -1;
	}
	r->line = 0;
	return 0;
}

static int json_rank(struct reader *r, json_t *entry, struct weft_error *err)
{
	struct weft_error why = {0};
	json_int_t rank, gpu;
	const char *name;
	uint32_t node;

	if (json_unpack(entry, "{s:I, s:s, s:I}", "rank", &rank, "node", &name,
			"gpu", &gpu))
		return reader_fail(r, err,
				   "expected {\"rank\", \"node\", \"gpu\"} in ",
				   "\"ranks\"");
	node = weft_fabric_find(r->f, name, &why);
	if (node == WEFT_NONE)
		return reader_fail(r, err, why.text, "");
	if (gpu < 0 || gpu >= r->f->nodes[node].n_gpus)
		return reader_fail(r, err, "no such GPU on node ", name);
	if (rank < 0 || rank >= r->n_ranks)
		return reader_fail(r, err, "a rank that the job does not have",
				   "");
	return reader_add(r, (uint32_t)rank,
			  weft_fabric_numbered(r->f, node, (uint32_t)gpu), err);
}

static int plan_ranks_read(struct reader *r, const json_t *plan,
			   struct weft_error *err)
{
	const json_t *ranks = json_object_get(plan, "ranks");
	int result = 0;

	if (!json_is_array(ranks))
		result = reader_fail(r, err, "expected an array ",
				     "\"ranks\", as weft plan --json writes");
	for (size_t i = 0; result == 0 && i < json_array_size(ranks); i++)
		result = json_rank(r, json_array_get(ranks, i), err);
	return result;
}

static int json_read(struct reader *r, const char *text, struct weft_error *err)
{
	json_error_t why;
	json_t *plan = json_loads(text, 0, &why);
	int result;

	if (!plan)
		return weft_fail_at(err, WEFT_EINVAL, r->source, why.line,
				    why.column, "%s", why.text);
	result = plan_ranks_read(r, plan, err);
	json_decref(plan);
	return result;
}

int ranks_from_json(const struct weft_fabric *f, const json_t *plan,
		    const char *source, uint32_t n_ranks, uint32_t *where,
		    struct weft_error *err)
{
	struct reader r = {
		.f = f, .source = source, .where = where, .n_ranks = n_ranks};
	int result;

	if (reader_open(&r, err))
		return -1;
	result = plan_ranks_read(&r, plan, err);
	return reader_close(&r, result, err);
}

json_t *plan_from_file(const char *path, struct weft_error *err)
{
	json_error_t why;
	json_t *plan = NULL;
	char *text;
	size_t size;

	if (weft_text_load(path, MAX_BYTES, &text, &size, err))
		return NULL;
	plan = json_loads(text, 0, &why);
	free(text);
	if (!plan)
		weft_fail_at(err, WEFT_EINVAL, path, why.line, why.column,
			     "%s; expected what weft plan --json prints",
			     why.text);
	return plan;
}

int ranks_from_file(const struct weft_fabric *f, const char *path,
		    uint32_t n_ranks, uint32_t *where, struct weft_error *err)
{
	struct reader r = {
		.f = f, .source = path, .where = where, .n_ranks = n_ranks};
	char *text = NULL;
	size_t size;
	int result;

	if (reader_open(&r, err))
		return -1;
	if (weft_text_load(path, MAX_BYTES, &text, &size, err))
		result = -1;
	else if (text[strspn(text, " \t\r\n")] == '{')
		result = json_read(&r, text, err);
	else
		result = hostfile_read(&r, text, err);
	free(text);
	return reader_close(&r, result, err);
}

int ranks_read(const struct weft_fabric *f, const char *nodes, const char *path,
	       uint32_t n_ranks, uint32_t *where, struct weft_error *err)
{
	return nodes ? ranks_from_hostlist(f, nodes, n_ranks, where, err)
		     : ranks_from_file(f, path, n_ranks, where, err);
}
