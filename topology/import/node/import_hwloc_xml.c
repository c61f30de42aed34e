/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_hwloc_xml.c - a machine as lstopo writes it: hwloc reads its own XML
 *
 * GPUs are PCI devices of that class; NICs are OpenFabrics devices (mlx5_0),
 * or, where there is none, PCI devices of class InfiniBand.  NVLink is known
 * where hwloc had NVML and wrote the matrix NVLinkBandwidth.
 */
#include "base/compare.h"
#include "topology/import/import.h"
#include "topology/import/node/inside.h"

#include <expat.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH	    256
#define MAX_OS_INDEX	    (1u << 20)
#define MAX_MATRIX	    2048 /* objects of a matrix of distances */
#define PCI_CLASS_IB	    0x0207
#define MAX_XML_BYTES	    (64u << 20)
#define VERSION_3	    "<topology version=\"3.0\""
#define OSDEV_3_OPENFABRICS 32
#define NVLINK_ATTR	    "NVLinkBandwidth"

struct reader {
	hwloc_topology_t topology;
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_inside_draft *draft;
	char *text;			  /* a copy, where it was changed */
	bool is_3;			  /* written by hwloc 3 */
	hwloc_obj_t gpu[WEFT_INSIDE_MAX]; /* PCI devices */
	hwloc_obj_t nic[WEFT_INSIDE_MAX]; /* OS or PCI devices */
};

static int note(const struct reader *r, enum weft_finding_id id,
		const char *text)
{
	return weft_inventory_note(r->s, id, r->draft->place, r->draft->where,
				   r->err, "%s", text);
}

static int numa_of(hwloc_obj_t object)
{
	for (int i = 0; object && i < MAX_DEPTH; i++, object = object->parent)
		if (object->nodeset &&
		    hwloc_bitmap_weight(object->nodeset) == 1)
			return hwloc_bitmap_first(object->nodeset);
	return -1;
}

static hwloc_obj_t pci_of(hwloc_obj_t object)
{
	while (object && object->type != HWLOC_OBJ_PCI_DEVICE)
		object = object->parent;
	return object;
}

/* ---- GPUs ---- */

static void gpu_add(struct reader *r, hwloc_obj_t pci)
{
	const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
	const char *name =
		weft_inside_gpu_name(attr->vendor_id, attr->device_id);
	uint32_t g = weft_inside_add_gpu(r->draft);

	if (g == WEFT_NONE)
		return;
	r->gpu[g] = pci;
	r->draft->inside.gpus[g].numa = numa_of(pci);
	snprintf(r->draft->inside.gpus[g].kind,
		 sizeof(r->draft->inside.gpus[g].kind), "%s", name ? name : "");
}

static int compare_bus(const void *pa, const void *pb)
{
	const struct hwloc_pcidev_attr_s *a =
		&(*(const hwloc_obj_t *)pa)->attr->pcidev;
	const struct hwloc_pcidev_attr_s *b =
		&(*(const hwloc_obj_t *)pb)->attr->pcidev;
	const unsigned key_a[] = {a->domain, a->bus, a->dev, a->func};
	const unsigned key_b[] = {b->domain, b->bus, b->dev, b->func};

	for (size_t i = 0; i < 4; i++)
		if (key_a[i] != key_b[i])
			return key_a[i] < key_b[i] ? -1 : 1;
	return 0;
}

/* In the order of their buses, as CUDA counts. */
static int gpus_add(struct reader *r)
{
	hwloc_obj_t found[WEFT_INSIDE_MAX], pci = NULL;
	uint32_t n = 0, left_out = 0;

	while ((pci = hwloc_get_next_pcidev(r->topology, pci))) {
		const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;

		if (!weft_inside_is_gpu((unsigned)attr->class_id << 8,
					attr->vendor_id) ||
		    attr->vendor_id == 0)
			continue;
		if (n == WEFT_INSIDE_MAX)
			left_out++;
		else
			found[n++] = pci;
	}
	WEFT_SORT(found, n, compare_bus);
	for (uint32_t i = 0; i < n; i++)
		gpu_add(r, found[i]);
	return left_out ? note(r, WEFT_FINDING_LINE_IGNORED,
			       "more GPUs than a fabric's node can have; the "
			       "last are left out")
			: 0;
}

/* ---- NICs ---- */

/* hwloc 3 writes a set of bits where hwloc 2 has one number. */
static bool is_openfabrics(const struct reader *r, hwloc_obj_t object)
{
	int type = (int)object->attr->osdev.type;

	return r->is_3 ? type & OSDEV_3_OPENFABRICS
		       : type == HWLOC_OBJ_OSDEV_OPENFABRICS;
}

/* hwloc knows the speed of the slot, not that of the port. */
static void nic_add(struct reader *r, hwloc_obj_t object, const char *name)
{
	uint32_t n = weft_inside_add_nic(r->draft);

	if (n == WEFT_NONE)
		return;
	r->nic[n] = object;
	r->draft->inside.nics[n].numa = numa_of(object);
	snprintf(r->draft->inside.nics[n].name,
		 sizeof(r->draft->inside.nics[n].name), "%s", name);
}

static void nics_add(struct reader *r)
{
	hwloc_obj_t object = NULL;
	char name[32];

	while ((object = hwloc_get_next_osdev(r->topology, object)))
		if (object->name && is_openfabrics(r, object))
			nic_add(r, object, object->name);
	if (r->draft->inside.n_nics)
		return;
	while ((object = hwloc_get_next_pcidev(r->topology, object))) {
		const struct hwloc_pcidev_attr_s *a = &object->attr->pcidev;

		if (a->class_id != PCI_CLASS_IB)
			continue;
		snprintf(name, sizeof(name), "%04x:%02x:%02x.%01x", a->domain,
			 a->bus, a->dev, a->func);
		nic_add(r, object, name);
	}
}

static uint32_t depth_of(hwloc_obj_t object)
{
	uint32_t depth = 0;

	while (object->parent && depth < MAX_DEPTH) {
		object = object->parent;
		depth++;
	}
	return depth;
}

static uint32_t distance(hwloc_obj_t a, hwloc_obj_t b)
{
	uint32_t depth_a = depth_of(a), depth_b = depth_of(b), steps = 0;

	while (a != b && a && b) {
		if (depth_a >= depth_b) {
			a = a->parent;
			depth_a--;
		} else {
			b = b->parent;
			depth_b--;
		}
		steps++;
	}
	if (!a || !b || a->type == HWLOC_OBJ_MACHINE)
		return steps + WEFT_INSIDE_OTHER_CPU;
	return steps +
	       (hwloc_obj_type_is_io(a->type) ? 0 : WEFT_INSIDE_SAME_CPU);
}

/* ---- NVLink ---- */

static uint32_t gpu_index(const struct reader *r, hwloc_obj_t object)
{
	hwloc_obj_t pci = pci_of(object);

	for (uint32_t g = 0; pci && g < r->draft->inside.n_gpus; g++)
		if (r->gpu[g] == pci)
			return g;
	return WEFT_NONE;
}

/* Bandwidth in MB/s between GPUs, and between GPUs and switches: a link is
 * there where it is not 0. */
static void nvlinks_add(struct reader *r, const struct hwloc_distances_s *m)
{
	r->draft->nvlink_known = true;
	for (unsigned i = 0; i < m->nbobjs; i++) {
		uint32_t a = gpu_index(r, m->objs[i]);

		for (unsigned j = 0; a != WEFT_NONE && j < m->nbobjs; j++) {
			uint32_t b = gpu_index(r, m->objs[j]);

			if (m->values[(size_t)i * m->nbobjs + j] == 0)
				continue;
			/* Not by its class, which hwloc may not have seen. */
			if (b == WEFT_NONE)
				r->draft->switched[a]++;
			else if (b != a)
				r->draft->links[a][b] = 1;
		}
	}
}

static void nvlinks_read(struct reader *r)
{
	struct hwloc_distances_s *matrix = NULL;
	unsigned n = 1;

	if (hwloc_distances_get_by_name(r->topology, NVLINK_ATTR, &n, &matrix,
					0) ||
	    n == 0 || !matrix)
		return;
	nvlinks_add(r, matrix);
	hwloc_distances_release(r->topology, matrix);
}

/* ---- the whole ---- */

static int refuse(const struct reader *r, const char *why)
{
	return weft_fail_at(r->err, WEFT_EINVAL, r->input->path, 0, 0, "%s",
			    why);
}

static int topology_use(struct reader *r)
{
	if (gpus_add(r))
		return -1;
	nics_add(r);
	r->draft->inside.no_gpus =
		r->draft->inside.n_gpus == 0 &&
		hwloc_get_next_pcidev(r->topology, NULL) != NULL;
	if (r->draft->inside.n_gpus == 0 && !r->draft->inside.no_gpus &&
	    note(r, WEFT_FINDING_GPUS_UNKNOWN,
		 "no PCI device at all: lstopo saw no I/O devices (use lstopo "
		 "--whole-io), so that GPUs may be missing"))
		return -1;
	nvlinks_read(r);
	for (uint32_t n = 0; n < r->draft->inside.n_nics; n++)
		for (uint32_t g = 0; g < r->draft->inside.n_gpus; g++)
			r->draft->distance[n][g] =
				distance(r->nic[n], r->gpu[g]);
	return weft_inside_finish(r->s, r->draft, r->err);
}

/* hwloc's own parser trusts what it reads: only well-formed XML of machines
 * gets to it. */
struct check {
	XML_Parser parser;
	int depth;
	bool deep;
	const char *fault; /* what hwloc does not bear */
	unsigned long fault_line;
};

static const char *attribute(const char **list, const char *name)
{
	for (size_t i = 0; list[i]; i += 2)
		if (strcmp(list[i], name) == 0)
			return list[i + 1];
	return NULL;
}

/* Of a PU or NUMA node hwloc makes a set with its number, which is 2^32 - 1,
 * half a gigabyte, where the file names none. */
static bool has_index(const char **list)
{
	const char *type = attribute(list, "type");
	const char *index = attribute(list, "os_index");
	bool counted = type && (strcmp(type, "PU") == 0 ||
				strcmp(type, "NUMANode") == 0);

	return !counted || (index && strtoul(index, NULL, 10) <= MAX_OS_INDEX);
}

/* hwloc makes a matrix of so many objects before it looks for them; its size
 * may be beyond 32 bits. */
static bool matrix_fits(const char **list)
{
	const char *n = attribute(list, "nbobjs");

	return !n || strtoul(n, NULL, 10) <= MAX_MATRIX;
}

/* hwloc 2.9 follows the complete set of each object that has the other one. */
static const char *object_fault(const char **list)
{
	if (!has_index(list))
		return "an object without an os_index that a machine can have";
	if (attribute(list, "nodeset") && !attribute(list, "complete_nodeset"))
		return "an object without complete_nodeset";
	if (attribute(list, "cpuset") && !attribute(list, "complete_cpuset"))
		return "an object without complete_cpuset";
	return NULL;
}

static void XMLCALL on_start(void *data, const char *name, const char **list)
{
	struct check *check = data;

	check->deep = check->deep || ++check->depth > MAX_DEPTH;
	if (check->fault)
		return;
	if (strcmp(name, "object") == 0)
		check->fault = object_fault(list);
	else if (!matrix_fits(list))
		check->fault = "distances of more objects than a machine has";
	check->fault_line = XML_GetCurrentLineNumber(check->parser);
}

static void XMLCALL on_end(void *data, const char *name)
{
	struct check *check = data;

	(void)name;
	check->depth--;
}

static int xml_check(const struct reader *r)
{
	struct check check = {.parser = XML_ParserCreate(NULL)};
	int rc = 0;

	if (!check.parser)
		return weft_fail(r->err, WEFT_ENOMEM, "out of memory");
	XML_SetUserData(check.parser, &check);
	XML_SetElementHandler(check.parser, on_start, on_end);
	if (XML_Parse(check.parser, r->input->text, (int)r->input->size, 1) !=
	    XML_STATUS_OK)
		rc = weft_fail_at(
			r->err, WEFT_EINVAL, r->input->path,
			(int)XML_GetCurrentLineNumber(check.parser),
			(int)XML_GetCurrentColumnNumber(check.parser) + 1,
			"not well-formed XML: %s",
			XML_ErrorString(XML_GetErrorCode(check.parser)));
	else if (check.deep)
		rc = refuse(r, "elements inside each other deeper than in any "
			       "machine");
	else if (check.fault)
		rc = weft_fail_at(r->err, WEFT_EINVAL, r->input->path,
				  (int)check.fault_line, 0,
				  "%s; expected what lstopo writes",
				  check.fault);
	XML_ParserFree(check.parser);
	return rc;
}

/* hwloc 2 refuses what hwloc 3 wrote, though all that is asked for here has the
 * same form in both; it gets to see its own version number. */
static int version_lower(struct reader *r)
{
	const char *at = strstr(r->input->text, VERSION_3);

	r->is_3 = at && HWLOC_API_VERSION < 0x00030000;
	if (!r->is_3)
		return 0;
	r->text = weft_strdup(r->input->text, r->err);
	if (!r->text)
		return -1;
	r->text[at - r->input->text + (ptrdiff_t)sizeof(VERSION_3) - 5] = '2';
	return 0;
}

static int topology_load(struct reader *r)
{
	const char *text;

	if (r->input->size > MAX_XML_BYTES)
		return refuse(r, "larger than any machine's XML");
	if (strlen(r->input->text) != r->input->size ||
	    !strstr(r->input->text, "<topology"))
		return refuse(r, "not hwloc's XML: no <topology>; expected "
				 "what \"lstopo out.xml\" writes");
	if (xml_check(r) || version_lower(r))
		return -1;
	text = r->text ? r->text : r->input->text;
	if (hwloc_topology_set_io_types_filter(r->topology,
					       HWLOC_TYPE_FILTER_KEEP_ALL) ||
	    hwloc_topology_set_xmlbuffer(r->topology, text,
					 (int)r->input->size + 1) ||
	    hwloc_topology_load(r->topology))
		return refuse(r, "hwloc cannot read it: not XML of hwloc 1 to "
				 "3, or cut short");
	return topology_use(r);
}

int weft_import_hwloc_xml(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err)
{
	struct reader r = {.s = s, .input = input, .err = err};
	int rc;

	r.draft = weft_inside_start(err);
	if (!r.draft)
		return -1;
	r.draft->place = r.draft->hosts = input->hosts;
	r.draft->where = (struct weft_place){input->source, 0};
	if (hwloc_topology_init(&r.topology)) {
		free(r.draft);
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	}
	rc = topology_load(&r);
	hwloc_topology_destroy(r.topology);
	free(r.text);
	free(r.draft);
	return rc;
}
