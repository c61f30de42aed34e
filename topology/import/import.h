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

/* run: 0, or -1 with err set where the input cannot be used at all (err has
 * source, line and column).  What can be left out is a finding with its line.
 */
struct weft_importer {
	const char *name; /* "ibnetdiscover" */
	const char *help;
	int (*run)(struct weft_inventory *s,
		   const struct weft_import_input *input,
		   struct weft_error *err);
	/* Whether a content is of this format, for those who do not say; NULL:
	 * it has no sign of its own. */
	bool (*looks)(const char *text, size_t size);
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

/* For the table: whether a text is of that format. */
bool weft_looks_nccl_xml(const char *text, size_t size);
bool weft_looks_nvidia_smi(const char *text, size_t size);

bool weft_aws_looks(const char *text, size_t size);
int weft_import_aws(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err);
bool weft_looks_gcp(const char *text, size_t size);
int weft_import_gcp(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err);
bool weft_looks_oci(const char *text, size_t size);
int weft_import_oci(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err);
bool weft_looks_azure(const char *text, size_t size);
int weft_import_azure(struct weft_inventory *s,
		      const struct weft_import_input *input,
		      struct weft_error *err);
bool weft_looks_lldp(const char *text, size_t size);
int weft_import_lldp(struct weft_inventory *s,
		     const struct weft_import_input *input,
		     struct weft_error *err);
bool weft_looks_ufm(const char *text, size_t size);
int weft_import_ufm(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err);
bool weft_looks_csv(const char *text, size_t size);
int weft_import_csv(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err);
int weft_import_gpu_fabric(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err);
int weft_import_hwloc_xml(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err);
int weft_import_ibnetdiscover(struct weft_inventory *s,
			      const struct weft_import_input *input,
			      struct weft_error *err);
bool weft_looks_kubernetes(const char *text, size_t size);
int weft_import_kubernetes(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err);
int weft_import_nccl_xml(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_error *err);
int weft_import_nvidia_smi(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err);
bool weft_looks_rdma_topo(const char *text, size_t size);
int weft_import_rdma_topo(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err);
bool weft_looks_rocm_smi(const char *text, size_t size);
int weft_import_rocm_smi(struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_error *err);
bool weft_slurm_nodes_looks(const char *text, size_t size);
int weft_import_slurm_nodes(struct weft_inventory *s,
			    const struct weft_import_input *input,
			    struct weft_error *err);
bool weft_slurm_topology_looks(const char *text, size_t size);
int weft_import_slurm_topology(struct weft_inventory *s,
			       const struct weft_import_input *input,
			       struct weft_error *err);
bool weft_slurm_yaml_looks(const char *text, size_t size);
int weft_import_slurm_yaml(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err);
bool weft_topograph_looks(const char *text, size_t size);
int weft_import_topograph(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err);

/* Whether a content is of the format. */
bool weft_looks_ibnetdiscover(const char *text, size_t size);

#endif
