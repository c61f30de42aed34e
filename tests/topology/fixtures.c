/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fixtures.c - every file of tests/fabrics: shape of the valid, message of the
 * invalid.  A new case needs no code: "fixtures FILE" prints what belongs into
 * its .golden or .error. */
#include "tests/lib/check.h"
#include "tests/lib/fabric_check.h"
#include "topology/cabling.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER_MAX 512

static void link_dump(FILE *out, const struct weft_fabric *f, uint32_t l)
{
	const struct weft_level *level = &f->levels[l];

	fprintf(out, "level %u %s: %u domains, %g GB/s / %g, %g us, %u hops\n",
		l, level->name, level->n_domains,
		level->link.rate_bytes_per_s / 1e9,
		level->link.oversubscription, level->link.latency_s * 1e6,
		level->hops);
	if (level->shape == WEFT_SHAPE_GROUPS)
		fprintf(out, "  groups\n");
	if (level->shape == WEFT_SHAPE_RING || level->shape == WEFT_SHAPE_TORUS)
		fprintf(out, "  %s %ux%ux%u, %g us a step\n",
			level->shape == WEFT_SHAPE_RING ? "ring" : "torus",
			level->dims[0], level->dims[1], level->dims[2],
			level->hop_latency_s * 1e6);
	for (uint32_t k = 0; k < level->n_domains && k < 12; k++) {
		const struct weft_domain *d =
			&f->domains[level->first_domain + k];

		fprintf(out, "  %s: nodes %u+%u, gpus %u+%u, %u children\n",
			d->name, d->first_node, d->n_nodes, d->first_gpu,
			d->n_gpus, d->n_children);
	}
}

/* The first GPU that meets GPU 0 at each level, on its rail and on another, and
 * as many steps of a ring or torus away. */
static void distances_dump(FILE *out, const struct weft_fabric *f)
{
	bool seen[WEFT_MAX_LEVELS + 1][2][8] = {{{false}}};

	for (uint32_t b = 1; b < f->n_gpus; b++) {
		struct weft_distance d = weft_fabric_distance(f, 0, b);
		uint32_t cross = 0;
		uint32_t level = weft_fabric_relation(f, 0, b, &cross);
		uint32_t further = weft_fabric_further(f, level, 0, b) % 8;
		const char *name = f->nodes[f->gpu_node[b]].name;

		if (seen[level][cross][further])
			continue;
		seen[level][cross][further] = true;
		fprintf(out, "0 to %u (%s): ", b, name);
		if (level == f->n_levels)
			fprintf(out, "not connected\n");
		else
			fprintf(out, "%s%s, %u hops, %g us, %.6g s/GB\n",
				f->levels[level].name,
				cross ? " other rail" : "", d.hops,
				d.latency_s * 1e6, d.time_s_per_byte * 1e9);
	}
}

static void switch_dump(FILE *out, const struct weft_fabric *f, uint32_t k)
{
	const struct weft_cabling *c = f->cabling;
	const struct weft_cabling_switch *s = &c->switches[k];
	uint32_t n;

	weft_cabling_of_switch(c, k, &n);
	fprintf(out, "switch %s: %s, domain %s, tier %u, %u ports, %u cables",
		s->name, c->networks[s->network],
		s->domain == WEFT_NONE ? "-" : f->domains[s->domain].name,
		s->tier, s->n_ports, n);
	if (s->rail != WEFT_NO_RAIL)
		fprintf(out, ", rail %u", s->rail);
	fputc('\n', out);
}

static void cabling_dump(FILE *out, const struct weft_fabric *f)
{
	const struct weft_cabling *c = f->cabling;

	for (uint32_t k = 0; k < c->n_switches && k < 40; k++)
		switch_dump(out, f, k);
	for (uint32_t k = 0; k < c->n_cables && k < 80; k++) {
		const struct weft_cable *cable = &c->cables[k];
		const char *port = weft_cabling_port(c, cable);

		fprintf(out, "cable %s", weft_cabling_end_name(f, cable->a));
		if (port)
			fprintf(out, " %s", port);
		if (cable->rail != WEFT_NO_RAIL)
			fprintf(out, " rail %u", cable->rail);
		fprintf(out, " to %s: %u x %g GB/s, width %u, %s\n",
			weft_cabling_end_name(f, cable->b), cable->n,
			cable->rate_bytes_per_s / 1e9, cable->width,
			cable->up ? "up" : "down");
	}
}

static void uplinks_dump(FILE *out, const struct weft_fabric *f)
{
	const double *rate = f->uplink_rate_bytes_per_s;

	for (uint32_t d = 0; rate && d < f->n_domains && d < 80; d++) {
		if (!(rate[d] > 0))
			continue;
		fprintf(out, "uplinks of %s %s: %g GB/s",
			f->levels[f->domains[d].level].name, f->domains[d].name,
			rate[d] / 1e9);
		if (f->n_uplinks && f->n_uplinks[d])
			fprintf(out, ", %u cables", f->n_uplinks[d]);
		fputc('\n', out);
	}
}

/* What is not the usual: flows that are hashed, rates that depend on sizes. */
static void routing_dump(FILE *out, const struct weft_fabric *f)
{
	if (f->routing != WEFT_ROUTING_ADAPTIVE)
		fprintf(out, "routing %s, %u flows\n",
			weft_routing_names[f->routing], f->n_flows);
	for (uint32_t l = 0; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];

		if (level->queue_bytes > 0)
			fprintf(out, "%s: a queue of %g bytes\n", level->name,
				level->queue_bytes);
		for (uint32_t k = 0; k < level->n_shares; k++)
			fprintf(out, "%s: %g of the rate at %g bytes\n",
				level->name, level->shares[k].share,
				level->shares[k].size_bytes);
	}
}

static void fabric_dump(FILE *out, const struct weft_fabric *f)
{
	fprintf(out, "\"%s\" %s: %u nodes, %u gpus, %u rails, %s\n", f->name,
		f->profile, f->n_nodes, f->n_gpus, f->n_rails,
		f->connected ? "connected" : "disjoint");
	routing_dump(out, f);
	for (uint32_t l = 0; l < f->n_levels; l++)
		link_dump(out, f, l);
	for (uint32_t k = 0; k < f->n_nodes && k < 40; k++) {
		const struct weft_node *node = &f->nodes[k];

		fprintf(out, "node %u %s: gpus %u+%u, order %u%s%s%s%s\n", k,
			node->name, node->first_gpu, node->n_gpus, node->order,
			node->rack == WEFT_NONE ? "" : ", rack ",
			node->rack == WEFT_NONE ? "" : f->racks[node->rack],
			node->kind == WEFT_NONE ? "" : ", kind ",
			node->kind == WEFT_NONE ? "" : f->kinds[node->kind]);
	}
	distances_dump(out, f);
	if (f->cabling)
		cabling_dump(out, f);
	uplinks_dump(out, f);
}

/* What the .golden or .error file of a fabric file holds; malloc'ed. */
static char *outcome(const char *path, bool *valid)
{
	struct weft_error err = {0};
	struct weft_fabric *f = weft_fabric_load(path, &err);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*valid = f != NULL;
	if (f) {
		assert_int_equal(fabric_check(f, &err), 0);
		fabric_dump(out, f);
	} else {
		fprintf(out, "%d:%d: %s\n", err.line, err.column, err.text);
	}
	assert_int_equal(fclose(out), 0);
	weft_fabric_free(f);
	return text;
}

static int case_check(const char *folder, const char *file, bool want_valid)
{
	char path[1024];
	const char *dot = strrchr(file, '.');
	char *want, *got;
	bool valid;
	int failed;

	snprintf(path, sizeof(path), "%s/%.*s.%s", folder, (int)(dot - file),
		 file, want_valid ? "golden" : "error");
	want = test_read_file(path, NULL);
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	got = outcome(path, &valid);
	failed = !want || strcmp(want, got) != 0 || valid != want_valid;
	if (failed)
		print_error("%s\nexpected:\n%sfound:\n%s", path,
			    want ? want : "(no file)\n", got);
	free(want);
	free(got);
	return failed;
}

static void folder_check(const char *name, bool want_valid, int at_least)
{
	char folder[FOLDER_MAX];
	const struct dirent *entry;
	int n = 0, failed = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s", test_source(name));
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".yaml") != 0)
			continue;
		failed += case_check(folder, entry->d_name, want_valid);
		n++;
	}
	closedir(dir);
	print_message("%d cases in %s\n", n, name);
	assert_int_equal(failed, 0);
	assert_true(n >= at_least);
}

static void valid_fabrics_have_the_shape_of_their_golden_file(void **state)
{
	(void)state;
	folder_check("tests/fabrics/valid", true, 10);
}

static void invalid_fabrics_fail_with_place_and_message(void **state)
{
	(void)state;
	folder_check("tests/fabrics/invalid", false, 30);
}

static void the_example_fabrics_load(void **state)
{
	char folder[FOLDER_MAX], path[1024];
	const struct dirent *entry;
	int n = 0;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", test_source("contrib/fabrics"));
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		struct weft_error err = {0};
		struct weft_fabric *f;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		f = weft_fabric_load(path, &err);
		assert_no_error(&err);
		assert_int_equal(fabric_check(f, &err), 0);
		weft_fabric_free(f);
		n++;
	}
	closedir(dir);
	assert_true(n >= 4);
}

static int files_print(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		bool valid;
		char *text = outcome(argv[i], &valid);

		fputs(text, stdout);
		free(text);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			valid_fabrics_have_the_shape_of_their_golden_file),
		cmocka_unit_test(invalid_fabrics_fail_with_place_and_message),
		cmocka_unit_test(the_example_fabrics_load),
	};

	if (argc > 1)
		return files_print(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
