/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_slurm_nodes.c - which hosts there are, with which GPUs and features
 *
 * Read are the lines NodeName= of slurm.conf (Gres=gpu:h100:8) and of gres.conf
 * (Name=gpu Type=h100 File=/dev/nvidia[0-7]), and what "scontrol show nodes"
 * prints, with or without -o.  Everything else in these files is about other
 * things and not told.  Where no node of an input has a GPU, Slurm does not
 * manage them there: then their number is unknown, not zero, if a partition, a
 * feature or a comment speaks of GPUs at all.
 */
#include "config.h" /* first: strcasestr is GNU */

#include "base/hostlist.h"
#include "topology/import/slurm/slurm_conf.h"
#include "topology/import/slurm/slurm_topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KIND_MAX 64

/* GPUs of a line or a record. */
struct gpus {
	unsigned long n;
	char kind[KIND_MAX]; /* "" unknown */
	bool mixed;	     /* several kinds */
};

/* What one input says of a host; gres.conf says it in several lines. */
struct entry {
	struct gpus gpus;
	struct weft_place where;
	bool named;
};

struct nodes {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct entry *entries; /* [host] */
	uint32_t room;
	char *gres, *features; /* of NodeName=DEFAULT */
	bool any_gpu;
};

/* ---- GPUs of a list of generic resources ---- */

static void gpus_add(struct gpus *gpus, unsigned long n, struct weft_span kind)
{
	char text[KIND_MAX];

	gpus->n += n;
	if (!kind.size || gpus->mixed)
		return;
	weft_span_copy(kind, text, sizeof(text));
	if (gpus->kind[0] && strcasecmp(gpus->kind, text) != 0) {
		gpus->mixed = true;
		gpus->kind[0] = '\0';
		return;
	}
	memcpy(gpus->kind, text, sizeof(text));
}

/* "8", "8(S:0-1)". */
static bool count_parse(struct weft_span text, unsigned long *n)
{
	const char *bracket = memchr(text.at, '(', text.size);

	if (bracket)
		text.size = (size_t)(bracket - text.at);
	return weft_span_uint(text, WEFT_INVENTORY_MAX_THINGS, n);
}

/* "gpu", "gpu:8", "gpu:h100:8(S:0-1)", "gpu:no_consume:4". */
static void gres_add(struct gpus *gpus, struct weft_span text)
{
	struct weft_span field, kind = {0};
	unsigned long n = 1, count;

	if (!weft_span_field(&text, ':', &field) ||
	    !(weft_span_is(field, "gpu") || weft_span_starts(field, "gpu(")))
		return;
	while (weft_span_field(&text, ':', &field)) {
		if (weft_span_starts(field, "0-") || !field.size)
			continue;
		if (count_parse(field, &count)) {
			n = count;
			break; /* what follows is "(S:0-1)" */
		}
		if (!weft_span_is(field, "no_consume"))
			kind = field;
	}
	gpus_add(gpus, n, kind);
}

/* A list separated by commas, of which those in brackets do not count. */
static void gres_parse(struct gpus *gpus, struct weft_span list)
{
	size_t first = 0, depth = 0;

	for (size_t i = 0; list.size && i <= list.size; i++) {
		char c = i < list.size ? list.at[i] : ',';

		if (c == '(' || c == '[')
			depth++;
		else if ((c == ')' || c == ']') && depth)
			depth--;
		else if (c == ',' && (depth == 0 || i == list.size)) {
			gres_add(gpus, (struct weft_span){list.at + first,
							  i - first});
			first = i + 1;
		}
	}
}

/* ---- what a line says of hosts ---- */

static struct entry *entry_of(struct nodes *n, uint32_t host,
			      struct weft_error *err)
{
	if (host >= n->room) {
		uint32_t room = 2 * n->room > host ? 2 * n->room : host + 64;
		struct entry *grown =
			weft_realloc(n->entries, room, sizeof(*grown), err);

		if (!grown)
			return NULL;
		memset(grown + n->room, 0, (room - n->room) * sizeof(*grown));
		n->entries = grown;
		n->room = room;
	}
	return &n->entries[host];
}

static int host_say(struct nodes *n, const char *name, const struct gpus *gpus,
		    struct weft_span features, struct weft_place where,
		    struct weft_error *err)
{
	uint32_t host = weft_inventory_host(n->s, name, where, err);
	struct entry *e;
	char text[1024];

	if (host == WEFT_NONE || !(e = entry_of(n, host, err)))
		return -1;
	if (!e->named)
		e->where = where;
	e->named = true;
	n->any_gpu = n->any_gpu || gpus->n;
	gpus_add(&e->gpus, gpus->n,
		 (struct weft_span){gpus->kind, strlen(gpus->kind)});
	if (gpus->mixed) {
		e->gpus.mixed = true;
		e->gpus.kind[0] = '\0';
	}
	if (!features.size || weft_span_is(features, "(null)"))
		return 0;
	return weft_inventory_set_text(
		n->s, host, WEFT_HOST_FEATURES,
		weft_span_copy(features, text, sizeof(text)), where, err);
}

/* The same of each name of a hostlist. */
static int hosts_say(struct nodes *n, struct weft_span names,
		     struct weft_slurm_at at, const struct gpus *gpus,
		     struct weft_span features, struct weft_error *err)
{
	char *text = weft_calloc(names.size + 1, 1, err);
	struct weft_hostlist list = {0};
	int rc = -1;

	if (text) {
		weft_span_copy(names, text, names.size + 1);
		rc = weft_slurm_hosts(text, at, &list, err);
	}
	for (uint32_t i = 0; rc == 0 && i < list.n; i++)
		rc = host_say(n, list.names[i], gpus, features,
			      (struct weft_place){at.source, at.line}, err);
	weft_hostlist_free(&list);
	free(text);
	return rc;
}

/* ---- slurm.conf and gres.conf ---- */

struct keys {
	struct weft_span node, gres, features, name, type, count, file;
};

static void keys_read(struct keys *k, struct weft_span rest)
{
	static const struct {
		const char *key;
		size_t offset;
	} known[] = {
		{"NodeName", offsetof(struct keys, node)},
		{"Gres", offsetof(struct keys, gres)},
		{"Feature", offsetof(struct keys, features)},
		{"Features", offsetof(struct keys, features)},
		{"Name", offsetof(struct keys, name)},
		{"Type", offsetof(struct keys, type)},
		{"Count", offsetof(struct keys, count)},
		{"File", offsetof(struct keys, file)},
	};
	struct weft_span key, value;

	while (weft_slurm_pair(&rest, &key, &value))
		for (size_t i = 0; i < WEFT_N_OF(known); i++)
			if (value.at && weft_slurm_key_is(key, known[i].key))
				memcpy((char *)k + known[i].offset, &value,
				       sizeof(value));
}

static int text_replace(char **text, struct weft_span span,
			struct weft_error *err)
{
	if (!span.at)
		return 0;
	free(*text);
	*text = weft_calloc(span.size + 1, 1, err);
	if (!*text)
		return -1;
	weft_span_copy(span, *text, span.size + 1);
	return 0;
}

static struct weft_span span_of(const char *text)
{
	return (struct weft_span){text, text ? strlen(text) : 0};
}

/* Count=, else as many as File= names. */
static int gres_line_count(const struct keys *k, struct weft_slurm_at at,
			   unsigned long *count, struct weft_error *err)
{
	struct weft_hostlist list = {0};
	char *text;
	int rc;

	*count = 1;
	if (k->count.size && count_parse(k->count, count))
		return 0;
	if (!k->file.size)
		return 0;
	text = weft_calloc(k->file.size + 1, 1, err);
	if (!text)
		return -1;
	weft_span_copy(k->file, text, k->file.size + 1);
	rc = weft_slurm_hosts(text, at, &list, err);
	*count = list.n;
	weft_hostlist_free(&list);
	free(text);
	return rc;
}

static int gres_line(struct nodes *n, const struct keys *k,
		     struct weft_slurm_at at, struct weft_error *err)
{
	struct weft_span hosts =
		k->node.size ? k->node : span_of(n->input->hosts);
	struct gpus gpus = {0};
	unsigned long count;

	if (!weft_slurm_key_is(k->name, "gpu"))
		return 0;
	if (!hosts.size)
		return weft_inventory_note(
			n->s, WEFT_FINDING_LINE_IGNORED, NULL,
			(struct weft_place){at.source, at.line}, err,
			"a GPU of whichever node this gres.conf lies on; say "
			"which: NODES=FILE");
	if (gres_line_count(k, at, &count, err))
		return -1;
	gpus_add(&gpus, count, k->type);
	return hosts_say(n, hosts, at, &gpus, (struct weft_span){0}, err);
}

static int conf_line(void *state, const struct weft_slurm_line *line,
		     struct weft_error *err)
{
	struct nodes *n = state;
	struct weft_slurm_at at = {line->path, line->source, line->number, 0};
	struct keys k = {0};
	struct gpus gpus = {0};

	keys_read(&k, line->text);
	if (k.name.size)
		return gres_line(n, &k, at, err);
	if (!k.node.size)
		return 0;
	if (weft_slurm_key_is(k.node, "DEFAULT"))
		return text_replace(&n->gres, k.gres, err) ||
				       text_replace(&n->features, k.features,
						    err)
			       ? -1
			       : 0;
	at.column = weft_slurm_column(line, k.node.at);
	gres_parse(&gpus, k.gres.at ? k.gres : span_of(n->gres));
	return hosts_say(n, k.node, at, &gpus,
			 k.features.at ? k.features : span_of(n->features),
			 err);
}

/* ---- scontrol show nodes ---- */

/* Value of " KEY=" in a record, up to the next blank. */
static struct weft_span record_field(struct weft_span record, const char *key)
{
	size_t size = strlen(key);
	const char *end = weft_span_end(record);

	for (const char *at = record.at;
	     (at = weft_span_find((struct weft_span){at, (size_t)(end - at)},
				  key)) != NULL;
	     at += size)
		if ((at == record.at || at[-1] == ' ' || at[-1] == '\n') &&
		    at + size < end && at[size] == '=') {
			struct weft_span value,
				rest = {at + size + 1,
					(size_t)(end - at) - size - 1};

			/* an empty value is followed by a blank at once */
			if (!rest.size || *rest.at == ' ' || *rest.at == '\n' ||
			    !weft_span_word(&rest, " \n\r", &value))
				break;
			return value;
		}
	return (struct weft_span){0};
}

static int record_use(struct nodes *n, struct weft_span record, int line,
		      struct weft_error *err)
{
	const struct weft_slurm_at at = {n->input->path, n->input->source, line,
					 0};
	struct weft_span gres = record_field(record, "Gres");
	struct gpus gpus = {0};

	gres_parse(&gpus, gres);
	return hosts_say(n, record_field(record, "NodeName"), at, &gpus,
			 record_field(record, "AvailableFeatures"), err);
}

/* A record begins with NodeName= and ends before the next. */
static int records_read(struct nodes *n, struct weft_error *err)
{
	struct weft_lines lines =
		weft_lines_start(n->input->text, n->input->size);
	struct weft_span line, record = {0};
	int first = 0;

	while (weft_lines_next(&lines, &line)) {
		if (weft_span_starts(line, "NodeName=")) {
			if (record.at && record_use(n, record, first, err))
				return -1;
			record.at = line.at;
			first = lines.number;
		}
		if (record.at)
			record.size = (size_t)(line.at + line.size - record.at);
	}
	return record.at ? record_use(n, record, first, err) : 0;
}

/* ---- all of it ---- */

static int entry_apply(struct nodes *n, uint32_t host, struct weft_error *err)
{
	const struct entry *e = &n->entries[host];

	if (e->gpus.n > WEFT_MAX_GPUS_PER_NODE)
		return weft_inventory_note(
			n->s, WEFT_FINDING_LINE_IGNORED, n->s->hosts[host].name,
			e->where, err,
			"%lu GPUs in a node; weft knows at most %u", e->gpus.n,
			WEFT_MAX_GPUS_PER_NODE);
	if (weft_inventory_set_gpus(n->s, host, (uint32_t)e->gpus.n, e->where,
				    err))
		return -1;
	if (e->gpus.mixed)
		return weft_inventory_note(n->s, WEFT_FINDING_GPUS_MIXED,
					   n->s->hosts[host].name, e->where,
					   err, "%lu GPUs of different kinds",
					   e->gpus.n);
	if (e->gpus.kind[0])
		return weft_inventory_set_text(n->s, host, WEFT_HOST_GPU_KIND,
					       e->gpus.kind, e->where, err);
	return 0;
}

/* Whether the text speaks of GPUs anywhere. */
static bool gpus_mentioned(const char *text)
{
	static const char *const words[] = {
		"gpu",	"nvidia", "cuda", "tesla", "rocm", "v100",  "a100",
		"h100", "h200",	  "b200", "b300",  "dgx",  "mi250", "mi300"};

	for (size_t i = 0; i < WEFT_N_OF(words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

static int entries_apply(struct nodes *n, struct weft_error *err)
{
	bool none = !n->any_gpu && !gpus_mentioned(n->input->text);
	uint32_t named = 0;

	for (uint32_t h = 0; h < n->room; h++) {
		named += n->entries[h].named;
		if (none && n->entries[h].named)
			n->s->hosts[h].no_gpus_listed = true;
		if (n->any_gpu && n->entries[h].named && entry_apply(n, h, err))
			return -1;
	}
	if (named == 0 && strstr(n->input->text, "No nodes in the system"))
		return weft_fail_at(err, WEFT_EINVAL, n->input->path, 0, 0,
				    "Slurm shows no nodes; those of "
				    "State=CLOUD that are powered down it "
				    "hides unless slurm.conf has "
				    "PrivateData=cloud");
	if (named == 0)
		return weft_fail_at(err, WEFT_EINVAL, n->input->path, 0, 0,
				    "no line NodeName=: neither slurm.conf nor "
				    "gres.conf of the whole cluster, nor "
				    "scontrol show nodes");
	return 0;
}

int weft_import_slurm_nodes(struct weft_inventory *s,
			    const struct weft_import_input *input,
			    struct weft_error *err)
{
	struct nodes n = {.s = s, .input = input};
	const struct weft_span text = {input->text, input->size};
	/* both on the first lines of every record */
	bool printed = weft_span_find(text, "CPUAlloc=") &&
		       weft_span_find(text, "NodeName=");
	int rc = printed ? records_read(&n, err)
			 : weft_slurm_conf_read(s, input, conf_line, &n, err);

	if (rc == 0)
		rc = entries_apply(&n, err);
	free(n.entries);
	free(n.gres);
	free(n.features);
	return rc;
}

bool weft_slurm_nodes_looks(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line, key, value;

	while (weft_lines_next(&lines, &line))
		if (weft_slurm_pair(&line, &key, &value) && value.at &&
		    weft_slurm_key_is(key, "NodeName"))
			return true;
	return false;
}
