/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu.h - how fast a kind of GPU computes: peaks, memory, efficiency */
#ifndef WEFT_COSTMODEL_JOB_GPU_H
#define WEFT_COSTMODEL_JOB_GPU_H

#include "base/error.h"
#include "costmodel/job/spec.h"

#include <stdbool.h>
#include <stdint.h>

/* Width of what a matrix unit multiplies. */
enum weft_precision {
	WEFT_BITS_16, /* bf16, fp16 */
	WEFT_BITS_8,  /* fp8, mxfp8 */
	WEFT_BITS_4,  /* nvfp4 */
	WEFT_BITS_32, /* tf32 */
	WEFT_N_PRECISIONS
};
extern const char *const weft_precision_names[WEFT_N_PRECISIONS];

/* flops_per_s 0: the GPU has no unit for that width. */
struct weft_gpu {
	const char *name;
	uint32_t n_sms;
	double memory_bytes, memory_bytes_per_s; /* as sold */
	double usable_bytes; /* of that, in binary units, what a process gets */
	double flops_per_s[WEFT_N_PRECISIONS]; /* dense peak */
	/* Share of that peak which a product without end would reach. */
	double efficiency[WEFT_N_PRECISIONS];
	/* Share of the 16-bit peak that attention reaches with each kernel;
	 * 0: the GPU runs the one before. */
	double attention[WEFT_N_ATTENTIONS];
	double power_w;		 /* that it may take */
	double host_bytes_per_s; /* copies to, and from, the host's memory */
	enum weft_framework framework; /* that most jobs on it run */
	/* All ranks that hold the same layers agree on the scales of 8-bit
	 * tensors, from the maxima of steps before; later units scale each
	 * block by itself. */
	bool agrees_scales;
	const char *fabric; /* profile of the fabrics it is usually on */
};

extern const struct weft_gpu weft_gpus[];
extern const uint32_t weft_n_gpus;

/* The GPU that `text` speaks of: "H100", "h100-80G-SXM", "DGX-GB200", "Ampere
 * (A100 class)".  NULL with err naming the nearest. */
const struct weft_gpu *weft_gpu_find(const char *text, struct weft_error *err);

/* The GPU of a fabric profile, or NULL where it does not say. */
const struct weft_gpu *weft_gpu_of_profile(const char *profile);

/* Seconds of `count` products of m*k by k*n, each a kernel: started one after
 * the other, as those of experts are, they share the GPU's waves.  An output
 * tile takes the time of its k dimension and a fixed time to fill and drain the
 * multiprocessor; a last wave of tiles that does not fill the GPU takes nearly
 * as long as a full one. */
double weft_gpu_product_s(const struct weft_gpu *gpu,
			  enum weft_precision precision, double m, double n,
			  double k, double count);

/* Seconds to read and write `bytes` of memory in n kernels. */
double weft_gpu_memory_s(const struct weft_gpu *gpu, double bytes, double n);

#endif
