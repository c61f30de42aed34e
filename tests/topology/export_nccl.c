/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_nccl.c - a node as NCCL's topology file, and back */
#include "tests/lib/fabric.h"
#include "topology/export/export.h"
#include "topology/import/import.h"

#include <stdio.h>
#include <stdlib.h>

/* Writes the node, reads it back; s and findings are the caller's to free. */
static const struct weft_inventory_inside *
there_and_back(const struct weft_fabric *f, const char *node,
	       struct weft_inventory *s, struct weft_findings *findings)
{
	struct weft_export_options options = {.node = node};
	struct weft_error err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	*s = (struct weft_inventory){0};
	*findings = (struct weft_findings){0};
	weft_export_nccl_xml(f, &options, out, findings, &err);
	fclose(out);
	assert_no_error(&err);
	weft_import_text(s, weft_importer_find("nccl-xml", &err), text, size,
			 "out", NULL, NULL, &err);
	assert_no_error(&err);
	assert_int_equal(weft_inventory_finish(s, &err), 0);
	assert_int_equal(s->n_insides, 1);
	free(text);
	return &s->insides[0];
}

/* GPUs, NVLink groups, NICs, their rails and rates. */
static void assert_same(const struct weft_fabric *f, uint32_t node,
			const struct weft_inventory_inside *in)
{
	const struct weft_node *n = &f->nodes[node];
	uint32_t network = f->node_level + 1;
	double rate = 0;

	assert_int_equal(in->n_gpus, n->n_gpus);
	for (uint32_t g = 0; g < n->n_gpus; g++)
		for (uint32_t h = 0; h < g; h++)
			assert_int_equal(
				f->gpu_domain[0][n->first_gpu + g] ==
					f->gpu_domain[0][n->first_gpu + h],
				in->gpus[g].nvlink_group ==
					in->gpus[h].nvlink_group);
	if (network >= f->n_levels) {
		assert_int_equal(in->n_nics, 0);
		return;
	}
	assert_int_equal(in->n_nics, f->n_rails > 1 ? f->n_rails : n->n_gpus);
	for (uint32_t k = 0; k < in->n_nics; k++) {
		assert_true(in->nics[k].near != 0);
		rate += in->nics[k].rate_bytes_per_s;
		if (f->n_rails > 1)
			assert_int_equal(in->nics[k].rail, k);
	}
	assert_close(rate, f->levels[network].link.rate_bytes_per_s * n->n_gpus,
		     1e-4);
}

static void what_a_fabric_holds_comes_back(void **state)
{
	static const char *const texts[] = {
		"weft: fabric/1\nnodes:\n  n[0-3]: 8\nlevels:\n  leaf:\n"
		"    l0: n[0-3]\n",
		"weft: fabric/1\nrails: 8\nnodes:\n  n[0-3]: 8\nlevels:\n"
		"  leaf:\n    l[0-7]: n[0-3]\n",
		"weft: fabric/1\nrails: 4\nnodes:\n  n[0-3]: 8\nlevels:\n"
		"  leaf:\n    l[0-3]: n[0-3]\n",
		"weft: fabric/1\nrails: 8\nnodes:\n  n[0-3]: 4\nlevels:\n"
		"  leaf:\n    l[0-7]: n[0-3]\n",
		"weft: fabric/1\nnvlink: 2\nnodes:\n  n[0-3]: 8\nlevels:\n"
		"  leaf:\n    l0: n[0-3]\n",
		"weft: fabric/1\nnvlink: 1\nprofile: pcie4-100g-tcp\nnodes:\n"
		"  n[0-3]: 4\nlevels:\n  leaf:\n    l0: n[0-3]\n",
		"weft: fabric/1\nnodes:\n  n0: 8\n",
		"weft: fabric/1\nnodes:\n  n0: 1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct weft_fabric *f = test_fabric(texts[i]);
		struct weft_findings findings;
		struct weft_inventory s;

		assert_same(f, 0, there_and_back(f, NULL, &s, &findings));
		assert_int_equal(s.findings.n, 0);
		assert_true(findings.n > 0);
		weft_findings_free(&findings);
		weft_inventory_free(&s);
		weft_fabric_free(f);
	}
}

static void a_node_is_chosen_by_name(void **state)
{
	struct weft_fabric *f =
		test_fabric("weft: fabric/1\nnodes:\n  a: 8\n  b: 4\n");
	struct weft_export_options options = {.node = "c"};
	struct weft_findings findings;
	struct weft_error err = {0};
	struct weft_inventory s;

	(void)state;
	assert_same(f, weft_fabric_node(f, "b"),
		    there_and_back(f, "b", &s, &findings));
	assert_int_equal(
		weft_export_nccl_xml(f, &options, stdout, &findings, &err), -1);
	assert_true(err.code > 0);
	weft_findings_free(&findings);
	weft_inventory_free(&s);
	weft_fabric_free(f);
}

static void a_spanning_nvlink_domain_is_said_to_be_cut(void **state)
{
	struct weft_fabric *f = test_fabric(
		"weft: fabric/1\nprofile: gb200-nvl72\nnodes:\n  n[0-3]: 4\n"
		"nvlink:\n  nvl[0-1]: n[0-3]\nlevels:\n  leaf:\n"
		"    l0: nvl[0-1]\n");
	struct weft_findings findings;
	struct weft_inventory s;
	const struct weft_inventory_inside *in =
		there_and_back(f, NULL, &s, &findings);

	(void)state;
	assert_int_equal(in->n_gpus, 4);
	assert_int_equal(in->gpus[0].n_nvlinks, 18);
	assert_int_equal(findings.n, 3);
	weft_findings_free(&findings);
	weft_inventory_free(&s);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_fabric_holds_comes_back),
		cmocka_unit_test(a_node_is_chosen_by_name),
		cmocka_unit_test(a_spanning_nvlink_domain_is_said_to_be_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
