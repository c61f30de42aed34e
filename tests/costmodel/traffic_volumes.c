/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_volumes.c - what each rank sends, against closed forms of its stage
 */
#include "tests/costmodel/traffic_job.h"
#include "tests/lib/traffic.h"

#include "costmodel/traffic/collective.h"

/* Layers of stage p when the chunks are dealt one layer at a time. */
static void stage_layers(const struct job *job, uint32_t p, uint32_t *layers,
			 double *parameters)
{
	const struct weft_spec *spec = &job->spec;
	const struct weft_model *m = &job->model;
	uint32_t chunks = spec->pp * spec->vpp, first = 0;
	double matrix = (double)m->vocab * m->hidden;

	*layers = 0;
	*parameters = 0;
	for (uint32_t k = 0; k < chunks; k++) {
		uint32_t n = 0;

		for (uint32_t l = k; l < m->layers; l += chunks)
			n++;
		for (uint32_t l = first; l < first + n; l++) {
			if (k % spec->pp == p) {
				*parameters +=
					weft_model_layer_parameters(m, l);
				++*layers;
			}
		}
		first += n;
	}
	assert_int_equal(first, m->layers);
	if (p == 0)
		*parameters +=
			matrix +
			(m->learned_positions ? m->seq * (double)m->hidden : 0);
	if (p == spec->pp - 1 && (spec->pp > 1 || !m->tied_embedding))
		*parameters += matrix;
	*parameters /= spec->tp;
}

/* What the closed forms say rank sends on each axis. */
static void expected(const struct job *job, uint32_t rank,
		     double sent[WEFT_N_AXES])
{
	const struct weft_spec *s = &job->spec;
	const struct weft_model *m = &job->model;
	uint32_t p = coordinate(job, rank, "pp"), layers;
	double mb = weft_spec_micro_batches(s);
	double tokens = (double)s->seq / s->cp;
	double e = weft_dtype_bytes(s->dtype), parameters, sends;

	stage_layers(job, p, &layers, &parameters);
	memset(sent, 0, WEFT_N_AXES * sizeof(*sent));
	/* Both ends of the model, and three times a number a token. */
	sent[WEFT_AXIS_TP] =
		mb *
		(layers * tp_layer_bytes(s->tp, s->mbs, tokens, m->hidden, e) +
		 ((p == 0) + (p == s->pp - 1)) *
			 weft_volume_all_reduce(s->tp, s->mbs * tokens *
							       m->hidden * e) +
		 (p == s->pp - 1) * 3 *
			 weft_volume_all_reduce(s->tp, s->mbs * tokens * 4));
	sent[WEFT_AXIS_CP] = mb * layers *
			     cp_layer_bytes(s->cp, s->mbs, s->seq,
					    weft_model_kv_width(m, s->tp), e);
	sent[WEFT_AXIS_DP] = dp_step_bytes(s->dp * s->cp, parameters, s->zero,
					   (uint32_t)mb, 4, e < 2 ? 2 : e);
	if (s->pp == 1)
		return;
	/* Forward and backward of every chunk, but the ends of the whole. */
	sends = 2.0 * s->vpp - (p == 0) - (p == s->pp - 1);
	sent[WEFT_AXIS_PP] =
		sends * mb * s->mbs * tokens * m->hidden * e / s->tp;
	/* What comes in parts is gathered. */
	sent[WEFT_AXIS_TP] +=
		sends * mb *
		gather_bytes(s->tp, s->mbs * tokens * m->hidden * e);
	if (m->tied_embedding && (p == 0 || p == s->pp - 1))
		sent[WEFT_AXIS_PP] += 4.0 * m->vocab * m->hidden / s->tp;
}

static void check_against_closed_forms(const struct job *job)
{
	double total = 0;

	check_rows(&job->traffic);
	for (uint32_t r = 0; r < job->traffic.n_ranks; r++) {
		double sent[WEFT_N_AXES];

		expected(job, r, sent);
		for (int axis = 0; axis < WEFT_N_AXES; axis++) {
			assert_close(bytes_sent(&job->traffic, r,
						(enum weft_axis)axis),
				     sent[axis], 1e-12);
			total += sent[axis];
		}
	}
	assert_close(weft_traffic_bytes(&job->traffic), total, 1e-9);
}

/* Every edge of tp, cp and dp joins neighbours of one group in rank order. */
static void check_rings(const struct job *job)
{
	static const struct {
		const char *token;
		enum weft_axis axis;
	} rings[] = {{"tp", WEFT_AXIS_TP},
		     {"cp", WEFT_AXIS_CP},
		     {"dp-cp", WEFT_AXIS_DP}};
	uint32_t *ranks = malloc(job->grid.n_ranks * sizeof(*ranks));

	assert_non_null(ranks);
	for (size_t i = 0; i < 3; i++) {
		struct weft_error err = {0};
		uint32_t n = weft_grid_group(&job->grid, rings[i].token, 0,
					     ranks, &err);

		for (uint32_t g = 0; g < job->grid.n_ranks / n; g++) {
			weft_grid_group(&job->grid, rings[i].token, g, ranks,
					&err);
			for (uint32_t k = 0; n > 1 && k < n; k++)
				assert_true(bytes_between(&job->traffic,
							  ranks[k],
							  ranks[(k + 1) % n],
							  rings[i].axis) > 0);
		}
	}
	free(ranks);
}

static void every_rank_sends_what_the_closed_forms_say(void **state)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-cp-pp-dp",
					     "pp-dp-cp-tp", "pp/dp/cp/tp",
					     "dp-tp-pp-cp"};
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		struct job job;
		char text[256];

		random_spec(&seed, orders[test_random_below(&seed, 5)], text,
			    sizeof(text));
		job_build(text, &job);
		check_against_closed_forms(&job);
		check_rings(&job);
		weft_traffic_free(&job.traffic);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rank_sends_what_the_closed_forms_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
