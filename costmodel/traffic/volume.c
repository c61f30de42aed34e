/* SPDX-License-Identifier: GPL-3.0-or-later */
/* volume.c - closed forms of the bytes that one GPU sends */
#include "costmodel/traffic/volume.h"

double weft_volume_collective(enum weft_collective collective, uint32_t n,
			      double size_bytes)
{
	/* Times size for a message, times (n-1)/n size for the rest. */
	static const double shares[WEFT_N_COLLECTIVES] = {
		[WEFT_ALL_REDUCE] = 2,	   [WEFT_ALL_GATHER] = 1,
		[WEFT_REDUCE_SCATTER] = 1, [WEFT_ALL_TO_ALL] = 1,
		[WEFT_BROADCAST] = 1,	   [WEFT_REDUCE] = 1,
		[WEFT_SEND_RECV] = 1,
	};

	if (n < 2)
		return 0;
	if (collective == WEFT_SEND_RECV)
		return size_bytes;
	return shares[collective] * (n - 1) / n * size_bytes;
}

double weft_volume_all_gather(uint32_t n, double size_bytes)
{
	return n < 2 ? 0 : (double)(n - 1) / n * size_bytes;
}

/* The mirror image of an all-gather. */
double weft_volume_reduce_scatter(uint32_t n, double size_bytes)
{
	return weft_volume_all_gather(n, size_bytes);
}

double weft_volume_all_reduce(uint32_t n, double size_bytes)
{
	return weft_volume_reduce_scatter(n, size_bytes) +
	       weft_volume_all_gather(n, size_bytes);
}

double weft_volume_tp_layer(uint32_t t, double b, double s, double h, double e)
{
	return 4 * weft_volume_all_reduce(t, b * s * h * e);
}

/* Forward: c-1 hops of this rank's K and V.  Backward: K and V once more and
 * their gradients, twice the forward (Megatron-LM, context parallelism). */
double weft_volume_cp_layer(uint32_t c, double b, double s, double kv_width,
			    double e)
{
	return c < 2 ? 0 : 3 * (c - 1) * 2 * b * (s / c) * kv_width * e;
}

double weft_volume_tokens(double tokens, double k, double h, double e)
{
	return tokens * k * h * e;
}

double weft_volume_pp_send(uint32_t t, double b, double s, double h, double e)
{
	return b * s * h * e / t;
}

/* arXiv:1910.02054 section 7.  Stages 2 and 3 reduce gradients as they are
 * produced, so once per micro-batch; stage 3 also gathers the parameters anew
 * for each forward and each backward. */
double weft_volume_dp_step(uint32_t d, double parameters, uint32_t zero,
			   uint32_t m, double gradient_bytes,
			   double parameter_bytes)
{
	const double reduces[] = {2, 1, m, m};
	const double gathers[] = {0, 1, 1, 2.0 * m};

	if (zero > 3)
		zero = 3;
	return weft_volume_all_gather(
		d, parameters * (reduces[zero] * gradient_bytes +
				 gathers[zero] * parameter_bytes));
}
