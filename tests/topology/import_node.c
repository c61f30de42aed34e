/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_node.c - the insides of nodes: nccl-xml, nvidia-smi, hwloc-xml */
#include "config.h"

#include "tests/lib/check.h"
#include "topology/import/import.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads text as `format`; the inventory is to be freed also after -1. */
static int read_text(struct weft_inventory *s, const char *format,
		     const char *text, const char *hosts,
		     struct weft_error *err)
{
	const struct weft_importer *importer = weft_importer_find(format, err);

	*s = (struct weft_inventory){0};
	assert_non_null(importer);
	if (weft_import_text(s, importer, text, strlen(text), "in", hosts, NULL,
			     err))
		return -1;
	return weft_inventory_finish(s, err);
}

static const struct weft_inventory_inside *
read_one(struct weft_inventory *s, const char *format, const char *text)
{
	struct weft_error err = {0};

	read_text(s, format, text, NULL, &err);
	assert_no_error(&err);
	assert_int_equal(s->n_insides, 1);
	return &s->insides[0];
}

static uint32_t count_of(const struct weft_inventory *s,
			 enum weft_finding_id id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->findings.n; i++)
		n += s->findings.item[i].id == id;
	return n;
}

static void assert_refused(const char *format, const char *text, int line,
			   const char *says)
{
	struct weft_error err = {0};
	struct weft_inventory s;

	assert_int_equal(read_text(&s, format, text, NULL, &err), -1);
	assert_error_says(&err, says);
	assert_int_equal(err.line, line);
	weft_inventory_free(&s);
}

/* ---- nccl-xml ---- */

#define GPU(bus, dev, links)                                                   \
	"<pci busid=\"" bus "\" class=\"0x030200\" vendor=\"0x10de\" "         \
	"device=\"0x2330\"><gpu dev=\"" dev "\" sm=\"90\" rank=\"" dev         \
	"\" gdr=\"1\">" links "</gpu></pci>\n"
#define NIC(bus, name, speed)                                                  \
	"<pci busid=\"" bus "\" class=\"0x020700\"><nic><net name=\"" name     \
	"\" dev=\"0\" speed=\"" speed "\" port=\"1\"/></nic></pci>\n"
#define BRIDGE(bus, inside)                                                    \
	"<pci busid=\"" bus "\" class=\"0x060400\">\n" inside "</pci>\n"
#define CPU(numa, inside)                                                      \
	"<cpu numaid=\"" numa "\" arch=\"x86_64\">\n" inside "</cpu>\n"
#define SYSTEM(inside) "<system version=\"1\">\n" inside "</system>\n"
#define SWITCHED(count)                                                        \
	"<nvlink target=\"0000:f0:00.0\" count=\"" count                       \
	"\" tclass=\"0x068000\"/>"
#define LINK(bus) "<nvlink target=\"" bus "\" count=\"4\" tclass=\"0x030200\"/>"

static void nvlink_groups_nics_and_rails_are_read(void **state)
{
	static const char text[] = SYSTEM(
		CPU("0", BRIDGE("0000:01:00.0",
				GPU("0000:02:00.0", "1", LINK("0000:03:00.0"))
					NIC("0000:05:00.0", "mlx5_0", "400000"))
				 BRIDGE("0000:11:00.0",
					GPU("0000:03:00.0", "0",
					    LINK("0000:02:00.0"))
						NIC("0000:15:00.0", "mlx5_1",
						    "400000")))
			CPU("1", NIC("0000:85:00.0", "eth0", "25000")
					 GPU("0000:83:00.0", "2",
					     LINK("0000:84:00.0"))
						 GPU("0000:84:00.0", "3",
						     LINK("0000:83:00.0"))));
	const struct weft_inventory_inside *in;
	struct weft_inventory s;

	(void)state;
	in = read_one(&s, "nccl-xml", text);
	assert_int_equal(in->n_gpus, 4);
	assert_string_equal(in->gpus[0].kind, "h100");
	assert_int_equal(in->gpus[0].nvlink_group, 0);
	assert_int_equal(in->gpus[1].nvlink_group, 0);
	assert_int_equal(in->gpus[2].nvlink_group, 1);
	assert_int_equal(in->gpus[3].nvlink_group, 1);
	assert_int_equal(in->gpus[3].n_nvlinks, 4);
	assert_int_equal(in->gpus[3].numa, 1);
	assert_int_equal(in->n_nics, 3);
	assert_string_equal(in->nics[0].name, "mlx5_0");
	assert_close(in->nics[0].rate_bytes_per_s, 50e9, 1e-9);
	assert_int_equal(in->nics[0].near, 2); /* GPU 1 */
	assert_int_equal(in->nics[1].near, 1);
	assert_int_equal(in->nics[2].near, 12);
	/* GPUs 2 and 3 have no fast NIC: nobody can tell the rails. */
	assert_int_equal(in->nics[0].rail, WEFT_NONE);
	assert_int_equal(s.findings.n, 0);
	weft_inventory_free(&s);
}

static void each_gpu_with_its_nic_is_a_rail(void **state)
{
	static const char text[] = SYSTEM(CPU(
		"0",
		BRIDGE("0000:11:00.0",
		       GPU("0000:12:00.0", "1", SWITCHED("18"))
			       NIC("0000:13:00.0", "mlx5_4", "400000"))
			BRIDGE("0000:01:00.0",
			       GPU("0000:02:00.0", "0", SWITCHED("18"))
				       NIC("0000:03:00.0", "mlx5_9", "400000"))
				NIC("0000:05:00.0", "eth0", "10000")));
	const struct weft_inventory_inside *in;
	struct weft_inventory s;

	(void)state;
	in = read_one(&s, "nccl-xml", text);
	assert_int_equal(in->gpus[1].nvlink_group, 0);
	assert_int_equal(in->gpus[1].n_nvlinks, 18);
	assert_int_equal(in->nics[0].rail, 1);
	assert_int_equal(in->nics[1].rail, 0);
	assert_int_equal(in->nics[2].rail, WEFT_NONE);
	weft_inventory_free(&s);
}

static void gpus_are_told_by_class_where_nothing_names_them(void **state)
{
	static const char text[] = SYSTEM(
		CPU("0", "<pci busid=\"0002:00:00.0\" class=\"0x030200\"/>\n"
			 "<pci busid=\"0101:00:00.0\" class=\"0x020700\"/>\n")
			CPU("1", "<pci busid=\"0001:00:00.0\" "
				 "class=\"0x030200\"/>\n"));
	const struct weft_inventory_inside *in;
	struct weft_inventory s;

	(void)state;
	in = read_one(&s, "nccl-xml", text);
	assert_int_equal(in->n_gpus, 2);
	assert_int_equal(in->gpus[0].numa, 1); /* bus 0001 comes first */
	assert_int_equal(in->gpus[1].nvlink_group, 0);
	assert_int_equal(in->n_nics, 1);
	assert_string_equal(in->nics[0].name, "0101:00:00.0");
	assert_int_equal(count_of(&s, WEFT_FINDING_INPUT_PARTIAL), 1);
	weft_inventory_free(&s);
}

static void a_gpu_short_of_links_is_found(void **state)
{
	static const char text[] =
		SYSTEM(CPU("0", GPU("0000:01:00.0", "0", SWITCHED("18")) GPU(
					"0000:02:00.0", "1", SWITCHED("16"))));
	struct weft_inventory s;

	(void)state;
	read_one(&s, "nccl-xml", text);
	assert_int_equal(count_of(&s, WEFT_FINDING_NVLINK_SHORT), 1);
	weft_inventory_free(&s);
}

static void c2c_without_nvlink_is_found(void **state)
{
	static const char text[] = SYSTEM(
		CPU("0", GPU("0000:01:00.0", "0",
			     "<c2c bw=\"450000\" count=\"1\"/>" SWITCHED("18"))
				 GPU("0000:02:00.0", "1",
				     "<c2c bw=\"450000\" count=\"1\"/>")));
	struct weft_inventory s;

	(void)state;
	read_one(&s, "nccl-xml", text);
	assert_int_equal(count_of(&s, WEFT_FINDING_NVLINK_MISSING), 1);
	assert_non_null(strstr(s.findings.item[0].text, "first GPU 1"));
	weft_inventory_free(&s);
}

#define FABRIC_LINK                                                            \
	"<nvlink target=\"fffffff:ff:ff.0\" count=\"18\" "                     \
	"tclass=\"0x068000\"/>"
#define HOST(hash)                                                             \
	"<cpu host_hash=\"" hash "\" numaid=\"0\" arch=\"arm64\">\n" GPU(      \
		"0008:01:00.0", "0", FABRIC_LINK)                              \
		GPU("0009:01:00.0", "1", FABRIC_LINK) "</cpu>\n"

static void hosts_of_one_dump_share_an_nvlink_domain(void **state)
{
	static const char text[] = SYSTEM(HOST("0xaa") HOST("0xbb"));
	struct weft_error err = {0};
	struct weft_inventory s;
	uint32_t a, b;

	(void)state;
	read_text(&s, "nccl-xml", text, "tray[7-8]", &err);
	assert_no_error(&err);
	a = weft_inventory_find_host(&s, "tray7");
	b = weft_inventory_find_host(&s, "tray8");
	assert_int_equal(s.n_hosts, 2);
	assert_string_equal(s.hosts[a].nvlink.text, s.hosts[b].nvlink.text);
	assert_close(s.hosts[a].gpus.value, 2, 0);
	weft_inventory_free(&s);
	read_text(&s, "nccl-xml", text, NULL, &err);
	assert_no_error(&err);
	assert_int_not_equal(weft_inventory_find_host(&s, "host1"), WEFT_NONE);
	assert_int_equal(count_of(&s, WEFT_FINDING_INPUT_PARTIAL), 1);
	weft_inventory_free(&s);
	assert_int_equal(read_text(&s, "nccl-xml", text, "one", &err), -1);
	assert_error_says(&err, "describes 2 hosts, but 1 names");
	weft_inventory_free(&s);
}

static void what_is_no_topology_of_nccl_is_refused(void **state)
{
	(void)state;
	assert_refused("nccl-xml", "<graphs version=\"1\"/>", 1,
		       "NCCL_TOPO_DUMP_FILE");
	assert_refused("nccl-xml", "\n<topology/>", 2, "hwloc-xml");
	assert_refused("nccl-xml", "<a>", 1, "expected <system>");
	assert_refused("nccl-xml", "", 1, "not well-formed XML");
	assert_refused("nccl-xml", "<system version=\"1\">\n<cpu>\n", 3,
		       "not well-formed XML");
	assert_refused("nccl-xml", SYSTEM(""), 1, "no <cpu>");
	assert_refused("nccl-xml", SYSTEM("<pci/>"), 2, "outside of any <cpu>");
	assert_refused("nccl-xml", SYSTEM(CPU("0", "<nvlink/>")), 3,
		       "outside of any <gpu>");
	assert_refused("nccl-xml", SYSTEM(CPU("0", "<pci busid=\"1\"/>")), 1,
		       "lack their class");
	assert_refused("nccl-xml",
		       SYSTEM(CPU("0", "<pci class=\"0x060400\"/>")), 1,
		       "no GPU");
	assert_refused("nccl-xml",
		       "<!DOCTYPE s [\n<!ENTITY a \"aaa\">]>\n<system/>", 2,
		       "entity \"a\"");
}

static void depth_is_bounded(void **state)
{
	char text[2048] = "<system>\n<cpu>";

	(void)state;
	for (int i = 0; i < 200; i++)
		strcat(text, "<pci>");
	assert_refused("nccl-xml", text, 2, "inside each other");
}

/* ---- nvidia-smi ---- */

static const char matrix[] =
	"$ nvidia-smi topo -m\n"
	"\t\033[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU "
	"NUMA "
	"ID\033[0m\n"
	"GPU0\t X \tNV18\tPIX\tSYS\t0-31\t0\t\tN/A\n"
	"GPU1\tNV18\t X \tSYS\tPXB\t32-63\t1\t\tN/A\n"
	"NIC0\tPIX\tSYS\t X \tSYS\t\t\t\n"
	"NIC1\tSYS\tPXB\tSYS\t X \t\t\t\n"
	"\nLegend:\n\n  X    = Self\n"
	"\nNIC Legend:\n\n  NIC0: mlx5_4\n  NIC1: mlx5_0\n";

static void a_matrix_is_read_with_its_legend(void **state)
{
	const struct weft_inventory_inside *in;
	struct weft_inventory s;

	(void)state;
	in = read_one(&s, "nvidia-smi", matrix);
	assert_int_equal(in->n_gpus, 2);
	assert_int_equal(in->gpus[1].numa, 1);
	assert_int_equal(in->gpus[1].n_nvlinks, 18);
	assert_int_equal(in->gpus[1].nvlink_group, 0);
	assert_string_equal(in->nics[0].name, "mlx5_4");
	assert_int_equal(in->nics[1].near, 2);
	assert_int_equal(in->nics[1].rail, 1);
	assert_int_equal(s.findings.n, 0);
	weft_inventory_free(&s);
}

static void old_drivers_name_nics_in_the_header(void **state)
{
	static const char text[] =
		"        GPU0    GPU1    GPU2    GPU3    mlx5_0  CPU "
		"Affinity\r\n"
		"GPU0     X      NV2     SYS     SYS     PHB     0-7\r\n"
		"GPU1    NV2      X      SYS     SYS     PHB     0-7\r\n"
		"GPU2    SYS     SYS      X      NV2     SOC     8-15\r\n"
		"GPU3    SYS     SYS     NV2      X      SOC     8-15\r\n"
		"mlx5_0  PHB     PHB     SOC     SOC      X\r\n";
	const struct weft_inventory_inside *in;
	struct weft_inventory s;

	(void)state;
	in = read_one(&s, "nvidia-smi", text);
	assert_int_equal(in->gpus[2].nvlink_group, 1);
	assert_int_equal(in->gpus[3].nvlink_group, 1);
	assert_string_equal(in->nics[0].name, "mlx5_0");
	assert_int_equal(s.findings.n, 0);
	weft_inventory_free(&s);
}

static void cells_behind_switches_repeat_a_gpus_links(void **state)
{
	static const char text[] = "     GPU0 GPU1 GPU2 CPU Affinity\n"
				   "GPU0 X    NV18 NV17 0-7\n"
				   "GPU1 NV18 X    NV17 0-7\n"
				   "GPU2 NV17 NV17 X    0-7\n";
	const struct weft_inventory_inside *in;
	struct weft_inventory s;

	(void)state;
	in = read_one(&s, "nvidia-smi", text);
	assert_int_equal(in->gpus[0].n_nvlinks, 18);
	assert_int_equal(in->gpus[2].n_nvlinks, 17);
	assert_int_equal(count_of(&s, WEFT_FINDING_NVLINK_SHORT), 1);
	weft_inventory_free(&s);
}

static void what_lacks_in_a_matrix_is_told(void **state)
{
	struct weft_inventory s;

	(void)state;
	read_one(&s, "nvidia-smi", "\tGPU0\tGPU1\nGPU0\tX\tNV1\n");
	assert_int_equal(count_of(&s, WEFT_FINDING_INPUT_TRUNCATED), 1);
	weft_inventory_free(&s);
	read_one(&s, "nvidia-smi", "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tN");
	assert_int_equal(count_of(&s, WEFT_FINDING_INPUT_TRUNCATED), 1);
	weft_inventory_free(&s);
	read_one(&s, "nvidia-smi",
		 "\tGPU0\tGPU1\nGPU0\tX\tSYS\nGPU1\tPHB\tX\n");
	assert_int_equal(count_of(&s, WEFT_FINDING_CONFLICT), 1);
	weft_inventory_free(&s);
	assert_refused("nvidia-smi", "GPU 0: H100 (UUID: GPU-1)\n", 0,
		       "nvidia-smi topo -m");
	assert_refused("nvidia-smi", "\tGPU0\tGPU1\n", 1, "no row");
	assert_refused("nvidia-smi", "", 0, "no header");
}

static void formats_are_told_by_their_content(void **state)
{
	static const struct {
		const char *text, *format;
	} cases[] = {
		{matrix, "nvidia-smi"},
		{"<!-- x -->\n<system version=\"1\">", "nccl-xml"},
		{"<topology version=\"2.0\">\n<object type=", "hwloc-xml"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct weft_importer *importer = weft_importer_guess(
			cases[i].text, strlen(cases[i].text));

		assert_non_null(importer);
		assert_string_equal(importer->name, cases[i].format);
	}
}

/* ---- hwloc-xml ---- */

#define OBJECT(type, id, more, inside)                                         \
	"<object type=\"" type "\" gp_index=\"" id "\" " more ">" inside       \
	"</object>\n"
#define SETS                                                                   \
	"cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "              \
	"complete_nodeset=\"0x1\""
#define PCI(id, bus, class, inside)                                            \
	OBJECT("PCIDev", id,                                                   \
	       "pci_busid=\"" bus                                              \
	       "\" pci_type=\"" class " [10de:2330] [10de:1234] a1\" "         \
				      "pci_link_speed=\"0\"",                  \
	       inside)
#define TOPOLOGY(version, devices)                                             \
	"<?xml version=\"1.0\"?>\n<topology version=\"" version                \
	"\">\n" OBJECT("Machine", "1",                                         \
		       "os_index=\"0\" allowed_cpuset=\"0x1\" "                \
		       "allowed_nodeset=\"0x1\" " SETS,                        \
		       OBJECT("NUMANode", "2",                                 \
			      "os_index=\"0\" local_memory=\"1024\" " SETS,    \
			      "") OBJECT("PU", "3", "os_index=\"0\" " SETS,    \
					 "") devices) "</topology>\n"
#define MACHINE(version, osdev)                                                \
	TOPOLOGY(version, PCI("4", "0000:02:00.0", "0302",                     \
			      "") PCI("5", "0000:01:00.0", "0302", "")         \
				  PCI("6", "0000:03:00.0", "0207",             \
				      OBJECT("OSDev", "7",                     \
					     "name=\"mlx5_0\" "                \
					     "osdev_type=\"" osdev "\"",       \
					     "")))

static void a_machine_of_hwloc_is_read(void **state)
{
	static const char *const texts[] = {MACHINE("2.0", "3"),
					    MACHINE("3.0", "48")};
	static const char without_set[] =
		"<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n"
		"<object type=\"Machine\" cpuset=\"0x1\" nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\"></object>\n</topology>\n";
	static const char without_index[] =
		"<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n"
		"<object type=\"PU\"></object>\n</topology>\n";
	static const char without_gpus[] =
		TOPOLOGY("2.0", PCI("6", "0000:03:00.0", "0207", ""));
	struct weft_inventory s;

	(void)state;
#ifndef HAVE_HWLOC
	assert_refused("hwloc-xml", texts[0], 0, "built without hwloc");
	skip();
#endif
	for (size_t i = 0; i < 2; i++) {
		const struct weft_inventory_inside *in =
			read_one(&s, "hwloc-xml", texts[i]);

		assert_int_equal(in->n_gpus, 2);
		assert_string_equal(in->gpus[0].kind, "h100");
		assert_int_equal(in->n_nics, 1);
		assert_string_equal(in->nics[0].name, "mlx5_0");
		assert_int_equal(in->nics[0].near, 3);
		weft_inventory_free(&s);
	}
	/* all devices are seen, and none is a GPU */
	assert_true(read_one(&s, "hwloc-xml", without_gpus)->no_gpus);
	assert_true(s.hosts[0].no_gpus);
	weft_inventory_free(&s);
	/* on which libhwloc 2.9 crashes */
	assert_refused("hwloc-xml", without_set, 3, "complete_cpuset");
	assert_refused("hwloc-xml", without_index, 3, "os_index");
	assert_refused("hwloc-xml", "<topology><object", 1, "not well-formed");
	assert_refused("hwloc-xml", "<topology version=\"9\"/>", 0,
		       "cannot read it");
	assert_refused("hwloc-xml", "no", 0, "no <topology>");
}

/* ---- gpu-fabric ---- */

#define UUID "8d1f3a40-1b6c-4a5e-9c00-000000000001"
#define ZERO "00000000-0000-0000-0000-000000000000"

static const char *nvlink_of(const struct weft_inventory *s, const char *host)
{
	uint32_t index = weft_inventory_find_host(s, host);

	assert_int_not_equal(index, WEFT_NONE);
	return s->hosts[index].nvlink.text;
}

static void domains_are_read_in_every_form(void **state)
{
	static const char *const texts[] = {
		"a," UUID ",7\nb," UUID ",7\n",
		"a: " UUID ", 7\nb: " UUID ", 7\r\n",
		"a " UUID " 7\nb\t" UUID "\t7\n",
		"host,cliqueId,clusterUuid\n\"a\",\"7\",\"" UUID "\"\n"
		"b, 7 , " UUID "\n",
		"fabric.state, fabric.clusterUuid, fabric.cliqueId\n"
		"a, Completed, " UUID ", 7\nb, Completed, " UUID ", 7\n",
		"a: fabric.clusterUuid, fabric.cliqueId\na: " UUID ", 7\n"
		"b: fabric.clusterUuid, fabric.cliqueId\nb: " UUID ", 7\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct weft_error err = {0};
		struct weft_inventory s;

		read_text(&s, "gpu-fabric", texts[i], NULL, &err);
		assert_no_error(&err);
		assert_int_equal(s.n_hosts, 2);
		assert_int_equal(s.findings.n, 0);
		assert_string_equal(nvlink_of(&s, "a"), UUID ".7");
		assert_string_equal(nvlink_of(&s, "b"), UUID ".7");
		weft_inventory_free(&s);
	}
}

static void gpus_of_a_host_that_differ_are_found(void **state)
{
	struct weft_error err = {0};
	struct weft_inventory s;

	(void)state;
	read_text(&s, "gpu-fabric",
		  "a," UUID ",7\na," UUID ",8\nb," ZERO ",\nb," UUID ",7\n"
		  "c,[N/A],[N/A]\nd\n",
		  NULL, &err);
	assert_no_error(&err);
	assert_int_equal(s.n_hosts, 3);
	assert_null(nvlink_of(&s, "c"));
	assert_int_equal(count_of(&s, WEFT_FINDING_CONFLICT), 1);
	assert_int_equal(count_of(&s, WEFT_FINDING_NVLINK_MISSING), 1);
	assert_int_equal(count_of(&s, WEFT_FINDING_LINE_IGNORED), 1);
	assert_int_equal(s.findings.n, 3);
	weft_inventory_free(&s);
	assert_refused("gpu-fabric", "# nothing\n", 0, "no host");
}

static void a_state_that_is_not_well_is_kept(void **state)
{
	struct weft_error err = {0};
	struct weft_inventory s;

	(void)state;
	read_text(&s, "gpu-fabric",
		  "a," UUID ",7,Completed,Success\n"
		  "b," UUID ",7,In Progress,N/A\n"
		  "host,clusterUuid,cliqueId,health.summary\n"
		  "c," UUID ",7,Unhealthy\nd," UUID ",7,Healthy\n",
		  NULL, &err);
	assert_no_error(&err);
	assert_null(s.hosts[0].nvlink_state.text);
	assert_string_equal(s.hosts[1].nvlink_state.text,
			    "fabric state is In Progress");
	assert_string_equal(s.hosts[2].nvlink_state.text,
			    "fabric health is Unhealthy");
	assert_null(s.hosts[3].nvlink_state.text);
	weft_inventory_free(&s);
}

/* ---- real files ---- */

/* Each is read or refused in words; with `gpus`, that many it has. */
static void folder_read(const char *format, const char *folder)
{
	const char *path = test_shared(folder);
	const struct dirent *entry;
	char name[4096], root[2048];
	DIR *dir;
	int n = 0;

	if (!path) {
		print_message("no %s beside the checkout\n", folder);
		skip();
	}
	snprintf(root, sizeof(root), "%s", path);
	dir = opendir(root);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct weft_inventory s = {0};
		struct weft_error err = {0};

		if (!strstr(entry->d_name, ".xml") &&
		    !strstr(entry->d_name, ".txt"))
			continue;
		snprintf(name, sizeof(name), "%s/%s", root, entry->d_name);
		if (weft_import_file(&s, weft_importer_find(format, NULL), name,
				     NULL, NULL, &err))
			assert_true(strlen(err.text) > 20);
		else
			assert_true(s.insides[0].n_gpus > 0);
		weft_inventory_free(&s);
		n++;
	}
	closedir(dir);
	assert_true(n > 0);
}

static void real_files_are_read(void **state)
{
	(void)state;
	folder_read("nccl-xml", "data/real/nccl-topo");
	folder_read("nccl-xml", "data/real/nccl-topo/rccl");
	folder_read("nvidia-smi", "data/real/nvidia-smi-topo");
#ifdef HAVE_HWLOC
	folder_read("hwloc-xml", "data/real/hwloc");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nvlink_groups_nics_and_rails_are_read),
		cmocka_unit_test(each_gpu_with_its_nic_is_a_rail),
		cmocka_unit_test(
			gpus_are_told_by_class_where_nothing_names_them),
		cmocka_unit_test(a_gpu_short_of_links_is_found),
		cmocka_unit_test(c2c_without_nvlink_is_found),
		cmocka_unit_test(hosts_of_one_dump_share_an_nvlink_domain),
		cmocka_unit_test(what_is_no_topology_of_nccl_is_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(a_matrix_is_read_with_its_legend),
		cmocka_unit_test(old_drivers_name_nics_in_the_header),
		cmocka_unit_test(cells_behind_switches_repeat_a_gpus_links),
		cmocka_unit_test(what_lacks_in_a_matrix_is_told),
		cmocka_unit_test(formats_are_told_by_their_content),
		cmocka_unit_test(a_machine_of_hwloc_is_read),
		cmocka_unit_test(domains_are_read_in_every_form),
		cmocka_unit_test(gpus_of_a_host_that_differ_are_found),
		cmocka_unit_test(a_state_that_is_not_well_is_kept),
		cmocka_unit_test(real_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
