/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl.c - NCCL's choice of algorithm and protocol by size */
#include "lab/nccl/nccl.h"
#include "lab/nccl/nccl_model.h"

#include <math.h>

#define US 1e-6

const char *const weft_nccl_algorithm_names[WEFT_N_NCCL_ALGORITHMS] = {
	[WEFT_NCCL_TREE] = "Tree", [WEFT_NCCL_RING] = "Ring",
	[WEFT_NCCL_NVLS] = "NVLS", [WEFT_NCCL_NVLS_TREE] = "NVLSTree",
	[WEFT_NCCL_PAT] = "PAT",
};

const char *const weft_nccl_protocol_names[WEFT_N_NCCL_PROTOCOLS] = {
	[WEFT_NCCL_LL] = "LL",
	[WEFT_NCCL_LL128] = "LL128",
	[WEFT_NCCL_SIMPLE] = "Simple",
};

/* At most two digits; moves *text past them.  -1: not a number. */
static int two_digits(const char **text)
{
	int value = 0, n = 0;

	for (; **text >= '0' && **text <= '9' && n < 3; n++, (*text)++)
		value = value * 10 + (**text - '0');
	return n == 1 || n == 2 ? value : -1;
}

uint32_t weft_nccl_version(const char *text, struct weft_error *err)
{
	const char *at = text;
	int part[3] = {0};
	uint32_t version;

	for (int k = 0; k < 3; k++) {
		part[k] = two_digits(&at);
		if (part[k] < 0 || (k == 0 && *at != '.'))
			goto bad;
		if (*at != '.')
			break;
		at++;
	}
	if (*at)
		goto bad;
	version = WEFT_NCCL_VERSION((uint32_t)part[0], (uint32_t)part[1]) +
		  (uint32_t)part[2];
	if (version >= WEFT_NCCL_OLDEST)
		return version;
	weft_fail(err, WEFT_EINVAL,
		  "NCCL %.20s is older than 2.18, the oldest release whose "
		  "tuning model is known",
		  text);
	return 0;
bad:
	weft_fail(err, WEFT_EINVAL,
		  "\"%.20s\" is not an NCCL version, expected for example "
		  "2.30.7",
		  text);
	return 0;
}

static int check_channels(const struct weft_nccl_channels *channels,
			  const char *name, struct weft_error *err)
{
	if (channels->n_channels == 0)
		return 0;
	if (channels->n_channels > 64)
		return weft_fail(err, WEFT_EINVAL,
				 "%s.n_channels is %u, expected at most 64",
				 name, channels->n_channels);
	if (!(channels->intra_bytes_per_s > 0) ||
	    !(channels->inter_bytes_per_s >= 0) ||
	    !isfinite(channels->intra_bytes_per_s) ||
	    !isfinite(channels->inter_bytes_per_s))
		return weft_fail(err, WEFT_EINVAL,
				 "%s: the rates of a channel are %g and %g "
				 "bytes per second, expected positive ones",
				 name, channels->intra_bytes_per_s,
				 channels->inter_bytes_per_s);
	return 0;
}

static int check_graph(const struct weft_nccl_graph *g, struct weft_error *err)
{
	if (g->n_nodes == 0 || g->n_ranks < g->n_nodes)
		return weft_fail(err, WEFT_EINVAL,
				 "%u ranks on %u nodes, expected one rank or "
				 "more on each",
				 g->n_ranks, g->n_nodes);
	if (g->version && g->version < WEFT_NCCL_OLDEST)
		return weft_fail(err, WEFT_EINVAL,
				 "NCCL version code %u, expected %u (2.18) or "
				 "newer",
				 g->version, WEFT_NCCL_OLDEST);
	if (g->compute_capability < 30)
		return weft_fail(err, WEFT_EINVAL,
				 "compute capability %u, expected for example "
				 "90",
				 g->compute_capability);
	if (g->ring.n_channels == 0)
		return weft_fail(err, WEFT_EINVAL,
				 "ring.n_channels is 0, expected what NCCL "
				 "printed or 1 to 64");
	if (!(g->net_latency_s >= 0) || !isfinite(g->net_latency_s))
		return weft_fail(err, WEFT_EINVAL,
				 "net_latency_s is %g, expected seconds",
				 g->net_latency_s);
	if (check_channels(&g->ring, "ring", err) ||
	    check_channels(&g->tree, "tree", err) ||
	    check_channels(&g->nvls, "nvls", err))
		return -1;
	return 0;
}

int weft_nccl_tune(const struct weft_nccl_graph *graph,
		   struct weft_nccl_tuning *tuning, struct weft_error *err)
{
	struct weft_nccl_model model;
	struct weft_nccl_graph *g;

	if (check_graph(graph, err))
		return -1;
	*tuning = (struct weft_nccl_tuning){.graph = *graph};
	g = &tuning->graph;
	if (g->version == 0)
		g->version = WEFT_NCCL_NEWEST;
	/* One rank has no peer; weft_nccl_time knows. */
	if (g->n_ranks == 1)
		return 0;
	weft_nccl_model_build(g, &model);
	for (int c = 0; c < WEFT_N_NCCL_COLLECTIVES; c++)
		for (int a = 0; a < WEFT_N_NCCL_ALGORITHMS; a++)
			for (int p = 0; p < WEFT_N_NCCL_PROTOCOLS; p++)
				tuning->line[c][a][p] = weft_nccl_model_line(
					&model, (enum weft_collective)c,
					(enum weft_nccl_algorithm)a,
					(enum weft_nccl_protocol)p);
	return 0;
}

/* Trees fall short of their rate at middle sizes.  From 2.29 the same holds of
 * NVLSTree on Blackwell beside x86 hosts, up to one size more. */
static double correction(const struct weft_nccl_graph *g,
			 enum weft_collective c, enum weft_nccl_algorithm a,
			 enum weft_nccl_protocol p, uint64_t size_bytes)
{
	const bool x86 = g->cpu <= WEFT_CPU_X86;
	uint32_t k = 0, end = 0;

	if (a == WEFT_NCCL_TREE)
		end = WEFT_NCCL_CORRECTIONS - 1;
	if (a == WEFT_NCCL_NVLS_TREE && g->compute_capability >= 100 && x86 &&
	    g->version >= WEFT_NCCL_VERSION(2, 29))
		end = WEFT_NCCL_CORRECTIONS;
	if (c != WEFT_ALL_REDUCE || size_bytes < 64)
		return 1;
	while (size_bytes >> (k + 7))
		k++;
	return k < end ? weft_nccl_correction[p][k] : 1;
}

double weft_nccl_time(const struct weft_nccl_tuning *tuning,
		      enum weft_collective c, enum weft_nccl_algorithm a,
		      enum weft_nccl_protocol p, uint64_t size_bytes)
{
	const struct weft_nccl_graph *g = &tuning->graph;
	const struct weft_nccl_line *line;
	double rate, latency, time;

	if (c >= WEFT_N_NCCL_COLLECTIVES)
		return INFINITY;
	if (g->n_ranks == 1)
		return a == WEFT_NCCL_RING && p == WEFT_NCCL_SIMPLE ? 0
								    : INFINITY;
	line = &tuning->line[c][a][p];
	if (!(line->rate_bytes_per_s > 0))
		return INFINITY;
	rate = weft_nccl_single(line->rate_bytes_per_s / 1e9 *
				correction(g, c, a, p, size_bytes));
	latency = line->latency_s / US;
	/* Once the chunks of a ring between nodes are full, each step takes
	 * longer. */
	if (a == WEFT_NCCL_RING && p == WEFT_NCCL_SIMPLE && g->n_nodes > 1 &&
	    c == WEFT_ALL_REDUCE &&
	    size_bytes / ((uint64_t)g->ring.n_channels * g->n_ranks) >= 64)
		latency *= g->compute_capability < 80 ? 1.9 : 1.4;
	time = weft_nccl_single(
		weft_nccl_single(latency) +
		weft_nccl_single(weft_nccl_single((double)size_bytes) /
				 weft_nccl_single(1000 * rate)));
	return time * US;
}

/* Size that gives each thread of each channel as many bytes. */
static uint64_t filling(const struct weft_nccl_choice *choice, uint64_t bytes)
{
	return bytes * choice->n_channels * choice->n_threads;
}

/* Fewer channels, then fewer threads, until each thread has enough to do. */
static void share_out(const struct weft_nccl_graph *g, uint64_t size_bytes,
		      struct weft_nccl_choice *choice)
{
	static const struct {
		uint32_t threads, bytes;
	} most[WEFT_N_NCCL_PROTOCOLS] = {
		[WEFT_NCCL_LL] = {512, 8},
		[WEFT_NCCL_LL128] = {640, 8},
		[WEFT_NCCL_SIMPLE] = {512, 64},
	};
	const enum weft_nccl_algorithm a = choice->algorithm;
	uint64_t bytes = most[choice->protocol].bytes;

	choice->n_channels = g->ring.n_channels;
	choice->n_threads = most[choice->protocol].threads;
	if (a == WEFT_NCCL_NVLS || a == WEFT_NCCL_NVLS_TREE) {
		choice->n_channels = g->nvls.n_channels;
		return;
	}
	if (a == WEFT_NCCL_RING && choice->protocol == WEFT_NCCL_LL)
		bytes *= g->n_ranks;
	while (choice->n_channels > 1 && size_bytes < filling(choice, bytes))
		choice->n_channels--;
	while (choice->n_threads % 128 == 0 &&
	       size_bytes < filling(choice, bytes))
		choice->n_threads /= 2;
}

int weft_nccl_choose(const struct weft_nccl_tuning *tuning,
		     enum weft_collective collective, uint64_t size_bytes,
		     struct weft_nccl_choice *choice, struct weft_error *err)
{
	double time_s;

	if (collective >= WEFT_N_NCCL_COLLECTIVES)
		return weft_fail(err, WEFT_EINVAL,
				 "NCCL has no algorithms to choose from for %s",
				 collective < WEFT_N_COLLECTIVES
					 ? weft_collective_names[collective]
					 : "this collective");
	*choice = (struct weft_nccl_choice){.time_s = INFINITY};
	for (int a = 0; a < WEFT_N_NCCL_ALGORITHMS; a++) {
		for (int p = 0; p < WEFT_N_NCCL_PROTOCOLS; p++) {
			time_s = weft_nccl_time(
				tuning, collective, (enum weft_nccl_algorithm)a,
				(enum weft_nccl_protocol)p, size_bytes);
			if (!(time_s < choice->time_s))
				continue;
			choice->algorithm = (enum weft_nccl_algorithm)a;
			choice->protocol = (enum weft_nccl_protocol)p;
			choice->time_s = time_s;
		}
	}
	if (isinf(choice->time_s))
		return weft_fail(err, WEFT_EINVAL,
				 "no algorithm carries %s on these channels: "
				 "ring.inter_bytes_per_s is %g",
				 weft_collective_names[collective],
				 tuning->graph.ring.inter_bytes_per_s);
	share_out(&tuning->graph, size_bytes, choice);
	return 0;
}
