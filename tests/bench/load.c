/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - how long fabrics of 100,000 GPUs take to load and what they hold in
 * memory, beside libyaml that merely parses the same text; one JSON object per
 * line
 *
 * Times are the least of several runs: others share the machine.
 */
#include "base/clock.h"
#include "topology/cabling.h"
#include "topology/fabric.h"
#include "topology/synth.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#define RUNS   5
#define NODES  12800u
#define PER    8u /* GPUs of a node, and rails */
#define LEAFS  400u
#define SPINES 8u

/* All events of the text, or < 0. */
static double libyaml_s(const char *text, size_t size)
{
	double start = weft_clock_s();
	yaml_parser_t parser;
	bool done = false;

	if (!yaml_parser_initialize(&parser))
		return -1;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text,
				     size);
	while (!done) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			yaml_parser_delete(&parser);
			return -1;
		}
		done = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return weft_clock_s() - start;
}

static size_t resident_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static int measure(const char *name, const char *text)
{
	double load_s = 1e9, yaml_s = 1e9;
	uint32_t n_gpus = 0, n_cables = 0;
	size_t resident = 0, size = strlen(text);

	for (int run = 0; run < RUNS; run++) {
		size_t before = resident_bytes();
		double start = weft_clock_s(), once = libyaml_s(text, size);
		struct weft_error err = {0};
		struct weft_fabric *f;

		yaml_s = once < yaml_s ? once : yaml_s;
		start = weft_clock_s();
		f = weft_fabric_parse(text, size, name, &err);
		once = weft_clock_s() - start;
		if (!f) {
			fprintf(stderr, "bench: %s:%d:%d: %s\n", name, err.line,
				err.column, err.text);
			return -1;
		}
		load_s = once < load_s ? once : load_s;
		resident = resident_bytes() - before;
		n_gpus = f->n_gpus;
		n_cables = f->cabling ? f->cabling->n_cables : 0;
		weft_fabric_free(f);
	}
	printf("{\"fabric\": \"%s\", \"gpus\": %u, \"cables\": %u, "
	       "\"file_mb\": %.2f, \"load_s\": %.3f, \"libyaml_s\": %.3f, "
	       "\"ratio\": %.2f, \"resident_bytes_per_gpu\": %.1f}\n",
	       name, n_gpus, n_cables, (double)size / 1e6, load_s, yaml_s,
	       load_s / yaml_s, (double)resident / n_gpus);
	return 0;
}

/* Every node, every leaf and every cable a line of its own, nodes in an order
 * that is not that of their names. */
static void irregular_write(FILE *out, bool cables)
{
	fputs("weft: fabric/1\nrails: 8\nnodes:\n", out);
	for (uint32_t i = 0; i < NODES; i++)
		fprintf(out, "  gpu-node-%05u.cluster: %u\n", i * 7919 % NODES,
			PER);
	fputs("levels:\n  leaf:\n", out);
	for (uint32_t l = 0; l < LEAFS; l++) {
		fprintf(out, "    leaf%03u-rail[0-7]: ", l);
		for (uint32_t i = 0; i < NODES / LEAFS; i++)
			fprintf(out, "%sgpu-node-%05u.cluster", i ? "," : "",
				l + i * LEAFS);
		fputc('\n', out);
	}
	if (!cables)
		return;
	fprintf(out, "switches:\n  spine[0-%u]: {domain: core}\ncables:\n",
		SPINES - 1);
	for (uint32_t i = 0; i < NODES; i++)
		for (uint32_t k = 0; k < PER; k++)
			fprintf(out,
				"  - {from: gpu-node-%05u.cluster, port: "
				"mlx5_%u, to: leaf%03u-rail%u, rate: 400 "
				"Gbps}\n",
				i, k, i % LEAFS, k);
	for (uint32_t l = 0; l < LEAFS; l++)
		fprintf(out,
			"  - {from: \"leaf%03u-rail[0-7]\", to: "
			"\"spine[0-%u]\", n: 4, rate: 400 Gbps}\n",
			l, SPINES - 1);
}

static char *irregular(bool cables)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	irregular_write(out, cables);
	fclose(out);
	return text;
}

static char *regular(bool cables)
{
	const struct weft_synth_options options = {.rails = PER,
						   .cables = cables};

	return weft_synth("pod:8 leaf:50 node:32 gpu:8", &options, NULL);
}

int main(void)
{
	static const struct {
		const char *name;
		char *(*make)(bool cables);
		bool cables;
	} cases[] = {
		{"regular", regular, false},
		{"regular, cables", regular, true},
		{"irregular", irregular, false},
		{"irregular, cables", irregular, true},
	};
	int rc = 0;

	for (size_t k = 0; !rc && k < sizeof(cases) / sizeof(*cases); k++) {
		char *text = cases[k].make(cases[k].cables);

		rc = text ? measure(cases[k].name, text) : -1;
		free(text);
	}
	return rc ? 1 : 0;
}
