/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_slurm_topology.c - topology.conf, and what "scontrol show topology"
 * prints of it
 *
 *	SwitchName=leaf0 Nodes=n[00-07]
 *	SwitchName=spine Switches=leaf[0-3]
 *	BlockName=b1 Nodes=n[00-17]
 *	BlockSizes=18,36
 *	RingName=r1 Nodes=n[00-15]
 *
 * A file may hold several kinds.  scontrol adds Level=, LinkSpeed=, BlockIndex=
 * and lines of aggregated blocks, whose sizes give BlockSizes.
 * Generators write a comment "# switch.1.1=leaf-1-1" before a switch that they
 * had to rename.
 */
#include "topology/import/slurm/slurm_conf.h"
#include "topology/import/slurm/slurm_topology.h"

#include <stdlib.h>
#include <string.h>

struct conf {
	struct weft_inventory *s;
	struct weft_slurm_topology t;
	bool sizes_given;		       /* a line BlockSizes= */
	char renamed[WEFT_SLURM_NAME_MAX + 1]; /* by the last comment */
	char original[256];		       /* what it was before */
};

struct pairs {
	char name[256];
	char *nodes, *switches;
	struct weft_slurm_at nodes_at, switches_at;
	unsigned long size;   /* BlockSize=, or 0 */
	bool printed;	      /* by scontrol, which names all nodes below */
	struct weft_span odd; /* the first key that means nothing here */
};

static struct weft_slurm_at at_of(const struct weft_slurm_line *line,
				  const char *text)
{
	return (struct weft_slurm_at){line->path, line->source, line->number,
				      weft_slurm_column(line, text)};
}

static int line_ignore(struct conf *c, const struct weft_slurm_line *line,
		       struct weft_span what, struct weft_error *err)
{
	return weft_inventory_note(
		c->s, WEFT_FINDING_LINE_IGNORED, NULL,
		(struct weft_place){line->source, line->number}, err,
		"\"%.*s\" is nothing that a topology has; expected SwitchName, "
		"BlockName, BlockSizes or RingName",
		(int)(what.size < 60 ? what.size : 60), what.at);
}

/* "# switch.1.1=leaf-1-1": one word with one "=". */
static void comment_keep(struct conf *c, struct weft_span comment)
{
	struct weft_span word;
	const char *equals;
	size_t size;

	if (!weft_span_word(&comment, " \t", &word) ||
	    weft_span_trim(comment).size)
		return;
	equals = memchr(word.at, '=', word.size);
	size = equals ? (size_t)(equals - word.at) : 0;
	if (size == 0 || size + 1 >= word.size || size >= sizeof(c->renamed) ||
	    word.size - size > sizeof(c->original))
		return;
	weft_span_copy((struct weft_span){word.at, size}, c->renamed,
		       sizeof(c->renamed));
	weft_span_copy((struct weft_span){equals + 1, word.size - size - 1},
		       c->original, sizeof(c->original));
}

/* ---- a line's pairs ---- */

static int text_take(char **text, struct weft_slurm_at *at,
		     const struct weft_slurm_line *line, struct weft_span value,
		     struct weft_error *err)
{
	if (!value.size)
		return 0;
	if (*text)
		return weft_slurm_fail(at_of(line, value.at), err,
				       "the same key twice in a line");
	*text = weft_calloc(value.size + 1, 1, err);
	if (!*text)
		return -1;
	weft_span_copy(value, *text, value.size + 1);
	if (strlen(*text) != value.size)
		return weft_slurm_fail(at_of(line, value.at), err,
				       "a byte 0 in a list of names");
	*at = at_of(line, value.at);
	return 0;
}

/* Keys that say nothing about where nodes are. */
static bool is_known(struct weft_span key)
{
	static const char *const known[] = {"LinkSpeed", "BlockIndex",
					    "RingSize"};

	for (size_t i = 0; i < WEFT_N_OF(known); i++)
		if (weft_slurm_key_is(key, known[i]))
			return true;
	return false;
}

static int pair_take(struct pairs *p, const struct weft_slurm_line *line,
		     struct weft_span key, struct weft_span value,
		     struct weft_error *err)
{
	if (!value.at)
		p->odd = p->odd.at ? p->odd : key;
	else if (weft_slurm_key_is(key, "Nodes"))
		return text_take(&p->nodes, &p->nodes_at, line, value, err);
	else if (weft_slurm_key_is(key, "Switches"))
		return text_take(&p->switches, &p->switches_at, line, value,
				 err);
	else if (weft_slurm_key_is(key, "Level"))
		p->printed = true;
	else if (weft_slurm_key_is(key, "BlockSize"))
		weft_span_uint(value, INT32_MAX, &p->size);
	else if (!is_known(key) && !p->odd.at)
		p->odd = key;
	return 0;
}

static int pairs_take(struct pairs *p, const struct weft_slurm_line *line,
		      struct weft_span rest, struct weft_error *err)
{
	struct weft_span key, value;

	while (weft_slurm_pair(&rest, &key, &value))
		if (pair_take(p, line, key, value, err))
			return -1;
	return 0;
}

/* ---- kinds of lines ---- */

/* scontrol tells the size of each (aggregated) block, in nodes; the smallest is
 * the base. */
static int size_seen(struct conf *c, const struct weft_slurm_line *line,
		     unsigned long size, struct weft_error *err)
{
	if (!size || c->sizes_given)
		return 0;
	return weft_slurm_topology_size(&c->t, size, at_of(line, line->text.at),
					err);
}

static int unit_take(struct conf *c, enum weft_slurm_kind kind,
		     const struct weft_slurm_line *line, struct weft_span name,
		     struct weft_span rest, struct weft_error *err)
{
	struct pairs p = {0};
	struct weft_slurm_unit unit = {.kind = kind,
				       .at = at_of(line, name.at)};
	int rc = pairs_take(&p, line, rest, err);

	weft_span_copy(name, p.name, sizeof(p.name));
	unit.name = p.name;
	unit.original = strcmp(p.name, c->renamed) == 0 ? c->original : NULL;
	unit.nodes = p.printed && p.switches ? NULL : p.nodes;
	unit.switches = p.switches;
	unit.nodes_at = p.nodes_at;
	unit.switches_at = p.switches_at;
	if (rc == 0 && kind != WEFT_SLURM_SWITCH && p.switches)
		rc = weft_slurm_fail(p.switches_at, err,
				     "only switches have Switches=");
	if (rc == 0)
		rc = weft_slurm_topology_add(&c->t, &unit, err);
	if (rc == 0)
		rc = size_seen(c, line, p.size, err);
	if (rc == 0 && p.odd.at)
		rc = line_ignore(c, line, p.odd, err);
	free(p.nodes);
	free(p.switches);
	c->renamed[0] = '\0';
	return rc;
}

static int switch_take(struct conf *c, const struct weft_slurm_line *line,
		       struct weft_span value, struct weft_span rest,
		       struct weft_error *err)
{
	return unit_take(c, WEFT_SLURM_SWITCH, line, value, rest, err);
}

static int block_take(struct conf *c, const struct weft_slurm_line *line,
		      struct weft_span value, struct weft_span rest,
		      struct weft_error *err)
{
	return unit_take(c, WEFT_SLURM_BLOCK, line, value, rest, err);
}

static int ring_take(struct conf *c, const struct weft_slurm_line *line,
		     struct weft_span value, struct weft_span rest,
		     struct weft_error *err)
{
	return unit_take(c, WEFT_SLURM_RING, line, value, rest, err);
}

/* Slurm makes these of the blocks: only their size is news. */
static int aggregated_take(struct conf *c, const struct weft_slurm_line *line,
			   struct weft_span value, struct weft_span rest,
			   struct weft_error *err)
{
	struct pairs p = {0};
	int rc = pairs_take(&p, line, rest, err);

	(void)value;
	if (rc == 0)
		rc = size_seen(c, line, p.size, err);
	free(p.nodes);
	free(p.switches);
	return rc;
}

static int sizes_take(struct conf *c, const struct weft_slurm_line *line,
		      struct weft_span value, struct weft_span rest,
		      struct weft_error *err)
{
	struct weft_span size;
	unsigned long n;

	(void)rest;
	if (c->sizes_given)
		return weft_slurm_fail(at_of(line, value.at), err,
				       "BlockSizes a second time");
	c->sizes_given = true;
	c->t.n_sizes = 0;
	do {
		if (!weft_span_field(&value, ',', &size) ||
		    !weft_span_uint(weft_span_trim(size), INT32_MAX, &n))
			return weft_slurm_fail(
				at_of(line,
				      value.at ? value.at : line->text.at),
				err,
				"BlockSizes wants numbers of nodes, separated "
				"by commas");
		if (weft_slurm_topology_size(&c->t, n, at_of(line, size.at),
					     err))
			return -1;
	} while (value.at);
	return 0;
}

/* scontrol prints a torus' nodes in the order of Slurm's table: where they sit
 * is not in there. */
static int torus_take(struct conf *c, const struct weft_slurm_line *line,
		      struct weft_span value, struct weft_span rest,
		      struct weft_error *err)
{
	(void)c;
	(void)value;
	(void)rest;
	return weft_slurm_fail(at_of(line, line->text.at), err,
			       "this text does not say where the nodes of a "
			       "torus sit; import topology.yaml or the output "
			       "of \"scontrol show topoconf\" as slurm-yaml");
}

static const struct {
	const char *key;
	int (*take)(struct conf *c, const struct weft_slurm_line *line,
		    struct weft_span value, struct weft_span rest,
		    struct weft_error *err);
} kinds[] = {
	{"SwitchName", switch_take},	      {"BlockName", block_take},
	{"BlockSizes", sizes_take},	      {"RingName", ring_take},
	{"AggregatedBlock", aggregated_take}, {"TorusName", torus_take},
};

static int line_use(void *state, const struct weft_slurm_line *line,
		    struct weft_error *err)
{
	struct conf *c = state;
	struct weft_span rest = line->text, key, value;

	if (!weft_slurm_pair(&rest, &key, &value)) {
		comment_keep(c, line->comment);
		return 0;
	}
	for (size_t i = 0; i < WEFT_N_OF(kinds); i++)
		if (value.at && weft_slurm_key_is(key, kinds[i].key))
			return kinds[i].take(c, line, value, rest, err);
	return line_ignore(c, line, key, err);
}

int weft_import_slurm_topology(struct weft_inventory *s,
			       const struct weft_import_input *input,
			       struct weft_error *err)
{
	struct conf c = {.s = s};
	int rc = weft_slurm_conf_read(s, input, line_use, &c, err);

	if (rc == 0 && c.t.n_units == 0)
		rc = weft_fail_at(err, WEFT_EINVAL, input->path, 0, 0,
				  "no line SwitchName=, BlockName= or "
				  "RingName=: Slurm does not start with that");
	if (rc == 0)
		rc = weft_slurm_topology_apply(s, &c.t, input->options, err);
	weft_slurm_topology_free(&c.t);
	return rc;
}

bool weft_slurm_topology_looks(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line, key, value;

	for (int n = 0; n < 100 && weft_lines_next(&lines, &line);) {
		if (!weft_slurm_pair(&line, &key, &value) || *key.at == '#')
			continue;
		n++;
		if (value.at && (weft_slurm_key_is(key, "SwitchName") ||
				 weft_slurm_key_is(key, "BlockName") ||
				 weft_slurm_key_is(key, "RingName")))
			return true;
	}
	return false;
}
