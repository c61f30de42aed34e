/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cluster_text.h - a inventory as the texts that other programs would print of
 * it
 */
#ifndef WEFT_TESTS_LIB_CLUSTER_TEXT_H
#define WEFT_TESTS_LIB_CLUSTER_TEXT_H

#include "topology/hierarchy/hierarchy.h"

/* Each malloc'ed.  GUIDs come from the indices of hosts and adapters, so that
 * they stay when a name changes; cables that are down are left out, as
 * ibnetdiscover does. */
char *test_ibnetdiscover(const struct weft_inventory *s);

/* topology.conf of the hierarchy's domains and hosts. */
char *test_topology_conf(const struct weft_inventory *s,
			 const struct weft_hierarchy *hierarchy);

/* "scontrol show node" of the hosts and their GPUs. */
char *test_slurm_nodes(const struct weft_inventory *s);

#endif
