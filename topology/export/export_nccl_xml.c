/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_nccl_xml.c - one node as a file that NCCL_TOPO_FILE may name
 *
 * Has every attribute that NCCL's reader demands (xml.cc, topo.cc: cpu numaid,
 * arch, vendor, familyid, modelid; pci busid, class, link_speed, link_width;
 * gpu dev, sm, rank, gdr; net dev, rail, plane).  A fabric knows no PCI buses
 * and no CPUs: those are invented, one bridge for each GPU or each set of GPUs
 * with NICs of its own, half of them under either CPU.
 */
#include "topology/export/export.h"

#include <math.h>
#include <string.h>

/* Addresses of the invented switch of NVLink, and of one that spans hosts. */
#define NVSWITCH_BUS "0000:f0:00.0"
#define FABRIC_BUS   "fffffff:ff:ff.0"

/* GPUs of the machines that profiles are of. */
static const struct gpu_kind {
	const char *profile;
	unsigned sm, device, n_nvlinks;
} gpu_kinds[] = {
	{"dgx-h100-superpod", 90, 0x2330, 18},
	{"selene-a100", 80, 0x20b2, 12},
	{"gb200-nvl72", 100, 0x2941, 18},
	{"dgx-b200", 100, 0x2901, 18},
	{"aws-p5", 90, 0x2330, 18},
	{"aws-p4d", 80, 0x20b0, 12},
	{"roce-llama3", 90, 0x2330, 18},
	{"pcie4-100g-tcp", 86, 0x2235, 4},
};

/* The node, in numbers. */
struct node {
	const struct weft_fabric *f;
	const struct weft_node *node;
	const struct gpu_kind *kind;
	uint32_t n_sets, gpus_each, nics_each; /* under one bridge */
	double nic_rate_bytes_per_s;
	bool spans;	/* an NVLink domain holds other nodes, too */
	uint32_t group; /* GPUs of an NVLink domain */
};

static const struct gpu_kind *kind_of(const struct weft_fabric *f)
{
	for (size_t i = 0; i < WEFT_N_OF(gpu_kinds); i++)
		if (strcmp(gpu_kinds[i].profile, f->profile) == 0)
			return &gpu_kinds[i];
	return &gpu_kinds[0];
}

/* Without rails each GPU gets a NIC of its own; with fewer rails than GPUs,
 * neighbours share one; with more, a GPU has several. */
static void node_measure(struct node *n)
{
	const struct weft_fabric *f = n->f;
	const struct weft_domain *domain =
		&f->domains[f->gpu_domain[0][n->node->first_gpu]];
	uint32_t gpus = n->node->n_gpus;
	uint32_t nics = f->n_rails > 1 ? f->n_rails : gpus;
	uint32_t network = f->node_level + 1;

	n->spans = domain->n_nodes > 1;
	n->group = n->spans ? gpus : domain->n_gpus;
	n->n_sets = nics < gpus ? nics : gpus;
	n->gpus_each = gpus / n->n_sets;
	n->nics_each = 0;
	if (network >= f->n_levels)
		return;
	n->nics_each = nics / n->n_sets;
	n->nic_rate_bytes_per_s = f->levels[network].link.rate_bytes_per_s *
				  n->gpus_each / n->nics_each;
}

/* ---- writing ---- */

static void pci_open(FILE *out, const char *indent, unsigned bus, unsigned slot,
		     const char *class, unsigned vendor, unsigned device)
{
	fprintf(out,
		"%s<pci busid=\"0000:%02x:%02x.0\" class=\"%s\" "
		"vendor=\"0x%04x\" device=\"0x%04x\" "
		"subsystem_vendor=\"0x%04x\" subsystem_device=\"0x0000\" "
		"link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n",
		indent, bus, slot, class, vendor, device, vendor);
}

/* Each set of GPUs is behind a bus of its own. */
static unsigned bus_of(const struct node *n, uint32_t gpu)
{
	return 0x10 + gpu / n->gpus_each;
}

static unsigned slot_of(const struct node *n, uint32_t gpu)
{
	return 1 + gpu % n->gpus_each;
}

/* To a switch where the domain is the whole node or more: NCCL knows but one
 * switch, so that smaller groups are joined GPU by GPU. */
static void nvlinks_write(const struct node *n, uint32_t gpu, FILE *out)
{
	uint32_t first = gpu / n->group * n->group;
	uint32_t links = n->kind->n_nvlinks;

	if (n->group == n->node->n_gpus && (n->group > 1 || n->spans)) {
		fprintf(out,
			"          <nvlink target=\"%s\" count=\"%u\" "
			"tclass=\"0x068000\"/>\n",
			n->spans ? FABRIC_BUS : NVSWITCH_BUS, links);
		return;
	}
	for (uint32_t peer = first; peer < first + n->group; peer++) {
		uint32_t share;

		if (peer == gpu)
			continue;
		share = links / (n->group - 1);
		fprintf(out,
			"          <nvlink target=\"0000:%02x:%02x.0\" "
			"count=\"%u\" tclass=\"0x030200\"/>\n",
			bus_of(n, peer), slot_of(n, peer), share ? share : 1);
	}
}

static void gpu_write(const struct node *n, uint32_t gpu, FILE *out)
{
	pci_open(out, "      ", bus_of(n, gpu), slot_of(n, gpu), "0x030200",
		 0x10de, n->kind->device);
	fprintf(out,
		"        <gpu dev=\"%u\" sm=\"%u\" rank=\"%u\" gdr=\"1\">\n",
		gpu, n->kind->sm, gpu);
	nvlinks_write(n, gpu, out);
	fputs("        </gpu>\n      </pci>\n", out);
}

/* Behind the GPUs of its set; ports of one GPU are one rail of the fabric only
 * where it has as few. */
static void nic_write(const struct node *n, uint32_t set, uint32_t nic,
		      FILE *out)
{
	uint32_t dev = set * n->nics_each + nic;
	uint32_t rails = n->f->n_rails > 1 ? n->f->n_rails : 0;

	pci_open(out, "      ", 0x10 + set, 0x10 + nic, "0x020700", 0x15b3,
		 0x1021);
	fprintf(out,
		"        <nic>\n"
		"          <net name=\"mlx5_%u\" dev=\"%u\" speed=\"%.0f\" "
		"port=\"1\" latency=\"0\" guid=\"0x%x\" maxconn=\"131072\" "
		"gdr=\"1\" rail=\"%d\" plane=\"-1\"/>\n"
		"        </nic>\n      </pci>\n",
		dev, dev, rint(n->nic_rate_bytes_per_s * 8 / 1e6), 0x100 + dev,
		rails ? (int)(dev % rails) : -1);
}

static void set_write(const struct node *n, uint32_t set, FILE *out)
{
	pci_open(out, "    ", 0x10 + set, 0, "0x060400", 0x1000, 0xc030);
	for (uint32_t g = 0; g < n->gpus_each; g++)
		gpu_write(n, set * n->gpus_each + g, out);
	for (uint32_t nic = 0; nic < n->nics_each; nic++)
		nic_write(n, set, nic, out);
	fputs("    </pci>\n", out);
}

static void node_write(const struct node *n, FILE *out)
{
	uint32_t cpus = n->n_sets > 1 ? 2 : 1;

	fprintf(out, "<system version=\"1\" name=\"%s\">\n", n->node->name);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		uint32_t first = cpu * n->n_sets / cpus;
		uint32_t last = (cpu + 1) * n->n_sets / cpus;

		fprintf(out,
			"  <cpu numaid=\"%u\" arch=\"x86_64\" "
			"vendor=\"GenuineIntel\" familyid=\"6\" "
			"modelid=\"143\">\n",
			cpu);
		for (uint32_t set = first; set < last; set++)
			set_write(n, set, out);
		fputs("  </cpu>\n", out);
	}
	fputs("</system>\n", out);
}

/* ---- what is lost ---- */

static int note(const struct node *n, struct weft_findings *findings,
		enum weft_finding_id id, struct weft_error *err,
		const char *text)
{
	struct weft_finding_at at = {.place = n->node->name};

	return weft_findings_add(findings, id, at, err, "%s", text);
}

static int losses_note(const struct node *n, struct weft_findings *findings,
		       struct weft_error *err)
{
	if (note(n, findings, WEFT_FINDING_EXPORT_CHANGED, err,
		 "PCI buses and CPUs are invented: put those of the machine in "
		 "before NCCL reads the file there"))
		return -1;
	if (n->f->n_nodes > 1 &&
	    note(n, findings, WEFT_FINDING_EXPORT_LOST, err,
		 "the file holds this node; other nodes and all switches are "
		 "left out"))
		return -1;
	if (n->spans && note(n, findings, WEFT_FINDING_EXPORT_LOST, err,
			     "its NVLink domain spans nodes; which, the file "
			     "cannot say"))
		return -1;
	return n->nics_each
		       ? 0
		       : note(n, findings, WEFT_FINDING_EXPORT_LOST, err,
			      "the fabric has no network, so the node gets "
			      "no NIC");
}

int weft_export_nccl_xml(const struct weft_fabric *f,
			 const struct weft_export_options *options, FILE *out,
			 struct weft_findings *findings, struct weft_error *err)
{
	struct node n = {.f = f, .kind = kind_of(f)};
	uint32_t index = 0;

	if (options->node)
		index = weft_fabric_find(f, options->node, err);
	if (index == WEFT_NONE)
		return -1;
	n.node = &f->nodes[index];
	node_measure(&n);
	node_write(&n, out);
	return losses_note(&n, findings, err);
}
