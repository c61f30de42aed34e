/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.c - reading how healthy nodes are, and the slowdown of a placement */
#include "costmodel/time/health.h"

#include "base/hostlist.h"
#include "base/yaml.h"
#include "costmodel/time/straggler.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_FACTOR 0.1
#define MAX_FACTOR 1000.0
#define MAX_BYTES  (32u << 20)

/* The domain below the link, or WEFT_NONE with err.  Names of domains are
 * unique but across levels, where the outermost counts; nothing is above the
 * top. */
static uint32_t find_domain(const struct weft_fabric *f, const char *name,
			    struct weft_error *err)
{
	for (uint32_t d = f->n_domains; d-- > 0;)
		if (f->domains[d].parent != WEFT_NONE && f->domains[d].name &&
		    strcmp(f->domains[d].name, name) == 0)
			return d;
	weft_fail(err, WEFT_EINVAL,
		  "no domain with a link above it is named %.63s", name);
	return WEFT_NONE;
}

/* What may have a factor: nodes, and the links above domains. */
struct kind {
	const char *key, *what;
	double least;
	double unset; /* where a file has said nothing yet */
	uint32_t (*find)(const struct weft_fabric *f, const char *name,
			 struct weft_error *err);
};
static const struct kind node_kind = {"nodes", "node", MIN_FACTOR, 0,
				      weft_fabric_find};
static const struct kind link_kind = {"links", "the link of", 1, 1,
				      find_domain};

/* Gives all of `names` a factor.  err->column counts in names. */
static int factors_set(const struct kind *kind, const struct weft_fabric *f,
		       double *factors, const char *names, double factor,
		       struct weft_error *err)
{
	struct weft_hostlist list = {0};
	struct weft_error local = {0};
	uint32_t i = 0;
	int rc = weft_hostlist_decode(names, f->n_domains, &list, &local);

	for (; rc == 0 && i < list.n; i++) {
		uint32_t k = kind->find(f, list.names[i], &local);

		if (k == WEFT_NONE)
			rc = -1;
		else if (factors[k] != kind->unset)
			rc = weft_fail(&local, WEFT_EINVAL,
				       "%s %.63s is named twice", kind->what,
				       list.names[i]);
		else
			factors[k] = factor;
	}
	if (rc && !local.column)
		local.column = weft_hostlist_column(names, i ? i - 1 : 0);
	weft_hostlist_free(&list);
	if (rc)
		weft_fail_at(err, local.code, "", 0, local.column, "%s",
			     local.text);
	return rc;
}

/* ---- YAML ---- */

static int entry_read(const struct weft_yaml *doc,
		      const struct weft_yaml_node *entry,
		      const struct kind *kind, const struct weft_fabric *f,
		      double *factors, struct weft_error *err)
{
	struct weft_error local = {0};
	double factor;

	if (weft_yaml_number(doc, entry, kind->least, MAX_FACTOR, &factor, err))
		return -1;
	if (factors_set(kind, f, factors, entry->key, factor, &local))
		return weft_yaml_fail_inside(doc, entry, true, local.column,
					     err, "%s", local.text);
	return 0;
}

/* Fills *factors from the document's map of that kind, if it has one; makes
 * room for n first where there is none. */
static int entries_read(const struct weft_yaml *doc, const struct kind *kind,
			const struct weft_fabric *f, double **factors,
			uint32_t n, struct weft_error *err)
{
	const struct weft_yaml_node *map = weft_yaml_find(doc->root, kind->key);

	if (!map || (map->kind == WEFT_YAML_SCALAR && !*map->text))
		return 0;
	if (weft_yaml_expect(doc, map, WEFT_YAML_MAP, kind->key, err))
		return -1;
	if (!*factors)
		*factors = weft_calloc(n, sizeof(**factors), err);
	if (!*factors)
		return -1;
	for (uint32_t k = 0; k < n; k++)
		(*factors)[k] = kind->unset;
	for (const struct weft_yaml_node *e = map->child; e; e = e->next) {
		if (entry_read(doc, e, kind, f, *factors, err))
			return -1;
	}
	return 0;
}

static int document_read(const struct weft_yaml *doc,
			 const struct weft_fabric *f,
			 struct weft_health *health, struct weft_error *err)
{
	static const char *const keys[] = {"weft", "nodes", "links"};
	const struct weft_yaml_node *root = doc->root, *format;

	if (weft_yaml_expect(doc, root, WEFT_YAML_MAP, "the health file", err))
		return -1;
	format = weft_yaml_find(root, "weft");
	if (!format || format->kind != WEFT_YAML_SCALAR ||
	    strcmp(format->text, "health/1") != 0)
		return weft_yaml_fail(doc, format ? format : root, err,
				      "a health file begins with "
				      "\"weft: health/1\"");
	if (weft_yaml_known_keys(doc, root, keys, 3, "the health file", err))
		return -1;
	health->n_domains = f->n_domains;
	if (entries_read(doc, &link_kind, f, &health->link, f->n_domains, err))
		return -1;
	return entries_read(doc, &node_kind, f, &health->factor, f->n_nodes,
			    err);
}

static int yaml_read(const char *text, size_t size, const char *source,
		     const struct weft_fabric *f, struct weft_health *health,
		     struct weft_error *err)
{
	struct weft_yaml doc;
	int rc;

	if (weft_yaml_parse(text, size, source, &doc, err))
		return -1;
	rc = document_read(&doc, f, health, err);
	weft_yaml_free(&doc);
	return rc;
}

/* ---- CSV ---- */

/* One line of a table under work; its text is cut in place. */
struct row {
	const char *source;
	char *text;
	int number;
	bool has_header;
};

/* Moves *at over blanks, and cuts blanks off the end of [*at, end). */
static void trim(char **at, char *end)
{
	while (*at < end && isspace((unsigned char)**at))
		(*at)++;
	while (end > *at && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
}

static int row_fail(const struct row *row, const char *at,
		    struct weft_error *err, const char *expected)
{
	return weft_fail_at(err, WEFT_EINVAL, row->source, row->number,
			    (int)(at - row->text) + 1,
			    "expected %s, found \"%.60s\"", expected, at);
}

/* Messages quote lines, so these have no byte that a terminal would act on. */
static int row_check(const struct row *row, struct weft_error *err)
{
	for (const char *c = row->text; *c; c++) {
		/* but for the end of a line from elsewhere */
		if ((*c < 0x20 || *c > 0x7e) && (*c != '\r' || c[1]))
			return weft_fail_at(err, WEFT_EINVAL, row->source,
					    row->number,
					    (int)(c - row->text) + 1,
					    "byte \\x%02x: expected printable "
					    "ASCII only",
					    (unsigned char)*c);
	}
	return 0;
}

/* "NODES,FACTOR"; the last comma is the one between, because a hostlist may
 * have its own, and may be quoted for that. */
static int row_read(struct row *row, const struct weft_fabric *f,
		    struct weft_health *health, struct weft_error *err)
{
	char *hosts = row->text, *comma, *number, *end;
	struct weft_error local = {0};
	double factor;

	trim(&hosts, hosts + strlen(hosts));
	if (*hosts == '\0' || *hosts == '#')
		return 0;
	if (row_check(row, err))
		return -1;
	comma = strrchr(hosts, ',');
	if (!comma)
		return row_fail(row, hosts, err, "\"node,factor\"");
	number = comma + 1;
	trim(&number, number + strlen(number));
	trim(&hosts, comma);
	if (!row->has_header) {
		row->has_header = strcmp(hosts, "node") == 0 &&
				  strcmp(number, "factor") == 0;
		return row->has_header ? 0
				       : row_fail(row, hosts, err,
						  "the header \"node,factor\"");
	}
	factor = strtod(number, &end);
	if (end == number || *end ||
	    !(factor >= MIN_FACTOR && factor <= MAX_FACTOR))
		return row_fail(row, number, err, "a number from 0.1 to 1000");
	if (*hosts == '"' && hosts[strlen(hosts) - 1] == '"' && hosts[1]) {
		hosts[strlen(hosts) - 1] = '\0';
		hosts++;
	}
	if (factors_set(&node_kind, f, health->factor, hosts, factor, &local))
		return weft_fail_at(err, local.code, row->source, row->number,
				    (int)(hosts - row->text) + local.column,
				    "%s", local.text);
	return 0;
}

static int csv_read(const char *text, size_t size, const char *source,
		    const struct weft_fabric *f, struct weft_health *health,
		    struct weft_error *err)
{
	struct row row = {.source = source};
	char *copy = weft_calloc(size + 1, 1, err), *line = copy;
	int rc = 0;

	if (!copy)
		return -1;
	memcpy(copy, text, size);
	if (memchr(copy, '\0', size))
		rc = weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				  "not a text file: it has a byte 0");
	while (rc == 0 && line) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		row.text = line;
		row.number++;
		rc = row_read(&row, f, health, err);
		line = end ? end + 1 : NULL;
	}
	if (rc == 0 && !row.has_header)
		rc = weft_fail_at(err, WEFT_EINVAL, source, row.number, 1,
				  "expected the header \"node,factor\", found "
				  "the end of the file");
	free(copy);
	return rc;
}

/* ---- both ---- */

int weft_health_parse(const char *text, size_t size, const char *source,
		      const struct weft_fabric *f, struct weft_health *health,
		      struct weft_error *err)
{
	const char *dot = strrchr(source, '.');
	bool csv = dot && strcmp(dot, ".csv") == 0;

	health->n_nodes = f->n_nodes;
	health->factor = weft_calloc(f->n_nodes, sizeof(*health->factor), err);
	if (!health->factor)
		return -1;
	if ((csv ? csv_read : yaml_read)(text, size, source, f, health, err))
		return -1;
	for (uint32_t k = 0; k < f->n_nodes; k++) {
		/* 0 marked what was not named. */
		if (health->factor[k] == 0)
			health->factor[k] = 1;
	}
	return 0;
}

/* A whole file; *size says how long it is. */
static char *file_read(const char *path, size_t *size, struct weft_error *err)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	*size = 0;
	while (in && !feof(in) && !ferror(in) && *size <= MAX_BYTES) {
		if (*size == room) {
			char *grown =
				weft_realloc(text, room += 1u << 16, 1, err);

			if (!grown)
				break;
			text = grown;
		}
		*size += fread(text + *size, 1, room - *size, in);
	}
	if (!in || ferror(in))
		weft_fail_at(err, WEFT_EIO, path, 0, 0, "cannot read: %s",
			     strerror(errno));
	else if (*size > MAX_BYTES)
		weft_fail_at(err, WEFT_EINVAL, path, 0, 0,
			     "larger than %u bytes", MAX_BYTES);
	else if (feof(in)) {
		fclose(in);
		return text;
	}
	if (in)
		fclose(in);
	free(text);
	return NULL;
}

int weft_health_load(const char *path, const struct weft_fabric *f,
		     struct weft_health *health, struct weft_error *err)
{
	size_t size;
	char *text;
	int rc;

	memset(health, 0, sizeof(*health));
	text = file_read(path, &size, err);
	if (!text)
		return -1;
	rc = weft_health_parse(text, size, path, f, health, err);
	free(text);
	return rc;
}

void weft_health_free(struct weft_health *health)
{
	if (!health)
		return;
	free(health->factor);
	free(health->link);
	memset(health, 0, sizeof(*health));
}

/* ---- what it costs ---- */

/* A job's ranks as a table of pipelines: which rank is the slowest of each
 * stage of each replica. */
struct waiting {
	const struct weft_spec *spec;
	double *factor;	   /* [dp * pp], a replica's stages together */
	uint32_t *slowest; /* [dp * pp] ranks */
};

static uint32_t coordinate(const struct weft_grid *grid, const char *axis,
			   uint32_t rank)
{
	uint32_t a = weft_grid_axis(grid, axis);

	return a == WEFT_MAX_AXES ? 0 : weft_grid_coordinate(grid, rank, a);
}

/* Ranks of etp*ep neighbours exchange tokens in every layer; where that is more
 * than a replica's tp*cp, neighbouring replicas wait for each other, and are
 * one pipeline here. */
static uint32_t replicas_joined(const struct weft_spec *spec)
{
	uint64_t experts = (uint64_t)spec->ep * (spec->etp ? spec->etp : 1);
	uint64_t dense = (uint64_t)spec->tp * spec->cp;

	if (spec->ep < 2 || experts <= dense)
		return 1;
	return (uint32_t)((experts + dense - 1) / dense);
}

static void waiting_fill(const struct waiting *w,
			 const struct weft_health *health,
			 const struct weft_fabric *f,
			 const struct weft_grid *grid, const uint32_t *where)
{
	uint32_t joined = replicas_joined(w->spec);

	for (uint32_t rank = 0; rank < grid->n_ranks; rank++) {
		uint32_t replica = coordinate(grid, "dp", rank) / joined;
		uint32_t cell =
			replica * w->spec->pp + coordinate(grid, "pp", rank);
		double factor = health->factor[f->gpu_node[where[rank]]];

		if (factor > w->factor[cell]) {
			w->factor[cell] = factor;
			w->slowest[cell] = rank;
		}
	}
}

/* Replicas beyond the joined ones have no ranks and factor 0. */
static void waiting_result(const struct waiting *w,
			   struct weft_slowdown *slowdown)
{
	const struct weft_spec *spec = w->spec;
	uint32_t cell = 0;

	slowdown->factor = 0;
	for (uint32_t d = 0; d < spec->dp; d++) {
		const double *stages = &w->factor[d * spec->pp];
		double factor = weft_straggler_pipeline(
			stages, spec->pp, weft_spec_micro_batches(spec),
			spec->vpp);

		if (factor <= slowdown->factor)
			continue;
		slowdown->factor = factor;
		cell = d * spec->pp;
		for (uint32_t p = 1; p < spec->pp; p++) {
			if (stages[p] > w->factor[cell])
				cell = d * spec->pp + p;
		}
	}
	if (w->factor[cell] > 1)
		slowdown->rank = w->slowest[cell];
}

int weft_health_slowdown(const struct weft_health *health,
			 const struct weft_fabric *f,
			 const struct weft_spec *spec,
			 const struct weft_grid *grid, const uint32_t *where,
			 struct weft_slowdown *slowdown, struct weft_error *err)
{
	size_t n_cells = (size_t)spec->dp * spec->pp;
	struct waiting w = {.spec = spec};
	int rc = -1;

	*slowdown = (struct weft_slowdown){1, WEFT_NONE, WEFT_NONE};
	if (!health)
		return 0;
	w.factor = weft_calloc(n_cells, sizeof(*w.factor), err);
	w.slowest = weft_calloc(n_cells, sizeof(*w.slowest), err);
	if (!w.factor || !w.slowest)
		goto out;
	waiting_fill(&w, health, f, grid, where);
	waiting_result(&w, slowdown);
	if (slowdown->rank != WEFT_NONE)
		slowdown->node = f->gpu_node[where[slowdown->rank]];
	rc = 0;
out:
	free(w.factor);
	free(w.slowest);
	return rc;
}
