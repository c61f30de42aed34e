/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu.c - the table of GPUs, and the time of their kernels
 *
 * Peaks, memory and multiprocessors are the vendor's data sheets, dense, not
 * sparse.  Efficiencies are what step times published for a GPU say of it, one
 * number for a GPU and width: a chip at its power limit runs below the clock
 * of its peak, the more the denser the format.  weft model step --table shows
 * how well they hold; --calibrate finds what is left for another cluster.
 */
#include "costmodel/job/gpu.h"

#include "base/suggest.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* What the driver shows a process (totalGlobalMem) of the memory that it lists
 * itself (nvidia-smi): it keeps 0.65 to 0.85 GiB.  PyTorch reports 79.15 to
 * 79.35 GiB of the 80 of an A100 or A800, 79.1 of the 79.65 of an H100. */
#define RESERVED_BYTES (0.7 * 0x1p30)
#define USABLE(mib)    ((mib)*MIB - RESERVED_BYTES)

/* The profile of any machine without NVLink and InfiniBand. */
#define PLAIN_PROFILE "pcie4-100g-tcp"

#define TERA 1e12
#define GIGA 1e9
#define MIB  0x1p20

/* Output tile of a multiprocessor, of the larger kind that libraries use. */
#define TILE_M 128.0
#define TILE_N 256.0
/* To fill the pipeline of a tile, and to write its result. */
#define TILE_S 6e-6
/* How much of an incomplete last wave of tiles is lost; the rest is what
 * splitting along k wins back. */
#define TAIL 0.8
/* From the end of a kernel's work to the start of the next one's: launch gaps
 * of 3 to 8 us, and the ramp of memory traffic. */
#define KERNEL_S 8e-6
/* Share of the memory's rate that streaming kernels reach. */
#define MEMORY_EFFICIENCY 0.8

const char *const weft_precision_names[WEFT_N_PRECISIONS] = {"16-bit", "8-bit",
							     "4-bit", "32-bit"};

/* What GPUs of one chip or architecture have in common. */
#define A100_CHIP                                                              \
	.n_sms = 108, .memory_bytes = 80 * GIGA,                               \
	.usable_bytes = USABLE(81920), .memory_bytes_per_s = 2039 * GIGA,      \
	.flops_per_s = {312 * TERA, 0, 0, 156 * TERA},                         \
	.efficiency = {0.78, 0, 0, 0.78}, .attention = {0.65, 0.32, 0.55},     \
	.power_w = 400, .host_bytes_per_s = 25 * GIGA,                         \
	.framework = WEFT_MEGATRON_CORE, .fabric = "selene-a100"
#define HOPPER                                                                 \
	.n_sms = 132, .flops_per_s = {989 * TERA, 1979 * TERA, 0, 494 * TERA}, \
	.efficiency = {0.655, 0.588, 0, 0.655},                                \
	.attention = {0.5, 0.17, 0.33, 0.565}, .power_w = 700,                 \
	.host_bytes_per_s = 50 * GIGA, .framework = WEFT_NEMO,                 \
	.agrees_scales = true, .fabric = "dgx-h100-superpod"
#define BLACKWELL .memory_bytes_per_s = 8000 * GIGA, .framework = WEFT_NEMO

/* Attention: kernels' rates forward and backward, of long causal sequences with
 * heads of 128, over the peak: FlashAttention and FlashAttention-2 on A100 and
 * H100 as arXiv:2307.08691 measures them (its figures 4 and 7); those of the
 * third generation from step times, as the products.
 *
 * To the host: nine tenths of 16 lanes of PCIe 3, 4 and 5; of NVLink-C2C what
 * two GPUs share of Grace's memory.
 *
 * Hopper and Blackwell of one architecture share their efficiencies where no
 * step times of dense models are published for a chip of its own. */
const struct weft_gpu weft_gpus[] = {
	{.name = "V100",
	 .n_sms = 80,
	 .memory_bytes = 32 * GIGA,
	 .usable_bytes = 32510 * MIB, /* listed without the reserve */
	 .memory_bytes_per_s = 900 * GIGA,
	 .flops_per_s = {125 * TERA, 0, 0, 15.7 * TERA},
	 .efficiency = {0.78, 0, 0, 0.9},
	 .attention = {0.65, 0.3},
	 .power_w = 300,
	 .host_bytes_per_s = 12 * GIGA,
	 .framework = WEFT_MEGATRON_2021,
	 .fabric = PLAIN_PROFILE},
	{.name = "A100", A100_CHIP},
	{.name = "A800", A100_CHIP},
	{.name = "H100",
	 HOPPER,
	 .memory_bytes = 80 * GIGA,
	 .usable_bytes = USABLE(81559),
	 .memory_bytes_per_s = 3350 * GIGA},
	{.name = "H800",
	 HOPPER,
	 .memory_bytes = 80 * GIGA,
	 .usable_bytes = USABLE(81559),
	 .memory_bytes_per_s = 3350 * GIGA},
	{.name = "H200",
	 HOPPER,
	 .memory_bytes = 141 * GIGA,
	 .usable_bytes = USABLE(143771),
	 .memory_bytes_per_s = 4800 * GIGA},
	{.name = "B200",
	 BLACKWELL,
	 .n_sms = 148,
	 .memory_bytes = 180 * GIGA,
	 .usable_bytes = USABLE(183359),
	 .flops_per_s = {2250 * TERA, 4500 * TERA, 9000 * TERA, 1125 * TERA},
	 .efficiency = {0.565, 0.575, 0.54, 0.565},
	 .attention = {0.4, 0, 0.3, 0.42},
	 .power_w = 1000,
	 .host_bytes_per_s = 50 * GIGA,
	 .fabric = "dgx-b200"},
	{.name = "GB200",
	 BLACKWELL,
	 .n_sms = 152,
	 .memory_bytes = 186 * GIGA,
	 .usable_bytes = USABLE(189471),
	 .flops_per_s = {2450 * TERA, 4900 * TERA, 9800 * TERA, 1225 * TERA},
	 .efficiency = {0.565, 0.575, 0.54, 0.565},
	 .attention = {0.4, 0, 0.3, 0.42},
	 .power_w = 1200,
	 .host_bytes_per_s = 200 * GIGA,
	 .fabric = "gb200-nvl72"},
	{.name = "B300",
	 BLACKWELL,
	 .n_sms = 148,
	 .memory_bytes = 268 * GIGA,
	 .usable_bytes = USABLE(275040),
	 .flops_per_s = {2450 * TERA, 4900 * TERA, 14700 * TERA, 1225 * TERA},
	 .efficiency = {0.6, 0.775, 0.54, 0.6},
	 .attention = {0.4, 0, 0.3, 0.55},
	 .power_w = 1100,
	 .host_bytes_per_s = 50 * GIGA,
	 .fabric = "dgx-b200"},
	{.name = "GB300",
	 BLACKWELL,
	 .n_sms = 152,
	 .memory_bytes = 279 * GIGA,
	 .usable_bytes = USABLE(284208),
	 .flops_per_s = {2450 * TERA, 4900 * TERA, 14700 * TERA, 1225 * TERA},
	 .efficiency = {0.6, 0.775, 0.54, 0.6},
	 .attention = {0.4, 0, 0.3, 0.55},
	 .power_w = 1400,
	 .host_bytes_per_s = 200 * GIGA,
	 .fabric = "gb200-nvl72"},
};
const uint32_t weft_n_gpus = sizeof(weft_gpus) / sizeof(weft_gpus[0]);

/* Other words for a GPU: generations, machines of clouds, and profiles of
 * fabrics that are not their GPU's usual one. */
static const struct {
	const char *word, *gpu;
} words[] = {
	{"volta", "V100"},	 {"ampere", "A100"},   {"hopper", "H100"},
	{"blackwell", "B200"},	 {"p4d", "A100"},      {"aws-p4d", "A100"},
	{"p5e", "H200"},	 {"p5", "H100"},       {"aws-p5", "H100"},
	{"roce-llama3", "H100"}, {"dgx-v100", "V100"},
};

/* Whether `text` has `word` in it, whatever the case, and no more digits: H1000
 * is not an H100. */
static bool mentions(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (; *text; text++) {
		if (strncasecmp(text, word, length) == 0 &&
		    !isdigit((unsigned char)text[length]))
			return true;
	}
	return false;
}

const struct weft_gpu *weft_gpu_find(const char *text, struct weft_error *err)
{
	const struct weft_gpu *best = NULL;
	char hint[WEFT_SUGGEST_TEXT];

	/* "GB200" mentions "B200", too: the longest name wins. */
	for (uint32_t i = 0; i < weft_n_gpus; i++) {
		const struct weft_gpu *gpu = &weft_gpus[i];

		if (mentions(text, gpu->name) &&
		    (!best || strlen(gpu->name) > strlen(best->name)))
			best = gpu;
	}
	for (size_t i = 0; !best && i < sizeof(words) / sizeof(words[0]); i++) {
		if (mentions(text, words[i].word))
			best = WEFT_ROW(words[i].gpu, weft_gpus, weft_n_gpus);
	}
	if (!best)
		weft_fail(err, WEFT_EINVAL, "unknown GPU \"%.40s\"; %s", text,
			  WEFT_ROW_HINT(text, weft_gpus, weft_n_gpus, hint));
	return best;
}

const struct weft_gpu *weft_gpu_of_profile(const char *profile)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(profile, words[i].word) == 0)
			return WEFT_ROW(words[i].gpu, weft_gpus, weft_n_gpus);
	}
	for (uint32_t i = 0; i < weft_n_gpus; i++) {
		if (strcmp(weft_gpus[i].fabric, profile) == 0 &&
		    strcmp(profile, PLAIN_PROFILE) != 0)
			return &weft_gpus[i];
	}
	return NULL;
}

/* Waves of tiles m by n, the last one counted nearly in full. */
static double waves(const struct weft_gpu *gpu, double m, double n,
		    double count)
{
	double tiles = ceil(m) * ceil(n) * count;
	double full = tiles / gpu->n_sms;

	return full + TAIL * (ceil(full) - full);
}

double weft_gpu_product_s(const struct weft_gpu *gpu,
			  enum weft_precision precision, double m, double n,
			  double k, double count)
{
	double rate = gpu->flops_per_s[precision] * gpu->efficiency[precision] /
		      gpu->n_sms;
	double wide = waves(gpu, m / TILE_M, n / TILE_N, count);
	double tall = waves(gpu, m / TILE_N, n / TILE_M, count);

	return fmin(wide, tall) * (2 * TILE_M * TILE_N * k / rate + TILE_S) +
	       count * KERNEL_S;
}

double weft_gpu_memory_s(const struct weft_gpu *gpu, double bytes, double n)
{
	return bytes / (gpu->memory_bytes_per_s * MEMORY_EFFICIENCY) +
	       n * KERNEL_S;
}
