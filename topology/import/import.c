/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import.c - the table of importers, and reading files for them */
#include "topology/import/import.h"
#include "base/lines.h"
#include "base/suggest.h"
#include "base/text.h"

#include <stdlib.h>

/* Here, since weft also knows the format where it is built without hwloc. */
static bool looks_hwloc_xml(const char *text, size_t size)
{
	struct weft_span all = {text, size < 4096 ? size : 4096};

	return weft_span_find(all, "<topology") &&
	       weft_span_find(all, "<object");
}

/* In the order in which one meets them: networks, schedulers, clouds, nodes. */
const struct weft_importer weft_importers[] = {
	{"ibnetdiscover",
	 "InfiniBand: ibnetdiscover (also -g, -p), iblinkinfo (-l), ibsim's "
	 "net",
	 weft_import_ibnetdiscover, weft_looks_ibnetdiscover},
	{"ufm", "InfiniBand: UFM's links (JSON), its tables of cables (CSV)",
	 weft_import_ufm, weft_looks_ufm},
	{"slurm-tree", "Slurm's topology.conf, or scontrol show topology",
	 weft_import_slurm_topology, weft_slurm_topology_looks},
	{"slurm-block", "the same: switches, blocks and rings may be mixed",
	 weft_import_slurm_topology, NULL},
	{"slurm-yaml", "Slurm's topology.yaml: tree, block, ring, torus3d",
	 weft_import_slurm_yaml, weft_slurm_yaml_looks},
	{"slurm-nodes",
	 "hosts and GPUs: scontrol show nodes, slurm.conf, gres.conf",
	 weft_import_slurm_nodes, weft_slurm_nodes_looks},
	{"topograph", "topograph's models and graphs, NetQ's answers",
	 weft_import_topograph, weft_topograph_looks},
	{"aws", "aws ec2 describe-instance-topology", weft_import_aws,
	 weft_aws_looks},
	{"gcp", "Google: gcloud compute instances list --format=json",
	 weft_import_gcp, weft_looks_gcp},
	{"oci", "Oracle: oci compute compute-host list, rdmaTopologyData",
	 weft_import_oci, weft_looks_oci},
	{"azure",
	 "Azure: az vm list, az vmss list-instances, instance metadata",
	 weft_import_azure, weft_looks_azure},
	{"lldp", "Ethernet: lldpcli -f json show neighbors, as HOST=FILE",
	 weft_import_lldp, weft_looks_lldp},
	{"kubernetes", "labels of nodes: kubectl get nodes -o json, or yaml",
	 weft_import_kubernetes, weft_looks_kubernetes},
	{"csv", "a table with a column node and others: leaf, spine, rack, ...",
	 weft_import_csv, weft_looks_csv},
	{"gpu-fabric", "NVLink domains: lines HOST,CLUSTER-UUID,CLIQUE",
	 weft_import_gpu_fabric, NULL},
	{"hwloc-xml", "a node as hwloc sees it: what lstopo FILE.xml writes",
	 weft_import_hwloc_xml, looks_hwloc_xml},
	{"nccl-xml", "a node as NCCL sees it: what NCCL_TOPO_DUMP_FILE writes",
	 weft_import_nccl_xml, weft_looks_nccl_xml},
	{"rdma-topo", "a node's GPUs and direct NICs: rdma_topo topo (--json)",
	 weft_import_rdma_topo, weft_looks_rdma_topo},
	{"rocm-smi", "a node's AMD GPUs: rocm-smi --showtopo, amd-smi topology",
	 weft_import_rocm_smi, weft_looks_rocm_smi},
	{"nvidia-smi", "a node's GPUs and NICs: nvidia-smi topo -m",
	 weft_import_nvidia_smi, weft_looks_nvidia_smi},
};
const uint32_t weft_n_importers = WEFT_N_OF(weft_importers);

const struct weft_importer *weft_importer_find(const char *name,
					       struct weft_error *err)
{
	const struct weft_importer *importer =
		WEFT_ROW(name, weft_importers, weft_n_importers);
	char hint[WEFT_SUGGEST_TEXT];

	if (!importer)
		weft_fail(err, WEFT_EINVAL, "no format \"%s\" to import; %s",
			  name,
			  WEFT_ROW_HINT(name, weft_importers, weft_n_importers,
					hint));
	return importer;
}

const struct weft_importer *weft_importer_guess(const char *text, size_t size)
{
	const struct weft_importer *found = NULL;
	size_t plain_size;
	char *plain;

	if (weft_text_plain(text, size, &plain, &plain_size, NULL))
		return NULL;
	for (uint32_t i = 0; i < weft_n_importers && !found; i++)
		if (weft_importers[i].looks &&
		    weft_importers[i].looks(plain ? plain : text, plain_size))
			found = &weft_importers[i];
	free(plain);
	return found;
}

/* ---- reading ---- */

static int input_run(struct weft_inventory *s,
		     const struct weft_importer *importer,
		     struct weft_import_input *input, const char *source,
		     struct weft_error *err)
{
	input->source =
		weft_inventory_add_source(s, source, importer->name, err);
	return input->source == WEFT_NONE ? -1 : importer->run(s, input, err);
}

int weft_import_text(struct weft_inventory *s,
		     const struct weft_importer *importer, const char *text,
		     size_t size, const char *source, const char *hosts,
		     const struct weft_import_options *options,
		     struct weft_error *err)
{
	static const struct weft_import_options none;
	struct weft_import_input input = {
		.text = text,
		.path = source,
		.hosts = hosts,
		.options = options ? options : &none,
	};
	char *plain;
	int rc;

	if (weft_text_plain(text, size, &plain, &input.size, err))
		return -1;
	if (plain)
		input.text = plain;
	rc = input_run(s, importer, &input, source, err);
	free(plain);
	return rc;
}

int weft_import_file(struct weft_inventory *s,
		     const struct weft_importer *importer, const char *path,
		     const char *hosts,
		     const struct weft_import_options *options,
		     struct weft_error *err)
{
	char *text;
	size_t size;
	int rc;

	if (weft_text_load(path, WEFT_IMPORT_MAX_BYTES, &text, &size, err))
		return -1;
	if (!importer)
		importer = weft_importer_guess(text, size);
	if (importer)
		rc = weft_import_text(s, importer, text, size, path, hosts,
				      options, err);
	else
		rc = weft_fail_at(err, WEFT_EINVAL, path, 0, 0,
				  "it looks like no format that weft knows; "
				  "name it with --from FORMAT");
	free(text);
	return rc;
}
