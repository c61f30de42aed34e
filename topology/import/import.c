/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import.c - the table of importers, and reading files for them */
#include "topology/import/import.h"
#include "topology/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* In the order in which one meets them: networks, schedulers, clouds, nodes. */
const struct weft_importer weft_importers[] = {
	{"ibnetdiscover",
	 "InfiniBand: ibnetdiscover (also -g, -p), ibsim's net",
	 weft_import_ibnetdiscover, weft_looks_ibnetdiscover},
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
	{"gpu-fabric", "NVLink domains: lines HOST,CLUSTER-UUID,CLIQUE",
	 weft_import_gpu_fabric, NULL},
	{"hwloc-xml", "a node as hwloc sees it: what lstopo FILE.xml writes",
	 weft_import_hwloc_xml, weft_looks_hwloc_xml},
	{"nccl-xml", "a node as NCCL sees it: what NCCL_TOPO_DUMP_FILE writes",
	 weft_import_nccl_xml, weft_looks_nccl_xml},
	{"nvidia-smi", "a node's GPUs and NICs: nvidia-smi topo -m",
	 weft_import_nvidia_smi, weft_looks_nvidia_smi},
};
const uint32_t weft_n_importers =
	sizeof(weft_importers) / sizeof(weft_importers[0]);

const struct weft_importer *weft_importer_find(const char *name,
					       struct weft_error *err)
{
	const char *names[sizeof(weft_importers) / sizeof(weft_importers[0])];

	for (uint32_t i = 0; i < weft_n_importers; i++) {
		if (strcmp(weft_importers[i].name, name) == 0)
			return &weft_importers[i];
		names[i] = weft_importers[i].name;
	}
	weft_fail(err, WEFT_EINVAL,
		  "no format \"%s\" to import; did you mean \"%s\"?", name,
		  weft_suggest(name, names, weft_n_importers));
	return NULL;
}

const struct weft_importer *weft_importer_guess(const char *text, size_t size)
{
	for (uint32_t i = 0; i < weft_n_importers; i++)
		if (weft_importers[i].looks &&
		    weft_importers[i].looks(text, size))
			return &weft_importers[i];
	return NULL;
}

/* ---- reading ---- */

struct text {
	char *bytes; /* with a NUL behind */
	size_t size, room;
};

static int text_grow(struct text *t, const char *path, struct weft_error *err)
{
	size_t room = t->room ? 2 * t->room : 1u << 16;
	char *grown;

	if (t->size + 1 < t->room)
		return 0;
	if (t->size >= WEFT_IMPORT_MAX_BYTES)
		return weft_fail_at(err, WEFT_EINVAL, path, 0, 0,
				    "more than %u MiB",
				    WEFT_IMPORT_MAX_BYTES >> 20);
	grown = weft_realloc(t->bytes, room, 1, err);
	if (!grown)
		return -1;
	t->bytes = grown;
	t->room = room;
	return 0;
}

static int text_read(struct text *t, gzFile file, const char *path,
		     struct weft_error *err)
{
	for (;;) {
		int n, why;

		if (text_grow(t, path, err))
			return -1;
		n = gzread(file, t->bytes + t->size,
			   (unsigned)(t->room - t->size - 1));
		if (n < 0)
			return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
					    errno ? strerror(errno)
						  : gzerror(file, &why));
		if (n == 0)
			break;
		t->size += (size_t)n;
	}
	t->bytes[t->size] = '\0';
	return 0;
}

/* gzread passes through what is not compressed. */
static int text_load(struct text *t, const char *path, struct weft_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	gzFile file;
	int rc;

	errno = 0;
	file = standard ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
	if (!file)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    errno ? strerror(errno) : "out of memory");
	rc = text_read(t, file, path, err);
	gzclose(file);
	return rc;
}

int weft_import_read(const char *path, char **text, size_t *size,
		     struct weft_error *err)
{
	struct text t = {0};

	if (text_load(&t, path, err)) {
		free(t.bytes);
		return -1;
	}
	*text = t.bytes;
	*size = t.size;
	return 0;
}

static int input_run(struct weft_survey *s,
		     const struct weft_importer *importer,
		     struct weft_import_input *input, const char *source,
		     struct weft_error *err)
{
	input->source = weft_survey_add_source(s, source, importer->name, err);
	return input->source == WEFT_NONE ? -1 : importer->run(s, input, err);
}

int weft_import_text(struct weft_survey *s,
		     const struct weft_importer *importer, const char *text,
		     size_t size, const char *source, const char *hosts,
		     const struct weft_import_options *options,
		     struct weft_error *err)
{
	static const struct weft_import_options none;
	struct weft_import_input input = {
		.text = text,
		.size = size,
		.path = source,
		.hosts = hosts,
		.options = options ? options : &none,
	};

	return input_run(s, importer, &input, source, err);
}

int weft_import_file(struct weft_survey *s,
		     const struct weft_importer *importer, const char *path,
		     const char *hosts,
		     const struct weft_import_options *options,
		     struct weft_error *err)
{
	char *text;
	size_t size;
	int rc;

	if (weft_import_read(path, &text, &size, err))
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
