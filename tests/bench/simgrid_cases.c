/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_cases.c - random fabrics, jobs and placements */
#include "tests/bench/simgrid_cases.h"

#include "base/compare.h"
#include "cli/fabric/job_calls.h"
#include "topology/export/export.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const placement_names[N_PLACEMENTS] = {
	"sorted", "alternating", "nodes shuffled", "ranks shuffled"};

const struct kind kinds[N_KINDS] = {
	{"tapered", "dgx-h100-superpod", 8, 0, true, 0, 0},
	{"small NICs", "aws-p4d", 8, 0, true, 0, 0},
	{"rails", "dgx-h100-superpod", 8, 8, true, 0, 0},
	{"rails, two GPUs each", "selene-a100", 8, 4, true, 0, 0},
	{"rails without pxn", "dgx-h100-superpod", 8, 8, false, 0, 0},
	{"six GPUs a node", "dgx-b200", 6, 6, true, 0, 0},
	{"six GPUs, three rails, no pxn", "dgx-h100-superpod", 6, 3, false, 0,
	 0},
	{"NVL72", "gb200-nvl72", 4, 0, true, 0, 18},
	{"NVLink over four nodes", "gb200-nvl72", 4, 4, true, 0, 4},
	{"bridged pairs", "pcie4-100g-tcp", 8, 0, true, 2, 0},
	{"two NVLink domains, rails", "selene-a100", 8, 8, true, 4, 0},
	{"uneven", "roce-llama3", 8, 0, true, 0, 0},
};

uint32_t below(struct scene *s, uint32_t n)
{
	return effort_below(&s->e, n);
}

/* ---- fabrics ---- */

/* What synth does not write: latencies of nothing, tapers, NVLink inside. */
static void links_add(struct scene *s, const struct kind *kind, uint32_t pods,
		      char *text, size_t size)
{
	if (!kind->pxn)
		weft_append(text, size, "pxn: no\n");
	if (kind->nvlink)
		weft_append(text, size, "nvlink: %u\n", kind->nvlink);
	weft_append(text, size, "links:\n  nvlink: {latency: 1ns}\n");
	if (kind->nvlink)
		weft_append(text, size, "  node: {latency: 1ns}\n");
	weft_append(text, size, "  leaf: {latency: 1ns}\n");
	weft_append(text, size, "  pod: {latency: 1ns, oversubscription: %u}\n",
		    PICK(s, 1, 1, 2, 4, 7));
	if (pods > 1)
		weft_append(text, size,
			    "  core: {latency: 1ns, oversubscription: %u}\n",
			    PICK(s, 1, 2, 4, 7));
}

/* Some leafs that lost cables. */
static void uneven_add(struct scene *s, uint32_t n_leafs, char *text,
		       size_t size)
{
	int width = snprintf(NULL, 0, "%u", n_leafs);

	weft_append(text, size, "uplinks:\n");
	for (uint32_t i = 0; i < n_leafs; i++)
		if (below(s, 3) == 0)
			weft_append(text, size, "  leaf%0*u: %uGB/s\n", width,
				    i, 50 * (1 + below(s, 12)));
	weft_append(text, size, "  leaf%0*u: 75GB/s\n", width, n_leafs);
}

int fabric_make(struct scene *s, const struct kind *kind, uint32_t most)
{
	const struct weft_synth_options options = {
		.profile = kind->profile,
		.rails = kind->rails,
		.name = "bench",
	};
	uint32_t pods = PICK(s, 1, 2, 2, 4), leafs = PICK(s, 1, 2, 4, 4), nodes;
	char *text, *whole;
	size_t size;

	s->fabric_spec[0] = '\0';
	do {
		nodes = PICK(s, 1, 2, 4, 8, 16, 3, 6);
		nodes = kind->span ? kind->span * PICK(s, 1, 1, 2) : nodes;
		if (most > 512)
			nodes = kind->span ? kind->span * 2 : 16;
		if (pods * leafs * nodes * kind->gpus <= most)
			break;
		leafs = leafs > 1 ? leafs / 2 : leafs;
		pods = leafs == 1 && pods > 1 ? pods / 2 : pods;
	} while (true);
	if (most > 512) {
		pods = 4;
		leafs = most / pods / nodes / kind->gpus;
	}
	weft_append(s->fabric_spec, sizeof(s->fabric_spec), "pod:%u leaf:%u ",
		    pods, leafs);
	if (kind->span)
		weft_append(s->fabric_spec, sizeof(s->fabric_spec),
			    "nvlink:%u ", nodes / kind->span);
	weft_append(s->fabric_spec, sizeof(s->fabric_spec), "node:%u gpu:%u",
		    kind->span ? kind->span : nodes, kind->gpus);
	text = weft_synth(s->fabric_spec, &options, &s->err);
	if (!text)
		return -1;
	size = strlen(text) + 4096;
	whole = calloc(size, 1);
	if (!whole) {
		free(text);
		return weft_fail(&s->err, WEFT_ENOMEM, "out of memory");
	}
	weft_append(whole, size, "%s", text);
	links_add(s, kind, pods, whole, size);
	if (strcmp(kind->name, "uneven") == 0 && pods * leafs > 1)
		uneven_add(s, pods * leafs - 1, whole, size);
	s->f = weft_fabric_parse(whole, strlen(whole), s->fabric_spec, &s->err);
	free(text);
	free(whole);
	return s->f ? 0 : -1;
}

/* ---- jobs ---- */

static void order_add(struct scene *s, char *text, size_t size)
{
	const char *axes[] = {"tp", "cp", "ep", "dp", "pp"};
	char sep = below(s, 3) ? '-' : '/';

	weft_append(text, size, ",order=");
	for (uint32_t n = 5; n > 0; n--) {
		uint32_t k = below(s, n);

		weft_append(text, size, "%s", axes[k]);
		if (n > 1)
			weft_append(text, size, "%c", sep);
		axes[k] = axes[n - 1];
	}
}

/* A layout that may not be possible. */
static void spec_draw(struct scene *s, uint32_t nodes, uint32_t most)
{
	uint32_t per_node = s->f->nodes[0].n_gpus, gpus = nodes * per_node;
	bool experts = below(s, 3) == 0;
	uint32_t tp =
		per_node % 3 ? PICK(s, 1, 1, 2, 4, 8) : PICK(s, 1, 2, 3, 6);
	uint32_t pp = PICK(s, 1, 1, 2, 4, 8),
		 vpp = pp > 1 ? PICK(s, 1, 1, 2) : 1;
	uint32_t cp = experts ? 1 : PICK(s, 1, 1, 1, 2, 4);
	size_t size = sizeof(s->spec);

	s->spec[0] = '\0';
	weft_append(s->spec, size, "gpus=%u,tp=%u,pp=%u,cp=%u", gpus, tp, pp,
		    cp);
	if (vpp > 1)
		weft_append(s->spec, size, ",vpp=%u", vpp);
	if (experts) {
		weft_append(s->spec, size, ",model=deepseek-v3,ep=%u",
			    most > 512 ? 8 : PICK(s, 4, 8, 8, 16, 32));
		if (below(s, 3) == 0)
			weft_append(s->spec, size, ",etp=%u", PICK(s, 1, 2));
	} else {
		weft_append(s->spec, size, ",model=%s",
			    below(s, 2) ? "llama3-70B" : "gpt-18.4B");
	}
	weft_append(s->spec, size, ",algorithm=%s,zero=%u",
		    below(s, 4) ? "ring" : "tree", PICK(s, 0, 1, 1, 2, 3));
	if (cp > 1)
		weft_append(s->spec, size, ",cp_comm=%s",
			    (const char *const[]){"p2p", "allgather",
						  "a2a"}[below(s, 3)]);
	if (below(s, 2))
		order_add(s, s->spec, size);
}

int job_build(struct scene *s, struct weft_error *err)
{
	if (weft_job_build(s->spec, 0, false, s->f, &s->job, err) == 0 &&
	    weft_schedule_build(&s->job.spec, &s->job.model, &s->schedule,
				err) == 0)
		return 0;
	weft_schedule_free(&s->schedule);
	weft_job_free(&s->job);
	return -1;
}

int job_make(struct scene *s, uint32_t n_nodes, uint32_t most)
{
	struct weft_error err = {0};

	for (int tries = 0; tries < 1000; tries++) {
		spec_draw(s, n_nodes, most);
		err = (struct weft_error){0};
		if (job_build(s, &err) == 0)
			return 0;
	}
	return weft_fail(&s->err, WEFT_EINVAL, "no job fits: %s", err.text);
}

void shuffle(struct scene *s, uint32_t *list, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = below(s, i), kept = list[i - 1];

		list[i - 1] = list[k];
		list[k] = kept;
	}
}

/* The nodes in turn from each part of the list. */
static void alternate(uint32_t *nodes, uint32_t n, uint32_t parts,
		      uint32_t *scratch)
{
	uint32_t each = (n + parts - 1) / parts, k = 0;

	for (uint32_t i = 0; i < each; i++)
		for (uint32_t p = 0; p < parts; p++)
			if (p * each + i < n)
				scratch[k++] = nodes[p * each + i];
	memcpy(nodes, scratch, n * sizeof(*nodes));
}

/* Placement number `how` of the job on n_nodes nodes. */
int place(struct scene *s, uint32_t how, uint32_t n_nodes)
{
	const struct weft_fabric *f = s->f;
	uint32_t *nodes =
		weft_calloc(2 * (size_t)f->n_nodes, sizeof(*nodes), &s->err);
	uint32_t k = 0, first = below(s, f->n_nodes - n_nodes + 1);

	if (!nodes)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		nodes[i] = i;
	if (how == 0)
		memmove(nodes, nodes + first, n_nodes * sizeof(*nodes));
	else
		shuffle(s, nodes, f->n_nodes);
	if (how == 1) {
		qsort(nodes, n_nodes, sizeof(*nodes), weft_compare_numbers);
		alternate(nodes, n_nodes, PICK(s, 2, 4), nodes + f->n_nodes);
	}
	for (uint32_t i = 0; i < n_nodes; i++)
		for (uint32_t g = 0; g < f->nodes[nodes[i]].n_gpus; g++)
			if (k < s->job.n_gpus)
				s->where[k++] =
					f->nodes[nodes[i]].first_gpu + g;
	if (how == 3)
		shuffle(s, s->where, s->job.n_gpus);
	free(nodes);
	return 0;
}

/* ---- both sides ---- */

int platform_write(struct scene *s)
{
	const struct weft_exporter *exporter =
		weft_exporter_find("simgrid", &s->err);
	struct weft_findings findings = {0};
	char path[128], *text = NULL;
	FILE *out;
	int rc = -1;

	snprintf(path, sizeof(path), "%s/platform.xml", s->folder);
	text = weft_export(s->f, exporter, NULL, &findings, &s->err);
	out = text ? fopen(path, "w") : NULL;
	if (out && fputs(text, out) >= 0 && fclose(out) == 0)
		rc = 0;
	else if (text)
		weft_fail(&s->err, WEFT_EIO, "cannot write %s", path);
	weft_findings_free(&findings);
	free(text);
	return rc;
}

int calls_write(struct scene *s, uint32_t number)
{
	const struct job_calls calls = {s->f, &s->schedule, s->where,
					s->job.spec.algorithm};
	char path[128];
	FILE *out;
	int rc;

	snprintf(path, sizeof(path), "%s/calls%u.csv", s->folder, number);
	out = fopen(path, "w");
	if (!out)
		return weft_fail(&s->err, WEFT_EIO, "cannot write %s", path);
	rc = job_calls_write(&calls, out, &s->err);
	if (fclose(out) && rc == 0)
		rc = weft_fail(&s->err, WEFT_EIO, "cannot write %s", path);
	return rc;
}

/* The JSON of flowsim; NULL with err. */
json_t *simulate(struct scene *s, const char *arguments)
{
	char command[1024];
	json_error_t why;
	json_t *answer;
	FILE *in;

	snprintf(command, sizeof(command), "cd %s && '%s' %s", s->folder,
		 s->flowsim, arguments);
	in = popen(command, "r");
	answer = in ? json_loadf(in, 0, &why) : NULL;
	if (!in || pclose(in) != 0 || !answer) {
		weft_fail(&s->err, WEFT_EIO, "flowsim failed: %s", command);
		json_decref(answer);
		return NULL;
	}
	return answer;
}

double axis_time(const json_t *answer, const char *axis)
{
	return json_number_value(json_object_get(
		json_object_get(json_object_get(answer, "axes"), axis),
		"time_s"));
}

void scene_clear(struct scene *s)
{
	weft_schedule_free(&s->schedule);
	weft_job_free(&s->job);
	weft_fabric_free(s->f);
	free(s->where);
	s->f = NULL;
	s->where = NULL;
}
