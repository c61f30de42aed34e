/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_row.c - a row of a table of training runs, as a job
 *
 * Tables of published runs leave much unsaid.  What is assumed instead follows
 * from the columns alone, in the same way for every row; weft-model(1) lists
 * it.
 */
#include "lab/step/step_row.h"

#include "costmodel/job/flops.h"
#include "costmodel/job/software.h"
#include "lab/step/step_columns.h"
#include "lab/step/step_shape.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Beyond these a cell is a mistake. */
#define MAX_LAYERS 65536
#define MAX_WIDTH  (1u << 26)

#define DIGITS	 "0123456789"
#define GIBIBYTE 1073741824.0
#define ARXIV	 "arXiv:"

struct axes {
	uint32_t gpus, tp, cp, pp; /* gpus 0: not said */
};

struct source {
	const struct csv *csv;
	uint32_t index;
	struct step_row *row;
	const char *folder;
};

static int missing(struct step_row *row, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int missing(struct step_row *row, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(row->why, sizeof(row->why), format, args);
	va_end(args);
	return -1;
}

static const char *text(const struct source *s, const char *column)
{
	return csv_cell(s->csv, s->index, column);
}

/* The cell without commas between thousands and what stands for "about". */
static void plain_number(const char *cell, char *plain, size_t size)
{
	size_t used = 0;

	cell += strspn(cell, "~ ");
	for (; *cell && used + 1 < size; cell++) {
		bool comma =
			*cell == ',' && used && strspn(cell + 1, DIGITS) >= 3;

		if (!comma)
			plain[used++] = *cell;
	}
	plain[used] = '\0';
}

/* 0 where the cell is empty or no number, which a percent sign may follow. */
static double number(const struct source *s, const char *column)
{
	char plain[64], *end;
	double value;

	plain_number(text(s, column), plain, sizeof(plain));
	value = strtod(plain, &end);
	if (end == plain || !(value > 0) || value >= 1e15)
		return 0;
	end += strspn(end, " ");
	end += *end == '%';
	return *end == '\0' ? value : 0;
}

static uint32_t count(const struct source *s, const char *column,
		      uint32_t unsaid)
{
	double value = number(s, column);

	if (value < 1 || value > UINT32_MAX || value != floor(value))
		return unsaid;
	return (uint32_t)value;
}

/* Where `word` begins in the cell, whatever the case; NULL: nowhere. */
static const char *find(const char *cell, const char *word)
{
	size_t length = strlen(word);

	for (;; cell++) {
		if (strncasecmp(cell, word, length) == 0)
			return cell;
		if (*cell == '\0')
			return NULL;
	}
}

static bool mentions(const char *cell, const char *word)
{
	return find(cell, word) != NULL;
}

/* The known model of that name, or of the same widths. */
static const struct weft_model *known_model(const struct source *s)
{
	const struct weft_model *named = step_shape_named(text(s, "model"));

	return named ? named
		     : step_shape_of(count(s, "hidden", 0), count(s, "ffn", 0),
				     count(s, "heads", 0),
				     count(s, "kv_heads", 0));
}

/* Columns of what model files have besides. */
static void members_read(const struct source *s, struct weft_model *m)
{
	for (uint32_t k = 0; weft_model_key(k); k++) {
		uint32_t value = count(s, weft_model_key(k), 0);

		if (value)
			weft_model_set(m, k, value);
	}
}

/* A model file or a config.json, from the table's folder. */
static int file_read(const struct source *s, const char *name,
		     struct weft_model *m)
{
	struct weft_error err = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : s->folder,
		 name);
	if (access(path, R_OK) == 0 && weft_model_load(path, m, &err))
		return missing(s->row, "%.60s:%d: %.120s", err.source, err.line,
			       err.text);
	return 0;
}

/* Columns win over the known model, which knows what tables do not have:
 * gates, experts, ties.  Without one, a model is a GPT if its MLP is four times
 * as wide as the rest, else it has a gate. */
static int model_read(const struct source *s)
{
	struct step_row *row = s->row;
	struct weft_model *m = &row->model;
	const struct weft_model *known = known_model(s);
	bool gated; /* known to be, or not to be */

	if (known)
		*m = *known;
	else if (strchr(text(s, "model"), '/') &&
		 file_read(s, text(s, "model"), m))
		return -1;
	gated = known || m->layers;
	snprintf(m->name, sizeof(m->name), "%s", text(s, "model"));
	members_read(s, m);
	if (!m->layers || !m->hidden || !m->ffn || !m->heads || !m->vocab ||
	    !m->seq)
		return missing(
			row,
			"no built-in model is \"%.40s\", and its shape is "
			"not given: layers, hidden, ffn, heads, vocab, "
			"seq; a file may be named",
			text(s, "model"));
	if (m->layers > MAX_LAYERS || m->hidden > MAX_WIDTH ||
	    m->ffn > MAX_WIDTH || m->heads > m->hidden ||
	    m->vocab > MAX_WIDTH || m->seq > MAX_WIDTH)
		return missing(row, "the shape of the model is not of a model "
				    "that one trains");
	if (m->kv_heads == 0 || m->kv_heads > m->heads)
		m->kv_heads = m->heads;
	if (!gated) {
		m->gated_mlp = m->ffn != 4 * (uint64_t)m->hidden;
		m->learned_positions = !m->gated_mlp;
		m->tied_embedding = !m->gated_mlp;
	}
	if (m->dense_layers >= m->layers)
		m->dense_layers = 0;
	return 0;
}

/* Of several words the narrowest: "fp8 (bf16 attention)" is of fp8 products. */
static int precision_read(const struct source *s)
{
	static const struct {
		const char *word;
		enum weft_precision precision;
	} known[] = {
		{"fp4", WEFT_BITS_4},	{"float4", WEFT_BITS_4},
		{"fp8", WEFT_BITS_8},	{"float8", WEFT_BITS_8},
		{"e4m3", WEFT_BITS_8},	{"bf16", WEFT_BITS_16},
		{"fp16", WEFT_BITS_16}, {"float16", WEFT_BITS_16},
		{"tf32", WEFT_BITS_32}, {"fp32", WEFT_BITS_32},
		{"", WEFT_BITS_16},
	};
	const char *cell =
		text(s, *text(s, "precision") ? "precision" : "dtype");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (mentions(cell, known[i].word)) {
			s->row->precision = known[i].precision;
			return 0;
		}
	}
	return 0;
}

/* Trained in fp16, whose gradients and recipes are those of their time. */
static bool is_half(const struct source *s)
{
	const char *cell = text(s, "precision");

	return mentions(cell, "fp16") || mentions(cell, "half") ||
	       (mentions(cell, "float16") && !mentions(cell, "bfloat16"));
}

/* Key of the spec for how replicas share their states. */
static const char *zero_key(const char *dp_kind)
{
	if (mentions(dp_kind, "zero3") || mentions(dp_kind, "hsdp") ||
	    (mentions(dp_kind, "fsdp") && !mentions(dp_kind, "not resharded")))
		return "3";
	if (mentions(dp_kind, "zero1") || mentions(dp_kind, "zero2") ||
	    mentions(dp_kind, "dist-opt") || mentions(dp_kind, "fsdp"))
		return "1";
	return "0";
}

/* Ranks that states are sharded over, where the row says it:
 * "dist-opt(shard8)"; HSDP, where a node shards; "FSDP group = 64,128,256,128"
 * are those of runs on 64, 128, 256, 512 GPUs.  0: all. */
static uint32_t shard_key(const struct source *s, uint32_t gpus)
{
	const char *dp_kind = text(s, "dp_kind");
	const char *at = find(dp_kind, "FSDP group ="),
		   *in = find(dp_kind, "(shard");
	uint64_t scale = 0;
	uint32_t group = 0;

	if (in)
		scale = gpus, group = (uint32_t)strtoul(in + 6, NULL, 10);
	else if (!at && strncasecmp(dp_kind, "hsdp", 4) == 0)
		scale = gpus, group = s->row->node_size;
	for (at = at ? strchr(at, '=') : NULL; at && scale < gpus;
	     at = strchr(at + 1, ',')) {
		unsigned long next = strtoul(at + 1, NULL, 10);

		if (next == 0 || next > gpus)
			break;
		group = (uint32_t)next;
		scale = scale ? 2 * scale : group;
	}
	return scale == gpus && group && group < gpus && gpus % group == 0
		       ? group
		       : 0;
}

/* A note that begins with "flash;" or "plain;" is of the kernels that a run
 * used: those that it does not name were PyTorch's. */
static const char *kernels_key(const struct source *s)
{
	const char *note = text(s, "note");

	if (strncasecmp(note, "plain;", 6) == 0)
		return ",attention=plain,fused=off";
	if (strncasecmp(note, "flash;", 6) != 0)
		return "";
	if (!mentions(note, "attention2") && !mentions(note, "attention 2"))
		return ",attention=flash1,fused=off";
	return mentions(note, "RMS kernel") ? ",attention=flash2,fused=on"
					    : ",attention=flash2,fused=off";
}

/* The framework that words of the note, else of the source are of.  Without
 * such words FSDP where it shards parameters and splits nothing else, and what
 * there was where the source is of before 2023 or trains in fp16. */
static const char *framework_key(const struct source *s)
{
	static const struct {
		const char *word, *framework;
	} known[] = {
		{"llm-foundry", "fsdp"},
		{"torchtitan", "torchtitan"},
		{"maxtext", "maxtext"},
		{"paxml", "maxtext"},
		{"nemo", "nemo"},
		{"dgxc-benchmarking", "nemo"},
		{"megatron-bridge", "nemo"},
		{"deepspeed", "deepspeed"},
		{"internlm", "deepspeed"},
		{"Megatron-LM", NULL},
		{"megascale", "nemo"},
	};
	const char *cells[] = {text(s, "note"), text(s, "source")};
	const char *arxiv = find(cells[1], ARXIV);
	bool ampere = s->row->gpu->framework != WEFT_NEMO;

	for (int c = 0; c < 2; c++) {
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (!mentions(cells[c], known[i].word))
				continue;
			if (known[i].framework)
				return known[i].framework;
			return ampere ? "megatron-2021" : "usual";
		}
	}
	if (is_half(s) ||
	    (arxiv && strtol(arxiv + strlen(ARXIV), NULL, 10) < 2301))
		return "megatron-2021";
	/* Megatron has no choice of kernels that one would note. */
	if (*kernels_key(s))
		return "deepspeed";
	if (mentions(text(s, "dp_kind"), "fsdp") && count(s, "tp", 1) == 1 &&
	    count(s, "pp", 1) == 1)
		return "fsdp";
	return "usual";
}

/* Kernels of experts: NVIDIA's releases of 26.06 and later fuse them for gated
 * models in 8 and 4 bits on NVL72; DeepSeek's own hide all-to-alls, in 8 bits
 * (arXiv:2412.19437 sections 3.2 and 3.3). */
static const char *experts_key(const struct source *s)
{
	const char *source = text(s, "source"), *at = source;
	double release = 0;

	if (!s->row->model.experts)
		return "";
	if (mentions(text(s, "note"), "DeepSeek-V3 report"))
		return ",expert_kernels=fused,dispatch_dtype=fp8";
	while (*at &&
	       !(at > source && at[-1] == ' ' && isdigit((unsigned char)*at)))
		at++;
	release = strtod(at, NULL);
	if (release < 26.059 || release > 100 || !s->row->model.gated_mlp ||
	    strncmp(s->row->gpu->name, "GB", 2) != 0 ||
	    (s->row->precision != WEFT_BITS_8 &&
	     s->row->precision != WEFT_BITS_4))
		return "";
	return ",expert_kernels=fused";
}

/* Keys of the spec for the software, as the row's columns say them or its words
 * do. */
static void software_keys(const struct source *s, char *keys, size_t size)
{
	static const char *const columns[] = {"software", "attention", "fused"};
	size_t used = 0;

	keys[0] = '\0';
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *cell = text(s, columns[i]);

		if (*cell && used < size)
			used += (size_t)snprintf(keys + used, size - used,
						 ",%s=%.40s", columns[i], cell);
	}
	if (!used)
		used = (size_t)snprintf(keys, size, ",software=%s%s",
					framework_key(s), kernels_key(s));
	if (!*text(s, "expert_kernels") && used < size)
		snprintf(keys + used, size - used, "%s", experts_key(s));
}

/* Type of reduced gradients: fp16 training reduces them as they are; with bf16,
 * Megatron does it in fp32, other frameworks in bf16. */
static const char *gradient_key(const struct source *s,
				const struct weft_spec *software)
{
	enum weft_framework framework = software->software;

	if (is_half(s))
		return "fp16";
	if (framework == WEFT_FRAMEWORK_USUAL)
		framework = s->row->gpu->framework;
	return framework == WEFT_MEGATRON_2021 ||
			       framework == WEFT_MEGATRON_CORE
		       ? "fp32"
		       : "bf16";
}

/* Parts of the pipeline.  Layers that hold the embedding and the loss are
 * counted by some as layers, so that there are a few parts too many. */
static uint32_t chunks_key(const struct source *s, uint32_t pp)
{
	uint32_t vpp = count(s, "vpp", 1), layers = s->row->model.layers;

	if (pp <= 1)
		return 1;
	while (vpp > 1 && (uint64_t)vpp * pp > layers)
		vpp--;
	return vpp;
}

/* What is repeated, where a row does not say: nothing where attention is fused,
 * since scores are what takes the memory; else attention. */
static const char *recompute_key(const char *cell, bool plain)
{
	if (strncasecmp(cell, "full", 4) == 0)
		return "full";
	if (mentions(cell, "selective") || mentions(cell, "attn"))
		return "selective";
	if (strncasecmp(cell, "none", 4) == 0 || !plain)
		return "none";
	return "selective";
}

/* Sequence parallelism came together with selective recomputation, after fp16
 * training with full recomputation was what one did. */
static bool splits_sequence(const struct source *s, const char *recompute)
{
	const char *cell = text(s, "recompute");

	if (strcmp(recompute, "full") == 0)
		return false;
	return mentions(cell, "+SP") || mentions(cell, "sequence") ||
	       !is_half(s);
}

/* The row's "value", if its metric begins with this word. */
static double metric_value(const struct source *s, const char *word)
{
	const char *metric = text(s, "metric");

	return strncasecmp(metric, word, strlen(word)) == 0 ? number(s, "value")
							    : 0;
}

/* Tokens per second of all GPUs; 0: not said. */
static double tokens_rate(const struct source *s, double gpus)
{
	double rate = metric_value(s, "tokens_per_s");

	return mentions(text(s, "metric"), "per_gpu") ? rate * gpus : rate;
}

/* Sizes of the axes that the row says, 1 where it does not: but if one is not
 * said and dp is, it is what is left of the GPUs. */
static void axes_read(const struct source *s, struct axes *axes)
{
	uint32_t dp = count(s, "dp", 0), *unsaid = NULL;
	uint64_t known;

	axes->tp = count(s, "tp", 0);
	axes->cp = count(s, "cp", 0);
	axes->pp = count(s, "pp", 0);
	axes->gpus = count(s, "gpus", 0);
	if (!axes->tp != !axes->pp)
		unsaid = axes->tp ? &axes->pp : &axes->tp;
	else if (!axes->cp && axes->tp && count(s, "ep", 1) == 1)
		unsaid = &axes->cp;
	axes->cp = axes->cp ? axes->cp : 1;
	axes->tp = axes->tp ? axes->tp : 1;
	axes->pp = axes->pp ? axes->pp : 1;
	known = (uint64_t)axes->tp * axes->cp;
	known = known <= UINT32_MAX ? known * axes->pp : 0;
	if (!dp || !known || known > UINT32_MAX)
		return;
	known = known * dp <= UINT32_MAX ? known * dp : 0;
	if (!axes->gpus)
		axes->gpus = (uint32_t)known;
	else if (unsaid && known && axes->gpus % known == 0)
		*unsaid = (uint32_t)(axes->gpus / known);
}

/* Sequences per step; if not said, what a rate and a step time make. */
static uint32_t batch_read(const struct source *s, uint32_t gpus)
{
	double step_s = number(s, "step_s"), rate = tokens_rate(s, gpus);
	double batch = rint(rate * step_s / s->row->model.seq);

	return count(s, "gbs",
		     batch >= 1 && batch < UINT32_MAX ? (uint32_t)batch : 0);
}

/* Tensor ranks of each expert: those of the rest, as Megatron does unless it is
 * told otherwise; 1 where a stage has too few ranks for that. */
static uint32_t expert_ranks(const struct axes *axes, uint32_t ep)
{
	uint32_t stage = axes->gpus / axes->pp;

	return ep > 1 && stage % ((uint64_t)ep * axes->tp) == 0 ? axes->tp : 1;
}

static void put(const struct source *s, struct step_keys *keys, const char *key,
		const char *value)
{
	step_keys_put(keys, s->csv, s->index, key, value);
}

/* How replicas share their states. */
static void sharing_put(const struct source *s, struct step_keys *keys,
			uint32_t gpus)
{
	uint32_t shard = count(s, "shard", shard_key(s, gpus));
	const char *zero = zero_key(text(s, "dp_kind"));
	size_t left;

	put(s, keys, "zero", zero);
	/* Its optimizer deals out whole tensors (InternLM,
	 * hybrid_zero_optim.py). */
	if (mentions(text(s, "source"), "internlm") && *zero == '1' &&
	    count(s, "zero", 1) == 1)
		put(s, keys, "zero_by", "tensors");
	left = sizeof(keys->text) - keys->used;
	if (shard)
		keys->used += (size_t)snprintf(keys->text + keys->used, left,
					       ",shard=%u", shard);
}

/* What the row has rules for, and then its own words on all else. */
static void spec_text(const struct source *s, const struct axes *axes,
		      const struct weft_spec *software, const char *words,
		      struct step_keys *keys)
{
	const struct step_row *row = s->row;
	uint32_t ep = row->model.experts ? count(s, "ep", 1) : 1;
	bool plain = weft_software(software, row->gpu).attention ==
		     WEFT_ATTENTION_PLAIN;
	const char *recompute = recompute_key(text(s, "recompute"), plain);
	bool split = axes->tp > 1 && splits_sequence(s, recompute);
	char etp[16];

	keys->used = (size_t)snprintf(
		keys->text, sizeof(keys->text),
		"gpus=%u,tp=%u,cp=%u,pp=%u,vpp=%u,ep=%u,mbs=%u,gbs=%u,seq=%u,"
		"recompute=%s,dtype=%s%s",
		axes->gpus, axes->tp, axes->cp, axes->pp,
		chunks_key(s, axes->pp), ep, count(s, "mbs", 1),
		batch_read(s, axes->gpus), row->model.seq, recompute,
		is_half(s) ? "fp16" : "bf16", words);
	sharing_put(s, keys, axes->gpus);
	put(s, keys, "sp", split ? "on" : "off");
	put(s, keys, "grad_dtype", gradient_key(s, software));
	put(s, keys, "bucket", "160MB");
	snprintf(etp, sizeof(etp), "%u", expert_ranks(axes, ep));
	if (ep > 1)
		put(s, keys, "etp", etp);
	step_keys_rest(keys, s->csv, s->index);
}

static int spec_read(const struct source *s)
{
	struct step_row *row = s->row;
	struct weft_error err = {0};
	struct step_keys keys;
	struct weft_spec software;
	struct axes axes;
	char words[160];

	software_keys(s, words, sizeof(words));
	if (weft_spec_parse(words + 1, &software, &err))
		return missing(row, "%.190s", err.text);
	axes_read(s, &axes);
	if (!axes.gpus || !batch_read(s, axes.gpus))
		return missing(row, "%s is not given",
			       axes.gpus ? "the global batch size" : "gpus");
	spec_text(s, &axes, &software, words, &keys);
	if (weft_spec_parse(keys.text, &row->spec, &err) ||
	    weft_spec_resolve(&row->spec, 0, &err))
		return missing(row, "%.190s", err.text);
	return 0;
}

/* Says `column` itself, or a metric of one of these names. */
static double measure(const struct source *s, const char *column,
		      const char *metric, const char *other)
{
	double value = number(s, column);

	if (!(value > 0))
		value = metric_value(s, metric);
	return value > 0 ? value : metric_value(s, other);
}

/* FLOPs of the step that the row's rates and shares count: with what is
 * recomputed where it says so. */
static double counted_flops(const struct source *s)
{
	const struct step_row *row = s->row;
	struct weft_flops flops = weft_flops(&row->model, row->spec.seq);
	const char *convention = text(s, "mfu_convention");

	if (strncasecmp(convention, "HFU", 3) == 0 ||
	    (!*convention &&
	     (mentions(text(s, "unit"), "HFU") || metric_value(s, "hfu") > 0)))
		return weft_flops_hardware(&flops, row->spec.gbs, false,
					   row->spec.recompute);
	return weft_flops_model(&flops, row->spec.gbs, false);
}

/* Seconds that the row says itself. */
static double printed_s(const struct source *s)
{
	double step_s = number(s, "step_s");
	double value = metric_value(s, "step_time");

	if (step_s > 0)
		return step_s;
	return strcasecmp(text(s, "unit"), "ms") == 0 ? value / 1e3 : value;
}

/* Seconds of the step, from whatever measure the row has. */
static void measured_read(const struct source *s)
{
	static const char *const ends[] = {"status", "step_s", "value"};
	struct step_row *row = s->row;
	double gpus = row->spec.gpus, tokens = tokens_rate(s, gpus);
	double tflops = measure(s, "tflops_gpu", "tflops_per_gpu", "tflops");
	double mfu = measure(s, "mfu_pct", "mfu", "hfu");
	double peak = row->gpu->flops_per_s[row->precision];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		row->out_of_memory |=
			mentions(text(s, ends[i]), "OOM") ||
			mentions(text(s, ends[i]), "out of memory");
	row->measured_s = row->out_of_memory ? 0 : printed_s(s);
	if (row->measured_s > 0 || row->out_of_memory)
		return;
	if (tokens > 0)
		row->measured_s =
			(double)row->spec.gbs * row->spec.seq / tokens;
	else if (tflops > 0)
		row->measured_s = counted_flops(s) / (tflops * 1e12 * gpus);
	else if (mfu > 0 && peak > 0)
		row->measured_s = counted_flops(s) / (mfu / 100 * peak * gpus);
}

/* "Table 12" of "Table 12 and text". */
static int table_length(const char *table)
{
	size_t word = strlen("Table ");

	return (int)(word + strspn(table + word, DIGITS));
}

/* Group: the GPU, what its products are done in, the kind of model, and where
 * the row is from: the first words of the source, and of a note that names the
 * software, as in "Megatron-LM; ...". */
static void group_read(const struct source *s)
{
	struct step_row *row = s->row;
	const char *source = text(s, "source"), *note = text(s, "note");
	const char *table = find(source, "Table ");
	size_t software = strcspn(note, "; ,.");
	int length = (int)strcspn(source, " ");

	if (note[software] != ';' || software > 16)
		software = 0;
	snprintf(row->group, sizeof(row->group), "%s %s %s%s%.*s%s%.*s%s%.*s",
		 row->gpu->name, weft_precision_names[row->precision],
		 row->model.experts ? "MoE" : "dense", length ? " " : "",
		 length > 36 ? 36 : length, source, table ? " " : "",
		 table ? table_length(table) : 0, table ? table : "",
		 software ? " " : "", (int)software, note);
}

/* The owner of the repository, or the paper: "NVIDIA-NeMo/Megatron-Bridge docs"
 * and "NVIDIA/NeMo docs" are NVIDIA's. */
static void publisher_read(const struct source *s)
{
	const char *source = text(s, "source");

	snprintf(s->row->publisher, sizeof(s->row->publisher), "%.*s",
		 (int)strcspn(source, "/- "), source);
}

/* Adapters beside frozen weights take no gradients of these, nor states. */
static int whole_read(const struct source *s)
{
	static const char *const columns[] = {"model",	"dp_kind", "recompute",
					      "metric", "note",	   "source"};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *cell = text(s, columns[i]);

		if (mentions(cell, "lora") || mentions(cell, "peft"))
			return missing(s->row,
				       "the run trains an adapter (%s), not "
				       "the whole model",
				       columns[i]);
	}
	return 0;
}

static int overlap_read(const struct source *s)
{
	static const char *const yes[] = {"yes", "on", "1", "true"};
	static const char *const no[] = {"no", "off", "0", "false", "none"};
	const char *cell = text(s, "overlap");

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcasecmp(cell, yes[i]) == 0)
			s->row->overlap = WEFT_ALWAYS;
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		if (strcasecmp(cell, no[i]) == 0)
			s->row->overlap = WEFT_NEVER;
	}
	if (*cell && s->row->overlap == WEFT_AS_USUAL)
		return missing(s->row, "overlap: \"%.40s\" is not yes or no",
			       cell);
	return 0;
}

/* A step cannot take less than its operations at the GPU's peak. */
static int possible(const struct source *s)
{
	const struct step_row *row = s->row;
	struct weft_flops flops = weft_flops(&row->model, row->spec.seq);
	double peak = row->gpu->flops_per_s[row->precision];
	double least = weft_flops_model(&flops, row->spec.gbs, true) /
		       row->spec.gpus / peak;

	if (row->measured_s > 0 && peak > 0 && row->measured_s < least)
		return missing(s->row,
			       "%.3g s is less than the %.3g s that %s needs "
			       "at its peak",
			       row->measured_s, least, row->gpu->name);
	return 0;
}

/* "A100-40G-SXM" has half of what an A100 usually has. */
static double memory_read(const char *gpu, const struct weft_gpu *known)
{
	for (const char *at = gpu; *at; at++) {
		char *end;
		unsigned long n;

		if (!isdigit((unsigned char)*at) ||
		    (at > gpu && isalnum((unsigned char)at[-1])))
			continue;
		n = strtoul(at, &end, 10);
		if ((*end == 'G' || *end == 'g') && n >= 8 && n <= 1024)
			return (double)n * GIBIBYTE;
	}
	return known->memory_bytes;
}

int step_row_read(const struct csv *csv, uint32_t index, const char *folder,
		  const struct weft_gpu *unsaid, struct step_row *row)
{
	const struct source s = {csv, index, row, folder};
	struct weft_error err = {0};

	memset(row, 0, sizeof(*row));
	snprintf(row->line, sizeof(row->line), "line %d", csv->line[index]);
	row->id = *text(&s, "row_id") ? text(&s, "row_id") : row->line;
	if (mentions(text(&s, "metric"), "layer"))
		return missing(row, "the row is of a layer, not of a step");
	if (*text(&s, "gpu"))
		row->gpu = weft_gpu_find(text(&s, "gpu"), &err);
	else if (unsaid)
		row->gpu = unsaid;
	else
		return missing(row, "the GPU is not given");
	if (!row->gpu)
		return missing(row, "%.190s", err.text);
	if (whole_read(&s))
		return -1;
	row->node_size = count(&s, "node_size", 8);
	row->memory_bytes = memory_read(text(&s, "gpu"), row->gpu);
	row->source = text(&s, "source");
	row->cluster = text(&s, *text(&s, "network") ? "network" : "fabric");
	if (overlap_read(&s) || model_read(&s) || precision_read(&s))
		return -1;
	group_read(&s);
	publisher_read(&s);
	if (spec_read(&s))
		return -1;
	measured_read(&s);
	return possible(&s);
}
