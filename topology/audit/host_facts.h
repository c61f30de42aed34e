/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host_facts.h - versions, settings and error counts of hosts and ports, and
 * which of them stand out: weft-host facts(5)
 *
 *	struct weft_host_facts host facts = {0};
 *	weft_host_facts_load(&host facts, "host facts.csv", &findings, &err);
 *	weft_host_facts_audit(&host facts, f, &findings, &err);
 *	weft_host_facts_free(&host facts);
 */
#ifndef WEFT_TOPOLOGY_AUDIT_HOST_FACTS_H
#define WEFT_TOPOLOGY_AUDIT_HOST_FACTS_H

#include "base/arena.h"
#include "topology/fabric.h"
#include "topology/inventory/finding.h"

#define WEFT_HOST_FACTS_MAX_BYTES (256u << 20)
#define WEFT_HOST_FACTS_MAX_FACTS (1u << 22)

struct weft_host_facts_fact {
	const char *place; /* "n012" or "n012:mlx5_3" */
	const char *key, *value;
	uint32_t source;
	int line;
	uint32_t order; /* later ones replace earlier ones */
};

struct weft_host_facts {
	struct weft_host_facts_fact *facts;
	const char **sources;
	uint32_t n_facts, n_sources;

	/* private */
	uint32_t facts_room, sources_room;
	struct weft_arena arena;
};

/* Adds the lines PLACE,KEY,VALUE of a file; "-" is standard input.  Lines that
 * are none become findings; -1 when the file cannot be read or has no such
 * line. */
int weft_host_facts_load(struct weft_host_facts *host_facts, const char *path,
			 struct weft_findings *findings,
			 struct weft_error *err);
/* The same from memory. */
int weft_host_facts_parse(struct weft_host_facts *host_facts, const char *text,
			  size_t size, const char *source,
			  struct weft_findings *findings,
			  struct weft_error *err);
void weft_host_facts_free(struct weft_host_facts *host_facts);

/* Adds findings about what stands out among hosts of a kind, and counts over
 * their limits.  f may be NULL: it tells which hosts should be there and, where
 * the host facts has no key "kind", which are alike.  Sorts the facts. */
int weft_host_facts_audit(struct weft_host_facts *host_facts,
			  const struct weft_fabric *f,
			  struct weft_findings *findings,
			  struct weft_error *err);

#endif
