/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.h - the collective operations of a group of ranks
 *
 * size_bytes is what nccl-tests calls size: the whole vector of an all-reduce,
 * broadcast or reduce; the gathered vector of an all-gather or reduce-scatter;
 * what one rank contributes in total to an all-to-all; the message of a
 * send-recv.
 */
#ifndef WEFT_COSTMODEL_COLLECTIVE_H
#define WEFT_COSTMODEL_COLLECTIVE_H

#include <stdint.h>

/* Those for which NCCL chooses an algorithm come first. */
enum weft_collective {
	WEFT_ALL_REDUCE,
	WEFT_ALL_GATHER,
	WEFT_REDUCE_SCATTER,
	WEFT_BROADCAST,
	WEFT_REDUCE,
	WEFT_ALL_TO_ALL,
	WEFT_SEND_RECV,
	WEFT_N_COLLECTIVES
};
/* "all_reduce", "send_recv", ... */
extern const char *const weft_collective_names[WEFT_N_COLLECTIVES];

/* Bus bandwidth of nccl-tests over n ranks: algorithm bandwidth (size over
 * time) times this factor. */
double weft_collective_bus_factor(enum weft_collective collective, uint32_t n);

#endif
