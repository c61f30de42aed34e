/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_words.h - what the words of a node description mean
 *
 * Private to ibnet*.c.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_INFINIBAND_IBNET_WORDS_H
#define WEFT_TOPOLOGY_IMPORT_INFINIBAND_IBNET_WORDS_H

#include "topology/import/infiniband/ibnet.h"

/* "MF0;NAME:MODEL/MODULE/Un", else the whole text is the name. */
struct ibnet_switch_words {
	struct weft_span name;
	struct weft_span module; /* of a director: "L01"; size 0: none */
	struct weft_span unit;	 /* of a box with several chips: "U2"; of the
				  * first, size 0 */
};
void ibnet_switch_words(struct weft_span desc,
			struct ibnet_switch_words *words);

/* "HOST PART"; size 0 where the text does not say. */
struct ibnet_adapter_words {
	struct weft_span host, part;
};
void ibnet_adapter_words(struct weft_span desc,
			 struct ibnet_adapter_words *words);

/* Whether that is a SHARP aggregation node, inside of a switch. */
bool ibnet_is_sharp(struct weft_span desc);

/* The text with what no name may have replaced by '-'; "_" where nothing is
 * left. */
void ibnet_word_clean(struct weft_span text, char *name, size_t size);

/* The host that the caller's list gives to a GUID; size 0: none. */
struct weft_span ibnet_map_find(const struct ibnet *net, struct weft_span guid);

/* Reads that list, options->names, into net. */
int ibnet_map_read(struct ibnet *net);

#endif
