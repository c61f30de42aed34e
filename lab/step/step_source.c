/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_source.c - the cells of a row, and the software that its words name */
#include "config.h" /* first: strcasestr is GNU */

#include "lab/step/step_source.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"
#define ARXIV  "arXiv:"

const char *source_text(const struct source *s, const char *column)
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
double source_number(const struct source *s, const char *column)
{
	char plain[64], *end;
	double value;

	plain_number(source_text(s, column), plain, sizeof(plain));
	value = strtod(plain, &end);
	if (end == plain || !(value > 0) || value >= 1e15)
		return 0;
	end += strspn(end, " ");
	end += *end == '%';
	return *end == '\0' ? value : 0;
}

uint32_t source_count(const struct source *s, const char *column,
		      uint32_t unsaid)
{
	double value = source_number(s, column);

	if (value < 1 || value > UINT32_MAX || value != floor(value))
		return unsaid;
	return (uint32_t)value;
}

bool source_mentions(const char *cell, const char *word)
{
	return strcasestr(cell, word) != NULL;
}

bool source_is_half(const struct source *s)
{
	const char *cell = source_text(s, "precision");

	return source_mentions(cell, "fp16") || source_mentions(cell, "half") ||
	       (source_mentions(cell, "float16") &&
		!source_mentions(cell, "bfloat16"));
}

/* A note that begins with "flash;" or "plain;" is of the kernels that a run
 * used: those that it does not name were PyTorch's. */
static const char *kernels_key(const struct source *s)
{
	const char *note = source_text(s, "note");

	if (strncasecmp(note, "plain; torch", 12) == 0)
		return ",attention=eager,fused=off";
	if (strncasecmp(note, "plain;", 6) == 0)
		return ",attention=plain,fused=off";
	if (strncasecmp(note, "flash;", 6) != 0)
		return "";
	if (!source_mentions(note, "attention2") &&
	    !source_mentions(note, "attention 2"))
		return ",attention=flash1,fused=off";
	return source_mentions(note, "RMS kernel")
		       ? ",attention=flash2,fused=on"
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
	const char *cells[] = {source_text(s, "note"),
			       source_text(s, "source")};
	const char *arxiv = strcasestr(cells[1], ARXIV);
	bool ampere = s->row->gpu->framework != WEFT_NEMO;

	for (int c = 0; c < 2; c++) {
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (!source_mentions(cells[c], known[i].word))
				continue;
			if (known[i].framework)
				return known[i].framework;
			return ampere ? "megatron-2021" : "usual";
		}
	}
	if (source_is_half(s) ||
	    (arxiv && strtol(arxiv + strlen(ARXIV), NULL, 10) < 2301))
		return "megatron-2021";
	/* Megatron has no choice of kernels that one would note. */
	if (*kernels_key(s))
		return "deepspeed";
	if (source_mentions(source_text(s, "dp_kind"), "fsdp") &&
	    source_count(s, "tp", 1) == 1 && source_count(s, "pp", 1) == 1)
		return "fsdp";
	return "usual";
}

/* Kernels of experts: NVIDIA's releases of 26.06 and later fuse them for gated
 * models in 8 and 4 bits on NVL72; DeepSeek's own hide all-to-alls, in 8 bits
 * (arXiv:2412.19437 sections 3.2 and 3.3). */
static const char *experts_key(const struct source *s)
{
	const char *source = source_text(s, "source"), *at = source;
	double release = 0;

	if (!s->row->model.experts)
		return "";
	if (source_mentions(source_text(s, "note"), "DeepSeek-V3 report"))
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

void source_software(const struct source *s, char *keys, size_t size)
{
	static const char *const columns[] = {"software", "attention", "fused"};
	size_t used = 0;

	keys[0] = '\0';
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *cell = source_text(s, columns[i]);

		if (*cell && used < size)
			used += (size_t)snprintf(keys + used, size - used,
						 ",%s=%.40s", columns[i], cell);
	}
	if (!used)
		used = (size_t)snprintf(keys, size, ",software=%s%s",
					framework_key(s), kernels_key(s));
	if (!*source_text(s, "expert_kernels") && used < size)
		snprintf(keys + used, size - used, "%s", experts_key(s));
}
