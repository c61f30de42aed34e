/* SPDX-License-Identifier: GPL-3.0-or-later */
/* links.c - making one cable of what both its ends say */
#include "topology/import/links.h"

#include "base/compare.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

uint32_t weft_port_number(const char *name)
{
	const char *end = name + strlen(name), *at = end;

	while (at > name && isdigit((unsigned char)at[-1]) && end - at < 6)
		at--;
	return at < end ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

int weft_told_end(struct weft_inventory *s, const char *device,
		  const char *port, bool is_switch, struct weft_place where,
		  struct weft_end *end, struct weft_error *err)
{
	*end = (struct weft_end){
		.kind = is_switch ? WEFT_END_SWITCH : WEFT_END_HOST,
		.hca = WEFT_NONE,
		.port = is_switch ? weft_port_number(port) : 0,
	};
	end->index = is_switch ? weft_inventory_switch(s, device, where, err)
			       : weft_inventory_host(s, device, where, err);
	if (end->index == WEFT_NONE || is_switch)
		return end->index == WEFT_NONE ? -1 : 0;
	end->hca = weft_inventory_hca(s, end->index, port, NULL, where, err);
	return end->hca == WEFT_NONE ? -1 : 0;
}

static bool is_turned(const struct weft_inventory_cable *c)
{
	if (c->a.kind != c->b.kind)
		return c->b.kind == WEFT_END_HOST;
	if (c->a.index != c->b.index)
		return c->a.index > c->b.index;
	return c->a.port > c->b.port;
}

int weft_told_links_keep(struct weft_told_links *told,
			 const struct weft_inventory_cable *cable,
			 struct weft_error *err)
{
	struct weft_inventory_cable kept = *cable;

	if (is_turned(cable)) {
		kept.a = cable->b;
		kept.b = cable->a;
	}
	if (WEFT_GROW(told->links, told->n, told->room, err))
		return -1;
	told->links[told->n++] = kept;
	return 0;
}

WEFT_COMPARATOR(compare_links, struct weft_inventory_cable,
		WEFT_UP(a.kind) WEFT_UP(a.index) WEFT_UP(a.hca) WEFT_UP(a.port)
			WEFT_UP(b.index) WEFT_UP(b.hca) WEFT_UP(b.port));

int weft_told_links_add(struct weft_told_links *told, struct weft_inventory *s,
			struct weft_error *err)
{
	const struct weft_inventory_cable *links = told->links;

	WEFT_SORT(told->links, told->n, compare_links);
	for (uint32_t i = 0; i < told->n; i++)
		if ((!i || compare_links(&links[i - 1], &links[i])) &&
		    weft_inventory_add_cable(s, &links[i], err))
			return -1;
	return 0;
}
