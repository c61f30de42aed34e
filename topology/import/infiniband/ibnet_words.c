/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_words.c - what the words of a node description mean */
#include "topology/import/infiniband/ibnet_words.h"

#include <ctype.h>
#include <string.h>

void ibnet_word_clean(struct weft_span text, char *name, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < text.size && n + 1 < size; i++) {
		unsigned char c = (unsigned char)text.at[i];
		bool fits = c && (isalnum(c) || strchr("._-+/@~", c));

		if (fits)
			name[n++] = (char)c;
		else if (n && name[n - 1] != '-')
			name[n++] = '-';
	}
	while (n && name[n - 1] == '-')
		n--;
	if (!n)
		name[n++] = '_';
	name[n] = '\0';
}

/* Without blanks and marks at either end, which older drivers add. */
static struct weft_span bare(struct weft_span text)
{
	static const char marks[] = " \t'\"";

	while (text.size && *text.at && strchr(marks, *text.at)) {
		text.at++;
		text.size--;
	}
	while (text.size && text.at[text.size - 1] &&
	       strchr(marks, text.at[text.size - 1]))
		text.size--;
	return text;
}

static const char *find_last(struct weft_span text, char c)
{
	for (size_t i = text.size; i-- > 0;)
		if (text.at[i] == c)
			return text.at + i;
	return NULL;
}

/* ---- switches ---- */

void ibnet_switch_words(struct weft_span desc, struct ibnet_switch_words *words)
{
	struct weft_span rest = bare(desc), field;
	const char *colon;

	*words = (struct ibnet_switch_words){.name = rest};
	if (!weft_span_starts(rest, "MF0;"))
		return;
	rest.at += 4;
	rest.size -= 4;
	colon = find_last(rest, ':');
	words->name = rest;
	if (!colon)
		return;
	words->name.size = (size_t)(colon - rest.at);
	rest.size -= words->name.size + 1;
	rest.at = colon + 1;
	for (int n = 0; weft_span_field(&rest, '/', &field); n++) {
		if (n == 0 || !field.size)
			continue; /* the model */
		if (*field.at == 'U' && !weft_span_is(field, "U1"))
			words->unit = field;
		else if (*field.at != 'U')
			words->module = field;
	}
}

/* ---- adapters ---- */

/* How drivers call adapters; a number follows somewhere. */
static const char *const adapters[] = {
	"mlx4_",  "mlx5_",  "mthca",   "HCA-",	 "hca-",  "hca",
	"hfi1_",  "qib",    "ipath",   "ib",	 "bnxt_", "irdma",
	"ionic_", "efa_",   "rdmap",   "rocep",	 "roce",  "opap",
	"hns_",	  "erdma_", "xscale_", "cxgb4_",
};

static bool is_adapter(struct weft_span word)
{
	bool digit = false;

	for (size_t i = 0; i < word.size; i++)
		digit = digit || isdigit((unsigned char)word.at[i]);
	for (size_t i = 0; digit && i < WEFT_N_OF(adapters); i++)
		if (weft_span_starts(word, adapters[i]))
			return true;
	return false;
}

/* Words of a maker's own text, which says nothing of the host. */
static bool is_makers(struct weft_span desc)
{
	static const char *const words[] = {"Mellanox", "ConnectX",   "MT4",
					    "MT2",	"InfiniHost", "QLogic",
					    "Voltaire", "Intel(R)",   "NVIDIA",
					    "Broadcom", "OmniPath"};

	for (size_t i = 0; i < WEFT_N_OF(words); i++) {
		const char *at = weft_span_find(desc, words[i]);

		if (at && (at == desc.at || at[-1] == ' ' || at[-1] == '('))
			return true;
	}
	return false;
}

static bool is_nobody(struct weft_span host)
{
	static const char *const names[] = {
		"localhost", "localhost.localdomain",
		"(none)",    "unknown",
		"none",	     "%h",
		"Mellanox"};

	for (size_t i = 0; i < WEFT_N_OF(names); i++)
		if (weft_span_is(host, names[i]))
			return true;
	return false;
}

void ibnet_adapter_words(struct weft_span desc,
			 struct ibnet_adapter_words *words)
{
	struct weft_span text = bare(desc), rest = text, first, last, word;
	uint32_t n = 1;

	*words = (struct ibnet_adapter_words){0};
	if (!weft_span_word(&rest, " \t", &first))
		return;
	for (last = first; weft_span_word(&rest, " \t", &word); n++)
		last = word;
	if (n > 1 && is_adapter(last)) {
		words->part = last;
		text.size = (size_t)(last.at - text.at);
		text = bare(text);
	}
	if (is_makers(text) || is_nobody(first))
		return;
	words->host = n > 2 || !words->part.size ? first : text;
}

/* Whatever its case: "Mellanox Technologies Aggregation Node". */
bool ibnet_is_sharp(struct weft_span desc)
{
	static const char aggregation[] = "aggregation node";
	size_t length = sizeof(aggregation) - 1;

	for (size_t i = 0; i + length <= desc.size; i++) {
		size_t k = 0;

		while (k < length &&
		       tolower((unsigned char)desc.at[i + k]) == aggregation[k])
			k++;
		if (k == length)
			return true;
	}
	return false;
}
