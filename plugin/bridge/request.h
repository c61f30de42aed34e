/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.h - what a job asks of Slurm, and what a node can give it: no Slurm
 * types
 */
#ifndef WEFT_PLUGIN_BRIDGE_REQUEST_H
#define WEFT_PLUGIN_BRIDGE_REQUEST_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 means "not asked for", everywhere. */
struct weft_request {
	uint32_t job_id;
	const char *spec; /* NULL: the user said nothing */
	uint32_t min_nodes, max_nodes;
	uint32_t want_nodes; /* the count to try first */
	uint32_t gpus_per_node, gpus_per_task, gpus_per_job;
	const char *gpu_type; /* NULL: any */
	uint32_t n_tasks, tasks_per_node, tasks_per_gpu;
	uint32_t cpus_per_task, cpus_per_gpu, cpus_per_node;
	bool overcommit;    /* tasks share CPUs */
	bool memory_counts; /* memory is handed out, too */
	bool memory_all;    /* all of each node's */
	uint64_t memory_per_node_mb, memory_per_cpu_mb, memory_per_gpu_mb;
	bool whole_nodes; /* no other job may be there */
	bool by_socket;	  /* gpus_per_node is the least: GPUs are asked for by
			   * socket, and how many sockets of a node the job
			   * takes is stock's to say */
};

/* What is free on one node. */
struct weft_capacity {
	uint64_t gpus; /* bit k: GPU k */
	uint32_t cpus;
	uint32_t cpus_per_core; /* CPUs are handed out by cores of this many */
	uint64_t memory_mb;
	bool memory_touched; /* some of the memory is in use */
	bool idle;	     /* no job is there */
};

/* One way to lay a request on nodes; members as in struct weft_job. */
struct weft_shape {
	uint32_t n_gpus, gpus_per_node;
	uint32_t min_nodes, max_nodes;
};

#define WEFT_MAX_SHAPES 3

/* What the spec alone fixes of a shape. */
struct weft_frame {
	uint32_t gpus, gpus_per_node;
	uint32_t nodes, nodes_max; /* the least and the most; 0: any */
	uint32_t multiple; /* GPUs come in multiples of this; at least 1 */
	uint32_t replica;  /* GPUs of one data-parallel replica */
	uint32_t batch;	   /* micro-batches of a step, which the replicas share
			    * evenly; 0: open */
	bool hard; /* within=, segment= or split= must hold wherever it starts
		    */
	char within[32];
	uint32_t segment, n_parts; /* nodes of the largest, and of split= */
	double wait_s;		   /* the job would wait for a better place */
};

/* Reads the frame of a spec's text.  -1 with err for a spec that does not parse
 * or agree. */
int weft_frame_read(const char *spec, struct weft_frame *frame,
		    struct weft_error *err);

/* The shapes worth trying, best first, at most WEFT_MAX_SHAPES; n_able: nodes
 * that could give gpus_per_node now (UINT32_MAX: unknown).  Returns how many: 0
 * when the nodes do not suffice now, or, with err, when spec and request
 * contradict each other or the request is not understood. */
uint32_t weft_request_shapes(const struct weft_request *request,
			     const struct weft_frame *frame, uint32_t n_able,
			     struct weft_shape shapes[WEFT_MAX_SHAPES],
			     struct weft_error *err);

/* How many GPUs of the node the job could take when it is laid out as `shape`;
 * limited by the node's CPUs and memory.  Where the number of tasks on a node
 * is open, an even spread is assumed. */
uint32_t weft_request_usable(const struct weft_request *request,
			     const struct weft_shape *shape,
			     const struct weft_capacity *capacity);

#endif
