/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_rdma_topo.c - "rdma_topo topo", also with --json: which NIC has a
 * direct path to which GPU
 *
 *	RDMA NIC=0000:03:00.0, GPU=0009:06:00.0, RDMA DMA Function=0009:03:00.0
 *		NUMA Node: 0
 *		RDMA devices: mlx5_0, mlx5_1
 *
 *	[{"rdma_nic_pf_bdf": "0000:03:00.0", "gpu_bdf": "0009:06:00.0",
 *	  "subsystems": {"0000:03:00.0": {"infiniband": ["mlx5_0"]}}}]
 *
 * A block is a GPU with its NIC, or with several, which have no address of
 * their own in its first line.  GPUs without such a NIC are not listed: there
 * are as many GPUs as blocks say.
 */
#include "base/compare.h"
#include "base/lines.h"
#include "topology/import/import.h"
#include "topology/import/json_source.h"
#include "topology/import/node/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD	  "RDMA NIC="
#define DMA	  "RDMA DMA Function="
#define GPU_KEY	  "GPU="
#define NUMA_NONE (-1)

/* One block: the devices of a NIC, named by a text of commas and blanks. */
struct block {
	char gpu[32], nic[32], devices[512];
	int numa, line;
};

struct reader {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct block blocks[WEFT_INSIDE_MAX];
	uint32_t n;
};

static int fail(const struct reader *r, int line, const char *what)
{
	return weft_fail_at(r->err, WEFT_EINVAL, r->input->path, line, 0, "%s",
			    what);
}

/* The next block; NULL with the error: a node has no such number. */
static struct block *block_add(struct reader *r, int line)
{
	struct block *block = &r->blocks[r->n];

	if (r->n == WEFT_INSIDE_MAX) {
		fail(r, line, "more GPUs than a fabric's node can have");
		return NULL;
	}
	r->n++;
	*block = (struct block){.numa = NUMA_NONE, .line = line};
	return block;
}

/* ---- text ---- */

/* What stands behind `key` up to a comma; empty where there is none. */
static struct weft_span value_of(struct weft_span line, const char *key)
{
	const char *at = weft_span_find(line, key);
	struct weft_span rest, value = {NULL, 0};

	if (!at)
		return value;
	at += strlen(key);
	rest = (struct weft_span){at, (size_t)(weft_span_end(line) - at)};
	weft_span_word(&rest, ", \t", &value);
	return value;
}

static int head_read(struct reader *r, struct weft_span line, int number)
{
	struct weft_span nic = value_of(line, HEAD);
	struct weft_span gpu = value_of(line, GPU_KEY);
	struct block *block;

	if (!gpu.size)
		return fail(r, number,
			    "expected \"RDMA NIC=address, GPU=address\"");
	block = block_add(r, number);
	if (!block)
		return -1;
	weft_span_copy(nic, block->nic, sizeof(block->nic));
	weft_span_copy(gpu, block->gpu, sizeof(block->gpu));
	return 0;
}

static void devices_add(struct block *block, const char *names, size_t size)
{
	size_t used = strlen(block->devices);

	snprintf(block->devices + used, sizeof(block->devices) - used, "%s%.*s",
		 used ? ", " : "", (int)size, names);
}

/* "NUMA Node: 0", "RDMA device: mlx5_0", "RDMA devices: mlx5_0, mlx5_1". */
static void detail_read(struct block *block, struct weft_span line)
{
	const char *colon = weft_span_find(line, ": ");
	struct weft_span value;
	unsigned long numa;

	if (!colon)
		return;
	value = weft_span_trim((struct weft_span){
		colon + 1, (size_t)(weft_span_end(line) - colon) - 1});
	if (weft_span_starts(line, "RDMA device"))
		devices_add(block, value.at,
			    value.size < 256 ? value.size : 256);
	else if (weft_span_starts(line, "NUMA Node") &&
		 weft_span_uint(value, 65535, &numa))
		block->numa = (int)numa;
}

static int text_read(struct reader *r)
{
	struct weft_lines lines =
		weft_lines_start(r->input->text, r->input->size);
	struct weft_span line;

	while (weft_lines_next(&lines, &line)) {
		line = weft_span_trim(line);
		if (weft_span_starts(line, HEAD) ||
		    weft_span_starts(line, GPU_KEY)) {
			if (head_read(r, line, lines.number))
				return -1;
		} else if (r->n) {
			detail_read(&r->blocks[r->n - 1], line);
		}
	}
	return 0;
}

/* ---- JSON ---- */

/* The texts of a list. */
static void list_read(struct block *block, const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name)
			devices_add(block, name, strnlen(name, 31));
	}
}

/* RDMA devices of all functions; without any, the addresses of the NICs that
 * are listed by board. */
static void devices_read(struct block *block, const json_t *object)
{
	json_t *subsystems = json_object_get(object, "subsystems");
	const json_t *boards = json_object_get(object, "rdma_nic_boards");
	const char *address;
	json_t *of;

	json_object_foreach(subsystems, address, of)
		list_read(block, json_object_get(of, "infiniband"));
	for (size_t b = 0;
	     !*block->devices && !*block->nic && b < json_array_size(boards);
	     b++) {
		const json_t *nics =
			json_object_get(json_array_get(boards, b), "nics");

		for (size_t n = 0; n < json_array_size(nics); n++)
			list_read(block,
				  json_object_get(json_array_get(nics, n),
						  "pf_bdfs"));
	}
}

static int object_read(struct reader *r, const json_t *object)
{
	const json_t *numa = json_object_get(object, "numa_node");
	const char *gpu = weft_json_text(object, "gpu_bdf");
	const char *nic = weft_json_text(object, "rdma_nic_pf_bdf");
	struct block *block;

	if (!gpu)
		return fail(r, 0,
			    "expected objects with gpu_bdf, one for each "
			    "NIC");
	block = block_add(r, 0);
	if (!block)
		return -1;
	snprintf(block->gpu, sizeof(block->gpu), "%s", gpu);
	snprintf(block->nic, sizeof(block->nic), "%s", nic ? nic : "");
	if (json_is_integer(numa) && json_integer_value(numa) >= 0 &&
	    json_integer_value(numa) <= 65535)
		block->numa = (int)json_integer_value(numa);
	devices_read(block, object);
	return 0;
}

static int json_read(struct reader *r)
{
	json_t *root = weft_json_source(r->input, r->err);
	int rc = root ? 0 : -1;

	if (root && !json_is_array(root))
		rc = fail(r, 0, "expected a list, one object for each NIC");
	for (size_t i = 0; rc == 0 && i < json_array_size(root); i++)
		rc = object_read(r, json_array_get(root, i));
	json_decref(root);
	return rc;
}

/* ---- the whole ---- */

/* CUDA counts GPUs in the order of their addresses; so do rails. */
WEFT_COMPARATOR(compare_blocks, struct block, WEFT_TEXT(gpu) WEFT_TEXT(nic));

static int nic_add(const struct reader *r, struct weft_inside_draft *d,
		   const struct block *block, struct weft_span name)
{
	uint32_t nic = weft_inside_add_nic(d);
	uint32_t gpu = d->inside.n_gpus - 1;

	if (nic == WEFT_NONE)
		return fail(r, block->line, "more NICs than a node can have");
	weft_span_copy(name, d->inside.nics[nic].name,
		       sizeof(d->inside.nics[nic].name));
	d->inside.nics[nic].numa = block->numa;
	d->distance[nic][gpu] = 1;
	return 0;
}

/* A NIC without a driver has no RDMA device, and is known by its address. */
static int nics_add(const struct reader *r, struct weft_inside_draft *d,
		    const struct block *block)
{
	struct weft_span rest = {block->devices, strlen(block->devices)}, name;

	if (!rest.size)
		rest = (struct weft_span){block->nic, strlen(block->nic)};
	while (weft_span_word(&rest, ", \t", &name))
		if (nic_add(r, d, block, name))
			return -1;
	return 0;
}

static int blocks_add(struct reader *r, struct weft_inside_draft *d)
{
	if (!r->n)
		return fail(r, 0,
			    "no line \"" HEAD "\"; expected the output of "
			    "\"rdma_topo topo\"");
	WEFT_SORT(r->blocks, r->n, compare_blocks);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct block *block = &r->blocks[i];

		if (!i || strcmp(block[-1].gpu, block->gpu) != 0)
			d->inside.gpus[weft_inside_add_gpu(d)].numa =
				block->numa;
		if (nics_add(r, d, block))
			return -1;
	}
	return weft_inside_finish(r->s, d, r->err);
}

bool weft_looks_rdma_topo(const char *text, size_t size)
{
	const struct weft_span all = {text, size};

	if (weft_span_find(all, "\"gpu_bdf\"") &&
	    weft_span_find(all, "\"rdma_"))
		return true;
	return weft_span_find(all, GPU_KEY) &&
	       (weft_span_find(all, HEAD) || weft_span_find(all, DMA));
}

int weft_import_rdma_topo(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err)
{
	struct reader *r = weft_calloc(1, sizeof(*r), err);
	struct weft_inside_draft *d = r ? weft_inside_start(err) : NULL;
	const char *begin = input->text + strspn(input->text, " \t\r\n");
	int rc = -1;

	if (d) {
		*r = (struct reader){.s = s, .input = input, .err = err};
		d->place = d->hosts = input->hosts;
		d->where.source = input->source;
		rc = *begin == '[' || *begin == '{' ? json_read(r)
						    : text_read(r);
	}
	if (rc == 0)
		rc = blocks_add(r, d);
	free(d);
	free(r);
	return rc;
}
