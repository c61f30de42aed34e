/* SPDX-License-Identifier: GPL-3.0-or-later */
/* again.c - leaving out what stock declines, and asking it for a choice */
#include "plugin/limits/again.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bitset.h"
#include "base/clock.h"
#include "plugin/bridge/constraints.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/limits/parts.h"
#include "plugin/proposal.h"

#include "src/common/log.h"
#include "src/common/node_conf.h"

/* Plans put to stock for one question; a few of them also when time is up. */
#define MAX_TRIES 24
#define MIN_TRIES 2

/* Jobs of which declined nodes are remembered, and for how long. */
#define MAX_KEPT 16
#define KEEP_S	 60
#define NO_JOB	 0

static struct kept {
	uint32_t job_id;
	double until_s; /* by weft_clock_s, which is not set back */
	bitstr_t *declined;
} kept[MAX_KEPT];

/* ---- what was declined ---- */

static struct kept *kept_of(uint32_t job_id)
{
	return &kept[job_id % MAX_KEPT];
}

static void kept_drop(struct kept *k)
{
	if (k->declined)
		bit_free(k->declined);
	*k = (struct kept){.job_id = NO_JOB};
}

void weft_again_forget(void)
{
	for (uint32_t i = 0; i < MAX_KEPT; i++)
		kept_drop(&kept[i]);
}

void weft_again_open(const struct weft_job_test *test, double deadline_s,
		     struct weft_again *again)
{
	const struct kept *k = kept_of(test->job->job_id);

	*again = (struct weft_again){.test = *test, .deadline_s = deadline_s};
	again->test.nodes = bit_copy(test->nodes);
	again->declined = bit_alloc(bit_size(test->nodes));
	if (k->job_id == test->job->job_id && k->until_s > weft_clock_s())
		bit_or(again->declined, k->declined);
	bit_and_not(again->test.nodes, again->declined);
}

/* Those of the planned nodes that stock would not take alone, either, as far as
 * there is time to ask. */
static bitstr_t *unfit_alone(const struct weft_again *again, bitstr_t *planned)
{
	bitstr_t *unfit = bit_alloc(bit_size(planned));
	uint32_t n = (uint32_t)bit_set_count(planned);
	int64_t last = bit_fls(planned);

	for (int64_t i = bit_ffs(planned); i >= 0 && i <= last; i++) {
		if (!bit_test(planned, i))
			continue;
		if (!weft_proposal_part(&again->test, (uint32_t)i, n))
			bit_set(unfit, i);
		if (weft_clock_s() > again->deadline_s)
			break;
	}
	return unfit;
}

bool weft_again_decline(struct weft_again *again, bitstr_t *planned,
			bitstr_t *left)
{
	bitstr_t *required = again->test.job->details->req_node_bitmap;
	bitstr_t *declined;
	bool more;

	if (!planned || !left || again->n_tries >= MAX_TRIES ||
	    (again->n_tries >= MIN_TRIES && weft_clock_s() > again->deadline_s))
		return false;
	again->n_tries++;
	declined = unfit_alone(again, planned);
	if (bit_ffs(declined) < 0) {
		/* Something about all of them. */
		bit_or(declined, planned);
		if (bit_overlap_any(planned, left) &&
		    !bit_super_set(planned, left))
			bit_and_not(declined, left);
	}
	if (required)
		bit_and_not(declined, required);
	more = bit_overlap_any(declined, again->test.nodes);
	debug2("weft: JobId=%u: %d of %d planned nodes are left out",
	       again->test.job->job_id, (int)bit_set_count(declined),
	       (int)bit_set_count(planned));
	bit_and_not(again->test.nodes, declined);
	bit_or(again->declined, declined);
	bit_free(declined);
	return more;
}

void weft_again_close(struct weft_again *again, bool useful)
{
	const job_record_t *job = again->test.job;
	struct kept *k = kept_of(job->job_id);

	if (useful || k->job_id == job->job_id)
		kept_drop(k);
	if (useful) {
		k->job_id = job->job_id;
		k->until_s = weft_clock_s() + KEEP_S;
		k->declined = again->declined;
	} else {
		bit_free(again->declined);
	}
	bit_free(again->test.nodes);
}

/* ---- stock's choice ---- */

/* Candidates with so many free GPUs as the job takes of each node, at least: of
 * those weft is sure. */
static bitstr_t *able_nodes(const struct weft_plan_request *query)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t need = query->request.gpus_per_node;
	bitstr_t *able = bit_copy(query->test->nodes);

	for (uint32_t i = 0; i < nodes->n; i++)
		if (nodes->fabric_node[i] == WEFT_NONE ||
		    weft_mask_count(nodes->gpus_free[i]) < (need ? need : 1))
			bit_clear(able, i);
	if (query->request.whole_nodes)
		weft_nodes_keep_whole(able, query->test->job);
	return able;
}

bool weft_again_keeps(const struct weft_plan_request *query, bitstr_t *chosen)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t *known = weft_calloc(nodes->n, sizeof(*known), NULL);
	uint32_t n = 0;
	bool keeps;

	for (uint32_t i = 0; known && i < nodes->n; i++)
		if (bit_test(chosen, i))
			known[n++] = nodes->fabric_node[i];
	keeps = known && weft_constraints_holds(nodes->fabric,
						query->request.spec, known, n);
	free(known);
	return keeps;
}

static bool may_suffice(const struct weft_job_test *test, bitstr_t *nodes)
{
	bitstr_t *required = test->job->details->req_node_bitmap;

	return bit_set_count(nodes) >= (int64_t)test->min_nodes &&
	       (!required || bit_super_set(required, nodes));
}

/* The parts of split= are all nodes of the job, of which stock would rather
 * take fewer. */
static struct weft_job_test
with_all_parts(const struct weft_plan_request *query)
{
	struct weft_job_test test = *query->test;
	uint32_t n = query->frame.nodes;

	if (query->frame.n_parts && n >= test.min_nodes && n <= test.max_nodes)
		test.min_nodes = test.max_nodes = test.want_nodes = n;
	return test;
}

/* Asks stock for a choice of these nodes, and takes it if it will do. */
static bool ask_stock(const struct weft_plan_request *query, bitstr_t *nodes)
{
	const struct weft_job_test test = with_all_parts(query);
	struct weft_proposal_saved saved;

	if (!may_suffice(&test, nodes))
		return false;
	weft_proposal_save(test.job, &saved);
	if (!weft_proposal_any(&test, nodes))
		return false;
	if (!weft_again_keeps(query, nodes)) {
		weft_proposal_withdraw(test.job, &saved);
		return false;
	}
	bit_copybits(test.nodes, nodes);
	return true;
}

/* The able ones among the nodes of a domain; trimmed: as many of each domain of
 * segments as a choice is likely to hold.  NULL: out of memory.  Caller:
 * bit_free. */
static bitstr_t *region_of(const struct weft_plan_request *query,
			   bitstr_t *able, const struct weft_domain *d,
			   bool trimmed)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t *known = weft_calloc(d->n_nodes, sizeof(*known), NULL);
	uint32_t n_known = 0;
	bitstr_t *region;

	if (!known)
		return NULL;
	for (uint32_t k = d->first_node; k < d->first_node + d->n_nodes; k++)
		if (nodes->slurm_node[k] != WEFT_NONE &&
		    bit_test(able, nodes->slurm_node[k]))
			known[n_known++] = k;
	if (trimmed)
		n_known = weft_constraints_trim(
			nodes->fabric, query->request.spec, known, n_known);
	region = weft_nodes_set(nodes, known, n_known);
	free(known);
	return region;
}

static bool ask_region(const struct weft_plan_request *query, bitstr_t *able,
		       const struct weft_domain *d, bool trimmed)
{
	bitstr_t *region = region_of(query, able, d, trimmed);
	bool taken = region && ask_stock(query, region);

	FREE_NULL_BITMAP(region);
	return taken;
}

/* Nodes by feature that a domain is to have. */
struct by_feature {
	bitstr_t *room;	  /* of the domain: their GPUs may be free */
	bitstr_t *having; /* of these, those with any of the features */
	struct weft_feature_group group;
	bool apart;	  /* a node counts for one of those that follow */
	uint32_t n_asked; /* nodes that the features so far take, at least */
};

/* Finds a feature of which the domain lacks nodes that may be free.  Features
 * in parentheses are one, with the count behind them. */
static int find_lacking(void *item, void *arg)
{
	const job_feature_t *feature = item;
	struct by_feature *of = arg;
	bool lacks = false;

	if (!weft_job_record_join(&of->group, feature))
		return 0;
	if (feature->count) {
		bit_and(of->group.nodes, of->room);
		bit_or(of->having, of->group.nodes);
		lacks = bit_set_count(of->group.nodes) <
			(int64_t)feature->count;
		if (of->apart)
			of->n_asked += feature->count;
		else if (of->n_asked < feature->count)
			of->n_asked = feature->count;
		of->apart |= feature->op_code == FEATURE_OP_XAND;
	}
	FREE_NULL_BITMAP(of->group.nodes);
	return lacks;
}

/* Nodes of the domain that the job could have, by their GPUs.  Caller:
 * bit_free. */
static bitstr_t *room_of(const struct weft_plan_request *query,
			 const struct weft_domain *d)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	bitstr_t *room = bit_alloc(bit_size(query->test->nodes)), *could;

	for (uint32_t k = d->first_node; k < d->first_node + d->n_nodes; k++) {
		uint32_t i = nodes->slurm_node[k];

		if (i != WEFT_NONE && weft_mask_count(nodes->gpus_free[i]) >=
					      query->request.gpus_per_node)
			bit_set(room, i);
	}
	could = weft_job_record_could_have(query->test);
	bit_and(room, could);
	bit_free(could);
	return room;
}

/* Other nodes of the job need none of the features, unless there are several:
 * then each has one. */
static bool has_room(const struct weft_plan_request *query,
		     struct by_feature *of)
{
	const struct weft_job_test *test = query->test;
	uint32_t n = weft_job_record_least_nodes(test, of->n_asked);
	bitstr_t *required = weft_job_record_required(test);
	bool has = bit_set_count(of->having) >= (int64_t)n &&
		   weft_proposal_whole(test, of->having, required, n);

	if (!has && !of->apart && test->max_nodes > of->n_asked &&
	    bit_set_count(of->room) >= (int64_t)n)
		has = weft_proposal_whole(test, of->room, required, n);
	bit_free(required);
	return has;
}

/* Slurm asks for the nodes of one feature, then for those of the next, at last
 * for the whole job with these: all have to be in the domain of the first,
 * which has to have room for the job. */
static bool has_features(const struct weft_plan_request *query,
			 const struct weft_domain *d)
{
	const job_details_t *details = query->test->job->details;
	struct by_feature of = {0};
	bool enough;

	if (!weft_job_record_in_parts(details))
		return true;
	of.room = room_of(query, d);
	of.having = bit_alloc(bit_size(of.room));
	enough = !list_find_first(weft_job_record_features_known(details),
				  find_lacking, &of) &&
		 has_room(query, &of);
	FREE_NULL_BITMAP(of.group.nodes);
	bit_free(of.having);
	bit_free(of.room);
	return enough;
}

/* Domain by domain of the level, from *first on, which becomes the one that was
 * taken, for the next features of the same job, or the next one where time ran
 * out. */
static bool ask_domains(const struct weft_plan_request *query, bitstr_t *able,
			uint32_t level, bool trimmed, uint32_t *first,
			double deadline_s)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t n = level < f->node_level ? 0 : f->levels[level].n_domains;
	uint32_t start = n ? *first % n : 0;
	bool taken = false;

	*first = 0;
	for (uint32_t k = 0; k < n && !taken; k++) {
		uint32_t at = (start + k) % n;
		const struct weft_domain *d =
			&f->domains[f->levels[level].first_domain + at];

		if (k && weft_clock_s() > deadline_s) {
			*first = at;
			break;
		}
		taken = has_features(query, d) &&
			ask_region(query, able, d, trimmed);
		if (taken)
			*first = at;
	}
	return taken;
}

/* For jobs with --contiguous: asks about each row of able nodes that keeps to
 * the limits, the shortest first. */
static bool ask_rows(const struct weft_plan_request *query, bitstr_t *able,
		     uint32_t *first, double deadline_s)
{
	const struct weft_job_test *test = query->test;
	int64_t n_all = bit_size(able), most = bit_set_count(able);
	int64_t least = test->min_nodes ? test->min_nodes : 1;
	int64_t n_rows, begin;
	bool taken = false;

	if (most > (int64_t)test->max_nodes)
		most = test->max_nodes;
	n_rows = most < least ? 0 : (most - least + 1) * n_all;
	begin = n_rows ? *first % n_rows : 0;
	*first = 0;
	for (int64_t k = 0; k < n_rows && !taken; k++) {
		int64_t at = (begin + k) % n_rows;
		int64_t n = least + at / n_all, from = at % n_all;
		bitstr_t *row;

		if (from + n > n_all)
			continue;
		row = bit_alloc(n_all);
		bit_nset(row, from, from + n - 1);
		taken = bit_super_set(row, able) &&
			weft_again_keeps(query, row) && ask_stock(query, row);
		bit_free(row);
		if (taken || weft_clock_s() > deadline_s) {
			*first = (uint32_t)(taken ? at : at + 1);
			break;
		}
	}
	return taken;
}

static uint32_t level_asked(const struct weft_plan_request *query)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t level = weft_constraints_level(f, &query->frame);

	return level == WEFT_NONE ? f->n_levels - 1 : level;
}

static struct weft_turn_asked *turn_of(const job_record_t *job)
{
	return &weft_answers_of(&weft_engine.answers, job->job_id, time(NULL))
			->turn;
}

bool weft_again_by_stock(const struct weft_plan_request *query, bool elsewhere,
			 double deadline_s)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t *first = turn_of(query->test->job)->first;
	uint32_t level, whole;
	bitstr_t *able;
	bool taken = false, in_parts;

	if (!query->request.spec)
		return false;
	weft_nodes_refresh(&weft_engine.nodes);
	if (weft_parts_may(query)) {
		if (weft_parts_ask(query, deadline_s))
			return true;
		/* within= holds for a part on its own, too */
		if (query->frame.segment > 1 || query->frame.n_parts ||
		    weft_parts_begun(query))
			return false;
	}
	for (uint32_t way = 0; elsewhere && way < WEFT_N_WAYS; way++)
		first[way]++;
	level = level_asked(query);
	able = able_nodes(query);
	whole = weft_constraints_whole(f, query->request.spec);
	/* The parts of a job know nothing of each other's segments. */
	in_parts = weft_job_record_in_parts(query->test->job->details);
	if (in_parts && whole != WEFT_NONE)
		taken = ask_domains(query, able, whole, false,
				    &first[WEFT_BY_WHOLE], deadline_s);
	if (!taken)
		taken = ask_domains(query, able, level, true,
				    &first[WEFT_BY_LEVEL], deadline_s);
	if (!taken && !in_parts && whole != WEFT_NONE)
		taken = ask_domains(query, able, whole, false,
				    &first[WEFT_BY_WHOLE], deadline_s);
	/* What was trimmed away may be what suits: the last segment may be a
	 * smaller one, and not all GPUs of a node of the type. */
	if (!taken && !in_parts &&
	    (query->frame.segment > 1 || query->frame.n_parts))
		taken = ask_domains(query, able, level, false,
				    &first[WEFT_BY_LEVEL_UNTRIMMED],
				    deadline_s);
	if (!taken && !in_parts && query->test->job->details->contiguous)
		taken = ask_rows(query, able, &first[WEFT_BY_ROW], deadline_s);
	bit_free(able);
	return taken;
}

/* ---- what stock never does ---- */

/* In the mode of the query, which is to change nothing. */
static bool would_take(const struct weft_plan_request *query, bitstr_t *nodes)
{
	struct weft_job_test narrowed = *query->test;
	struct weft_proposal_saved saved;
	bool taken;

	narrowed.nodes = nodes;
	narrowed.preemptable = NULL;
	narrowed.preempted = NULL;
	weft_proposal_save(narrowed.job, &saved);
	taken = weft_stock_job_test(&narrowed) == SLURM_SUCCESS;
	weft_proposal_restore(narrowed.job, &saved);
	return taken;
}

bool weft_again_ever(const struct weft_plan_request *query, double deadline_s)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t level = weft_constraints_level(f, &query->frame), n_asked = 0;
	bool may = !query->frame.within[0] || level == WEFT_NONE ||
		   level < f->node_level;

	for (uint32_t k = 0; !may && k < f->levels[level].n_domains; k++) {
		bitstr_t *region = region_of(
			query, query->test->nodes,
			&f->domains[f->levels[level].first_domain + k], false);

		may = !region || weft_clock_s() > deadline_s;
		if (!may && may_suffice(query->test, region)) {
			may = would_take(query, region);
			n_asked++;
		}
		FREE_NULL_BITMAP(region);
	}
	return may || !n_asked;
}

/* ---- stock's time, and whom it would preempt ---- */

/* The k-th domain of the level that the limits ask about. */
static bitstr_t *nth_region(const struct weft_plan_request *query, uint32_t k)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t level = level_asked(query);
	bitstr_t *region =
		region_of(query, query->test->nodes,
			  &f->domains[f->levels[level].first_domain + k], true);

	if (region && !may_suffice(query->test, region))
		FREE_NULL_BITMAP(region);
	return region;
}

static uint32_t n_regions(const struct weft_plan_request *query)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t level = level_asked(query);

	return level >= f->node_level && query->request.spec
		       ? f->levels[level].n_domains
		       : 0;
}

void weft_again_each(const struct weft_plan_request *query, double deadline_s,
		     void (*ask)(const struct weft_plan_request *query,
				 bitstr_t *region, void *arg),
		     void *arg)
{
	uint32_t *first = &turn_of(query->test->job)->first_victims;
	uint32_t n = n_regions(query), begin = n ? *first % n : 0;

	*first = 0;
	for (uint32_t k = 0; k < n; k++) {
		bitstr_t *region = nth_region(query, (begin + k) % n);

		if (region)
			ask(query, region, arg);
		FREE_NULL_BITMAP(region);
		if (k + 1 < n && weft_clock_s() > deadline_s) {
			*first = begin + k + 1;
			return;
		}
	}
}

/* Takes the domain's choice over where it is sooner than what was found before.
 */
static void ask_when(const struct weft_plan_request *query, uint32_t domain,
		     struct weft_turn_asked *turn, bitstr_t **nodes,
		     time_t *start)
{
	bitstr_t *region = nth_region(query, domain);
	time_t at;

	if (!region || !weft_proposal_when(query->test, region, &at) ||
	    !weft_again_keeps(query, region) || (*nodes && at >= *start)) {
		FREE_NULL_BITMAP(region);
		return;
	}
	FREE_NULL_BITMAP(*nodes);
	*nodes = region;
	*start = at;
	turn->soonest = domain + 1;
}

bool weft_again_when(const struct weft_plan_request *query, double deadline_s,
		     bitstr_t **nodes, time_t *start, bool *cut)
{
	struct weft_turn_asked *turn = turn_of(query->test->job);
	uint32_t n = n_regions(query), before = turn->soonest;
	uint32_t begin = n ? turn->first_later % n : 0;

	*nodes = NULL;
	*cut = false;
	turn->soonest = 0;
	turn->first_later = 0;
	if (before && before <= n)
		ask_when(query, before - 1, turn, nodes, start);
	for (uint32_t k = 0; k < n && !*cut; k++) {
		uint32_t domain = (begin + k) % n;

		if (domain + 1 == before)
			continue;
		ask_when(query, domain, turn, nodes, start);
		*cut = k + 1 < n && weft_clock_s() > deadline_s;
		if (*cut)
			turn->first_later = domain + 1;
	}
	return *nodes;
}
