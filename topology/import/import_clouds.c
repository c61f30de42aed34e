/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_clouds.c - where instances are, as Google's and Oracle's clouds say
 *
 * Google: gcloud compute instances list --format=json, of which each instance's
 * resourceStatus.physicalHostTopology has cluster, block and subblock.  Oracle:
 * oci compute compute-host list (or compute-bare-metal-host list), and what the
 * metadata service of an instance says (rdmaTopologyData, or all of host), of
 * HOST=FILE; the answers of its API are the same in other letters.
 * Azure: az vm list or az vmss list-instances, and what the metadata service of
 * an instance says; its placement group is all that it says of the network.
 */
#include "base/lines.h"
#include "topology/import/chain.h"
#include "topology/import/json_source.h"
#include "topology/import/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct cloud {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_names names;
	struct weft_error *err;
	uint32_t left_out; /* instances without a place */
};

static int fail(const struct cloud *c, const char *what)
{
	return weft_fail_at(c->err, WEFT_EINVAL, c->input->path, 0, 0, "%s",
			    what);
}

/* What stands behind the last slash of a URL. */
static const char *last_part(const char *text)
{
	const char *slash = text ? strrchr(text, '/') : NULL;

	return slash ? slash + 1 : text;
}

static int located_add(struct cloud *c, struct weft_located *l)
{
	const struct weft_place where = {c->input->source, 0};
	const char *known = weft_names_find(&c->names, l->host);
	bool placed = l->nvlink && *l->nvlink;

	for (size_t i = 0; i < l->n; i++)
		placed = placed || (l->level[i] && *l->level[i]);
	if (!placed) {
		c->left_out++;
		return 0;
	}
	if (known)
		l->host = known;
	return weft_located_add(c->s, l, where, c->err);
}

static int left_out_note(const struct cloud *c)
{
	if (c->s->n_hosts == 0)
		return fail(c, "no instance with a place in the network");
	if (!c->left_out)
		return 0;
	return weft_inventory_note(
		c->s, WEFT_FINDING_INPUT_PARTIAL, NULL,
		(struct weft_place){c->input->source, 0}, c->err,
		"%u instance%s without a place in the network "
		"left out",
		c->left_out, c->left_out == 1 ? "" : "s");
}

static int cloud_read(struct cloud *c,
		      int (*read)(struct cloud *, const json_t *))
{
	json_t *root = weft_json_source(c->input, c->err);
	int rc = -1;

	if (root &&
	    weft_names_read(&c->names, c->input->options->names, c->err) == 0)
		rc = read(c, root);
	if (rc == 0)
		rc = left_out_note(c);
	weft_names_free(&c->names);
	json_decref(root);
	return rc;
}

/* ---- Google ---- */

/* Families of machines with GPUs; the longest start first. */
static const struct {
	const char *start, *kind;
} machines[] = {
	{"a4x-", "gb200"}, {"a4-", "b200"}, {"a3-ultragpu", "h200"},
	{"a3-", "h100"},   {"a2-", "a100"}, {"g2-", "l4"},
};

/* "a3-megagpu-8g" has 8. */
static void machine_read(const char *type, struct weft_located *l)
{
	const char *dash = type ? strrchr(type, '-') : NULL;
	unsigned long n;

	for (size_t i = 0; dash && i < WEFT_N_OF(machines); i++) {
		size_t size = strlen(dash + 1);

		if (strncmp(type, machines[i].start,
			    strlen(machines[i].start)) != 0)
			continue;
		l->gpu_kind = machines[i].kind;
		if (size > 1 && dash[size] == 'g' &&
		    weft_span_uint((struct weft_span){dash + 1, size - 1},
				   WEFT_MAX_GPUS_PER_NODE, &n)) {
			l->gpus = (uint32_t)n;
			l->gpus_told = true;
		}
		return;
	}
}

static int google_instance(struct cloud *c, const json_t *instance)
{
	const json_t *topology =
		json_object_get(json_object_get(instance, "resourceStatus"),
				"physicalHostTopology");
	const char *type = last_part(weft_json_text(instance, "machineType"));
	struct weft_located l = {
		.host = weft_json_text(instance, "name"),
		.level = {weft_json_text(topology, "subblock"),
			  weft_json_text(topology, "block"),
			  weft_json_text(topology, "cluster")},
		.label = {"subblock", "block", "cluster"},
		.n = 3,
	};

	if (!l.host || !*l.host)
		return fail(c, "an instance without a name");
	machine_read(type, &l);
	/* there a subblock is an NVLink domain of 18 */
	if (type && strncmp(type, "a4x-", 4) == 0)
		l.nvlink = l.level[0];
	return located_add(c, &l);
}

static int google_read(struct cloud *c, const json_t *root)
{
	int rc = 0;

	if (json_is_object(root))
		return google_instance(c, root);
	for (size_t i = 0; rc == 0 && i < json_array_size(root); i++)
		rc = google_instance(c, json_array_get(root, i));
	return rc;
}

int weft_import_gcp(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err)
{
	struct cloud c = {.s = s, .input = input, .err = err};

	return cloud_read(&c, google_read);
}

bool weft_looks_gcp(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	return weft_span_find(span, "\"physicalHostTopology\"") != NULL;
}

/* ---- Oracle ---- */

static const char *either(const json_t *object, const char *const *keys)
{
	const char *text = NULL;

	for (; *keys && (!text || !*text); keys++)
		text = weft_json_text(object, *keys);
	return text;
}

/* "BM.GPU.H100.8": the kind and how many; "BM.GPU4.8" and others, how many. */
static void shape_read(const char *shape, char *kind, size_t size,
		       struct weft_located *l)
{
	static const char *const kinds[] = {"GB200", "GB300", "B200", "B300",
					    "H100",  "H200",  "A100", "MI300X",
					    "L40S",  "A10"};
	const char *dot = shape ? strrchr(shape, '.') : NULL;
	unsigned long n;

	if (!dot || !strstr(shape, "GPU") ||
	    !weft_span_uint((struct weft_span){dot + 1, strlen(dot + 1)},
			    WEFT_MAX_GPUS_PER_NODE, &n))
		return;
	l->gpus = (uint32_t)n;
	l->gpus_told = true;
	for (size_t i = 0; i < WEFT_N_OF(kinds); i++) {
		const char *at = strstr(shape, kinds[i]);

		if (!at || at[-1] != '.')
			continue;
		snprintf(kind, size, "%s", kinds[i]);
		for (char *k = kind; *k; k++)
			*k = (char)tolower((unsigned char)*k);
		l->gpu_kind = kind;
		return;
	}
}

/* Ids are long and end in what differs. */
static int oracle_host(struct cloud *c, const json_t *host, const char *name)
{
	static const char *const names[] = {"instance-id",  "instanceId",
					    "display-name", "displayName",
					    "id",	    NULL};
	static const char *const local[] = {
		"local-block-id",	  "localBlockId",
		"compute-local-block-id", "computeLocalBlockId",
		"customerLocalBlock",	  NULL};
	static const char *const network[] = {
		"network-block-id",	    "networkBlockId",
		"compute-network-block-id", "computeNetworkBlockId",
		"customerNetworkBlock",	    NULL};
	static const char *const island[] = {
		"hpc-island-id",	 "hpcIslandId",
		"compute-hpc-island-id", "computeHpcIslandId",
		"customerHPCIslandId",	 NULL};
	static const char *const fabric[] = {"gpu-memory-fabric-id",
					     "gpuMemoryFabricId",
					     "customerGpuMemoryFabric", NULL};
	static const char *const shape[] = {"shape", "instance-shape",
					    "instanceShape", NULL};
	struct weft_located l = {
		.host = name ? name : either(host, names),
		.level = {last_part(either(host, local)),
			  last_part(either(host, network)),
			  last_part(either(host, island))},
		.label = {"local", "block", "island"},
		.n = 3,
		.nvlink = last_part(either(host, fabric)),
	};
	char kind[16];

	if (!l.host || !*l.host)
		return fail(c, "a host without an id; for the metadata of one "
			       "instance say HOST=FILE");
	shape_read(either(host, shape), kind, sizeof(kind), &l);
	return located_add(c, &l);
}

static int oracle_read(struct cloud *c, const json_t *root)
{
	const json_t *data = json_object_get(root, "data");
	const json_t *all = data ? data : root;
	const json_t *items = json_object_get(all, "items");
	const json_t *own = json_object_get(all, "rdmaTopologyData");
	int rc = 0;

	items = items ? items : all;
	if (!json_is_array(items))
		return oracle_host(c, own ? own : all, c->input->hosts);
	for (size_t i = 0; rc == 0 && i < json_array_size(items); i++)
		rc = oracle_host(c, json_array_get(items, i), NULL);
	return rc;
}

int weft_import_oci(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err)
{
	struct cloud c = {.s = s, .input = input, .err = err};

	return cloud_read(&c, oracle_read);
}

bool weft_looks_oci(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	return weft_span_find(span, "\"customerHPCIslandId\"") ||
	       weft_span_find(span, "\"hpc-island-id\"") ||
	       weft_span_find(span, "\"compute-hpc-island-id\"") ||
	       weft_span_find(span, "\"hpcIslandId\"") ||
	       weft_span_find(span, "\"computeHpcIslandId\"");
}

/* ---- Azure ---- */

/* Sizes with GPUs: what a size has in it, the longest first where one is part
 * of another. */
static const struct {
	const char *part, *kind;
	uint32_t gpus;
} azure_sizes[] = {
	{"_GB300_", "gb300", 4},      {"_GB200_", "gb200", 4},
	{"_MI300X_", "mi300x", 8},    {"ND96isr_H200", "h200", 8},
	{"ND96is_H100", "h100", 8},   {"ND96isr_H100", "h100", 8},
	{"ND96amsr_A100", "a100", 8}, {"ND96asr_v4", "a100", 8},
	{"ND96amsr_v4", "a100", 8},   {"ND96asr_A100", "a100", 8},
	{"ND40rs_v2", "v100", 8},     {"NC80adis_H100", "h100", 2},
	{"NC40ads_H100", "h100", 1},  {"NC96ads_A100", "a100", 4},
	{"NC48ads_A100", "a100", 2},  {"NC24ads_A100", "a100", 1},
	{"NC24rs_v3", "v100", 4},     {"NC24s_v3", "v100", 4},
	{"NC12s_v3", "v100", 2},      {"NC6s_v3", "v100", 1},
};

static void azure_size(const char *size, struct weft_located *l)
{
	for (size_t i = 0; size && i < WEFT_N_OF(azure_sizes); i++)
		if (strstr(size, azure_sizes[i].part)) {
			l->gpu_kind = azure_sizes[i].kind;
			l->gpus = azure_sizes[i].gpus;
			l->gpus_told = true;
			return;
		}
	/* all others of its sizes have no whole GPU for training, or none */
	l->gpus_told = size != NULL;
}

static const char *first_of(const json_t *a, const char *key_a, const json_t *b,
			    const char *key_b)
{
	const char *text = weft_json_text(a, key_a);

	return text && *text ? text : weft_json_text(b, key_b);
}

/* Of the metadata service, or of az. */
static int azure_host(struct cloud *c, const json_t *host, const char *name)
{
	const json_t *compute = json_object_get(host, "compute");
	const json_t *own = compute ? compute : host;
	const json_t *hardware = json_object_get(own, "hardwareProfile");
	const json_t *os = json_object_get(own, "osProfile");
	const json_t *near = json_object_get(own, "proximityPlacementGroup");
	const char *group = weft_json_text(own, "placementGroupId");
	struct weft_located l = {
		.host = name ? name : first_of(os, "computerName", own, "name"),
		.label = {"group", "zone"},
		.n = 2,
	};

	if (!l.host || !*l.host)
		return fail(c, "a machine without a name");
	if (!group || !*group)
		group = last_part(first_of(near, "id", own, "vmScaleSetName"));
	if (!group || !*group)
		group = last_part(weft_json_text(
			json_object_get(own, "virtualMachineScaleSet"), "id"));
	l.level[0] = group;
	azure_size(first_of(own, "vmSize", hardware, "vmSize"), &l);
	if (!l.gpu_kind)
		azure_size(weft_json_text(json_object_get(own, "sku"), "name"),
			   &l);
	return located_add(c, &l);
}

static int azure_read(struct cloud *c, const json_t *root)
{
	int rc = 0;

	if (json_is_object(root))
		return azure_host(c, root, c->input->hosts);
	for (size_t i = 0; rc == 0 && i < json_array_size(root); i++)
		rc = azure_host(c, json_array_get(root, i), NULL);
	return rc;
}

int weft_import_azure(struct weft_inventory *s,
		      const struct weft_import_input *input,
		      struct weft_error *err)
{
	struct cloud c = {.s = s, .input = input, .err = err};

	return cloud_read(&c, azure_read);
}

bool weft_looks_azure(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	return weft_span_find(span, "\"azEnvironment\"") ||
	       weft_span_find(span, "Microsoft.Compute/virtualMachine") ||
	       weft_span_find(span, "\"placementGroupId\"");
}
