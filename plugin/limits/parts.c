/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.c - finding the nodes of the whole job, and answering part by part */
#include "plugin/limits/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/clock.h"
#include "base/hash.h"
#include "plugin/bridge/by_feature.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/proposal.h"

#include "src/common/log.h"
#include "src/common/node_conf.h"

/* Sets of nodes put to stock for one question. */
#define MAX_TRIES 8

/* Nodes beyond the least number that are tried. */
#define MAX_MORE 8

/* Slurm asks for all parts in one go. */
#define KEEP_S 1.0

/* The nodes found last. */
static struct found {
	uint32_t job_id; /* 0: none */
	uint64_t generation, spec;
	double at_s;
	uint32_t n_features, n_nodes;
	bitstr_t *of[WEFT_MAX_FEATURES];
	bitstr_t *by_feature, *all; /* all of these, and the job's */
	/* What Slurm was given so far, and of which features: bit k.  NULL:
	 * nothing. */
	bitstr_t *given;
	uint32_t n_given;
} found;

static uint64_t spec_hash(const char *spec)
{
	return weft_hash_bytes(WEFT_HASH_START, spec, strlen(spec) + 1);
}

static void found_free(struct found *f)
{
	for (uint32_t k = 0; k < WEFT_MAX_FEATURES; k++)
		FREE_NULL_BITMAP(f->of[k]);
	FREE_NULL_BITMAP(f->by_feature);
	FREE_NULL_BITMAP(f->all);
	FREE_NULL_BITMAP(f->given);
	*f = (struct found){0};
}

static void found_drop(void)
{
	found_free(&found);
}

/* The question that weft_parts_never answered last. */
static struct never {
	bool known, never;
	uint64_t asked;
} never;

void weft_parts_forget(void)
{
	found_drop();
	never = (struct never){0};
}

/* ---- features ---- */

/* A node of each counts for no other. */
struct features {
	uint32_t n, count[WEFT_MAX_FEATURES], total;
	bitstr_t *having[WEFT_MAX_FEATURES];
	struct weft_feature_group group;
	bool others; /* there are others than these */
};

static int feature_add(void *item, void *arg)
{
	const job_feature_t *feature = item;
	struct features *f = arg;

	if (!feature->node_bitmap_avail || f->n == WEFT_MAX_FEATURES) {
		f->others = true;
		return 1;
	}
	if (!weft_job_record_join(&f->group, feature))
		return 0;
	if (!feature->count || (feature->op_code != FEATURE_OP_XAND &&
				feature->op_code != FEATURE_OP_END))
		f->others = true;
	f->having[f->n] = f->group.nodes;
	f->group.nodes = NULL;
	f->total += feature->count;
	f->count[f->n++] = feature->count;
	return f->others;
}

static void features_free(struct features *f)
{
	for (uint32_t k = 0; k < f->n; k++)
		FREE_NULL_BITMAP(f->having[k]);
	FREE_NULL_BITMAP(f->group.nodes);
}

/* false: not of this kind. */
static bool features_read(const job_details_t *details, struct features *f)
{
	*f = (struct features){0};
	list_for_each(weft_job_record_features_known(details), feature_add, f);
	if (!f->others && f->n)
		return true;
	features_free(f);
	return false;
}

/* ---- the question of the whole job ---- */

struct whole {
	struct features features;
	struct weft_by_feature q; /* with the least number of nodes */
	uint32_t most_nodes;
	uint8_t *having, *for_what;
	uint64_t *able, *required;
};

static void whole_close(struct whole *w)
{
	features_free(&w->features);
	free(w->having);
	free(w->for_what);
	free(w->able);
	free(w->required);
}

/* The numbers of nodes that the whole job may have, which Slurm's part does not
 * say: that of a split, or from the least on, where the user gives a range. */
static void range_read(const struct weft_plan_request *query, struct whole *w)
{
	const struct weft_job_test *test = query->test;
	uint32_t most = WEFT_MOST_NODES(test->job);

	w->q.n_nodes = weft_job_record_least_nodes(test, w->features.total);
	w->most_nodes = w->q.n_nodes;
	if (query->frame.n_parts) {
		w->q.n_nodes = w->most_nodes = query->frame.nodes;
		return;
	}
	if (most > w->q.n_nodes + MAX_MORE)
		most = w->q.n_nodes + MAX_MORE;
	if (most > w->most_nodes)
		w->most_nodes = most;
}

static bool whole_open(const struct weft_plan_request *query, struct whole *w)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	const struct weft_fabric *f = nodes->fabric;

	*w = (struct whole){0};
	if (!features_read(query->test->job->details, &w->features))
		return false;
	w->having = weft_calloc(f->n_nodes, sizeof(*w->having), NULL);
	w->for_what = weft_calloc(f->n_nodes, sizeof(*w->for_what), NULL);
	w->able = weft_calloc(weft_bitset_words(f->n_nodes), sizeof(*w->able),
			      NULL);
	w->required = weft_calloc(weft_bitset_words(f->n_nodes),
				  sizeof(*w->required), NULL);
	w->q = (struct weft_by_feature){
		.fabric = f,
		.spec = query->request.spec,
		.n_features = w->features.n,
		.having = w->having,
		.able = w->able,
	};
	range_read(query, w);
	for (uint32_t k = 0; k < w->features.n; k++)
		w->q.count[k] = w->features.count[k];
	for (uint32_t i = 0; w->having && i < f->n_nodes; i++)
		for (uint32_t k = 0; k < w->features.n; k++)
			if (nodes->slurm_node[i] != WEFT_NONE &&
			    bit_test(w->features.having[k],
				     nodes->slurm_node[i]))
				w->having[i] |= (uint8_t)(1u << k);
	return w->having && w->for_what && w->able && w->required;
}

/* Of these, by the GPUs that are there, or free. */
static void able_add(const struct weft_plan_request *query, struct whole *w,
		     bitstr_t *could, bool emptied)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t need = query->request.gpus_per_node;

	for (uint32_t i = 0; i < w->q.fabric->n_nodes; i++) {
		uint32_t at = nodes->slurm_node[i];
		uint64_t gpus;

		if (at == WEFT_NONE || !bit_test(could, at))
			continue;
		/* of several, each node of the job has one */
		if (w->features.n > 1 && !w->having[i])
			continue;
		gpus = emptied ? weft_nodes_eligible(nodes, at,
						     query->request.gpu_type)
			       : nodes->gpus_free[at];
		if (weft_mask_count(gpus) >= (need ? need : 1))
			weft_bitset_add(w->able, i);
	}
}

/* Nodes that the user names count for the first feature alone: Slurm leaves
 * them out where it looks for the others.  false: one is not in the fabric. */
static bool required_add(const struct weft_plan_request *query, struct whole *w)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	bitstr_t *required = weft_job_record_required(query->test);
	bool known = true;

	for (uint32_t i = 0; i < nodes->n; i++) {
		uint32_t node = nodes->fabric_node[i];

		if (!bit_test(required, i))
			continue;
		if (node == WEFT_NONE || !weft_bitset_has(w->able, node)) {
			known = false;
			continue;
		}
		weft_bitset_add(w->required, node);
		w->having[node] &= 1;
		w->q.required = w->required;
	}
	bit_free(required);
	return known;
}

/* Of the part that is asked for now, which other nodes are no candidates for.
 */
static void candidates_heed(const struct weft_job_test *test, struct whole *w)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t k = 0;

	while (k < w->features.n &&
	       (w->features.count[k] != test->min_nodes ||
		!bit_overlap_any(w->features.having[k], test->nodes)))
		k++;
	for (uint32_t i = 0; k < w->features.n && i < w->q.fabric->n_nodes; i++)
		if (nodes->slurm_node[i] != WEFT_NONE &&
		    !bit_test(test->nodes, nodes->slurm_node[i]))
			w->having[i] &= (uint8_t) ~(1u << k);
}

/* ---- the nodes of the whole job ---- */

static void found_keep(const struct weft_job_test *test, const struct whole *w)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;

	found_drop();
	found.job_id = test->job->job_id;
	found.generation = nodes->generation;
	found.spec = spec_hash(w->q.spec);
	found.at_s = weft_clock_s();
	found.n_features = w->features.n;
	found.n_nodes = w->q.n_nodes;
	found.all = bit_alloc(nodes->n);
	found.by_feature = bit_alloc(nodes->n);
	for (uint32_t k = 0; k < w->features.n; k++)
		found.of[k] = bit_alloc(nodes->n);
	for (uint32_t i = 0; i < w->q.fabric->n_nodes; i++) {
		uint32_t k = w->for_what[i], at = nodes->slurm_node[i];

		if (k == WEFT_NOT_CHOSEN)
			continue;
		bit_set(found.all, at);
		if (k == w->features.n)
			continue;
		bit_set(found.by_feature, at);
		bit_set(found.of[k], at);
	}
}

/* Those that stock would not take alone, or all of them, are left out. */
static void leave_out(const struct weft_job_test *test, struct whole *w)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	bool any = false;

	for (uint32_t i = 0; i < w->q.fabric->n_nodes; i++) {
		if (w->for_what[i] == WEFT_NOT_CHOSEN ||
		    weft_clock_s() > w->q.deadline_s ||
		    weft_proposal_part(test, nodes->slurm_node[i],
				       w->q.n_nodes))
			continue;
		weft_bitset_remove(w->able, i);
		any = true;
	}
	for (uint32_t i = 0; !any && i < w->q.fabric->n_nodes; i++)
		if (w->for_what[i] != WEFT_NOT_CHOSEN)
			weft_bitset_remove(w->able, i);
}

static bool stock_takes_all(const struct weft_job_test *test)
{
	bitstr_t *nodes = bit_copy(found.all);
	bool takes = weft_proposal_whole(test, nodes, found.all, found.n_nodes);

	bit_free(nodes);
	return takes;
}

/* With as few nodes as will do. */
static enum weft_by_feature_found range_find(struct whole *w)
{
	uint32_t least = w->q.n_nodes;
	enum weft_by_feature_found here = WEFT_FOUND_NONE;

	for (; w->q.n_nodes <= w->most_nodes; w->q.n_nodes++) {
		here = weft_by_feature_find(&w->q, w->for_what);
		if (here != WEFT_FOUND_NONE)
			return here;
	}
	w->q.n_nodes = least;
	return here;
}

static bool nodes_find(const struct weft_plan_request *query, struct whole *w)
{
	for (uint32_t i = 0; i < MAX_TRIES; i++) {
		if (range_find(w) != WEFT_FOUND_NODES)
			return false;
		found_keep(query->test, w);
		if (stock_takes_all(query->test))
			return true;
		found_drop();
		leave_out(query->test, w);
		if (weft_clock_s() > w->q.deadline_s)
			return false;
	}
	return false;
}

/* The parts that Slurm has already stay what they are. */
static void given_add(const struct found *before, struct whole *w)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;

	for (uint32_t k = 0; k < before->n_features; k++)
		for (uint32_t i = 0; i < nodes->n; i++) {
			uint32_t node = nodes->fabric_node[i];

			if (!(before->n_given >> k & 1) ||
			    !bit_test(before->of[k], i) || node == WEFT_NONE)
				continue;
			weft_bitset_add(w->able, node);
			weft_bitset_add(w->required, node);
			w->having[node] = (uint8_t)(1u << k);
			w->q.required = w->required;
		}
}

/* given: Slurm has parts of what was found before, which is kept where there is
 * nothing else. */
static bool whole_find(const struct weft_plan_request *query, bool given,
		       double deadline_s)
{
	bitstr_t *could = weft_job_record_could_have(query->test);
	struct found before = found;
	struct whole w;
	bool is_found = false;

	found = (struct found){0};
	if (query->request.whole_nodes)
		weft_nodes_keep_whole(could, query->test->job);
	if (whole_open(query, &w)) {
		w.q.deadline_s = deadline_s;
		able_add(query, &w, could, false);
		if (required_add(query, &w)) {
			candidates_heed(query->test, &w);
			if (given)
				given_add(&before, &w);
			is_found = nodes_find(query, &w);
		}
	}
	whole_close(&w);
	bit_free(could);
	if (!is_found && given) {
		found = before;
		return false;
	}
	if (given) {
		found.given = before.given;
		found.n_given = before.n_given;
		before.given = NULL;
	}
	found_free(&before);
	return is_found;
}

/* ---- answers ---- */

static bool is_found(const struct weft_plan_request *query)
{
	return found.job_id == query->test->job->job_id &&
	       found.generation == weft_engine.nodes.generation &&
	       found.spec == spec_hash(query->request.spec) &&
	       weft_clock_s() - found.at_s < KEEP_S;
}

/* Slurm leaves what it has out of the nodes of the next feature; when it begins
 * anew all are there. */
bool weft_parts_begun(const struct weft_plan_request *query)
{
	return is_found(query) && found.given &&
	       !bit_overlap_any(found.given, query->test->nodes);
}

static void give(bitstr_t *part, bool given)
{
	if (!given) {
		FREE_NULL_BITMAP(found.given);
		found.n_given = 0;
	}
	for (uint32_t k = 0; k < found.n_features; k++)
		if (bit_equal(found.of[k], part))
			found.n_given |= 1u << k;
	if (found.given)
		bit_or(found.given, part);
	else
		found.given = bit_copy(part);
}

/* The nodes that are asked for now.  NULL: not those that were found.  Caller:
 * bit_free. */
static bitstr_t *part_of(const struct weft_job_test *test)
{
	const job_details_t *details = test->job->details;
	bitstr_t *rest;

	if (details->req_node_bitmap &&
	    bit_super_set(found.by_feature, details->req_node_bitmap))
		return bit_copy(found.all);
	for (uint32_t k = 0; k < found.n_features; k++)
		if (bit_set_count(found.of[k]) == (int64_t)test->min_nodes &&
		    bit_super_set(found.of[k], test->nodes))
			return bit_copy(found.of[k]);
	if (details->feature_list_use)
		return NULL;
	rest = bit_copy(found.all);
	bit_and_not(rest, found.by_feature);
	return rest;
}

static bool answer(const struct weft_job_test *test, bool given)
{
	bitstr_t *part = part_of(test);
	uint32_t n = part ? (uint32_t)bit_set_count(part) : 0;
	bool taken =
		n && n >= test->min_nodes && bit_super_set(part, test->nodes) &&
		(weft_proposal_is_will_run(test)
			 ? weft_proposal_share(test, part, n, found.n_nodes)
			 : weft_proposal_now(test, part, n));

	if (taken)
		give(part, given);
	FREE_NULL_BITMAP(part);
	return taken;
}

bool weft_parts_may(const struct weft_plan_request *query)
{
	const job_details_t *details = query->test->job->details;
	struct features features;

	if ((query->frame.segment <= 1 && !query->frame.n_parts &&
	     !query->frame.within[0]) ||
	    !query->test->job->part_ptr || !weft_job_record_in_parts(details) ||
	    !features_read(details, &features))
		return false;
	features_free(&features);
	return true;
}

bool weft_parts_ask(const struct weft_plan_request *query, double deadline_s)
{
	bool given = weft_parts_begun(query);

	if (is_found(query) && answer(query->test, given))
		return true;
	return whole_find(query, given, deadline_s) &&
	       answer(query->test, given);
}

/* All that the answer follows from. */
static uint64_t whole_hash(const struct whole *w)
{
	const uint32_t n = w->q.fabric->n_nodes;
	const uint32_t numbers[] = {w->q.n_nodes, w->most_nodes,
				    w->q.n_features};
	uint64_t hash =
		weft_hash_bytes(WEFT_HASH_START, numbers, sizeof(numbers));

	hash = weft_hash_bytes(hash, w->q.count, sizeof(w->q.count));
	hash = weft_hash_bytes(hash, w->q.spec, strlen(w->q.spec) + 1);
	hash = weft_hash_bytes(hash, w->having, n * sizeof(*w->having));
	return weft_hash_bytes(hash, w->able,
			       weft_bitset_words(n) * sizeof(*w->able));
}

/* The job may have more nodes than are tried. */
static bool is_open_ended(const struct weft_plan_request *query,
			  const struct whole *w)
{
	uint32_t most = WEFT_MOST_NODES(query->test->job);

	return !query->frame.n_parts && (!most || most > w->most_nodes);
}

bool weft_parts_never(const struct weft_plan_request *query, bitstr_t *nodes,
		      double deadline_s)
{
	struct whole w;
	uint64_t hash;
	bool known = whole_open(query, &w) && !is_open_ended(query, &w);

	if (known) {
		w.q.deadline_s = deadline_s;
		able_add(query, &w, nodes, true);
		hash = whole_hash(&w);
		/* Slurm asks about each part, and again for each try to start.
		 */
		if (!never.known || hash != never.asked)
			never.never = range_find(&w) == WEFT_FOUND_NONE;
		never.known = true;
		never.asked = hash;
	}
	whole_close(&w);
	return known && never.never;
}
