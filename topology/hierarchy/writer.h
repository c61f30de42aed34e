/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writer.h - what the parts of the writer share
 *
 * Private to write*.c.
 */
#ifndef WEFT_TOPOLOGY_HIERARCHY_WRITER_H
#define WEFT_TOPOLOGY_HIERARCHY_WRITER_H

#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>

/* Text of the sizes of a node's NVLink domains. */
#define WEFT_ISLANDS_SIZE (6 * WEFT_MAX_GPUS_PER_NODE)

/* What each thing is called in the file; NULL: it is not in there. */
struct weft_writer {
	struct weft_inventory *s;
	const struct weft_hierarchy *hierarchy;
	const struct weft_hierarchy_options *options;
	FILE *out;
	struct weft_error *err;
	const struct weft_profile *profile;
	uint32_t gpus_assumed; /* of hosts whose number is not known */

	const char **host, **domain, **sw; /* [n] names */
	const char **rail;		   /* [domain * n_rails + rail] */
	bool *is_leaf;			   /* [n_switches] one of a bundle */
	bool *cabled;			   /* [n_switches] an end of a cable */
	uint32_t *span;		/* [n_hosts] its NVLink domain, or WEFT_NONE */
	const char **span_name; /* [n_spans] */
	uint32_t n_spans;
	uint32_t nvlink_gpus; /* of each NVLink domain of a node that has no
			       * islands; 0: all of the node's */
	const char *
		*islands; /* [n_hosts] "6, 2" or "[0, 2], [1, 3]", or NULL */
	struct weft_arena arena; /* owns the arrays, and scratch of all parts */
	const char **taken;	 /* open addressing: names given so far */
	uint32_t n_taken, taken_room;
};

/* Sets `array`, a pointer of any type, to n zeroed elements that live as long
 * as the writer.  0, or -1 with w->err. */
#define WRITER_ARRAY(w, array, n) WEFT_ARRAY(array, n, &(w)->arena, (w)->err)

/* write_names.c: fills host, domain, sw, rail and span_name with names that
 * a fabric file takes, each once.  host[i] and domain[i] are set to any text
 * for what is to be in the file before. */
int weft_writer_names(struct weft_writer *w);

/* Names as a hostlist, sorted as people count; keeps nothing.  -1 when out of
 * memory. */
int weft_writer_hostlist(struct weft_writer *w, const char **names, uint32_t n,
			 char **text);

/* Lines "  NAMES: value", as many as their length asks for; names is put in
 * order. */
int weft_writer_line(struct weft_writer *w, const char **names, uint32_t n,
		     const char *value);

/* Text as a plain word of YAML, quoted where it would mean something else. */
void weft_writer_word(const struct weft_writer *w, const char *text);

/* A name in another name space of the file: cleaned, not made unique. */
void weft_writer_clean(const char *text, char *name);

/* write_profile.c: chooses the profile, unless the caller says one.
 */
int weft_writer_profile(struct weft_writer *w);

/* write.c: GPUs of a host, assumed where no source says. */
uint32_t weft_writer_gpus(const struct weft_writer *w, uint32_t h);

/* write_nvlink.c: which GPUs of each node share NVLink, by the insides that are
 * known; nodes of which nothing is known are taken to be like most. */
int weft_writer_islands(struct weft_writer *w);
/* The section nvlink. */
int weft_writer_nvlink(struct weft_writer *w);

/* write_levels.c: levels, disjoint, rack, links and shapes. */
int weft_writer_levels(struct weft_writer *w);

/* write_cables.c: the sections switches and cables. */
int weft_writer_cabling(struct weft_writer *w);

#endif
