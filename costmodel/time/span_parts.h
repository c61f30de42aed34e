/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span_parts.h - what the time of a step's calls is made of
 *
 * Private to costmodel/time/span*.c.
 */
#ifndef WEFT_COSTMODEL_TIME_SPAN_PARTS_H
#define WEFT_COSTMODEL_TIME_SPAN_PARTS_H

#include "costmodel/time/span.h"

/* ---- what the calls of a job put on links ---- */

/* A job uses few of a fabric's links, those of neighbours: only the pages that
 * they are on are there.  Links of a page, as many as half of the NICs of a
 * node have: */
#define CARRIED_PAGE 8

/* What the calls of the kind at hand put on a directed link. */
struct carried {
	double bytes;
	double n_flows;
	double unit;	 /* bytes of a flow for one that its rank sends */
	uint64_t stages; /* bit p % 64: of stage p */
};

/* Links of weft_flows_end that several ranks may share: those above domains
 * and, on rails, NICs.  Zero-initialise. */
struct carried_pages {
	uint32_t n_links; /* that there may be pages of: the first ones */
	uint32_t shift;	  /* added to a link's number: so that a page begins
			   * with the first NIC */
	double *total;	  /* [n][CARRIED_PAGE] bytes of all kinds */
	struct carried *carried; /* [n][CARRIED_PAGE] */
	double *capacity;	 /* [n][CARRIED_PAGE / 2] of both directions;
				  * 0: not asked for yet */
	uint32_t *page;		 /* of a link, number + 1; 0: none */
	uint32_t *first;	 /* [n] first link, shifted */
	uint32_t n;
};

/* Zeroed pages of all these links that flows between GPUs where[n_ranks] may
 * use.  Free with carried_pages_free in either case. */
int carried_pages_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct carried_pages *pages,
			struct weft_error *err);
void carried_pages_free(struct carried_pages *pages);

/* Where carried[] and total[] have a link. */
static inline uint32_t carried_at(const struct carried_pages *pages,
				  uint32_t link)
{
	uint32_t at = link + pages->shift;
	uint32_t page = pages->page[at / CARRIED_PAGE] - 1;

	return page * CARRIED_PAGE + at % CARRIED_PAGE;
}

/* The link that is there, if there is one. */
static inline uint32_t carried_link(const struct carried_pages *pages,
				    uint32_t i)
{
	return pages->first[i / CARRIED_PAGE] + i % CARRIED_PAGE - pages->shift;
}

/* What a group puts on a link above a domain. */
struct told {
	struct carried *carried;
	bool both; /* as much in the other direction, which is next to it */
	double bytes, n_flows;
};

/* A link that carries something of the kind at hand. */
struct touched {
	uint32_t at; /* in carried[] */
	uint32_t link;
};

/* carried.unit, and what of. */
struct carried_unit {
	double bytes, n_flows, sent, unit;
};

/* bytes / n_flows / sent, of bytes > 0: mostly those of last time, as the links
 * of a way carry as much each, and divisions would take most of the time. */
static inline double carried_unit(struct carried_unit *last, double bytes,
				  double n_flows, double sent)
{
	if (bytes != last->bytes || n_flows != last->n_flows ||
	    sent != last->sent)
		*last = (struct carried_unit){bytes, n_flows, sent,
					      bytes / n_flows / sent};
	return last->unit;
}

/* A walk over the groups of calls, kind by kind.  Zero-initialise but for spans
 * and load. */
struct span_measure {
	struct weft_spans *spans;
	const struct weft_load *load;
	bool is_bound; /* of weft_spans_bound */
	bool *looked;  /* [n_stages] it has looked at a group of the kind */
	struct carried_pages pages;
	uint32_t first_nic, first_port; /* links before are above domains */
	double nic_rate;		/* of every NIC; 0: they differ */
	const double *sent;		/* [n_stages] of the kind at hand */
	struct carried_unit unit;
	struct touched *touched; /* [n_touched] by that kind, without nics */
	/* NICs that are no other ranks', where it is so of all: what the group
	 * visited last puts on them, and their bytes of all kinds. */
	struct carried *nics;	/* [2 * ranks of a group] by member */
	uint32_t *nics_touched; /* [n_nics_touched] */
	uint32_t n_nics_touched;
	double *nics_total; /* [2 * n_ranks]; NULL: not wanted */
	struct told *told;  /* [n_told] of the group visited last */
	uint32_t n_told, told_room;
	bool forgetful; /* no memory for more of them */
	uint32_t n_touched;
	double *time_s;	    /* [n_stages] of the slowest link */
	double *own_s;	    /* [n_stages] of the slowest NIC or port */
	double *port_s;	    /* [n_stages] of the slowest port */
	double *port_bytes; /* [n_stages] of the same */
	double *met_s;	    /* [n_stages] the same with other jobs */
	struct weft_span_link *links;	 /* [n_touched] */
	struct weft_hashed_link *hashed; /* [n_touched] */
	uint32_t links_room;		 /* of the last two */
};

int span_measure_reserve(struct span_measure *m, struct weft_error *err);
void span_measure_free(struct span_measure *m);

/* What all groups of a kind put on links, and how long they take alone. */
int span_kind_collect(struct span_measure *m, uint32_t kind,
		      struct weft_error *err);
/* For the next kind. */
void span_kind_clear(struct span_measure *m);
/* Links of the kind at hand where other jobs can be met; returns how many. */
uint32_t span_links_list(const struct span_measure *m, uint32_t kind,
			 struct weft_span_link *links);

/* ---- when flows end that share links and are not alike ---- */

/* Flows share links max-min fairly: the link that can give least to each of its
 * flows settles what these get, then the next one (progressive filling,
 * D. Bertsekas and R. Gallager, Data Networks, 6.5.2); when flows end, the
 * others share anew.  The fullest link of flows that are not alike may be idle
 * part of the time, since some of them wait elsewhere. */

/* Bytes per second of a directed link; INFINITY: it limits nothing. */
typedef double (*weft_sharing_capacity)(const void *data, uint32_t link);

/* Visits of links in sharing, of all kinds: some 0.3 s. */
#define SHARING_VISITS 100000000

/* When a kind's flows between hosts end.  0: by 2 % at most it makes no
 * difference how they share.  1: end_s[n_stages] holds the seconds until the
 * last flow of each stage ends, 0 where a stage has none.  Ends within 1 % of
 * the time are taken together.  Links inside hosts are not looked at.  Also 0
 * for more than 60,000 flows.  It takes at most *visits of links, some ns
 * each, and subtracts those that it took: after them the flows that are left
 * end when the fullest of their links is empty, which is a lower bound; 0 where
 * *visits do not reach the first end of a flow.  -1 with err.
 */
int weft_sharing_ends(const struct weft_flows *flows, uint32_t kind,
		      weft_sharing_capacity capacity, const void *data,
		      double *end_s, uint64_t *visits, struct weft_error *err);

#endif
