/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_nccl.c - weft model nccl: what NCCL would choose, by size */
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/report.h"
#include "lab/model/options.h"
#include "lab/nccl/nccl.h"

#include <stdio.h>

/* Without --size: these, each four times as large as the one before. */
#define FIRST_SIZE 1024u
#define N_SIZES	   12

struct question {
	struct model_options options;
	const struct weft_nccl_machine *machine;
	enum weft_collective collective;
	uint32_t n_nodes, per_node, version;
	uint64_t size_bytes; /* 0: many */
};

static void machine_read(const struct argp_state *state, char *name,
			 void *input)
{
	struct question *q = input;
	const char *known[16];
	uint32_t n = 0;

	for (; n < weft_n_nccl_machines && n < 16; n++)
		known[n] = weft_nccl_machines[n].name;
	q->machine = &weft_nccl_machines[option_name(
		state, name, "a known machine", known, n)];
}

static void release_read(const struct argp_state *state, char *text,
			 void *input)
{
	struct question *q = input;
	struct weft_error err = {0};

	q->version = weft_nccl_version(text, &err);
	if (!q->version)
		argp_error(state, "--release: %s", err.text);
}

static void size_read(const struct argp_state *state, char *text, void *input)
{
	struct question *q = input;

	q->size_bytes = (uint64_t)quantity_bytes(state, text);
	if (q->size_bytes < 1 || q->size_bytes > (1ull << 50))
		option_wrong(state, text, "a size from 1 B to 1 PiB");
}

#define QUESTION struct question

static const struct option_row options[] = {
	{"machine", 0, "NAME",
	 "machine whose channels NCCL uses (default: dgx-h100-superpod)", 1,
	 READ(machine_read)},
	{"nodes", 'n', "N", "nodes of that machine (default: 1)", 1,
	 WHOLE(n_nodes, 1, 1u << 20)},
	{"gpus-per-node", 0, "N", "that take part (default: all)", 1,
	 WHOLE(per_node, 1, 1u << 10)},
	{"release", 0, "VERSION",
	 "of NCCL, 2.18 to 2.30 (default: the newest known)", 1,
	 READ(release_read)},
	{"collective", 0, "NAME",
	 "all_reduce (default), all_gather, reduce_scatter, broadcast, reduce",
	 2,
	 NAME(collective, weft_collective_names, WEFT_N_NCCL_COLLECTIVES,
	      "a collective that NCCL chooses for")},
	{"size", 0, "SIZE", "as nccl-tests counts it (default: many)", 2,
	 READ(size_read)},
};

/* ---- the answer ---- */

struct answer {
	const struct question *question;
	struct weft_nccl_tuning tuning;
	uint32_t n;
	uint64_t size_bytes[N_SIZES];
	struct weft_nccl_choice choice[N_SIZES];
};

static int answer_find(struct answer *a, struct weft_error *err)
{
	const struct question *q = a->question;
	struct weft_nccl_graph graph;
	uint32_t per_node =
		q->per_node ? q->per_node : q->machine->gpus_per_node;

	if (weft_nccl_machine_graph(q->machine, q->n_nodes, per_node, &graph,
				    err))
		return -1;
	graph.version = q->version;
	if (weft_nccl_tune(&graph, &a->tuning, err))
		return -1;
	a->n = q->size_bytes ? 1 : N_SIZES;
	for (uint32_t i = 0; i < a->n; i++) {
		a->size_bytes[i] = q->size_bytes
					   ? q->size_bytes
					   : (uint64_t)FIRST_SIZE << (2 * i);
		if (weft_nccl_choose(&a->tuning, q->collective,
				     a->size_bytes[i], &a->choice[i], err))
			return -1;
	}
	return 0;
}

static double bus_rate(const struct answer *a, uint32_t i)
{
	double factor = weft_collective_bus_factor(a->question->collective,
						   a->tuning.graph.n_ranks);

	return a->choice[i].time_s > 0
		       ? factor * (double)a->size_bytes[i] / a->choice[i].time_s
		       : 0;
}

static json_t *choices_json(const struct answer *a)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->n; i++) {
		const struct weft_nccl_choice *c = &a->choice[i];

		json_array_append_new(
			list,
			json_pack("{s:I, s:s, s:s, s:f, s:f, s:I, s:I}",
				  "size_bytes", (json_int_t)a->size_bytes[i],
				  "algorithm",
				  weft_nccl_algorithm_names[c->algorithm],
				  "protocol",
				  weft_nccl_protocol_names[c->protocol],
				  "time_s", c->time_s, "busbw_bytes_per_s",
				  bus_rate(a, i), "channels",
				  (json_int_t)c->n_channels, "threads",
				  (json_int_t)c->n_threads));
	}
	return list;
}

/* Every pair that NCCL weighs, and by what. */
static json_t *pairs_json(const struct answer *a)
{
	json_t *list = json_array();

	for (int k = 0; k < WEFT_N_NCCL_ALGORITHMS; k++) {
		for (int p = 0; p < WEFT_N_NCCL_PROTOCOLS; p++) {
			const struct weft_nccl_line *line =
				&a->tuning.line[a->question->collective][k][p];

			if (!(line->rate_bytes_per_s > 0))
				continue;
			json_array_append_new(
				list,
				json_pack("{s:s, s:s, s:f, s:f}", "algorithm",
					  weft_nccl_algorithm_names[k],
					  "protocol",
					  weft_nccl_protocol_names[p],
					  "latency_s", line->latency_s,
					  "rate_bytes_per_s",
					  line->rate_bytes_per_s));
		}
	}
	return list;
}

static int print_json(const struct answer *a, struct weft_error *err)
{
	const struct question *q = a->question;
	const struct weft_nccl_graph *graph = &a->tuning.graph;
	json_t *object = model_json("nccl");

	json_object_update_new(
		object,
		json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:o, s:o}", "machine",
			  q->machine->name, "basis",
			  q->machine->basis[q->n_nodes > 1], "nodes",
			  (json_int_t)graph->n_nodes, "gpus",
			  (json_int_t)graph->n_ranks, "release",
			  (json_int_t)graph->version, "collective",
			  weft_collective_names[q->collective], "choices",
			  choices_json(a), "pairs", pairs_json(a)));
	return report_print(object, err);
}

static void print_text(const struct answer *a)
{
	const struct question *q = a->question;
	const struct weft_nccl_graph *graph = &a->tuning.graph;

	printf("%s of %u GPUs on %u x %s, NCCL %u.%u\n",
	       weft_collective_names[q->collective], graph->n_ranks,
	       graph->n_nodes, q->machine->name, graph->version / 10000,
	       graph->version / 100 % 100);
	printf("  %10s  %-14s %-7s %10s %11s  channels threads\n", "size",
	       "algorithm", "proto", "expected", "busbw");
	for (uint32_t i = 0; i < a->n; i++) {
		const struct weft_nccl_choice *c = &a->choice[i];

		printf("  %10s  %-14s %-7s %10s %11s  %8u %7u\n",
		       IN_UNIT((double)a->size_bytes[i], "B"),
		       weft_nccl_algorithm_names[c->algorithm],
		       weft_nccl_protocol_names[c->protocol],
		       IN_UNIT(c->time_s, "s"), IN_UNIT(bus_rate(a, i), "B/s"),
		       c->n_channels, c->n_threads);
	}
	printf("  channels: %s\n", q->machine->basis[q->n_nodes > 1]);
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct answer answer = {.question = question};

	if (answer_find(&answer, err))
		return -1;
	if (question->options.json)
		return print_json(&answer, err);
	print_text(&answer);
	return EXIT_YES;
}

const struct calculator model_nccl = {
	.name = "nccl",
	.help = "what NCCL would choose, by size",
	.line.doc = "Which algorithm and protocol NCCL would choose, and the "
		    "time that it expects: its own selector, without launch "
		    "and saturation.",
	LINE_ROWS(options),
	.question_size = sizeof(struct question),
	.question = &(const struct question){.machine = &weft_nccl_machines[0],
					     .n_nodes = 1},
	.answer = answer,
};
