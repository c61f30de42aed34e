/* SPDX-License-Identifier: GPL-3.0-or-later */
/* synth.c - writing the fabric file of a regular cluster, whole or damaged */
#include "topology/synth.h"

#include "base/bitset.h"
#include "base/suggest.h"
#include "topology/fabric.h"
#include "topology/profile.h"
#include "topology/synth_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_DEFAULT "n"
/* Ranges that a key holds for sure: YAML gives it 1024 characters. */
#define MAX_KEY_RUNS 50
/* Where errors in the description are; columns count in it. */
#define SOURCE "fabric description"
/* Leaves room for a number and a rail in a name. */
#define LEVEL_NAME_MAX 40

static int fail(const struct synth *s, int column, const char *what)
{
	return weft_fail_at(s->err, WEFT_EINVAL, SOURCE, 0, column, "%s", what);
}

/* Reads one LEVEL:COUNT at *p and moves behind it. */
static int word_read(struct synth *s, const char *spec, const char **p,
		     struct part *part)
{
	size_t length = 0;
	uint64_t count = 0;

	part->column = (int)(*p - spec) + 1;
	while (isalnum((unsigned char)**p) || **p == '_') {
		if (length == LEVEL_NAME_MAX)
			return fail(s, part->column,
				    "expected a level name of at most 40 "
				    "letters");
		part->name[length++] = *(*p)++;
	}
	if (!length || !isalpha((unsigned char)part->name[0]) || **p != ':')
		return fail(s, (int)(*p - spec) + 1,
			    "expected LEVEL:COUNT, such as leaf:4");
	++*p;
	if (!isdigit((unsigned char)**p))
		return fail(s, (int)(*p - spec) + 1,
			    "expected a number after ':'");
	for (; isdigit((unsigned char)**p); ++*p)
		if (count <= WEFT_MAX_GPUS)
			count = count * 10 + (uint64_t)(**p - '0');
	if (!count || count > WEFT_MAX_GPUS)
		return weft_fail_at(s->err, WEFT_EINVAL, SOURCE, 0,
				    part->column,
				    "%s: expected a count from 1 to %u",
				    part->name, WEFT_MAX_GPUS);
	if (**p && **p != ' ' && **p != '\t')
		return fail(s, (int)(*p - spec) + 1,
			    "expected a blank between levels");
	part->count = (uint32_t)count;
	return 0;
}

/* Splits the spec into s->parts; the last word, gpu:N, goes to n_gpus. */
static int spec_read(struct synth *s, const char *spec)
{
	const char *p = spec + strspn(spec, " \t");
	struct part part = {0};

	while (*p) {
		part = (struct part){0};
		if (word_read(s, spec, &p, &part))
			return -1;
		p += strspn(p, " \t");
		if (!*p && strcmp(part.name, "gpu") == 0)
			break;
		if (s->n_parts == WEFT_MAX_LEVELS - 2)
			return fail(s, part.column, "too many levels");
		s->parts[s->n_parts++] = part;
	}
	if (!s->n_parts || strcmp(part.name, "gpu") != 0 ||
	    strcmp(s->parts[s->n_parts - 1].name, "node") != 0)
		return fail(s, part.column ? part.column : 1,
			    "expected node:COUNT gpu:COUNT at the end");
	if (part.count > WEFT_MAX_GPUS_PER_NODE)
		return weft_fail_at(s->err, WEFT_EINVAL, SOURCE, 0, part.column,
				    "gpu: expected at most %d GPUs in a node",
				    WEFT_MAX_GPUS_PER_NODE);
	s->n_gpus = part.count;
	return 0;
}

static bool has_nvlink(const struct synth *s)
{
	return s->n_parts > 1 &&
	       strcmp(s->parts[s->n_parts - 2].name, "nvlink") == 0;
}

uint32_t synth_n_network(const struct synth *s)
{
	return s->n_parts - (has_nvlink(s) ? 2 : 1);
}

static int part_check(const struct synth *s, uint32_t index)
{
	static const char *const reserved[] = {"nvlink", "node", "gpu", "core",
					       "rack"};
	const struct part *part = &s->parts[index];

	for (size_t k = 0; k < WEFT_N_OF(reserved); k++)
		if (strcmp(part->name, reserved[k]) == 0)
			return weft_fail_at(
				s->err, WEFT_EINVAL, SOURCE, 0, part->column,
				"\"%s\" is not a network level; expected "
				"[LEVEL:N ...] [nvlink:N] node:N gpu:N",
				part->name);
	for (uint32_t k = 0; k < index; k++)
		if (strcmp(part->name, s->parts[k].name) == 0)
			return weft_fail_at(
				s->err, WEFT_EINVAL, SOURCE, 0, part->column,
				"level \"%s\" is given twice", part->name);
	if (strcmp(part->name, s->prefix) == 0)
		return weft_fail_at(s->err, WEFT_EINVAL, SOURCE, 0,
				    part->column,
				    "level \"%s\" and the nodes' prefix are "
				    "the same; expected different names",
				    part->name);
	return 0;
}

static int profile_check(struct synth *s)
{
	const struct weft_profile *profile = weft_profile_find(s->profile);
	char hint[WEFT_SUGGEST_TEXT];

	if (profile && profile->nvlink_nodes > 1 && !has_nvlink(s))
		return weft_fail_at(
			s->err, WEFT_EINVAL, SOURCE, 0,
			s->parts[s->n_parts - 1].column,
			"profile %s has NVLink domains of %u nodes; expected "
			"nvlink:N before node",
			s->profile, profile->nvlink_nodes);
	if (profile)
		return 0;
	return weft_fail(s->err, WEFT_EINVAL, "unknown profile \"%.60s\"; %s",
			 s->profile,
			 WEFT_ROW_HINT(s->profile, weft_profiles,
				       weft_n_profiles, hint));
}

/* Stands in double quotes as it is. */
static bool is_plain_text(const char *text)
{
	size_t length = 0;

	for (; text[length]; length++)
		if ((unsigned char)text[length] < ' ' || text[length] == 127 ||
		    strchr("\"\\", text[length]))
			return false;
	return length > 0 && length < WEFT_NAME_SIZE;
}

static int options_check(struct synth *s)
{
	const struct weft_synth_options *o = s->options;
	const char *p = s->prefix;

	while (isalnum((unsigned char)*p) || (*p && strchr("._-", *p)))
		p++;
	/* A separator and seven digits may follow the prefix. */
	if (*p || p == s->prefix || p - s->prefix > WEFT_NAME_SIZE - 9)
		return weft_fail(s->err, WEFT_EINVAL,
				 "node prefix \"%.60s\": expected 1 to %d "
				 "letters, digits and . _ -",
				 s->prefix, WEFT_NAME_SIZE - 9);
	if (o->rails > WEFT_MAX_GPUS_PER_NODE)
		return weft_fail(s->err, WEFT_EINVAL,
				 "rails: expected at most %d",
				 WEFT_MAX_GPUS_PER_NODE);
	if (o->rails > 1 && !synth_n_network(s))
		return weft_fail(s->err, WEFT_EINVAL,
				 "rails: expected a level of leaf switches "
				 "before node");
	if (o->rails && o->rails % s->n_gpus && s->n_gpus % o->rails)
		return weft_fail(s->err, WEFT_EINVAL,
				 "%u GPUs cannot be spread evenly over %u "
				 "rails",
				 s->n_gpus, o->rails);
	if (!(o->damage >= 0 && o->damage < 1))
		return weft_fail(s->err, WEFT_EINVAL,
				 "damage: expected a fraction from 0 to less "
				 "than 1");
	if (o->name && !is_plain_text(o->name))
		return weft_fail(s->err, WEFT_EINVAL,
				 "name: expected 1 to %d bytes without quotes",
				 WEFT_NAME_SIZE - 1);
	return profile_check(s);
}

static int decimal_width(uint32_t n)
{
	int width = 1;

	while (n /= 10)
		width++;
	return width;
}

/* What keeps the number of a name apart from a level's own digits. */
static const char *separator_of(const char *base)
{
	return isdigit((unsigned char)base[strlen(base) - 1]) ? "-" : "";
}

/* Totals and the way names are written. */
static int parts_build(struct synth *s)
{
	uint64_t total = 1;

	for (uint32_t k = 0; k < s->n_parts; k++) {
		struct part *part = &s->parts[k];

		if (k < synth_n_network(s) && part_check(s, k))
			return -1;
		total *= part->count;
		if (total * s->n_gpus > WEFT_MAX_GPUS)
			return weft_fail_at(
				s->err, WEFT_EINVAL, SOURCE, 0, part->column,
				"more than %u GPUs in a fabric", WEFT_MAX_GPUS);
		part->total = (uint32_t)total;
		part->width = decimal_width(part->total - 1);
		part->base = k + 1 < s->n_parts ? part->name : s->prefix;
		part->separator = separator_of(part->base);
		part->alive = weft_calloc(weft_bitset_words(part->total),
					  sizeof(*part->alive), s->err);
		if (!part->alive)
			return -1;
	}
	if (s->options->rails > 1)
		snprintf(s->parts[synth_n_network(s) - 1].tail,
			 sizeof(s->parts[0].tail), "-rail[0-%u]",
			 s->options->rails - 1);
	return 0;
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Leaves out exactly round(damage * nodes) nodes, but never all: each node in
 * turn with probability (still to lose) / (still to come).  Then marks the
 * domains that still hold one. */
static void alive_fill(struct synth *s)
{
	const struct part *nodes = &s->parts[s->n_parts - 1];
	uint32_t left = nodes->total;
	uint32_t lose = (uint32_t)(s->options->damage * left + 0.5);
	uint64_t state = s->options->seed;

	if (lose == left)
		lose--;
	for (uint32_t k = 0; k < nodes->total; k++, left--) {
		if (random_next(&state) % left < lose) {
			lose--;
			continue;
		}
		for (uint32_t p = 0; p < s->n_parts; p++)
			weft_bitset_add(s->parts[p].alive,
					k / (nodes->total / s->parts[p].total));
	}
}

uint32_t synth_next_alive(const struct part *part, uint32_t first, uint32_t end)
{
	while (first < end && !weft_bitset_has(part->alive, first))
		first++;
	return first;
}

uint32_t synth_set_write(FILE *out, const struct part *part, uint32_t first,
			 uint32_t end, uint32_t max_runs, const char *tail)
{
	const char *open = "[";
	bool alone = end - first == 1;
	uint32_t k = synth_next_alive(part, first, end);

	fprintf(out, "%s%s", part->base, part->separator);
	while (k < end && max_runs-- > 0) {
		uint32_t run = k;

		while (run + 1 < end && weft_bitset_has(part->alive, run + 1))
			run++;
		fprintf(out, "%s%0*u", alone ? "" : open, part->width, k);
		if (run > k)
			fprintf(out, "-%0*u", part->width, run);
		open = ",";
		k = synth_next_alive(part, run + 1, end);
	}
	fprintf(out, "%s%s", alone ? "" : "]", tail);
	return k;
}

static bool is_whole(const struct synth *s)
{
	const struct part *nodes = &s->parts[s->n_parts - 1];

	return weft_bitset_count(nodes->alive, nodes->total) == nodes->total;
}

/* The lines "DOMAINS: MEMBERS" of part k: one when whole, as members are then
 * dealt out evenly; else one a domain. */
static void domains_write(FILE *out, const struct synth *s, uint32_t k,
			  const char *indent)
{
	const struct part *part = &s->parts[k], *below = part + 1;
	uint32_t share = below->total / part->total;
	uint32_t step = is_whole(s) ? part->total : 1;

	for (uint32_t i = 0; i < part->total; i += step) {
		if (!weft_bitset_has(part->alive, i))
			continue;
		fputs(indent, out);
		synth_set_write(out, part, i, i + step, UINT32_MAX, part->tail);
		fputs(": ", out);
		synth_set_write(out, below, i * share, (i + step) * share,
				UINT32_MAX, below->tail);
		fputc('\n', out);
	}
}

/* The spec, one blank between levels; cut where it does not fit. */
static void spec_text(const struct synth *s, char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t k = 0; k < s->n_parts && used < size; k++)
		used += (size_t)snprintf(text + used, size - used, "%s:%u ",
					 s->parts[k].name, s->parts[k].count);
	if (used < size)
		snprintf(text + used, size - used, "gpu:%u", s->n_gpus);
}

static void header_write(FILE *out, const struct synth *s)
{
	const struct weft_synth_options *o = s->options;
	char spec[WEFT_MAX_LEVELS * (WEFT_NAME_SIZE + 16)];
	char name[WEFT_NAME_SIZE];

	spec_text(s, spec, sizeof(spec));
	spec_text(s, name, sizeof(name));
	fprintf(out, "# Made by weft synth: %s\n", spec);
	if (o->damage > 0)
		fprintf(out, "# Damage %g, seed %llu\n", o->damage,
			(unsigned long long)o->seed);
	fprintf(out, "weft: fabric/1\nname: \"%s\"\nprofile: %s\n",
		o->name ? o->name : name, s->profile);
	if (o->rails > 1)
		fprintf(out, "rails: %u\n", o->rails);
	if (o->routing)
		fprintf(out, "routing: %s\n", o->routing);
}

static void body_write(FILE *out, const struct synth *s)
{
	const struct part *nodes = &s->parts[s->n_parts - 1];

	fputs("nodes:\n", out);
	for (uint32_t k = synth_next_alive(nodes, 0, nodes->total);
	     k < nodes->total;) {
		fputs("  ", out);
		k = synth_set_write(out, nodes, k, nodes->total, MAX_KEY_RUNS,
				    nodes->tail);
		fprintf(out, ": %u\n", s->n_gpus);
	}
	if (has_nvlink(s)) {
		fputs("nvlink:\n", out);
		domains_write(out, s, s->n_parts - 2, "  ");
	}
	if (synth_n_network(s))
		fputs("levels:\n", out);
	for (uint32_t k = synth_n_network(s); k-- > 0;) {
		fprintf(out, "  %s:\n", s->parts[k].name);
		domains_write(out, s, k, "    ");
	}
	if (s->options->cables)
		synth_cables_write(out, s);
}

static char *text_write(const struct synth *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool failed = !out;

	if (out) {
		header_write(out, s);
		body_write(out, s);
		failed = ferror(out);
		failed |= fclose(out) != 0;
	}
	if (!failed)
		return text;
	free(text);
	weft_fail(s->err, WEFT_ENOMEM, "out of memory");
	return NULL;
}

char *weft_synth(const char *spec, const struct weft_synth_options *options,
		 struct weft_error *err)
{
	static const struct weft_synth_options defaults;
	struct synth s = {.options = options ? options : &defaults, .err = err};
	char *text = NULL;

	s.prefix = s.options->prefix ? s.options->prefix : PREFIX_DEFAULT;
	s.profile =
		s.options->profile ? s.options->profile : weft_profiles[0].name;
	if (spec_read(&s, spec) == 0 && options_check(&s) == 0 &&
	    parts_build(&s) == 0) {
		alive_fill(&s);
		text = text_write(&s);
	}
	for (uint32_t k = 0; k < s.n_parts; k++)
		free(s.parts[k].alive);
	return text;
}
