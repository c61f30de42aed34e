/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_history.c - what domains held over time, in SVG: a row for each domain,
 * inside the one that it is in, and below them what was free, in which pieces
 */
#include "cli/status/fleet.h"

#include "cli/page.h"
#include "topology/draw/palette.h"

#include <stdio.h>
#include <time.h>

#define LEFT	 170.0 /* of the names */
#define COLUMN	 5.0
#define ROW	 13.0
#define MAX_ROWS 400 /* of more, the innermost levels are left out */
#define SHADES	 8   /* from free to full */
#define CHART_H	 160.0
#define TICKS	 6

static const double width = LEFT + HISTORY_BINS * COLUMN + 16;

/* "11-20 14:00", with seconds where minutes would not differ. */
static const char *date_text(const struct history *h, double at_s,
			     char text[32])
{
	bool seconds = h->bin_s * HISTORY_BINS < 120 * TICKS;
	time_t at = (time_t)at_s;
	struct tm tm;

	if (!gmtime_r(&at, &tm) ||
	    !strftime(text, 32, seconds ? "%m-%d %H:%M:%S" : "%m-%d %H:%M",
		      &tm))
		text[0] = '\0';
	return text;
}

static double time_of(const struct history *h, uint32_t bin)
{
	return h->from_s + (bin + 1) * h->bin_s;
}

/* ---- style ---- */

/* Between the colours of what is free and of what is busy. */
static void shade_print(int paper, int shade)
{
	unsigned int low, high, mixed = 0;

	sscanf(weft_shades[paper].use[WEFT_USE_FREE], "#%x", &low);
	sscanf(weft_shades[paper].use[WEFT_USE_BUSY], "#%x", &high);
	for (int shift = 16; shift >= 0; shift -= 8) {
		unsigned int a = low >> shift & 0xff, b = high >> shift & 0xff;

		mixed |= (a * (unsigned int)(SHADES - shade) +
			  b * (unsigned int)shade) /
				 SHADES
			 << shift;
	}
	printf(".q%d{fill:#%06x}", shade, mixed);
}

static void style_print(void)
{
	puts("<style>svg.fleet{max-width:100%;height:auto;display:block;"
	     "font:11px system-ui,sans-serif}.fleet text{fill:var(--ink)}"
	     ".fleet .frame{fill:none;stroke:var(--line)}"
	     ".fleet .line{fill:none;stroke-width:2}.fleet .k0{stroke-width:6;"
	     "stroke-opacity:.5}");
	for (int paper = 0; paper < WEFT_N_PAPERS; paper++) {
		if (paper == WEFT_DARK)
			fputs("@media (prefers-color-scheme:dark){", stdout);
		for (int shade = 0; shade <= SHADES; shade++)
			shade_print(paper, shade);
		for (int k = 0; k < 3; k++)
			printf(".k%d{stroke:%s}.j%d{fill:%s}", k,
			       weft_shades[paper].hue[k], k,
			       weft_shades[paper].hue[k]);
		if (paper == WEFT_DARK)
			putchar('}');
	}
	puts("</style>");
}

static void axis_print(const struct history *h, double y)
{
	char text[32];

	for (uint32_t i = 0; i < TICKS; i++) {
		uint32_t bin = i * (HISTORY_BINS - 1) / (TICKS - 1);

		printf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s"
		       "</text>\n",
		       LEFT + (bin + (bin ? 1 : 0)) * COLUMN, y,
		       i == 0		? "start"
		       : i == TICKS - 1 ? "end"
					: "middle",
		       date_text(h, time_of(h, bin), text));
	}
}

/* ---- domains ---- */

/* The innermost level that still has a row for each domain. */
static uint32_t last_level(const struct history *h)
{
	const struct weft_fabric *f = h->f;
	uint32_t n = 0, l = f->n_levels;

	while (l > f->node_level) {
		n += f->levels[l - 1].n_domains;
		if (l < f->n_levels &&
		    (n > MAX_ROWS || f->levels[l - 1].n_domains == f->n_nodes))
			break;
		l--;
	}
	return l;
}

static int shade_of(const struct history *h, uint32_t domain, uint32_t bin)
{
	double share = (double)h->taken[(size_t)domain * HISTORY_BINS + bin] /
		       h->f->domains[domain].n_gpus;

	return (int)(share * SHADES + 0.5);
}

static void row_print(const struct history *h, uint32_t domain, uint32_t depth,
		      double y)
{
	const struct weft_domain *d = &h->f->domains[domain];
	uint32_t bin = 0;
	char from[32], to[32];

	printf("<text x=\"%u\" y=\"%.1f\">", 4 + 12 * depth, y + ROW - 3);
	page_text(d->name);
	puts("</text>");
	while (bin < HISTORY_BINS) {
		int shade = shade_of(h, domain, bin);
		uint32_t first = bin++;
		const uint32_t *taken =
			&h->taken[(size_t)domain * HISTORY_BINS];

		while (bin < HISTORY_BINS && taken[bin] == taken[first])
			bin++;
		printf("<rect class=\"q%d\" x=\"%.1f\" y=\"%.1f\" "
		       "width=\"%.1f\" height=\"%.1f\"><title>",
		       shade, LEFT + first * COLUMN, y, (bin - first) * COLUMN,
		       ROW - 2);
		page_text(d->name);
		printf(": %u of %u GPUs, %s to %s</title></rect>\n",
		       taken[first], d->n_gpus,
		       date_text(h, time_of(h, first) - h->bin_s, from),
		       date_text(h, time_of(h, bin - 1), to));
	}
	printf("<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
	       "height=\"%.1f\"/>\n",
	       LEFT, y, HISTORY_BINS * COLUMN, ROW - 2);
}

/* Returns the y below the rows of a domain and of what is in it. */
static double rows_print(const struct history *h, uint32_t domain,
			 uint32_t last, uint32_t depth, double y)
{
	const struct weft_domain *d = &h->f->domains[domain];

	row_print(h, domain, depth, y);
	y += ROW;
	for (uint32_t i = 0; i < d->n_children && d->level > last; i++)
		y = rows_print(h, d->first_child + i, last, depth + 1, y);
	return y;
}

static uint32_t n_rows(const struct history *h, uint32_t last)
{
	uint32_t n = 0;

	for (uint32_t l = last; l < h->f->n_levels; l++)
		n += h->f->levels[l].n_domains;
	return n;
}

static void domains_print(const struct history *h)
{
	const struct weft_fabric *f = h->f;
	const struct weft_level *top = &f->levels[f->n_levels - 1];
	uint32_t last = last_level(h);
	double y = 4;

	printf("<svg class=\"fleet\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
	       "aria-label=\"how full domains were\">\n",
	       width, n_rows(h, last) * ROW + 24);
	for (uint32_t i = 0; i < top->n_domains; i++)
		y = rows_print(h, top->first_domain + i, last, 0, y);
	axis_print(h, y + 12);
	puts("</svg>");
	fputs("<p class=\"dim\">A row is a domain, those inside it are below "
	      "it; the darker on light paper, the lighter on dark, the more of "
	      "its GPUs jobs had.",
	      stdout);
	if (h->n_unplaced)
		printf(" Of %u jobs %u are left out: the records lack their "
		       "nodes.",
		       h->n_jobs, h->n_unplaced);
	puts(" Times are UTC. Jobs that weft never looked at are not in the "
	     "records.</p>");
}

/* ---- fragmentation ---- */

static void line_print(const struct history *h, int k, const uint32_t *gpus)
{
	printf("<path class=\"line k%d\" d=\"", k);
	for (uint32_t bin = 0; bin < HISTORY_BINS; bin++)
		printf("%c%.1f %.1f", bin ? 'L' : 'M',
		       LEFT + (bin + 0.5) * COLUMN,
		       4 + CHART_H * (1 - (double)gpus[bin] / h->f->n_gpus));
	puts("\"/>");
}

static void fragments_print(const struct history *h)
{
	const char *level = h->f->levels[h->level].name;

	puts("<h2>What was free, and in which pieces</h2>");
	printf("<svg class=\"fleet\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
	       "aria-label=\"free GPUs over time\">\n"
	       "<rect class=\"frame\" x=\"%.1f\" y=\"4\" width=\"%.1f\" "
	       "height=\"%.1f\"/>\n<text x=\"%.1f\" y=\"14\" "
	       "text-anchor=\"end\">%u GPUs</text>\n<text x=\"%.1f\" "
	       "y=\"%.1f\" text-anchor=\"end\">0</text>\n",
	       width, CHART_H + 28, LEFT, HISTORY_BINS * COLUMN, CHART_H,
	       LEFT - 6, h->f->n_gpus, LEFT - 6, 4 + CHART_H);
	line_print(h, 0, h->free);
	line_print(h, 1, h->whole);
	line_print(h, 2, h->largest);
	axis_print(h, CHART_H + 20);
	puts("</svg>");
	printf("<p><svg width=\"12\" height=\"12\"><rect class=\"j0\" "
	       "width=\"12\" height=\"12\"/></svg> free &nbsp; "
	       "<svg width=\"12\" height=\"12\"><rect class=\"j1\" "
	       "width=\"12\" height=\"12\"/></svg> free in whole nodes &nbsp; "
	       "<svg width=\"12\" height=\"12\"><rect class=\"j2\" "
	       "width=\"12\" height=\"12\"/></svg> the largest job inside one "
	       "%s</p>\n"
	       "<p class=\"dim\">The wider the gap between the lines, the more "
	       "fragmented. At the end: %u, %u and %u GPUs. Nodes that took no "
	       "jobs count as free: the records do not have them.</p>\n",
	       level, h->free[HISTORY_BINS - 1], h->whole[HISTORY_BINS - 1],
	       h->largest[HISTORY_BINS - 1]);
}

void fleet_history(const struct history *h)
{
	style_print();
	domains_print(h);
	fragments_print(h);
}
