/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_row.c - a row of a table of training runs, as a job
 *
 * Tables of published runs leave much unsaid.  What is assumed instead follows
 * from the columns alone, in the same way for every row; weft-model(1) lists
 * it.
 */
#include "config.h" /* first: strcasestr is GNU */

#include "lab/step/step_row.h"

#include "costmodel/job/compute.h"
#include "costmodel/job/flops.h"
#include "costmodel/job/software.h"
#include "lab/step/step_columns.h"
#include "lab/step/step_run.h"
#include "lab/step/step_source.h"
#include "placement/job.h"

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
#define GIGABYTE 1e9

struct axes {
	uint32_t gpus, tp, cp, pp; /* gpus 0: not said */
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

/* The known model of that name, or of the same widths. */
static const struct weft_model *known_model(const struct source *s)
{
	const struct weft_model *named =
		step_shape_named(source_text(s, "model"));

	return named ? named
		     : step_shape_of(source_count(s, "hidden", 0),
				     source_count(s, "ffn", 0),
				     source_count(s, "heads", 0),
				     source_count(s, "kv_heads", 0));
}

/* Columns of what model files have besides. */
static void members_read(const struct source *s, struct weft_model *m)
{
	for (uint32_t k = 0; weft_model_key(k); k++) {
		uint32_t value = source_count(s, weft_model_key(k), 0);

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
	else if (strchr(source_text(s, "model"), '/') &&
		 file_read(s, source_text(s, "model"), m))
		return -1;
	gated = known || m->layers;
	snprintf(m->name, sizeof(m->name), "%s", source_text(s, "model"));
	members_read(s, m);
	if (!m->layers || !m->hidden || !m->ffn || !m->heads || !m->vocab ||
	    !m->seq)
		return missing(
			row,
			"no built-in model is \"%.40s\", and its shape is "
			"not given: layers, hidden, ffn, heads, vocab, "
			"seq; a file may be named",
			source_text(s, "model"));
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
	const char *cell = source_text(
		s, *source_text(s, "precision") ? "precision" : "dtype");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (source_mentions(cell, known[i].word)) {
			s->row->precision = known[i].precision;
			return 0;
		}
	}
	return 0;
}

/* Key of the spec for how replicas share their states. */
static const char *zero_key(const char *dp_kind)
{
	if (source_mentions(dp_kind, "zero3") ||
	    source_mentions(dp_kind, "hsdp") ||
	    (source_mentions(dp_kind, "fsdp") &&
	     !source_mentions(dp_kind, "not resharded")))
		return "3";
	if (source_mentions(dp_kind, "zero1") ||
	    source_mentions(dp_kind, "zero2") ||
	    source_mentions(dp_kind, "dist-opt") ||
	    source_mentions(dp_kind, "fsdp"))
		return "1";
	return "0";
}

/* Ranks that states are sharded over, where the row says it:
 * "dist-opt(shard8)"; HSDP, where a node shards; "FSDP group = 64,128,256,128"
 * are those of runs on 64, 128, 256, 512 GPUs.  0: all. */
static uint32_t shard_key(const struct source *s, uint32_t gpus)
{
	const char *dp_kind = source_text(s, "dp_kind");
	const char *at = strcasestr(dp_kind, "FSDP group ="),
		   *in = strcasestr(dp_kind, "(shard");
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

/* Type of reduced gradients: fp16 training reduces them as they are; with bf16,
 * Megatron does it in fp32, other frameworks in bf16. */
static const char *gradient_key(const struct source *s,
				const struct weft_spec *software)
{
	enum weft_framework framework = software->software;

	if (source_is_half(s))
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
	uint32_t vpp = source_count(s, "vpp", 1), layers = s->row->model.layers;

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
	if (source_mentions(cell, "selective") || source_mentions(cell, "attn"))
		return "selective";
	if (strncasecmp(cell, "none", 4) == 0 || !plain)
		return "none";
	return "selective";
}

/* Sequence parallelism came together with selective recomputation, after fp16
 * training with full recomputation was what one did. */
static bool splits_sequence(const struct source *s, const char *recompute)
{
	const char *cell = source_text(s, "recompute");

	if (strcmp(recompute, "full") == 0)
		return false;
	return source_mentions(cell, "+SP") ||
	       source_mentions(cell, "sequence") || !source_is_half(s);
}

/* The row's "value", if its metric begins with this word. */
static double metric_value(const struct source *s, const char *word)
{
	const char *metric = source_text(s, "metric");

	return strncasecmp(metric, word, strlen(word)) == 0
		       ? source_number(s, "value")
		       : 0;
}

/* Tokens per second of all GPUs; 0: not said. */
static double tokens_rate(const struct source *s, double gpus)
{
	double rate = metric_value(s, "tokens_per_s");

	return source_mentions(source_text(s, "metric"), "per_gpu")
		       ? rate * gpus
		       : rate;
}

/* Sizes of the axes that the row says, 1 where it does not: but if one is not
 * said and dp is, it is what is left of the GPUs. */
static void axes_read(const struct source *s, struct axes *axes)
{
	uint32_t dp = source_count(s, "dp", 0), *unsaid = NULL;
	uint64_t known;

	axes->tp = source_count(s, "tp", 0);
	axes->cp = source_count(s, "cp", 0);
	axes->pp = source_count(s, "pp", 0);
	axes->gpus = source_count(s, "gpus", 0);
	if (!axes->tp != !axes->pp)
		unsaid = axes->tp ? &axes->pp : &axes->tp;
	else if (!axes->cp && axes->tp && source_count(s, "ep", 1) == 1)
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
	double step_s = source_number(s, "step_s"), rate = tokens_rate(s, gpus);
	double batch = rint(rate * step_s / s->row->model.seq);

	return source_count(s, "gbs",
			    batch >= 1 && batch < UINT32_MAX ? (uint32_t)batch
							     : 0);
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
	uint32_t shard = source_count(s, "shard", shard_key(s, gpus));
	const char *zero = zero_key(source_text(s, "dp_kind"));
	size_t left;

	put(s, keys, "zero", zero);
	/* Its optimizer deals out whole tensors (InternLM,
	 * hybrid_zero_optim.py). */
	if (source_mentions(source_text(s, "source"), "internlm") &&
	    *zero == '1' && source_count(s, "zero", 1) == 1)
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
	uint32_t ep = row->model.experts ? source_count(s, "ep", 1) : 1;
	bool plain = weft_software_memory(software, row->gpu).stored_attention;
	const char *recompute =
		recompute_key(source_text(s, "recompute"), plain);
	bool split = axes->tp > 1 && splits_sequence(s, recompute);
	char etp[16];

	keys->used = (size_t)snprintf(
		keys->text, sizeof(keys->text),
		"gpus=%u,tp=%u,cp=%u,pp=%u,vpp=%u,ep=%u,mbs=%u,gbs=%u,seq=%u,"
		"recompute=%s,dtype=%s%s",
		axes->gpus, axes->tp, axes->cp, axes->pp,
		chunks_key(s, axes->pp), ep, source_count(s, "mbs", 1),
		batch_read(s, axes->gpus), row->model.seq, recompute,
		source_is_half(s) ? "fp16" : "bf16", words);
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

	source_software(s, words, sizeof(words));
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
	double value = source_number(s, column);

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
	const char *convention = source_text(s, "mfu_convention");

	if (strncasecmp(convention, "HFU", 3) == 0 ||
	    (!*convention && (source_mentions(source_text(s, "unit"), "HFU") ||
			      metric_value(s, "hfu") > 0)))
		return weft_flops_hardware(&flops, row->spec.gbs,
					   row->spec.recompute);
	return weft_flops_model(&flops, row->spec.gbs, false);
}

/* Seconds that the row says itself. */
static double printed_s(const struct source *s)
{
	double step_s = source_number(s, "step_s");
	double value = metric_value(s, "step_time");

	if (step_s > 0)
		return step_s;
	return strcasecmp(source_text(s, "unit"), "ms") == 0 ? value / 1e3
							     : value;
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
			source_mentions(source_text(s, ends[i]), "OOM") ||
			source_mentions(source_text(s, ends[i]),
					"out of memory");
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
	const char *source = source_text(s, "source"),
		   *note = source_text(s, "note");
	const char *table = strcasestr(source, "Table ");
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
	const char *source = source_text(s, "source");

	snprintf(s->row->publisher, sizeof(s->row->publisher), "%.*s",
		 (int)strcspn(source, "/- "), source);
}

/* Adapters beside frozen weights take no gradients of these, nor states. */
static int whole_read(const struct source *s)
{
	static const char *const columns[] = {"model",	"dp_kind", "recompute",
					      "metric", "note",	   "source"};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *cell = source_text(s, columns[i]);

		if (source_mentions(cell, "lora") ||
		    source_mentions(cell, "peft"))
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
	const char *cell = source_text(s, "overlap");

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
			return (double)n * GIGABYTE / known->memory_bytes *
			       known->usable_bytes;
	}
	return known->usable_bytes;
}

/* What the row's own spec says, and all that it says.  -1 with err where its
 * step cannot be predicted. */
static int job_read(const char *text, struct step_row *row,
		    struct weft_error *err)
{
	struct weft_job job = {0};
	int rc = weft_job_build(text, 0, true, NULL, &job, err);

	if (rc == 0 && job.spec.traffic[0])
		rc = weft_fail(
			err, WEFT_EINVAL,
			"the job's traffic was measured, its computation "
			"is not known");
	if (rc == 0 && !weft_spec_names_model(&job.spec))
		rc = weft_fail(err, WEFT_EINVAL, "the job names no model");
	row->spec = job.spec;
	row->model = job.model;
	row->as_spec = true;
	row->precision = weft_compute_precision(job.spec.dtype);
	weft_job_free(&job);
	return rc;
}

int step_row_read(const struct csv *csv, uint32_t index, const char *folder,
		  const struct weft_gpu *unsaid, struct step_row *row)
{
	const struct source s = {csv, index, row, folder};
	struct weft_error err = {0};

	memset(row, 0, sizeof(*row));
	snprintf(row->line, sizeof(row->line), "line %d", csv->line[index]);
	row->id = *source_text(&s, "row_id") ? source_text(&s, "row_id")
					     : row->line;
	if (source_mentions(source_text(&s, "metric"), "layer"))
		return missing(row, "the row is of a layer, not of a step");
	if (*source_text(&s, "gpu"))
		row->gpu = weft_gpu_find(source_text(&s, "gpu"), &err);
	else if (unsaid)
		row->gpu = unsaid;
	else
		return missing(row, "the GPU is not given");
	if (!row->gpu)
		return missing(row, "%.190s", err.text);
	if (whole_read(&s))
		return -1;
	row->node_size = source_count(&s, "node_size", 8);
	row->memory_bytes = memory_read(source_text(&s, "gpu"), row->gpu);
	row->source = source_text(&s, "source");
	row->cluster = source_text(&s, *source_text(&s, "network") ? "network"
								   : "fabric");
	if (!step_cluster_known(row->cluster))
		return missing(row,
			       "fabric \"%.60s\" is no profile, file or rate "
			       "such as 8xNDR400",
			       row->cluster);
	if (overlap_read(&s))
		return -1;
	if (*source_text(&s, "job")) {
		if (job_read(source_text(&s, "job"), row, &err))
			return missing(row, "%.190s", err.text);
	} else if (model_read(&s) || precision_read(&s) || spec_read(&s)) {
		return -1;
	}
	group_read(&s);
	publisher_read(&s);
	measured_read(&s);
	return possible(&s);
}
