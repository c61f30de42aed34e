/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.h - a YAML document as a tree whose every node knows its line and column
 *
 * Stricter than YAML on purpose, because these files decide where jobs run:
 * duplicate keys, anchors, aliases, tags, several documents and text that is
 * not UTF-8 are errors.  Size, depth and node count are bounded.
 */
#ifndef WEFT_BASE_YAML_H
#define WEFT_BASE_YAML_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_YAML_MAX_BYTES (32u << 20)
#define WEFT_YAML_MAX_DEPTH 16
#define WEFT_YAML_MAX_NODES (1u << 22)

enum weft_yaml_kind { WEFT_YAML_SCALAR, WEFT_YAML_LIST, WEFT_YAML_MAP };

/* Children of a list or map are linked in the order written.  `key` is NULL
 * except in a map's children.  An empty value ("a:") is a scalar with text "".
 */
struct weft_yaml_node {
	enum weft_yaml_kind kind;
	int line, column; /* of the value, from 1 */
	const char *text; /* scalar only, else NULL */
	const char *key;
	int key_line, key_column;
	/* Column of the first character of text (or key) where it stands in
	 * the file as it is; 0 where it was folded or escaped. */
	int text_column, key_text_column;
	uint32_t n_children;
	const struct weft_yaml_node *child, *next;
};

struct weft_yaml {
	const struct weft_yaml_node *root;
	char source[120]; /* file name for messages */
	void *memory;	  /* private: owns every node and text */
};

/* How weft_yaml_load reads "-" and files that end in .gz: weft_text_load, where
 * a program sets it before all else; NULL: as other files. */
extern int (*weft_yaml_unpack)(const char *path, size_t most, char **text,
			       size_t *size, struct weft_error *err);

/* Both return 0 with *doc filled (root is never NULL), or -1.  Free *doc in
 * either case, or not at all after -1. */
int weft_yaml_load(const char *path, struct weft_yaml *doc,
		   struct weft_error *err);
int weft_yaml_parse(const char *text, size_t size, const char *source,
		    struct weft_yaml *doc, struct weft_error *err);
void weft_yaml_free(struct weft_yaml *doc);

/* Records an error at the node's value (or key) and returns -1. */
int weft_yaml_fail(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, struct weft_error *err,
		   const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int weft_yaml_fail_key(const struct weft_yaml *doc,
		       const struct weft_yaml_node *node,
		       struct weft_error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, at column `column` (from 1) of the value's text or of the key. */
int weft_yaml_fail_inside(const struct weft_yaml *doc,
			  const struct weft_yaml_node *node, bool in_key,
			  int column, struct weft_error *err,
			  const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The map's child with this key, or NULL (also when map is NULL). */
const struct weft_yaml_node *weft_yaml_find(const struct weft_yaml_node *map,
					    const char *key);

/* Typed access: 0, or -1 with a message that names what was expected.
 * `what` names the node for people ("the fabric file", "link class leaf"). */
int weft_yaml_expect(const struct weft_yaml *doc,
		     const struct weft_yaml_node *node,
		     enum weft_yaml_kind kind, const char *what,
		     struct weft_error *err);
/* Every key of map is one of known[n]; the message suggests the nearest. */
int weft_yaml_known_keys(const struct weft_yaml *doc,
			 const struct weft_yaml_node *map,
			 const char *const *known, size_t n, const char *what,
			 struct weft_error *err);
int weft_yaml_uint(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, uint64_t min,
		   uint64_t max, uint64_t *value, struct weft_error *err);
int weft_yaml_bool(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, bool *value,
		   struct weft_error *err);
int weft_yaml_number(const struct weft_yaml *doc,
		     const struct weft_yaml_node *node, double min, double max,
		     double *value, struct weft_error *err);
/* "400 Gbps", "46.5 GB/s" (decimal; b = bits, B = bytes) -> bytes per second.
 * A bare number is an error: the unit must be said. */
int weft_yaml_rate(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, double *bytes_per_s,
		   struct weft_error *err);
/* "2.8 us", "20 ms", "1 s", "800 ns", "5 min" -> seconds. */
int weft_yaml_time(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, double *time_s,
		   struct weft_error *err);
/* "64MiB" or "1 GB" (B, kB, MB, GB, KiB, MiB, GiB), 1 to 1e18 of the unit ->
 * bytes; and the same of the key of a node. */
int weft_yaml_size(const struct weft_yaml *doc,
		   const struct weft_yaml_node *node, double *bytes,
		   struct weft_error *err);
int weft_yaml_size_key(const struct weft_yaml *doc,
		       const struct weft_yaml_node *node, double *bytes,
		       struct weft_error *err);

#endif
