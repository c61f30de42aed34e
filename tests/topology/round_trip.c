/* SPDX-License-Identifier: GPL-3.0-or-later */
/* round_trip.c - what is exported and imported again is what it was
 *
 * On 1,000 random fabrics and on every real file that can be imported: the
 * levels read back hold the same sets of nodes under the same names, and the
 * second export is the first, byte by byte.
 */
#define _GNU_SOURCE /* nftw */
#include "base/compare.h"
#include "tests/lib/check.h"
#include "topology/export/export.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FABRICS 1000

/* ---- random fabrics ---- */

struct random_fabric {
	FILE *out;
	uint64_t state;
	uint32_t n_nodes, n_above; /* nodes, domains of the level below */
	bool spans;		   /* NVLink domains that hold several nodes */
};

static uint32_t below(struct random_fabric *r, uint32_t n)
{
	return test_random_below(&r->state, n);
}

/* Members 0..n-1 called PREFIXn in runs under domains NAMEk; returns how many
 * domains. */
static uint32_t level_write(struct random_fabric *r, const char *name,
			    const char *prefix, uint32_t n)
{
	uint32_t k = 0, most = 1 + below(r, 6);

	for (uint32_t i = 0; i < n; k++) {
		uint32_t size = 1 + below(r, most);
		uint32_t end = i + size < n ? i + size : n;

		fprintf(r->out, "    %s%u: %s[%u-%u]\n", name, k, prefix, i,
			end - 1);
		i = end;
	}
	return k;
}

static void spans_write(struct random_fabric *r)
{
	uint32_t size = 2 + below(r, 4);

	fputs("nvlink:\n", r->out);
	for (uint32_t i = 0, k = 0; i < r->n_nodes; i += size, k++)
		fprintf(r->out, "  nv%u: n[%u-%u]\n", k, i,
			(i + size < r->n_nodes ? i + size : r->n_nodes) - 1);
	r->n_above = (r->n_nodes + size - 1) / size;
}

/* One ring or torus shape; the innermost level then has one size. */
static void shaped_write(struct random_fabric *r, bool torus)
{
	uint32_t n = 1 + below(r, 3), size = 2 + below(r, 15);
	uint32_t x = 1 + below(r, 4), y = 1 + below(r, 3), z = 1 + below(r, 3);

	if (torus && x * y * z < 2)
		x = 2;
	size = torus ? x * y * z : size;
	fprintf(r->out, "  n[0-%u]: 4\nlevels:\n  loop:\n", n * size - 1);
	for (uint32_t k = 0; k < n; k++)
		fprintf(r->out, "    t%u: n[%u-%u]\n", k, k * size,
			(k + 1) * size - 1);
	if (torus)
		fprintf(r->out, "shapes:\n  loop: [%u, %u, %u]\n", x, y, z);
	else
		fputs("shapes:\n  loop: ring\n", r->out);
	fputs("disjoint: yes\n", r->out);
}

static void tree_write(struct random_fabric *r)
{
	static const char *const names[] = {"leaf", "spine", "pod", "zone"};
	uint32_t depth = 1 + below(r, 4), n, l;
	bool several = r->spans;

	fprintf(r->out, "  n[0-%u]: %u\n", r->n_nodes - 1, 1 + below(r, 8));
	if (several)
		spans_write(r);
	fputs("levels:\n", r->out);
	n = several ? r->n_above : r->n_nodes;
	for (l = 0; l < depth; l++) {
		fprintf(r->out, "  %s:\n", names[l]);
		n = level_write(r, names[l],
				l ? names[l - 1] : (several ? "nv" : "n"), n);
	}
	if (below(r, 3) == 0)
		fputs("disjoint: yes\n", r->out);
}

/* kind 0 tree, 1 ring, 2 torus. */
static struct weft_fabric *fabric_random(uint64_t seed, uint32_t *kind)
{
	struct random_fabric r = {.state = seed};
	struct weft_error err = {0};
	struct weft_fabric *f;
	char *text;
	size_t size;

	r.out = open_memstream(&text, &size);
	assert_non_null(r.out);
	*kind = below(&r, 8);
	*kind = *kind > 2 ? 0 : *kind;
	r.n_nodes = 1 + below(&r, 80);
	r.spans = r.n_nodes > 1 && below(&r, 3) == 0;
	fputs("weft: fabric/1\nnodes:\n", r.out);
	if (*kind)
		shaped_write(&r, *kind == 2);
	else
		tree_write(&r);
	fclose(r.out);
	f = weft_fabric_parse(text, size, "random", &err);
	if (!f)
		print_error("%s", text);
	assert_no_error(&err);
	free(text);
	return f;
}

/* ---- there and back ---- */

static struct weft_fabric *fabric_imported(const struct weft_importer *importer,
					   const char *path, const char *text,
					   struct weft_error *err)
{
	const struct weft_hierarchy_options how = {.gpus_per_node = 8};
	struct weft_inventory s = {0};
	struct weft_hierarchy *hierarchy = NULL;
	struct weft_fabric *f = NULL;
	char *yaml = NULL;

	if ((text ? weft_import_text(&s, importer, text, strlen(text), "text",
				     NULL, NULL, err)
		  : weft_import_file(&s, importer, path, NULL, NULL, err)) ==
		    0 &&
	    weft_inventory_finish(&s, err) == 0)
		hierarchy = weft_hierarchy_build(&s, &how, err);
	if (hierarchy)
		yaml = weft_inventory_write(&s, hierarchy, &how, err);
	if (yaml)
		f = weft_fabric_parse(yaml, strlen(yaml), "imported", err);
	free(yaml);
	weft_hierarchy_free(hierarchy);
	weft_inventory_free(&s);
	return f;
}

static char *exported(const struct weft_fabric *f, const char *format,
		      const struct weft_export_options *options, bool *changed,
		      struct weft_error *err)
{
	struct weft_findings findings = {0};
	const struct weft_exporter *exporter = weft_exporter_find(format, err);
	char *text;

	assert_non_null(exporter);
	text = weft_export(f, exporter, options, &findings, err);
	*changed = findings.of_kind[WEFT_FINDING_EXPORT_CHANGED] > 0;
	weft_findings_free(&findings);
	return text;
}

/* "name: nodes" of each domain of a level, sorted, and whether two do not reach
 * each other; malloc'ed. */
static char *level_text(const struct weft_fabric *f, uint32_t level)
{
	const struct weft_level *l = &f->levels[level];
	char **lines = calloc(l->n_domains, sizeof(*lines));
	char *text;
	size_t size;
	FILE *out;

	for (uint32_t k = 0; k < l->n_domains; k++) {
		const struct weft_domain *d = &f->domains[l->first_domain + k];
		const char **names = calloc(d->n_nodes, sizeof(*names));

		for (uint32_t i = 0; i < d->n_nodes; i++)
			names[i] = f->nodes[d->first_node + i].name;
		qsort(names, d->n_nodes, sizeof(*names), weft_compare_texts);
		out = open_memstream(&lines[k], &size);
		fprintf(out, "%s:", d->name);
		for (uint32_t i = 0; i < d->n_nodes; i++)
			fprintf(out, " %s", names[i]);
		fclose(out);
		free(names);
	}
	qsort(lines, l->n_domains, sizeof(*lines), weft_compare_texts);
	out = open_memstream(&text, &size);
	for (uint32_t k = 0; k < l->n_domains; k++) {
		fprintf(out, "%s\n", lines[k]);
		free(lines[k]);
	}
	fclose(out);
	free(lines);
	return text;
}

static void levels_compare(const struct weft_fabric *a, uint32_t la,
			   const struct weft_fabric *b, uint32_t lb)
{
	char *ta = level_text(a, la), *tb = level_text(b, lb);

	assert_string_equal(ta, tb);
	free(ta);
	free(tb);
}

/* Every level above nodes holds the same domains. */
static void trees_compare(const struct weft_fabric *a,
			  const struct weft_fabric *b)
{
	assert_int_equal(a->n_levels - a->node_level,
			 b->n_levels - b->node_level);
	assert_int_equal(a->connected, b->connected);
	for (uint32_t l = 1; l < a->n_levels - a->node_level; l++)
		levels_compare(a, a->node_level + l, b, b->node_level + l);
}

/* Exports, imports, exports again: *back is to be freed.  False where the
 * format cannot hold the fabric at all. */
static bool there_and_back(const struct weft_fabric *f, const char *format,
			   const struct weft_export_options *options,
			   const struct weft_export_options *again,
			   struct weft_fabric **back, bool *changed)
{
	struct weft_error err = {0};
	char *first = exported(f, format, options, changed, &err), *second;
	bool second_changed;

	if (!first) {
		assert_int_equal(err.code, WEFT_EINVAL);
		return false;
	}
	*back = fabric_imported(weft_importer_find(format, &err), NULL, first,
				&err);
	if (err.code)
		print_error("%s", first);
	assert_no_error(&err);
	second = exported(*back, format, again, &second_changed, &err);
	assert_no_error(&err);
	assert_string_equal(first, second);
	free(first);
	free(second);
	return true;
}

static void trees_round_trip(const struct weft_fabric *f, const char *format)
{
	const struct weft_export_options options = {.shape = "tree"};
	struct weft_fabric *back;
	bool changed;

	if (!there_and_back(f, format, &options, &options, &back, &changed))
		return;
	if (!changed && f->n_rails == 1)
		trees_compare(f, back);
	weft_fabric_free(back);
}

static void blocks_round_trip(const struct weft_fabric *f, const char *format)
{
	const struct weft_export_options options = {.shape = "block"};
	const struct weft_export_options again = {.shape = "block",
						  .block_level = "block"};
	uint32_t level = f->node_level + 1;
	struct weft_fabric *back;
	bool changed;

	if (!there_and_back(f, format, &options, &again, &back, &changed))
		return;
	for (uint32_t k = 0; k < f->levels[0].n_domains; k++)
		if (f->node_level == 0 && f->domains[k].n_nodes > 1)
			level = 0;
	if (f->n_rails == 1)
		levels_compare(f, level, back, back->node_level + 1);
	weft_fabric_free(back);
}

static void shapes_round_trip(const struct weft_fabric *f)
{
	struct weft_fabric *back;
	bool changed;
	uint32_t level = f->node_level + 1;

	assert_true(
		there_and_back(f, "slurm-yaml", NULL, NULL, &back, &changed));
	assert_int_equal(back->levels[level].shape, f->levels[level].shape);
	levels_compare(f, level, back, level);
	weft_fabric_free(back);
}

static void all_round_trips(const struct weft_fabric *f)
{
	trees_round_trip(f, "slurm-tree");
	trees_round_trip(f, "slurm-yaml");
	blocks_round_trip(f, "slurm-block");
	blocks_round_trip(f, "slurm-yaml");
}

static void random_fabrics_come_back(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int i = 0; i < N_FABRICS; i++) {
		uint32_t kind;
		struct weft_fabric *f =
			fabric_random(test_random(&seed), &kind);

		if (kind)
			shapes_round_trip(f);
		else
			all_round_trips(f);
		weft_fabric_free(f);
	}
}

/* ---- real files ---- */

static int n_files, n_imported;

static int file_try(const char *path, const struct stat *status, int type,
		    struct FTW *walk)
{
	struct weft_error err = {0};
	struct weft_fabric *f;

	(void)status;
	(void)walk;
	if (type != FTW_F)
		return 0;
	n_files++;
	f = fabric_imported(NULL, path, NULL, &err);
	if (!f) {
		assert_true(err.text[0] != '\0');
		return 0;
	}
	n_imported++;
	all_round_trips(f);
	weft_fabric_free(f);
	return 0;
}

static void real_files_come_back(void **state)
{
	static const char *const folders[] = {"data/real/slurm",
					      "data/real/topograph",
					      "data/real/aws-topology"};

	(void)state;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *folder = test_shared(folders[i]);

		if (!folder)
			skip();
		assert_int_equal(nftw(folder, file_try, 16, FTW_PHYS), 0);
	}
	print_message("%d of %d files are topologies\n", n_imported, n_files);
	assert_true(n_imported >= 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_fabrics_come_back),
		cmocka_unit_test(real_files_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
