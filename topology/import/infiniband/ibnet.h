/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet.h - an InfiniBand subnet as its discovery printed it: nodes, and ports
 * that say what they see at the other end
 *
 * Private to import_ibnetdiscover.c and ibnet*.c.  Spans point into the text.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_INFINIBAND_IBNET_H
#define WEFT_TOPOLOGY_IMPORT_INFINIBAND_IBNET_H

#include "base/lines.h"
#include "topology/import/import.h"

/* Longest chassis, switch or adapter name that is kept, with its NUL. */
#define IBNET_NAME_SIZE WEFT_NAME_SIZE
#define IBNET_MAX_PORTS 255 /* InfiniBand's port numbers have 8 bits */
#define IBNET_MAX_PARTS 128 /* adapters of a host that deserves its name */

enum ibnet_kind {
	IBNET_SWITCH, /* or a router: it forwards as well */
	IBNET_CA,
};

struct ibnet_node {
	enum ibnet_kind kind;
	struct weft_span id;   /* "S-0c42a103009d6eb6", "Switch1" */
	struct weft_span desc; /* its node description; at NULL: not said */
	uint32_t chassis;      /* number of the -g form's section; 0: none */
	uint32_t n_ports;
	int line;	   /* of its own section; 0: only others name it */
	int named_line;	   /* first named by a port */
	bool unnamed;	   /* its description names no host */
	bool dropped;	   /* no host: an aggregation node */
	uint32_t index;	   /* host or switch of the inventory */
	const char *name;  /* of the host or switch */
	const char *part;  /* of a CA: the adapter's name */
	uint32_t n_linked; /* ports with a link */
};

enum ibnet_rate { IBNET_RATE_NONE, IBNET_RATE_KNOWN, IBNET_RATE_UNKNOWN };

/* What node `node` says of its port. */
struct ibnet_port {
	uint32_t node, port;
	uint32_t peer, peer_port; /* peer WEFT_NONE: no link */
	enum ibnet_rate rated;
	uint32_t width;
	double rate_bytes_per_s;
	int line;
};

/* The caller says: that GUID is this host's. */
struct ibnet_map {
	uint64_t guid;
	struct weft_span host;
};

struct ibnet {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct ibnet_node *nodes;
	struct ibnet_port *ports;
	uint32_t n_nodes, nodes_room, n_ports, ports_room;
	uint32_t *slot; /* of ids: index + 1 */
	uint32_t n_slots;
	struct ibnet_map *maps; /* by GUID */
	uint32_t n_maps;
	bool rates_told; /* some link's rate is */
	struct weft_arena arena;

	/* while reading */
	uint32_t here;	  /* node whose section this is, or WEFT_NONE */
	uint32_t chassis; /* of the -g form */
	int odd_line;	  /* first of a run of lines without a node */
	uint32_t n_odd;
	bool truncated;
	bool links; /* iblinkinfo's, which may list switches alone */
};

/* The node of that id, added where it is new; WEFT_NONE with err. */
uint32_t ibnet_node(struct ibnet *net, struct weft_span id,
		    enum ibnet_kind kind);

/* Adds a copy of *port. */
int ibnet_port_add(struct ibnet *net, const struct ibnet_port *port);

/* "4xNDR" or "4x NDR" -> rate and width of *port. */
void ibnet_rate_read(struct weft_span text, struct ibnet_port *port);

/* A node's header: Switch 41 "S-0c42a103009d6eb6" # "DESCRIPTION".  Blanks, or
 * none, stand around the number of ports.  *words holds where it is one. */
enum ibnet_header { IBNET_NO_HEADER, IBNET_BROKEN_HEADER, IBNET_HEADER };
struct ibnet_header_words {
	enum ibnet_kind kind;
	uint32_t n_ports;
	struct weft_span id, desc; /* desc at NULL: not said */
};
enum ibnet_header ibnet_header_read(struct weft_span line,
				    struct ibnet_header_words *words);

/* ibnet_read.c: sections of nodes, as ibnetdiscover and ibsim have them. */
int ibnet_read_nodes(struct ibnet *net);
/* ibnet_ports.c: one line a port, as "ibnetdiscover --ports" prints. */
int ibnet_read_ports(struct ibnet *net);
bool ibnet_looks_ports(const char *text, size_t size);

/* ibnet_links.c: sections of nodes, or a line a port, as iblinkinfo prints. */
int ibnet_read_links(struct ibnet *net);
bool ibnet_looks_links(const char *text, size_t size);

/* ibnet_names.c: which host, adapter or switch each node is; adds them to the
 * inventory in the order of their names. */
int ibnet_name(struct ibnet *net);

/* ibnet_cables.c: what both ends say, as cables of the inventory. */
int ibnet_cables(struct ibnet *net);

/* The GUID in an id, without "S-" and the like; size 0: there is none. */
struct weft_span ibnet_guid(const struct ibnet_node *node);

#endif
