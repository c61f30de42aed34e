/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import.h - foreign descriptions of a cluster, read into a inventory
 *
 * One file import_FORMAT.c per format, one row in the table of import.c.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_IMPORT_H
#define WEFT_TOPOLOGY_IMPORT_IMPORT_H

#include "topology/inventory/inventory.h"

#define WEFT_IMPORT_MAX_BYTES (256u << 20)

/* Choices of the caller; zero-initialise for the defaults. */
struct weft_import_options {
	const char *topology; /* which of several in a file, by name */
	const char *names;    /* text of "GUID or id, blank, host name" lines,
			       * or NULL */
	bool no_include;      /* do not open files that the input names */
};

/* One input.  text has a NUL behind its size bytes. */
struct weft_import_input {
	const char *text;
	size_t size;
	const char *path;  /* where it was read from: included files lie
			    * beside it */
	const char *hosts; /* hostlist that a node's description is for; NULL:
			    * all hosts */
	uint32_t source;   /* of the inventory */
	const struct weft_import_options *options; /* never NULL */
};

/* Reads an input into s.  0, or -1 with err set where the input cannot be used
 * at all (err has source, line and column).  What can be left out is a finding
 * with its line. */
typedef int weft_import_run(struct weft_inventory *s,
			    const struct weft_import_input *input,
			    struct weft_error *err);
/* Whether a content is of the format. */
typedef bool weft_import_looks(const char *text, size_t size);

struct weft_importer {
	const char *name; /* "ibnetdiscover" */
	const char *help;
	weft_import_run *run;
	weft_import_looks *looks; /* NULL: the format has no sign of its own */
};
extern const struct weft_importer weft_importers[];
extern const uint32_t weft_n_importers;

/* By name; NULL with err that suggests the nearest. */
const struct weft_importer *weft_importer_find(const char *name,
					       struct weft_error *err);

/* The importer that the content looks like, or NULL. */
const struct weft_importer *weft_importer_guess(const char *text, size_t size);

/* Reads a file, as weft_text_load does, of that format into s;
 * importer NULL: of the format that it looks like.  options may be NULL. */
int weft_import_file(struct weft_inventory *s,
		     const struct weft_importer *importer, const char *path,
		     const char *hosts,
		     const struct weft_import_options *options,
		     struct weft_error *err);
/* The same from memory. */
int weft_import_text(struct weft_inventory *s,
		     const struct weft_importer *importer, const char *text,
		     size_t size, const char *source, const char *hosts,
		     const struct weft_import_options *options,
		     struct weft_error *err);

/* For the table. */
weft_import_run weft_import_aws, weft_import_azure, weft_import_csv,
	weft_import_gcp, weft_import_gpu_fabric, weft_import_hwloc_xml,
	weft_import_ibnetdiscover, weft_import_kubernetes, weft_import_lldp,
	weft_import_nccl_xml, weft_import_nvidia_smi, weft_import_oci,
	weft_import_rdma_topo, weft_import_rocm_smi, weft_import_slurm_nodes,
	weft_import_slurm_topology, weft_import_slurm_yaml,
	weft_import_topograph, weft_import_ufm;
weft_import_looks weft_aws_looks, weft_looks_azure, weft_looks_csv,
	weft_looks_gcp, weft_looks_ibnetdiscover, weft_looks_kubernetes,
	weft_looks_lldp, weft_looks_nccl_xml, weft_looks_nvidia_smi,
	weft_looks_oci, weft_looks_rdma_topo, weft_looks_rocm_smi,
	weft_looks_ufm, weft_slurm_nodes_looks, weft_slurm_topology_looks,
	weft_slurm_yaml_looks, weft_topograph_looks;

/* No topology of the file has switches, blocks, rings or tori: what scontrol
 * shows of a topology.conf, and of a flat network. */
bool weft_slurm_yaml_is_blank(const char *text, size_t size);

#endif
