/* SPDX-License-Identifier: GPL-3.0-or-later */
/* siblings.h - what most of a number of like things are, and adding findings
 *
 * Private to the audit.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_SIBLINGS_H
#define WEFT_TOPOLOGY_AUDIT_SIBLINGS_H

#include "topology/audit/graph.h"

/* The value that most have; of two as frequent the greater. */
struct audit_majority {
	double value;
	uint32_t n_same, n;
};

/* Sorts value[n]. */
struct audit_majority audit_majority(double *value, uint32_t n);

/* Whether n_odd of n others are few enough to be mistakes and not a kind of
 * their own. */
static inline bool audit_is_few(uint32_t n_odd, uint32_t n)
{
	return n_odd * 10 <= n || (n_odd == 1 && n >= 3);
}

/* A name with every run of digits as one "#": siblings have the same.  Returns
 * buffer. */
const char *audit_stem(const char *name, char *buffer, size_t size);

/* "400 Gb/s".  Returns buffer. */
const char *audit_rate(double bytes_per_s, char *buffer, size_t size);

/* Adds a finding with the name of the source of `where`. */
int audit_note(const struct weft_audit *audit, enum weft_finding_id id,
	       const char *place, struct weft_place where, double weight,
	       const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Whether the inventory has reported it already, when it was read. */
bool audit_told(const struct weft_audit *audit, enum weft_finding_id id,
		const char *place);

#endif
