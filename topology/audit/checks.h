/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checks.h - the rows of the table of audit.c
 *
 * Private to the audit.  Each adds what it finds; -1 with a->err only when out
 * of memory.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_CHECKS_H
#define WEFT_TOPOLOGY_AUDIT_CHECKS_H

#include "topology/audit/audit.h"

int audit_blocks(const struct weft_audit *a);
int audit_capacity(const struct weft_audit *a);
int audit_hosts(const struct weft_audit *a);
int audit_links(const struct weft_audit *a);
int audit_meshes(const struct weft_audit *a);
int audit_networks(const struct weft_audit *a);
int audit_nvlink(const struct weft_audit *a);
int audit_places(const struct weft_audit *a);
int audit_rails(const struct weft_audit *a);
int audit_tree(const struct weft_audit *a);
int audit_uplinks(const struct weft_audit *a);

#endif
