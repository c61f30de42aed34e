/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_run.c - the step of a job on a usual cluster of its GPU */
#include "lab/step/step_run.h"

#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How large the parts of clusters with a profile are.  An NVLink domain of 72
 * GPUs is used as 64: groups are powers of two. */
static const struct layout {
	const char *profile;
	uint32_t gpus, nvlink_nodes, leaf_nodes, spine_leafs, rails;
} layouts[] = {
	{"dgx-h100-superpod", 8, 0, 32, 8, 8},
	{"selene-a100", 8, 0, 20, 7, 8},
	{"gb200-nvl72", 4, 16, 256, 8, 0},
	{"dgx-b200", 8, 0, 32, 8, 8},
	{"roce-llama3", 8, 0, 2, 192, 0},
	{"pcie4-100g-tcp", 8, 0, 40, 16, 0},
};

static uint32_t over(uint32_t n, uint32_t by)
{
	return (n + by - 1) / by;
}

struct weft_fabric *step_fabric(const struct weft_gpu *gpu, uint32_t gpus,
				uint32_t node_size, bool roce,
				struct weft_error *err)
{
	const char *profile = roce ? "roce-llama3" : gpu->fabric;
	const struct layout *layout = &layouts[0];
	struct weft_synth_options options = {.profile = profile};
	struct weft_fabric *fabric = NULL;
	uint32_t nodes, leafs;
	char spec[128], nvlink[32] = "", *yaml;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(layouts[i].profile, profile) == 0)
			layout = &layouts[i];
	}
	/* The domain that spans nodes keeps its GPUs, whatever a node has. */
	if (node_size == 0 || node_size > 64)
		node_size = layout->gpus;
	nodes = over(gpus, node_size);
	if (layout->nvlink_nodes) {
		uint32_t domain = layout->nvlink_nodes * layout->gpus;

		node_size = layout->gpus;
		snprintf(nvlink, sizeof(nvlink), "nvlink:%u ",
			 layout->leaf_nodes * layout->gpus / domain);
		nodes = layout->nvlink_nodes;
	}
	leafs = over(over(gpus, node_size), layout->leaf_nodes);
	if (!layout->nvlink_nodes)
		nodes = nodes < layout->leaf_nodes ? nodes : layout->leaf_nodes;
	options.rails = node_size == layout->rails ? layout->rails : 0;
	snprintf(spec, sizeof(spec), "spine:%u leaf:%u %snode:%u gpu:%u",
		 over(leafs, layout->spine_leafs),
		 leafs < layout->spine_leafs ? leafs : layout->spine_leafs,
		 nvlink, nodes, node_size);
	yaml = weft_synth(spec, &options, err);
	if (yaml)
		fabric = weft_fabric_parse(yaml, strlen(yaml), spec, err);
	free(yaml);
	return fabric;
}

int step_run(const struct weft_fabric *f, const struct weft_spec *spec,
	     const struct weft_model *model,
	     const struct weft_step_options *options, struct weft_step *step,
	     struct weft_error *err)
{
	uint32_t *where = weft_calloc(spec->gpus, sizeof(*where), err);
	const struct weft_step_job job = {
		.fabric = f,
		.spec = spec,
		.model = model,
		.where = where,
	};
	int rc = -1;

	if (!where)
		return -1;
	for (uint32_t r = 0; r < spec->gpus; r++)
		where[r] = r;
	if (f->n_gpus < spec->gpus)
		weft_fail(err, WEFT_EINVAL,
			  "the job has %u GPUs, the fabric %u", spec->gpus,
			  f->n_gpus);
	else
		rc = weft_step(&job, options, step, err);
	free(where);
	return rc;
}
