/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_aws.c - the answer of aws ec2 describe-instance-topology
 *
 *	{"Instances": [{"InstanceId": "i-1", "InstanceType": "p5.48xlarge",
 *	  "NetworkNodes": ["nn-top", "nn-middle", "nn-bottom"],
 *	  "CapacityBlockId": null, "ZoneId": "use1-az6"}], "NextToken": null}
 *
 * NetworkNodes run from the top to the switch that the instance is attached to;
 *there are three or four.  Instances of one CapacityBlockId of an UltraServer
 *share an NVLink domain.  A host is called by its instance's id unless
 * options->names knows better.
 */
#include "base/lines.h"
#include "topology/import/chain.h"
#include "topology/import/json_source.h"
#include "topology/import/names.h"

#include <string.h>

/* GPUs of the instance types that have some; AWS' EC2 accelerated computing
 * instances.  The longest start that fits counts. */
static const struct {
	const char *start, *kind;
	uint32_t gpus;
	bool spans; /* its NVLink domain is a capacity block */
} types[] = {
	{"p6e-gb200", "gb200", 4, true},
	{"u-p6e-gb200", "gb200", 4, true},
	{"p6e-gb300", "gb300", 4, true},
	{"p6-b300.48xlarge", "b300", 8, false},
	{"p6-b200.48xlarge", "b200", 8, false},
	{"p5en.48xlarge", "h200", 8, false},
	{"p5e.48xlarge", "h200", 8, false},
	{"p5.48xlarge", "h100", 8, false},
	{"p5.4xlarge", "h100", 1, false},
	{"p4de.24xlarge", "a100", 8, false},
	{"p4d.24xlarge", "a100", 8, false},
	{"p3dn.24xlarge", "v100", 8, false},
	{"p3.16xlarge", "v100", 8, false},
	{"p3.8xlarge", "v100", 4, false},
	{"p3.2xlarge", "v100", 1, false},
	{"g6e.48xlarge", "l40s", 8, false},
	{"g6.48xlarge", "l4", 8, false},
	{"g5.48xlarge", "a10g", 8, false},
};

struct aws {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_names names;
	struct weft_error *err;
	bool any_gpu;
};

static int fail(const struct aws *a, size_t index, const char *what)
{
	return weft_fail_at(a->err, WEFT_EINVAL, a->input->path, 0, 0,
			    "Instances[%zu]: %s", index, what);
}

/* Families with accelerators begin with these; all others, such as hpc7a, c7i
 * and m7i, have no GPUs. */
static bool may_have_gpus(const char *type)
{
	static const char *const starts[] = {"p",   "g",   "u-p", "dl",
					     "trn", "inf", "vt"};

	for (size_t i = 0; i < WEFT_N_OF(starts); i++)
		if (strncmp(type, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static int gpus_set(struct aws *a, const json_t *instance, uint32_t host)
{
	const struct weft_place where = {a->input->source, 0};
	const char *type = weft_json_text(instance, "InstanceType");
	const char *block = weft_json_text(instance, "CapacityBlockId");

	for (size_t i = 0; type && i < WEFT_N_OF(types); i++) {
		if (strncmp(type, types[i].start, strlen(types[i].start)) != 0)
			continue;
		a->any_gpu = true;
		if (weft_inventory_set_gpus(a->s, host, types[i].gpus, where,
					    a->err) ||
		    weft_inventory_set_text(a->s, host, WEFT_HOST_GPU_KIND,
					    types[i].kind, where, a->err))
			return -1;
		return types[i].spans && block
			       ? weft_inventory_set_text(a->s, host,
							 WEFT_HOST_NVLINK,
							 block, where, a->err)
			       : 0;
	}
	return type && !may_have_gpus(type)
		       ? weft_inventory_set_gpus(a->s, host, 0, where, a->err)
		       : 0;
}

static int path_add(struct aws *a, const json_t *path, uint32_t host,
		    size_t index)
{
	const struct weft_place where = {a->input->source, 0};
	const char *names[WEFT_MAX_LEVELS];
	size_t n = json_array_size(path);

	if (n == 0 || n > WEFT_MAX_LEVELS)
		return fail(a, index,
			    "expected a list NetworkNodes, the top first");
	for (size_t i = 0; i < n; i++) {
		names[i] = json_string_value(json_array_get(path, i));
		if (!names[i] || !*names[i])
			return fail(a, index,
				    "NetworkNodes holds something that is no "
				    "name");
	}
	return weft_chain_add(a->s, names, n, host, where, a->err);
}

static int instance_add(struct aws *a, const json_t *instance, size_t index)
{
	const struct weft_place where = {a->input->source, 0};
	const char *id = weft_json_text(instance, "InstanceId"), *known;
	uint32_t host;

	if (!id || !*id)
		return fail(a, index, "expected an InstanceId");
	known = weft_names_find(&a->names, id);
	host = weft_inventory_host(a->s, known ? known : id, where, a->err);
	if (host == WEFT_NONE || gpus_set(a, instance, host))
		return -1;
	return path_add(a, json_object_get(instance, "NetworkNodes"), host,
			index);
}

/* Beside instances with GPUs, those without have none; where all are unknown it
 * is the table that may be too old. */
static void others_clear(const struct aws *a, uint32_t first)
{
	for (uint32_t h = first; a->any_gpu && h < a->s->n_hosts; h++)
		if (a->s->hosts[h].gpus.value <= 0)
			a->s->hosts[h].no_gpus = true;
}

static int answer_read(struct aws *a, const json_t *root)
{
	const json_t *list = json_object_get(root, "Instances");
	const char *token = weft_json_text(root, "NextToken");
	uint32_t first = a->s->n_hosts;

	if (!json_is_array(list) || json_array_size(list) == 0)
		return weft_fail_at(
			a->err, WEFT_EINVAL, a->input->path, 0, 0,
			"no Instances: expected the answer of aws ec2 "
			"describe-instance-topology");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (instance_add(a, json_array_get(list, i), i))
			return -1;
	others_clear(a, first);
	if (!token || !*token)
		return 0;
	return weft_inventory_note(a->s, WEFT_FINDING_INPUT_TRUNCATED, NULL,
				   (struct weft_place){a->input->source, 0},
				   a->err,
				   "the answer ends in a NextToken: there are "
				   "more instances");
}

int weft_import_aws(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err)
{
	struct aws a = {.s = s, .input = input, .err = err};
	json_t *root = weft_json_source(input, err);
	int rc = -1;

	if (root && weft_names_read(&a.names, input->options->names, err) == 0)
		rc = answer_read(&a, root);
	weft_names_free(&a.names);
	json_decref(root);
	return rc;
}

bool weft_aws_looks(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	return weft_span_find(span, "\"NetworkNodes\"") != NULL;
}
