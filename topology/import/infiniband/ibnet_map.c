/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_map.c - the caller's list of which host has which GUID
 *
 * Lines "GUID HOST"; also what Azure's tools write: a line "VM_hostname HOST"
 * and below it the GUIDs of its adapters.
 */
#include "base/compare.h"
#include "topology/import/infiniband/ibnet_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A GUID with or without 0x, ':' and leading zeros; false: none. */
static bool guid_read(struct weft_span text, uint64_t *guid)
{
	size_t digits = 0;

	*guid = 0;
	if (weft_span_starts(text, "0x")) {
		text.at += 2;
		text.size -= 2;
	}
	for (size_t i = 0; i < text.size; i++) {
		char c = (char)tolower((unsigned char)text.at[i]);

		if (c == ':')
			continue;
		if (!isxdigit((unsigned char)c) || ++digits > 16)
			return false;
		*guid = *guid << 4 |
			(uint64_t)(isdigit((unsigned char)c) ? c - '0'
							     : c - 'a' + 10);
	}
	return digits > 0;
}

WEFT_COMPARATOR(compare_maps, struct ibnet_map, WEFT_UP(guid));

struct weft_span ibnet_map_find(const struct ibnet *net, struct weft_span guid)
{
	struct ibnet_map key, *found;

	if (!net->n_maps || !guid_read(guid, &key.guid))
		return (struct weft_span){0};
	found = bsearch(&key, net->maps, net->n_maps, sizeof(key),
			compare_maps);
	return found ? found->host : (struct weft_span){0};
}

/* One line; *host is that of the VM_hostname line above, if any. */
static int line_take(struct ibnet *net, struct weft_span line,
		     struct weft_span *host, int number)
{
	struct weft_span first, second;
	struct ibnet_map map = {0};
	bool two;

	if (!weft_span_word(&line, " \t,;", &first) || *first.at == '#')
		return 0;
	two = weft_span_word(&line, " \t,;", &second);
	if (two && weft_span_is(first, "VM_hostname")) {
		*host = second;
		return 0;
	}
	map.host = two ? second : *host;
	if (!guid_read(first, &map.guid) || !map.host.size)
		return weft_inventory_note(
			net->s, WEFT_FINDING_LINE_IGNORED, NULL,
			(struct weft_place){WEFT_NONE, number}, net->err,
			"line %d of the list of names is not GUID HOST",
			number);
	net->maps[net->n_maps++] = map;
	return 0;
}

int ibnet_map_read(struct ibnet *net)
{
	const char *text = net->input->options->names;
	struct weft_lines lines;
	struct weft_span line, host = {0};
	size_t n = 1;

	if (!text)
		return 0;
	for (const char *c = text; *c; c++)
		n += *c == '\n';
	net->maps = weft_calloc(n, sizeof(*net->maps), net->err);
	if (!net->maps)
		return -1;
	lines = weft_lines_start(text, strlen(text));
	while (weft_lines_next(&lines, &line))
		if (line_take(net, line, &host, lines.number))
			return -1;
	WEFT_SORT(net->maps, net->n_maps, compare_maps);
	return 0;
}
