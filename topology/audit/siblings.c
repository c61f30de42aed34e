/* SPDX-License-Identifier: GPL-3.0-or-later */
/* siblings.c - majorities, and adding findings */
#include "topology/audit/siblings.h"

#include "base/compare.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct audit_majority audit_majority(double *value, uint32_t n)
{
	struct audit_majority best = {.n = n};

	WEFT_SORT(value, n, weft_compare_reals);
	for (uint32_t i = 0, same = 0; i < n; i++) {
		same = i && value[i] <= value[i - 1] ? same + 1 : 1;
		if (same >= best.n_same) {
			best.n_same = same;
			best.value = value[i];
		}
	}
	return best;
}

const char *audit_stem(const char *name, char *buffer, size_t size)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		if (!isdigit((unsigned char)*name))
			buffer[n++] = *name;
		else if (n == 0 || buffer[n - 1] != '#')
			buffer[n++] = '#';
	}
	buffer[n] = '\0';
	return buffer;
}

const char *audit_rate(double bytes_per_s, char *buffer, size_t size)
{
	snprintf(buffer, size, "%.4g Gb/s", bytes_per_s * 8 / 1e9);
	return buffer;
}

int audit_note(const struct weft_audit *audit, enum weft_finding_id id,
	       const char *place, struct weft_place where, double weight,
	       const char *format, ...)
{
	struct weft_finding_at at =
		weft_inventory_at(audit->inventory, place, where, weight);
	va_list args;
	int rc;

	va_start(args, format);
	rc = weft_findings_vadd(audit->findings, id, at, audit->err, format,
				args);
	va_end(args);
	return rc;
}

bool audit_told(const struct weft_audit *audit, enum weft_finding_id id,
		const char *place)
{
	const struct weft_findings *findings = &audit->inventory->findings;

	for (uint32_t i = 0; i < findings->n; i++)
		if (findings->item[i].id == id &&
		    strcmp(findings->item[i].place, place) == 0)
			return true;
	return false;
}
