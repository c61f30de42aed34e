/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_gpu_fabric.c - which NVLink domain each host is in
 *
 * Lines HOST,CLUSTER-UUID,CLIQUE[,STATE[,STATUS]], as
 *     nvidia-smi --query-gpu=fabric.clusterUuid,fabric.cliqueId,fabric.state,
 *                fabric.status --format=csv,noheader
 * prints them for each GPU behind the host's name, which pdsh and clush put
 * there with a colon.  With a header the columns behind the host may come in
 * any order.  A host may have a line for each GPU.  GPUs outside of any domain
 * have [N/A] or the zero UUID.
 */
#include "base/lines.h"
#include "topology/import/import.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_FIELDS 16

enum column {
	COL_UUID,
	COL_CLIQUE,
	COL_STATE,
	COL_STATUS,
	COL_HEALTH,
	N_COLUMNS
};

/* As nvidia-smi names them, "fabric." in front or not. */
static const struct {
	const char *name;
	enum column column;
} column_names[] = {
	{"clusteruuid", COL_UUID},	  {"cluster_uuid", COL_UUID},
	{"cliqueid", COL_CLIQUE},	  {"clique_id", COL_CLIQUE},
	{"clique", COL_CLIQUE},		  {"state", COL_STATE},
	{"status", COL_STATUS},		  {"health.summary", COL_HEALTH},
	{"health.bandwidth", COL_HEALTH},
};

static const char *const nowhere[] = {
	"",
	"[N/A]",
	"N/A",
	"[Not Supported]",
	"Not Supported",
	"00000000-0000-0000-0000-000000000000",
};

/* What a registered GPU says, column by column. */
static const struct {
	enum column column;
	const char *what, *good;
} well[] = {
	{COL_STATE, "fabric state", "Completed"},
	{COL_STATUS, "fabric status", "Success"},
};

/* The states there are, by which a fourth field is known without a header. */
static const char *const states[] = {
	"Completed",	 "In Progress", "Not Started",
	"Not Supported", "N/A",		"[N/A]",
};

struct table {
	struct weft_inventory *s;
	struct weft_error *err;
	struct weft_place where;
	int at[N_COLUMNS]; /* field, the host's being 0; or -1 */
	bool has_header;
};

static bool is_among(struct weft_span text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (weft_span_is(text, list[i]))
			return true;
	return false;
}

static bool is_nowhere(struct weft_span text)
{
	return is_among(text, nowhere, WEFT_N_OF(nowhere));
}

/* "n01: rest", as pdsh writes: the host is a field of its own. */
static bool host_take(struct weft_span *line, struct weft_span *host)
{
	const char *colon = weft_span_find(*line, ": ");

	if (!colon || memchr(line->at, ',', (size_t)(colon - line->at)) ||
	    memchr(line->at, ' ', (size_t)(colon - line->at)))
		return false;
	*host = (struct weft_span){line->at, (size_t)(colon - line->at)};
	line->size -= host->size + 1;
	line->at = colon + 1;
	*line = weft_span_trim(*line);
	return true;
}

/* At most MAX_FIELDS + 1, the last of which then means: too many. */
static uint32_t fields_split(struct weft_span line, struct weft_span *field)
{
	bool is_csv = memchr(line.at, ',', line.size) != NULL;
	uint32_t n = host_take(&line, &field[0]) ? 1 : 0;

	while (n <= MAX_FIELDS &&
	       (is_csv ? weft_span_csv(&line, ',', &field[n])
		       : weft_span_word(&line, ";\t ", &field[n])))
		n++;
	return n;
}

static int line_ignore(const struct table *t, const char *why)
{
	return weft_inventory_note(
		t->s, WEFT_FINDING_LINE_IGNORED, NULL, t->where, t->err,
		"%s; expected HOST,CLUSTER-UUID,CLIQUE", why);
}

/* ---- the header ---- */

static bool column_is(struct weft_span field, const char *name)
{
	size_t size = strlen(name);

	if (field.size > 7 && strncasecmp(field.at, "fabric.", 7) == 0) {
		field.at += 7;
		field.size -= 7;
	}
	return field.size == size && strncasecmp(field.at, name, size) == 0;
}

/* Where pdsh put the host before it, its own column has no name. */
static bool header_take(struct table *t, const struct weft_span *field,
			uint32_t n)
{
	int at[N_COLUMNS] = {-1, -1, -1, -1, -1};

	for (uint32_t i = 0; i < n; i++)
		for (size_t c = 0; c < WEFT_N_OF(column_names); c++)
			if (column_is(field[i], column_names[c].name))
				at[column_names[c].column] = (int)i;
	if (at[COL_UUID] < 0)
		return false;
	/* A header of nvidia-smi alone: the host comes before its fields. */
	if (at[COL_UUID] == 0 || at[COL_CLIQUE] == 0 || at[COL_STATE] == 0 ||
	    at[COL_STATUS] == 0)
		for (int c = 0; c < N_COLUMNS; c++)
			at[c] += at[c] >= 0;
	memcpy(t->at, at, sizeof(at));
	t->has_header = true;
	return true;
}

/* ---- a line ---- */

static struct weft_span field_of(const struct table *t, enum column column,
				 const struct weft_span *field, uint32_t n)
{
	return t->at[column] >= 0 && (uint32_t)t->at[column] < n
		       ? field[t->at[column]]
		       : (struct weft_span){"", 0};
}

static int state_set(const struct table *t, uint32_t host, const char *what,
		     struct weft_span value)
{
	char text[2 * WEFT_NAME_SIZE];

	/* The first that is bad is enough; GPUs of a host may differ. */
	if (t->s->hosts[host].nvlink_state.text)
		return 0;
	snprintf(text, sizeof(text), "%s is %.*s", what,
		 value.size < 64 ? (int)value.size : 64, value.at);
	return weft_inventory_set_text(t->s, host, WEFT_HOST_NVLINK_STATE, text,
				       t->where, t->err);
}

static int states_take(const struct table *t, uint32_t host,
		       const struct weft_span *field, uint32_t n)
{
	struct weft_span health = field_of(t, COL_HEALTH, field, n);

	for (size_t i = 0; i < WEFT_N_OF(well); i++) {
		struct weft_span value = field_of(t, well[i].column, field, n);

		if (!is_nowhere(value) && !weft_span_is(value, well[i].good) &&
		    state_set(t, host, well[i].what, value))
			return -1;
	}
	if (weft_span_find(health, "egraded") ||
	    weft_span_find(health, "nhealthy") ||
	    weft_span_find(health, "imited"))
		return state_set(t, host, "fabric health", health);
	return 0;
}

static int domain_set(const struct table *t, uint32_t host,
		      struct weft_span uuid, struct weft_span clique)
{
	char domain[2 * WEFT_NAME_SIZE];

	snprintf(domain, sizeof(domain), "%.*s%s%.*s", (int)uuid.size, uuid.at,
		 clique.size ? "." : "", (int)clique.size, clique.at);
	return weft_inventory_set_text(t->s, host, WEFT_HOST_NVLINK, domain,
				       t->where, t->err);
}

/* A GPU outside of the domain that others of its host are in. */
static int outside_note(const struct table *t, uint32_t host)
{
	const struct weft_inventory_host *h = &t->s->hosts[host];

	if (!h->nvlink.text || h->nvlink.where.source != t->where.source)
		return 0;
	return weft_inventory_note(
		t->s, WEFT_FINDING_NVLINK_MISSING, h->name, t->where, t->err,
		"a GPU is in no NVLink domain, others of its "
		"host are");
}

static int line_use(struct table *t, struct weft_span line, bool again)
{
	struct weft_span field[MAX_FIELDS + 1], uuid, clique;
	uint32_t n = fields_split(line, field), host;
	char name[WEFT_NAME_SIZE];

	if (header_take(t, field, n))
		return 0;
	if (n < 2 || n > MAX_FIELDS)
		return again ? 0 : line_ignore(t, "not three to five fields");
	if (!t->has_header && n > 3 &&
	    !is_among(field[3], states, WEFT_N_OF(states)))
		return again ? 0
			     : line_ignore(t,
					   "not three fields, and the fourth "
					   "is no state of a fabric");
	uuid = field_of(t, COL_UUID, field, n);
	clique = field_of(t, COL_CLIQUE, field, n);
	if (field[0].size == 0 || field[0].size >= sizeof(name) ||
	    uuid.size >= sizeof(name) || clique.size >= sizeof(name))
		return again ? 0
			     : line_ignore(t, "a name is empty or too long");
	host = weft_inventory_host(t->s,
				   weft_span_copy(field[0], name, sizeof(name)),
				   t->where, t->err);
	if (host == WEFT_NONE)
		return -1;
	if (again)
		return is_nowhere(uuid) ? outside_note(t, host) : 0;
	if (states_take(t, host, field, n))
		return -1;
	return is_nowhere(uuid) ? 0 : domain_set(t, host, uuid, clique);
}

/* Twice: what a GPU lacks is seen when the domains of all are known. */
static int lines_use(struct table *t, const struct weft_import_input *input,
		     bool again)
{
	static const int usual[N_COLUMNS] = {1, 2, 3, 4, -1};
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct weft_span line;

	memcpy(t->at, usual, sizeof(usual));
	t->has_header = false;
	while (weft_lines_next(&lines, &line)) {
		t->where.line = lines.number;
		line = weft_span_trim(line);
		if (line.size && *line.at != '#' && line_use(t, line, again))
			return -1;
	}
	return 0;
}

int weft_import_gpu_fabric(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err)
{
	struct table t = {
		.s = s,
		.err = err,
		.where = {input->source, 0},
	};
	uint32_t before = s->findings.n;

	if (lines_use(&t, input, false) || lines_use(&t, input, true))
		return -1;
	if (s->n_hosts == 0)
		return weft_fail_at(err, WEFT_EINVAL, input->path,
				    s->findings.n > before
					    ? s->findings.item[before].line
					    : 0,
				    0,
				    "no host; expected lines "
				    "HOST,CLUSTER-UUID,CLIQUE");
	return 0;
}
