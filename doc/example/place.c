/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c - libweft in one page: places a job and prints where each rank runs
 *
 *	cc place.c $(pkg-config --cflags --libs weft) -o place
 *	./place fabric.yaml gpus=64,tp=8,pp=2 'n[00-02]'
 */
#include "placement/place.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const struct weft_error *err)
{
	char text[512];

	fprintf(stderr, "%s\n", weft_error_text(err, text, sizeof(text)));
	return EXIT_FAILURE;
}

static void print(const struct weft_fabric *f, const struct weft_placement *p)
{
	for (uint32_t r = 0; r < p->n_ranks; r++) {
		uint32_t node = f->gpu_node[p->where[r]];

		printf("rank %u: %s GPU %u\n", r, f->nodes[node].name,
		       p->where[r] - f->nodes[node].first_gpu);
	}
}

int main(int argc, char **argv)
{
	struct weft_error err = {0};
	struct weft_occupancy free_gpus = {0};
	struct weft_placement p = {0};
	struct weft_job job = {0};
	struct weft_fabric *f;
	int code = EXIT_FAILURE;

	if (argc < 3) {
		fprintf(stderr, "usage: place FABRIC SPEC [BUSY]\n");
		return EXIT_FAILURE;
	}
	f = weft_fabric_load(argv[1], &err);
	if (!f)
		return fail(&err);
	if (weft_job_build(argv[2], 0, true, f, &job, &err) ||
	    weft_occupancy_build(f, &free_gpus, &err) ||
	    (argc > 3 && weft_occupancy_busy(&free_gpus, argv[3], &err)) ||
	    weft_place(f, &job, &free_gpus, NULL, &p, &err)) {
		fail(&err);
	} else if (!p.placed) {
		printf("there is no room for this job\n");
	} else {
		print(f, &p);
		code = EXIT_SUCCESS;
	}
	weft_placement_free(&p);
	weft_occupancy_free(&free_gpus);
	weft_job_free(&job);
	weft_fabric_free(f);
	return code;
}
