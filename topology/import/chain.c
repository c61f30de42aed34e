/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chain.c - the switches above a host */
#include "topology/import/chain.h"

#include <stdio.h>
#include <string.h>

int weft_chain_add(struct weft_inventory *s, const char *const *names, size_t n,
		   uint32_t host, struct weft_place where,
		   struct weft_error *err)
{
	uint32_t above = WEFT_NONE;

	for (size_t i = 0; i < n; i++) {
		uint32_t sw = weft_inventory_switch(s, names[i], where, err);

		if (sw == WEFT_NONE)
			return -1;
		if (sw == above)
			return weft_fail(err, WEFT_EINVAL,
					 "switch %s is above itself", names[i]);
		if (above != WEFT_NONE &&
		    weft_inventory_add_edge(s, above, WEFT_END_SWITCH, sw,
					    where, err) == WEFT_NONE)
			return -1;
		above = sw;
	}
	if (above == WEFT_NONE)
		return 0;
	return weft_inventory_add_edge(s, above, WEFT_END_HOST, host, where,
				       err) == WEFT_NONE
		       ? -1
		       : 0;
}

/* ---- tables and labels ---- */

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

/* "pod1-leaf3" of leaf 3 in pod 1; a name that is that of the domain around,
 * too, gets its kind in front. */
static void level_name(const char *around, const char *label, const char *value,
		       char *name, size_t size)
{
	bool number = is_number(value);

	if (number && around)
		snprintf(name, size, "%.60s-%.20s%.40s", around, label, value);
	else if (number || (around && strcmp(around, value) == 0))
		snprintf(name, size, "%.20s%s%.60s", label, number ? "" : "-",
			 value);
	else
		snprintf(name, size, "%.120s", value);
}

static int chain_add(struct weft_inventory *s, const struct weft_located *l,
		     uint32_t host, struct weft_place where,
		     struct weft_error *err)
{
	char text[WEFT_MAX_LEVELS][2 * WEFT_NAME_SIZE];
	const char *names[WEFT_MAX_LEVELS], *around = NULL;
	size_t n = 0;

	for (size_t i = l->n; i-- > 0;) {
		if (!l->level[i] || !l->level[i][0])
			continue;
		level_name(around, l->label[i], l->level[i], text[n],
			   sizeof(text[n]));
		around = names[n] = text[n];
		n++;
	}
	return weft_chain_add(s, names, n, host, where, err);
}

int weft_located_add(struct weft_inventory *s, const struct weft_located *l,
		     struct weft_place where, struct weft_error *err)
{
	const struct {
		enum weft_host_text which;
		const char *text;
	} texts[] = {
		{WEFT_HOST_NVLINK, l->nvlink},
		{WEFT_HOST_RACK, l->rack},
		{WEFT_HOST_GPU_KIND, l->gpu_kind},
	};
	uint32_t host = weft_inventory_host(s, l->host, where, err);

	if (host == WEFT_NONE || chain_add(s, l, host, where, err) ||
	    (l->gpus_told &&
	     weft_inventory_set_gpus(s, host, l->gpus, where, err)))
		return -1;
	for (size_t i = 0; i < WEFT_N_OF(texts); i++)
		if (texts[i].text && texts[i].text[0] &&
		    weft_inventory_set_text(s, host, texts[i].which,
					    texts[i].text, where, err))
			return -1;
	return 0;
}
