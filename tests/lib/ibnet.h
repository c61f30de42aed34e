/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet.h - the text that ibnetdiscover would print of a made-up fabric, with
 * one fault in it where wanted
 *
 * Pods of bundles of leafs; each host has an adapter on every leaf of its
 * bundle:
 *	switches "p0b1-leaf2", "p0-spine3", "core4", "store-leaf0",
 *"store-spine0" hosts "gpu0017", storage servers "data003" adapters "mlx5_0"
 *... in the order of the rails; the next one for storage
 */
#ifndef WEFT_TESTS_LIB_IBNET_H
#define WEFT_TESTS_LIB_IBNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum test_ibnet_fault {
	TEST_IBNET_SOUND,
	TEST_IBNET_CABLE_MOVED,	 /* a host's cable, to another bundle */
	TEST_IBNET_UPLINK_MOVED, /* a leaf's, to another pod's spine; needs
				  * two pods with spines */
	TEST_IBNET_RAIL_SWAPPED, /* two cables of a host; needs two rails */
	TEST_IBNET_LINK_SLOW,	 /* a speed less, seen from both ends */
	TEST_IBNET_LINK_NARROW,	 /* one lane of four */
	TEST_IBNET_LINK_DOWN,	 /* not listed any more */
	TEST_IBNET_HOST_RENAMED,
	TEST_IBNET_LEAF_ORPHANED, /* all uplinks of a leaf gone; needs spines */
	TEST_IBNET_HCA_LOST,	  /* an adapter, with its cable */
	TEST_IBNET_N_FAULTS,
};
extern const char *const test_ibnet_faults[TEST_IBNET_N_FAULTS];

/* Zeros are sensible where a line says so. */
struct test_ibnet {
	uint32_t pods;	   /* 0: 1 */
	uint32_t bundles;  /* per pod */
	uint32_t hosts;	   /* per bundle */
	uint32_t rails;	   /* leafs per bundle; 0: 1 */
	uint32_t spines;   /* per pod, each linked to each leaf there; 0: rail
			    * only */
	uint32_t parallel; /* cables of each such link; 0: 1 */
	uint32_t cores;	   /* core c is linked to spine c % spines of each pod;
			    * 0: none, several pods are disjoint */
	uint32_t storage_leafs; /* of a network of its own, with one spine and
				 * two servers a leaf, which every host has one
				 * adapter on; 0: none */
	bool uneven;		/* the last bundle has half of the hosts */
	bool shuffled;		/* sections come in another order */
	uint64_t seed;		/* of GUIDs, order and the place of the fault */
	enum test_ibnet_fault fault;
};

/* What is wrong: the names of which a finding should have one. */
struct test_ibnet_truth {
	char place[2][64]; /* host or switch; "": none */
	char part[16];	   /* adapter of place[0], or "" */
	char was[64];	   /* of a renamed host: its name before */
	char line[256];	   /* in words, for messages */
};

/* malloc'ed text, NULL when out of memory or a fault asks for what is not
 * there; truth may be NULL. */
char *test_ibnet_text(const struct test_ibnet *spec,
		      struct test_ibnet_truth *truth, size_t *size);

#endif
