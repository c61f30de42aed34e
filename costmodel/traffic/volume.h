/* SPDX-License-Identifier: GPL-3.0-or-later */
/* volume.h - bytes that one GPU sends, per kind of parallelism
 *
 * Closed forms, one a function, each with its source; S is in bytes, decimal.
 * Symbols: b sequences per micro-batch, s tokens per sequence, h hidden width,
 * e bytes per element, t/c/d ways of tensor/context/data parallelism.
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_VOLUME_H
#define WEFT_COSTMODEL_TRAFFIC_VOLUME_H

#include "costmodel/traffic/collective.h"

#include <stdint.h>

/* Bytes that one rank sends in one call among n ranks, bandwidth-optimal
 * algorithms (rings; pairs for an all-to-all); size_bytes as in collective.h.
 * Of broadcast and reduce the mean over the ranks. */
double weft_volume_collective(enum weft_collective collective, uint32_t n,
			      double size_bytes);

/* Ring collectives over n ranks; size_bytes is the full (gathered) size. */
double weft_volume_all_reduce(uint32_t n, double size_bytes);
double weft_volume_all_gather(uint32_t n, double size_bytes);
double weft_volume_reduce_scatter(uint32_t n, double size_bytes);

/* Tensor parallelism, forward and backward of one layer and micro-batch: two
 * all-reduces each way (arXiv:2104.04473 section 3.2). */
double weft_volume_tp_layer(uint32_t t, double b, double s, double h, double e);

/* Context parallelism as a ring of K and V blocks, forward and backward of one
 * layer and micro-batch; kv_width is the K (or V) width of this tensor rank. */
double weft_volume_cp_layer(uint32_t c, double b, double s, double kv_width,
			    double e);

/* Expert parallelism: T tokens, each to k experts that all lie elsewhere; e is
 * the sum of both ways where both are meant. */
double weft_volume_tokens(double tokens, double k, double h, double e);

/* One send of a pipeline boundary, one micro-batch, one direction.
 * scatter_gather: the t tensor ranks send 1/t each (arXiv:2104.04473 4.1). */
double weft_volume_pp_send(uint32_t t, double b, double s, double h, double e);

/* Data parallelism of one step: `parameters` held by each GPU's shard, stage of
 * ZeRO 0..3, micro-batches m, gradient and parameter bytes per element.
 * 0: one all-reduce of gradients.  1: reduce-scatter of gradients, all-gather
 * of parameters.  2: as 1, the reduce-scatter in each micro-batch.  3: two
 * all-gathers and one reduce-scatter in each micro-batch. */
double weft_volume_dp_step(uint32_t d, double parameters, uint32_t zero,
			   uint32_t m, double gradient_bytes,
			   double parameter_bytes);

#endif
