/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metis.h - graphs in the format of METIS, Chaco, KaHIP and their kin
 *
 * Lines that begin with % are comments.  The first other line is "n m [fmt
 * [ncon]]", then one line per vertex: neighbours from 1, each followed by the
 * edge's weight where fmt's last digit is 1; before them a size where the
 * first of three digits is 1, and ncon weights where the second is.
 */
#ifndef WEFT_LAB_MAP_METIS_H
#define WEFT_LAB_MAP_METIS_H

#include "lab/map/scan.h"
#include "placement/mapping/graph.h"

/* Reads a whole graph and checks that it is one: every edge in both its rows
 * with one weight, no loops, no edge twice, m edges.  Edges of weight 0 are
 * left out.  A vertex takes one place whatever its size, hence vertices of
 * different weights are an error.  Free with graph_free in either case. */
int metis_read(struct scan *s, struct graph *g);

#endif
