/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_run.c - the step of a job on a usual cluster of its GPU */
#include "lab/step/step_run.h"

#include "placement/place.h"
#include "topology/profile.h"
#include "topology/synth.h"

#include <ctype.h>
#include <math.h>
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

/* What a GPU gets of its NIC's line rate, as in the profiles. */
#define NIC_SHARE 0.93

/* Levels above nodes in the clusters that are made here. */
static const char *const levels[] = {"leaf", "spine", "core"};

static uint32_t over(uint32_t n, uint32_t by)
{
	return (n + by - 1) / by;
}

/* Bits per second of all NICs of a node that the words name: "4x100G" and
 * "8xNDR400" are several of so many Gbps, "1600 Gbps" is the sum; 0: none. */
static double network_bits(const char *words)
{
	for (const char *at = words; *at; at++) {
		unsigned long n, rate;
		char *end;

		if (!isdigit((unsigned char)*at))
			continue;
		n = strtoul(at, &end, 10);
		if (*end == 'x' && n > 0 && n <= 64) {
			end += 1 + strspn(end + 1, "NXHDERIBib");
			rate = strtoul(end, &end, 10);
			if (rate >= 10 && rate <= 3200)
				return (double)n * (double)rate * 1e9;
		} else if (strncmp(end, " Gbps", 5) == 0) {
			return (double)n * 1e9;
		}
		at = end - 1;
		if (!*end)
			break;
	}
	return 0;
}

/* Links between nodes as the words say; the profile's where that is what they
 * say. */
static void links_append(char **yaml, const struct weft_profile *profile,
			 double bits, uint32_t node_size)
{
	double rate = NIC_SHARE * bits / 8 / node_size;
	double usual = profile->link[1].rate_bytes_per_s;
	char *more = NULL;
	FILE *out;
	size_t size;

	if (!(bits > 0) || !*yaml || fabs(rate / usual - 1) < 0.1)
		return;
	out = open_memstream(&more, &size);
	if (!out)
		return;
	fprintf(out, "%slinks:\n", *yaml);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		char key[32];

		snprintf(key, sizeof(key), "\n  %s:", levels[i]);
		if (strstr(*yaml, i == 2 ? "\n    spine[" : key))
			fprintf(out, "  %s: {bandwidth: %.6g GB/s}\n",
				levels[i], rate / 1e9);
	}
	fclose(out);
	free(*yaml);
	*yaml = more;
}

static bool is_file(const char *cluster)
{
	return strchr(cluster, '/') && strstr(cluster, ".y");
}

bool step_cluster_known(const char *cluster)
{
	return !*cluster || strchr(cluster, ' ') || is_file(cluster) ||
	       weft_profile_find(cluster) || network_bits(cluster) > 0;
}

static struct weft_fabric *file_load(const char *cluster, const char *folder,
				     struct weft_error *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", *cluster == '/' ? "" : folder,
		 cluster);
	return weft_fabric_load(path, err);
}

/* The line of weft synth for so many GPUs. */
static void synth_spec(const struct layout *layout, uint32_t gpus,
		       uint32_t *node_size, char *spec, size_t size)
{
	uint32_t nodes, leafs;
	char nvlink[32] = "";

	/* The domain that spans nodes keeps its GPUs, whatever a node has. */
	if (*node_size == 0 || *node_size > 64)
		*node_size = layout->gpus;
	nodes = over(gpus, *node_size);
	if (layout->nvlink_nodes) {
		uint32_t domain = layout->nvlink_nodes * layout->gpus;

		*node_size = layout->gpus;
		snprintf(nvlink, sizeof(nvlink), "nvlink:%u ",
			 layout->leaf_nodes * layout->gpus / domain);
		nodes = layout->nvlink_nodes;
	}
	leafs = over(over(gpus, *node_size), layout->leaf_nodes);
	if (!layout->nvlink_nodes)
		nodes = nodes < layout->leaf_nodes ? nodes : layout->leaf_nodes;
	snprintf(spec, size, "spine:%u leaf:%u %snode:%u gpu:%u",
		 over(leafs, layout->spine_leafs),
		 leafs < layout->spine_leafs ? leafs : layout->spine_leafs,
		 nvlink, nodes, *node_size);
}

struct weft_fabric *step_fabric(const struct weft_gpu *gpu, uint32_t gpus,
				uint32_t node_size, const char *cluster,
				const char *folder, struct weft_error *err)
{
	const struct weft_profile *profile = weft_profile_find(cluster);
	const struct layout *layout = &layouts[0];
	struct weft_synth_options options = {.rails = 0};
	struct weft_fabric *fabric = NULL;
	char spec[128], *yaml;

	if (is_file(cluster))
		return file_load(cluster, folder, err);
	options.profile = profile			 ? profile->name
			  : strstr(cluster, "RoCE 400G") ? "roce-llama3"
							 : gpu->fabric;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(layouts[i].profile, options.profile) == 0)
			layout = &layouts[i];
	}
	synth_spec(layout, gpus, &node_size, spec, sizeof(spec));
	options.rails = node_size == layout->rails ? layout->rails : 0;
	yaml = weft_synth(spec, &options, err);
	if (!profile && strcmp(options.profile, gpu->fabric) == 0)
		links_append(&yaml, weft_profile_find(options.profile),
			     network_bits(cluster), node_size);
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

int step_place(const struct weft_fabric *f, const struct weft_job *job,
	       uint32_t *where, struct weft_error *err)
{
	struct weft_occupancy empty = {0};
	struct weft_placement p = {0};
	int rc = weft_occupancy_build(f, &empty, err);

	if (rc == 0)
		rc = weft_place(f, job, &empty, NULL, &p, err);
	if (rc == 0 && !p.placed)
		rc = weft_fail(err, WEFT_EINVAL, "%s", p.why[0]);
	if (rc == 0)
		memcpy(where, p.where, job->n_gpus * sizeof(*where));
	weft_placement_free(&p);
	weft_occupancy_free(&empty);
	return rc;
}
