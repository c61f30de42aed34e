/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_system.c - a inventory's hosts and insides out of NCCL's devices */
#include "topology/import/node/nccl_system.h"
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/import/node/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_NVSWITCH 0x068000u

/* No port is as fast; some plugins wrote other units. */
#define MAX_SPEED_MBPS 4e6

/* One host being worked on. */
struct host {
	const struct weft_nccl_system *system;
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_inside_draft *draft;
	uint32_t index;
	struct weft_nccl_gpu gpus[WEFT_INSIDE_MAX]; /* in the draft's order */
	uint32_t gpu_of[WEFT_INSIDE_MAX]; /* in system.gpus; WEFT_NONE: found
					   * by its class */
	uint32_t nic_device[WEFT_INSIDE_MAX];
	bool spans; /* NVLink of several hosts */
	uint32_t lost_links;
};

static const struct weft_nccl_device *device_of(const struct host *h,
						uint32_t device)
{
	return &h->system->devices[device];
}

static int note(const struct host *h, enum weft_finding_id id, int line,
		const char *text)
{
	struct weft_place where = {h->input->source, line};

	return weft_inventory_note(h->s, id, h->draft->place, where, h->err,
				   "%s", text);
}

/* ---- GPUs ---- */

struct found {
	struct weft_nccl_gpu gpu;
	uint32_t index;
	uint64_t bus;
};

WEFT_COMPARATOR(compare_found, struct found,
		WEFT_UP(gpu.dev) WEFT_UP(bus) WEFT_UP(index));

/* Those that <gpu> names, else PCI devices of that class, which CUDA counts by
 * their bus. */
static uint32_t gpus_find(const struct host *h, struct found *found)
{
	const struct weft_nccl_system *y = h->system;
	uint32_t n = 0;

	for (uint32_t i = 0; i < y->n_gpus; i++) {
		const struct weft_nccl_device *d =
			device_of(h, y->gpus[i].device);

		if (d->host == h->index)
			found[n++] = (struct found){y->gpus[i], i, d->bus};
	}
	for (uint32_t i = 0; y->n_gpus == 0 && i < y->n_devices; i++) {
		const struct weft_nccl_device *d = &y->devices[i];
		unsigned vendor = d->vendor == 0xffff ? 0 : d->vendor;

		if (d->host != h->index || d->n_children ||
		    !weft_inside_is_gpu(d->pci_class, vendor))
			continue;
		found[n++] = (struct found){
			{.device = i, .dev = -1, .line = d->line},
			WEFT_NONE,
			d->bus,
		};
	}
	WEFT_SORT(found, n, compare_found);
	return n;
}

/* RCCL's gcn: "908", "gfx942". */
static const char *gcn_name(const char *gcn)
{
	static const char *const names[][2] = {
		{"906", "mi50"},   {"908", "mi100"},  {"910", "mi250x"},
		{"90a", "mi250x"}, {"940", "mi300x"}, {"942", "mi300x"},
		{"950", "mi350x"},
	};

	if (strncmp(gcn, "gfx", 3) == 0)
		gcn += 3;
	for (size_t i = 0; i < WEFT_N_OF(names); i++)
		if (strcmp(names[i][0], gcn) == 0)
			return names[i][1];
	return NULL;
}

static const char *gpu_kind(const struct host *h,
			    const struct weft_nccl_gpu *gpu)
{
	const struct weft_nccl_device *d = device_of(h, gpu->device);
	const char *name = weft_inside_gpu_name(d->vendor, d->device);

	if (!name && gpu->gcn[0])
		return gcn_name(gpu->gcn);
	if (!name && gpu->sm > 0)
		name = weft_inside_gpu_by_sm((unsigned)gpu->sm);
	return name;
}

static int gpus_add(struct host *h)
{
	size_t most = h->system->n_devices + h->system->n_gpus;
	struct found *found = weft_calloc(most, sizeof(*found), h->err);
	uint32_t n, taken;

	if (!found)
		return -1;
	n = gpus_find(h, found);
	taken = n < WEFT_INSIDE_MAX ? n : WEFT_INSIDE_MAX;
	for (uint32_t i = 0; i < taken; i++) {
		uint32_t g = weft_inside_add_gpu(h->draft);
		struct weft_inside_gpu *gpu = &h->draft->inside.gpus[g];
		const char *kind = gpu_kind(h, &found[i].gpu);

		h->gpus[g] = found[i].gpu;
		h->gpu_of[g] = found[i].index;
		h->draft->coherent[g] = found[i].gpu.c2c;
		gpu->numa = device_of(h, found[i].gpu.device)->numa;
		snprintf(gpu->kind, sizeof(gpu->kind), "%s", kind ? kind : "");
	}
	free(found);
	if (n <= WEFT_INSIDE_MAX)
		return 0;
	return note(h, WEFT_FINDING_LINE_IGNORED, h->gpus[taken - 1].line,
		    "more GPUs in a host than a fabric can have; those behind "
		    "this one are left out");
}

/* ---- links ---- */

/* The GPU of this host on that bus, or WEFT_NONE. */
static uint32_t gpu_on(const struct host *h, uint64_t bus)
{
	for (uint32_t g = 0; g < h->draft->inside.n_gpus; g++)
		if (device_of(h, h->gpus[g].device)->bus == bus)
			return g;
	return WEFT_NONE;
}

static void link_add(struct host *h, uint32_t gpu,
		     const struct weft_nccl_link *link)
{
	struct weft_inside_draft *d = h->draft;
	uint32_t peer;

	if (link->target == WEFT_NCCL_FABRIC_BUS) {
		d->switched[gpu] += link->count;
		h->spans = true;
		return;
	}
	if (link->target_class == CLASS_NVSWITCH) {
		d->switched[gpu] += link->count;
		return;
	}
	/* To POWER's CPUs. */
	if (link->target_class >> 16 == 0x06)
		return;
	peer = gpu_on(h, link->target);
	/* Virtual machines may show each GPU as the far end of its own. */
	if (peer == WEFT_NONE || peer == gpu)
		h->lost_links += link->count;
	else
		d->links[gpu][peer] += link->count;
}

static int links_add(struct host *h)
{
	const struct weft_nccl_system *y = h->system;
	char text[160];

	h->draft->nvlink_known = y->n_gpus > 0;
	for (uint32_t i = 0; i < y->n_links; i++)
		for (uint32_t g = 0; g < h->draft->inside.n_gpus; g++)
			if (h->gpu_of[g] == y->links[i].gpu)
				link_add(h, g, &y->links[i]);
	if (h->lost_links == 0)
		return 0;
	snprintf(text, sizeof(text),
		 "%u NVLinks lead to GPUs that the file does not have, or to "
		 "the GPU itself",
		 h->lost_links);
	return note(h, WEFT_FINDING_INPUT_PARTIAL, h->draft->where.line, text);
}

/* ---- NICs ---- */

static uint32_t pci_distance(const struct weft_nccl_system *y, uint32_t a,
			     uint32_t b)
{
	uint32_t steps = 0;

	while (a != b) {
		uint32_t *lower =
			y->devices[a].depth >= y->devices[b].depth ? &a : &b;

		if (y->devices[*lower].parent == WEFT_NONE)
			return steps + WEFT_INSIDE_OTHER_CPU;
		*lower = y->devices[*lower].parent;
		steps++;
	}
	return steps + (y->devices[a].depth == 0 ? WEFT_INSIDE_SAME_CPU : 0);
}

static bool nic_is_known(const struct host *h, const char *name)
{
	for (uint32_t n = 0; n < h->draft->inside.n_nics; n++)
		if (strcmp(h->draft->inside.nics[n].name, name) == 0)
			return true;
	return false;
}

static int nic_add(struct host *h, const char *name, uint32_t device,
		   double mbps, int line)
{
	struct weft_inside_nic *nic;
	uint32_t n;

	/* Listed again by the network's collective offload. */
	if (nic_is_known(h, name))
		return 0;
	n = weft_inside_add_nic(h->draft);
	if (n == WEFT_NONE)
		return note(h, WEFT_FINDING_LINE_IGNORED, line,
			    "more NICs in a host than weft can hold; this one "
			    "is left out");
	nic = &h->draft->inside.nics[n];
	snprintf(nic->name, sizeof(nic->name), "%s", name);
	nic->numa = device_of(h, device)->numa;
	h->nic_device[n] = device;
	if (mbps > MAX_SPEED_MBPS)
		return note(h, WEFT_FINDING_LINE_IGNORED, line,
			    "the NIC's speed is not that of any port; expected "
			    "Mb/s");
	nic->rate_bytes_per_s = mbps > 0 ? mbps * 1e6 / 8 : 0;
	return 0;
}

static bool net_is_of(const struct host *h, const struct weft_nccl_net *net,
		      bool on_pci)
{
	const struct weft_nccl_device *d = device_of(h, net->device);

	return d->host == h->index && (d->depth > 0) == on_pci;
}

static int nets_add(struct host *h, bool on_pci)
{
	const struct weft_nccl_system *y = h->system;

	for (uint32_t i = 0; i < y->n_nets; i++)
		if (net_is_of(h, &y->nets[i], on_pci) &&
		    nic_add(h, y->nets[i].name, y->nets[i].device,
			    y->nets[i].speed_mbps, y->nets[i].line))
			return -1;
	return 0;
}

/* PCI devices of class network (Ethernet, InfiniBand). */
static int pci_nics_add(struct host *h)
{
	const struct weft_nccl_system *y = h->system;

	for (uint32_t i = 0; i < y->n_devices; i++) {
		const struct weft_nccl_device *d = &y->devices[i];
		unsigned kind = d->pci_class >> 8;
		char name[32];

		if (d->host != h->index || (kind != 0x0200 && kind != 0x0207))
			continue;
		snprintf(name, sizeof(name), "%04x:%02x:%02x.%x",
			 (unsigned)(d->bus >> 20 & 0xffff),
			 (unsigned)(d->bus >> 12 & 0xff),
			 (unsigned)(d->bus >> 4 & 0xff),
			 (unsigned)(d->bus & 0xf));
		if (nic_add(h, name, i, 0, d->line))
			return -1;
	}
	return 0;
}

/* Rails as newer releases of NCCL tell them, if all NICs do. */
static void rails_take(struct host *h)
{
	const struct weft_nccl_system *y = h->system;
	uint32_t told = 0;

	for (uint32_t i = 0; i < y->n_nets; i++)
		for (uint32_t n = 0; n < h->draft->inside.n_nics; n++) {
			struct weft_inside_nic *nic = &h->draft->inside.nics[n];

			if (y->nets[i].device != h->nic_device[n] ||
			    strcmp(y->nets[i].name, nic->name) != 0 ||
			    nic->rail != WEFT_NONE || y->nets[i].rail < 0)
				continue;
			nic->rail = (uint32_t)y->nets[i].rail;
			told++;
		}
	h->draft->rails_told = told && told == h->draft->inside.n_nics;
	for (uint32_t n = 0;
	     !h->draft->rails_told && n < h->draft->inside.n_nics; n++)
		h->draft->inside.nics[n].rail = WEFT_NONE;
}

/* Interfaces without a PCI device are bridges and tunnels, or a cloud's
 * Ethernet: not what GPUs exchange over, unless there is nothing else. */
static int nics_add(struct host *h)
{
	uint32_t left_out = 0;
	char text[120];

	if (nets_add(h, true))
		return -1;
	if (h->draft->inside.n_nics == 0 && pci_nics_add(h))
		return -1;
	if (h->draft->inside.n_nics == 0)
		return nets_add(h, false);
	for (uint32_t i = 0; i < h->system->n_nets; i++)
		left_out += net_is_of(h, &h->system->nets[i], false);
	if (left_out == 0)
		return 0;
	snprintf(text, sizeof(text),
		 "%u network interfaces without a PCI device are left out",
		 left_out);
	return note(h, WEFT_FINDING_INPUT_PARTIAL, h->draft->where.line, text);
}

static void distances_set(struct host *h)
{
	for (uint32_t n = 0; n < h->draft->inside.n_nics; n++)
		for (uint32_t g = 0; g < h->draft->inside.n_gpus; g++)
			h->draft->distance[n][g] = pci_distance(
				h->system, h->nic_device[n], h->gpus[g].device);
}

/* ---- hosts ---- */

static int host_fill(struct host *h)
{
	if (gpus_add(h) || links_add(h) || nics_add(h))
		return -1;
	rails_take(h);
	distances_set(h);
	return weft_inside_finish(h->s, h->draft, h->err);
}

/* GPUs of an NVLink fabric: hosts of one file are of one. */
static int span_set(struct host *h, const char *domain)
{
	uint32_t index;

	if (!h->spans)
		return 0;
	if (h->system->n_hosts == 1)
		return note(h, WEFT_FINDING_INPUT_PARTIAL, h->draft->where.line,
			    "its NVLink domain may span hosts; which, a "
			    "gpu-fabric source tells");
	index = weft_inventory_host(h->s, h->draft->hosts, h->draft->where,
				    h->err);
	if (index == WEFT_NONE)
		return -1;
	return weft_inventory_set_text(h->s, index, WEFT_HOST_NVLINK, domain,
				       h->draft->where, h->err);
}

static int host_use(struct host *h, const char *hosts, struct weft_place where,
		    const char *domain)
{
	int rc;

	h->draft = weft_inside_start(h->err);
	if (!h->draft)
		return -1;
	h->draft->place = hosts;
	h->draft->hosts = hosts;
	h->draft->where = where;
	rc = host_fill(h);
	if (rc == 0)
		rc = span_set(h, domain);
	free(h->draft);
	return rc;
}

static int gpus_demand(const struct weft_nccl_system *y,
		       const struct weft_import_input *input, int line,
		       struct weft_error *err)
{
	uint32_t classes = 0;

	if (y->n_gpus)
		return 0;
	for (uint32_t i = 0; i < y->n_devices; i++) {
		const struct weft_nccl_device *d = &y->devices[i];

		if (weft_inside_is_gpu(d->pci_class,
				       d->vendor == 0xffff ? 0 : d->vendor))
			return 0;
		classes += d->pci_class != 0;
	}
	return weft_fail_at(err, WEFT_EINVAL, input->path, line, 0,
			    classes ? "no GPU: no <gpu>, and no <pci> of a "
				      "GPU's class (0x0302, 0x0380, 0x1200)"
				    : "no GPU can be told: there is no <gpu>, "
				      "and <pci> lack their class; use what "
				      "NCCL_TOPO_DUMP_FILE wrote on the "
				      "machine");
}

/* One name for each host of the file: those given, else invented. */
static int names_make(const struct weft_nccl_system *y,
		      struct weft_inventory *s,
		      const struct weft_import_input *input,
		      struct weft_place where, struct weft_hostlist *names,
		      struct weft_error *err)
{
	char text[64];

	if (input->hosts) {
		if (weft_hostlist_decode(input->hosts, WEFT_INVENTORY_MAX_HOSTS,
					 names, err))
			return -1;
		if (names->n == y->n_hosts)
			return 0;
		return weft_fail_at(err, WEFT_EINVAL, input->path, where.line,
				    0,
				    "the file describes %u hosts, but %u names "
				    "are given for them",
				    y->n_hosts, names->n);
	}
	snprintf(text, sizeof(text), "host[0-%u]", y->n_hosts - 1);
	if (weft_hostlist_decode(text, y->n_hosts, names, err))
		return -1;
	return weft_inventory_note(
		s, WEFT_FINDING_INPUT_PARTIAL, NULL, where, err,
		"%u hosts that the file knows by a hash are "
		"called %s, in its order; say their names with "
		"HOSTLIST=FILE",
		y->n_hosts, text);
}

static int several_use(struct host *h, struct weft_place where)
{
	struct weft_hostlist names = {0};
	char domain[32];
	int rc = names_make(h->system, h->s, h->input, where, &names, h->err);

	snprintf(domain, sizeof(domain), "nvl-%016llx",
		 (unsigned long long)h->system->hosts[0]);
	for (uint32_t i = 0; rc == 0 && i < h->system->n_hosts; i++) {
		h->index = i;
		h->spans = false;
		h->lost_links = 0;
		rc = host_use(h, names.names[i], where, domain);
	}
	weft_hostlist_free(&names);
	return rc;
}

int weft_nccl_system_use(const struct weft_nccl_system *system,
			 struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_place where, struct weft_error *err)
{
	struct host *h;
	int rc;

	if (system->n_hosts == 0)
		return weft_fail_at(err, WEFT_EINVAL, input->path, where.line,
				    0, "no <cpu> in <system>");
	if (gpus_demand(system, input, where.line, err))
		return -1;
	h = weft_calloc(1, sizeof(*h), err);
	if (!h)
		return -1;
	h->system = system;
	h->s = s;
	h->input = input;
	h->err = err;
	if (system->n_hosts > 1)
		rc = several_use(h, where);
	else
		rc = host_use(h, input->hosts, where, NULL);
	free(h);
	return rc;
}
