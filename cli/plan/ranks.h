/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.h - a placement made elsewhere, read back: which GPU each rank has */
#ifndef WEFT_CLI_PLAN_RANKS_H
#define WEFT_CLI_PLAN_RANKS_H

#include "topology/fabric.h"

#include <jansson.h>
#include <stdint.h>

/* From a hostlist ("n[00-03],n07:0-3"): ranks in the order written, on each
 * node's GPUs ascending.  Without GPU lists every node gives the same number,
 * n_ranks / nodes, or all it has where that does not divide.  where[n_ranks] is
 * filled; -1 with err when the list does not give n_ranks distinct GPUs. */
int ranks_from_hostlist(const struct weft_fabric *f, const char *text,
			uint32_t n_ranks, uint32_t *where,
			struct weft_error *err);

/* From a file ("-": stdin), either the JSON of weft plan or score, or a
 * hostfile: line r is "NODE" or "NODE:GPU" of rank r, "#" starts a comment;
 * without a GPU the lowest one of that node not used yet. */
int ranks_from_file(const struct weft_fabric *f, const char *path,
		    uint32_t n_ranks, uint32_t *where, struct weft_error *err);

/* From a hostlist, or where that is NULL from a file. */
int ranks_read(const struct weft_fabric *f, const char *nodes, const char *path,
	       uint32_t n_ranks, uint32_t *where, struct weft_error *err);

/* What weft plan --json printed into a file ("-": stdin), gzip'ed or not; NULL
 * with err. */
json_t *plan_from_file(const char *path, struct weft_error *err);

/* From "ranks" of an object as weft plan --json prints; source names it in
 * messages. */
int ranks_from_json(const struct weft_fabric *f, const json_t *plan,
		    const char *source, uint32_t n_ranks, uint32_t *where,
		    struct weft_error *err);

#endif
