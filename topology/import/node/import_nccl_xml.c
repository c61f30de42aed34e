/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_nccl_xml.c - NCCL's topology files: <system> of <cpu>, <pci>, <gpu>,
 * <nvlink>, <nic>, <net>
 *
 * Both what NCCL writes (NCCL_TOPO_DUMP_FILE) and what clouds give it to read
 * (NCCL_TOPO_FILE), where GPUs and NICs may be but PCI devices of a class; and
 * RCCL's, which has <xgmi> for <nvlink>.
 */
#include "base/lines.h"
#include "topology/import/import.h"
#include "topology/import/node/nccl_system.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH  64
#define MAX_THINGS 65536

struct reader {
	XML_Parser parser;
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_nccl_system system;
	uint32_t depth;
	uint32_t device[MAX_DEPTH]; /* innermost device of each open element */
	uint32_t gpu;		    /* of the open <gpu>, or WEFT_NONE */
	int system_line;
	bool failed;
};

static int here(const struct reader *r)
{
	return (int)XML_GetCurrentLineNumber(r->parser);
}

/* Records the error at the element being read and stops the parser. */
static void fail(struct reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void fail(struct reader *r, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	weft_fail_at(r->err, WEFT_EINVAL, r->input->path, here(r),
		     (int)XML_GetCurrentColumnNumber(r->parser) + 1, "%s",
		     text);
	r->failed = true;
	XML_StopParser(r->parser, XML_FALSE);
}

/* ---- attributes ---- */

static const char *attribute(const char *const *list, const char *name)
{
	for (; list[0]; list += 2)
		if (strcmp(list[0], name) == 0)
			return list[1];
	return NULL;
}

/* Numbers that are odd read as `absent`: NCCL itself takes anything. */
static long number(const char *const *list, const char *name, int base,
		   long absent)
{
	const char *text = attribute(list, name);
	char *end;
	long value;

	if (!text || !*text)
		return absent;
	value = strtol(text, &end, base);
	return end == text || value > INT32_MAX || value < INT32_MIN ? absent
								     : value;
}

/* "0000:1c:00.0" without its marks; those of NVLink fabrics begin with f's. */
static uint64_t bus(const char *text)
{
	uint64_t value = 0;

	if (!text)
		return 0;
	if (strncmp(text, "fffffff", 7) == 0)
		return WEFT_NCCL_FABRIC_BUS;
	for (; *text; text++) {
		const char *digits = "0123456789abcdef";
		char c = *text >= 'A' && *text <= 'F' ? (char)(*text | 0x20)
						      : *text;
		const char *at = strchr(digits, c);

		if (at)
			value = value << 4 | (uint64_t)(at - digits);
	}
	return value;
}

/* ---- elements ---- */

/* A `bad` ends the reading. */
static bool room_check(struct reader *r, uint32_t n, bool bad, const char *what)
{
	if (n >= MAX_THINGS) {
		fail(r, "more than %d %s", MAX_THINGS, what);
		return true;
	}
	if (bad) {
		r->failed = true;
		XML_StopParser(r->parser, XML_FALSE);
	}
	return bad;
}

#define ROOM(r, things, what)                                                  \
	room_check(r, (r)->system.n_##things,                                  \
		   WEFT_GROW((r)->system.things, (r)->system.n_##things,       \
			     (r)->system.things##_room, (r)->err) < 0,         \
		   what)

/* Index of the host of that hash, added where it is new. */
static uint32_t host_of(struct reader *r, const char *text)
{
	uint64_t hash = text ? strtoull(text, NULL, 16) : 0;

	for (uint32_t i = 0; i < r->system.n_hosts; i++)
		if (r->system.hosts[i] == hash)
			return i;
	if (ROOM(r, hosts, "hosts"))
		return 0;
	r->system.hosts[r->system.n_hosts] = hash;
	return r->system.n_hosts++;
}

static void take_device(struct reader *r, uint32_t parent,
			const char *const *list)
{
	struct weft_nccl_device *d;
	const struct weft_nccl_device *above;
	uint32_t host = parent == WEFT_NONE
				? host_of(r, attribute(list, "host_hash"))
				: r->system.devices[parent].host;

	if (r->failed || ROOM(r, devices, "devices"))
		return;
	d = &r->system.devices[r->system.n_devices];
	*d = (struct weft_nccl_device){
		.parent = parent,
		.host = host,
		.numa = (int)number(list, "numaid", 10, -1),
		.bus = bus(attribute(list, "busid")),
		.pci_class = (unsigned)number(list, "class", 16, 0),
		.vendor = (unsigned)number(list, "vendor", 16, 0),
		.device = (unsigned)number(list, "device", 16, 0),
		.line = here(r),
	};
	if (parent != WEFT_NONE) {
		above = &r->system.devices[parent];
		d->depth = above->depth + 1;
		d->numa = above->numa;
		r->system.devices[parent].n_children++;
	}
	r->device[r->depth] = r->system.n_devices++;
}

static void take_cpu(struct reader *r, uint32_t parent, const char *const *list)
{
	if (parent != WEFT_NONE)
		fail(r, "<cpu> inside of another; expected it in <system>");
	else
		take_device(r, WEFT_NONE, list);
}

static bool is_placed(struct reader *r, uint32_t parent, const char *name)
{
	if (parent != WEFT_NONE)
		return true;
	fail(r, "<%s> outside of any <cpu>", name);
	return false;
}

static void take_pci(struct reader *r, uint32_t parent, const char *const *list)
{
	if (is_placed(r, parent, "pci"))
		take_device(r, parent, list);
}

static void take_gpu(struct reader *r, uint32_t parent, const char *const *list)
{
	struct weft_nccl_gpu *gpu;
	const char *gcn = attribute(list, "gcn");

	if (!is_placed(r, parent, "gpu") || ROOM(r, gpus, "GPUs"))
		return;
	gpu = &r->system.gpus[r->system.n_gpus];
	*gpu = (struct weft_nccl_gpu){
		.device = parent,
		.dev = (int)number(list, "dev", 10, -1),
		.sm = (int)number(list, "sm", 10, 0),
		.line = here(r),
	};
	snprintf(gpu->gcn, sizeof(gpu->gcn), "%s", gcn ? gcn : "");
	r->gpu = r->system.n_gpus++;
}

static void take_link(struct reader *r, uint32_t parent,
		      const char *const *list)
{
	long count = number(list, "count", 10, 1);

	(void)parent;
	if (r->gpu == WEFT_NONE) {
		fail(r, "a link outside of any <gpu>");
		return;
	}
	if (ROOM(r, links, "NVLinks"))
		return;
	r->system.links[r->system.n_links++] = (struct weft_nccl_link){
		.gpu = r->gpu,
		.target = bus(attribute(list, "target")),
		.count = count > 0 && count <= 1024 ? (uint32_t)count : 1,
		.target_class = (unsigned)number(list, "tclass", 16, 0),
	};
}

static void take_c2c(struct reader *r, uint32_t parent, const char *const *list)
{
	(void)parent;
	(void)list;
	if (r->gpu != WEFT_NONE)
		r->system.gpus[r->gpu].c2c = true;
}

static void take_net(struct reader *r, uint32_t parent, const char *const *list)
{
	const char *name = attribute(list, "name");
	struct weft_nccl_net *net;

	/* net="0": a port that NCCL fused into another one. */
	if (!is_placed(r, parent, "net") || number(list, "net", 10, 1) == 0 ||
	    ROOM(r, nets, "NICs"))
		return;
	net = &r->system.nets[r->system.n_nets];
	*net = (struct weft_nccl_net){
		.device = parent,
		.speed_mbps = (double)number(list, "speed", 10, 0),
		.rail = (int)number(list, "rail", 10, -1),
		.line = here(r),
	};
	if (name && *name)
		snprintf(net->name, sizeof(net->name), "%.31s", name);
	else
		snprintf(net->name, sizeof(net->name), "net%u",
			 r->system.n_nets);
	r->system.n_nets++;
}

static const struct {
	const char *name;
	void (*take)(struct reader *r, uint32_t parent,
		     const char *const *list);
} elements[] = {
	{"cpu", take_cpu},     {"pci", take_pci},   {"gpu", take_gpu},
	{"nvlink", take_link}, {"xgmi", take_link}, {"c2c", take_c2c},
	{"net", take_net},
};

/* What people give instead of a topology. */
static const struct {
	const char *root, *what;
} others[] = {
	{"graphs", "these are the graphs that NCCL searched "
		   "(NCCL_GRAPH_DUMP_FILE), not the machine; capture it with "
		   "NCCL_TOPO_DUMP_FILE"},
	{"topology", "this is hwloc's XML; import it as hwloc-xml"},
	{"nvidia_smi_log", "this is nvidia-smi -q -x; capture \"nvidia-smi "
			   "topo -m\" and import it as nvidia-smi"},
};

static void take_root(struct reader *r, const char *name)
{
	r->system_line = here(r);
	if (strcmp(name, "system") == 0)
		return;
	for (size_t i = 0; i < WEFT_N_OF(others); i++)
		if (strcmp(others[i].root, name) == 0) {
			fail(r, "%s", others[i].what);
			return;
		}
	fail(r, "the first element is <%.40s>, expected <system>", name);
}

static void XMLCALL on_start(void *data, const char *name, const char **list)
{
	struct reader *r = data;
	uint32_t parent = WEFT_NONE;

	if (r->failed)
		return;
	if (r->depth == MAX_DEPTH) {
		fail(r, "more than %d elements inside each other", MAX_DEPTH);
		return;
	}
	if (r->depth)
		parent = r->device[r->depth - 1];
	r->device[r->depth] = parent;
	if (r->depth == 0)
		take_root(r, name);
	for (size_t i = 0; i < WEFT_N_OF(elements); i++)
		if (strcmp(elements[i].name, name) == 0 && !r->failed)
			elements[i].take(r, parent, (const char *const *)list);
	r->depth++;
}

static void XMLCALL on_end(void *data, const char *name)
{
	struct reader *r = data;

	if (r->failed)
		return;
	r->depth--;
	if (strcmp(name, "gpu") == 0)
		r->gpu = WEFT_NONE;
}

/* No topology needs entities, which can grow without bound. */
static void XMLCALL on_entity(void *data, const XML_Char *name, int parameter,
			      const XML_Char *value, int length,
			      const XML_Char *base, const XML_Char *system,
			      const XML_Char *public_id,
			      const XML_Char *notation)
{
	(void)parameter;
	(void)value;
	(void)length;
	(void)base;
	(void)system;
	(void)public_id;
	(void)notation;
	fail(data, "declares the entity \"%.40s\"; no topology has any", name);
}

static int system_read(struct reader *r)
{
	enum XML_Error code;

	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetEntityDeclHandler(r->parser, on_entity);
	XML_SetParamEntityParsing(r->parser, XML_PARAM_ENTITY_PARSING_NEVER);
	if (XML_Parse(r->parser, r->input->text, (int)r->input->size, 1) ==
		    XML_STATUS_OK &&
	    !r->failed)
		return 0;
	if (r->failed)
		return -1;
	code = XML_GetErrorCode(r->parser);
	fail(r, "not well-formed XML: %s",
	     XML_ErrorString(code) ? XML_ErrorString(code) : "unknown error");
	return -1;
}

/* Also what NCCL writes beside it, so that it is refused by its name. */
bool weft_looks_nccl_xml(const char *text, size_t size)
{
	struct weft_span all = {text, size < 8192 ? size : 8192};

	return weft_span_find(all, "<system version") ||
	       weft_span_find(all, "<graphs version");
}

int weft_import_nccl_xml(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_error *err)
{
	struct reader r = {
		.parser = XML_ParserCreate(NULL),
		.s = s,
		.input = input,
		.err = err,
		.gpu = WEFT_NONE,
	};
	int rc = -1;

	if (!r.parser)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (system_read(&r) == 0)
		rc = weft_nccl_system_use(
			&r.system, s, input,
			(struct weft_place){input->source, r.system_line}, err);
	XML_ParserFree(r.parser);
	free(r.system.devices);
	free(r.system.gpus);
	free(r.system.links);
	free(r.system.nets);
	free(r.system.hosts);
	return rc;
}
