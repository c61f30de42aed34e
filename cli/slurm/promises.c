/* SPDX-License-Identifier: GPL-3.0-or-later */
/* promises.c - holding jobs' nodes against what was asked for
 *
 * Fields used, as Slurm 22.05 to 26.05 print them:
 *   JobId=7 ... JobState=RUNNING ... EligibleTime=... StartTime=...
 *   NodeList=n[00-03] ... OverSubscribe=TOPO ... SegmentSize=12 ...
 *   Switches=1@00:05:00
 *   SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[00-03]
 *   BlockName=b0 BlockIndex=0 Nodes=n[00-03] BlockSize=4
 */
#include "cli/slurm/promises.h"

#include "base/compare.h"
#include "base/hostlist.h"
#include "cli/command.h"
#include "cli/slurm/slurm_fields.h"
#include "cli/slurm/slurm_job.h"
#include "costmodel/job/spec.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const promise_names[PROMISE_N_KINDS] = {
	[PROMISE_SWITCHES] = "switches",   [PROMISE_SEGMENT] = "segment",
	[PROMISE_SPLIT] = "split",	   [PROMISE_WITHIN] = "within",
	[PROMISE_EXCLUSIVE] = "exclusive",
};

/* A job that runs; nodes of the fabric. */
struct watched {
	char id[32];
	uint32_t n_nodes, *nodes;
	bool exclusive;
};

struct watch {
	const struct weft_fabric *f;
	const struct snapshot *snapshot;
	struct promises *to;
	/* [f->n_nodes] number of the block or leaf switch; WEFT_NONE: in none
	 */
	uint32_t *block, *leaf;
	uint32_t n_blocks, n_leafs;
	uint32_t n_jobs;
	struct watched *jobs;
	uint32_t *share; /* [f->n_nodes] nodes of a job in each domain, most
			    first */
	uint32_t n_shares;
};

/* ---- reading ---- */

/* The fabric's nodes of a hostlist field, malloc'ed; others are left out. */
static uint32_t nodes_read(const struct weft_fabric *f, const char *field,
			   uint32_t **nodes)
{
	struct weft_hostlist hosts = {0};
	char *text = field ? strndup(field, strcspn(field, " \n")) : NULL;
	uint32_t n = 0;

	*nodes = NULL;
	if (text &&
	    weft_hostlist_decode(text, WEFT_MAX_GPUS, &hosts, NULL) == 0)
		*nodes = weft_calloc(hosts.n, sizeof(**nodes), NULL);
	for (uint32_t i = 0; *nodes && i < hosts.n; i++) {
		(*nodes)[n] = weft_fabric_node(f, hosts.names[i]);
		n += (*nodes)[n] != WEFT_NONE;
	}
	weft_hostlist_free(&hosts);
	free(text);
	return n;
}

static void domain_read(struct watch *w, const char *line, uint32_t *of,
			uint32_t *n)
{
	uint32_t *nodes;
	uint32_t n_nodes = nodes_read(w->f, slurm_field(line, "Nodes"), &nodes);

	for (uint32_t i = 0; i < n_nodes; i++)
		of[nodes[i]] = *n;
	(*n)++;
	free(nodes);
}

static void topology_read(struct watch *w, FILE *in)
{
	char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0) {
		const char *level = slurm_field(line, "Level");

		if (strncmp(line, "BlockName=", 10) == 0)
			domain_read(w, line, w->block, &w->n_blocks);
		else if (strncmp(line, "SwitchName=", 11) == 0 && level &&
			 strtoul(level, NULL, 10) == 0)
			domain_read(w, line, w->leaf, &w->n_leafs);
	}
	free(line);
}

/* ---- shares ---- */

/* How many of the job's nodes are in each domain; of: the domain of each node,
 * below n_domains.  One that is in none stands alone. */
static void shares_find(struct watch *w, const struct watched *job,
			const uint32_t *of, uint32_t n_domains)
{
	uint32_t *count =
		weft_calloc(n_domains + (size_t)1, sizeof(*count), NULL);

	w->n_shares = 0;
	for (uint32_t i = 0; count && i < job->n_nodes; i++) {
		if (of[job->nodes[i]] == WEFT_NONE)
			w->share[w->n_shares++] = 1;
		else
			count[of[job->nodes[i]]]++;
	}
	for (uint32_t d = 0; count && d < n_domains; d++)
		if (count[d])
			w->share[w->n_shares++] = count[d];
	qsort(w->share, w->n_shares, sizeof(*w->share),
	      weft_compare_numbers_down);
	free(count);
}

/* The same of the domains of a level of the fabric. */
static int level_shares(struct watch *w, const struct watched *job,
			uint32_t level)
{
	const struct weft_fabric *f = w->f;
	uint32_t *of = weft_calloc(f->n_nodes, sizeof(*of), NULL);

	if (!of)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		of[i] = level < f->node_level
				? i
				: f->gpu_domain[level][f->nodes[i].first_gpu];
	shares_find(w, job, of,
		    f->n_domains > f->n_nodes ? f->n_domains : f->n_nodes);
	free(of);
	return 0;
}

/* Whole segments, each in one domain, and what is left over in one more. */
static bool segments_hold(const struct watch *w, uint32_t n_nodes,
			  uint32_t segment)
{
	uint32_t whole = 0, rests = 0;

	for (uint32_t i = 0; i < w->n_shares; i++) {
		whole += w->share[i] / segment;
		rests += w->share[i] % segment != 0;
	}
	return w->n_shares <= 1 || (whole == n_nodes / segment && rests <= 1);
}

/* ---- telling ---- */

/* Notes whether the job has what it asked for; if not: asked, and the shares of
 * the domains. */
static void note(struct watch *w, const struct watched *job,
		 enum promise_kind kind, bool kept, const char *asked,
		 const char *domain)
{
	struct promises *to = w->to;
	struct promise *more, *broken;
	size_t used;

	to->n_kept[kind] += kept;
	to->n_broken[kind] += !kept;
	if (kept)
		return;
	more = weft_realloc(to->broken, to->n + (size_t)1, sizeof(*more), NULL);
	if (!more)
		return;
	to->broken = more;
	broken = &more[to->n++];
	memset(broken, 0, sizeof(*broken));
	snprintf(broken->job, sizeof(broken->job), "%s", job->id);
	broken->kind = kind;
	snprintf(broken->text, sizeof(broken->text), "%s: has", asked);
	for (uint32_t i = 0; i < w->n_shares; i++) {
		used = strlen(broken->text);
		snprintf(broken->text + used, sizeof(broken->text) - used,
			 "%s%u", i ? "+" : " ", w->share[i]);
	}
	used = strlen(broken->text);
	snprintf(broken->text + used, sizeof(broken->text) - used,
		 " nodes by %s", domain);
}

/* ---- what was asked for ---- */

/* "1-00:05:00" in seconds; without an end for what is no time. */
static double duration_read(const char *text)
{
	unsigned days = 0, hours, minutes, seconds;

	if (sscanf(text, "%u-%u:%u:%u", &days, &hours, &minutes, &seconds) !=
		    4 &&
	    sscanf(text, "%u:%u:%u", &hours, &minutes, &seconds) != 3)
		return 1e9;
	return seconds + 60.0 * (minutes + 60.0 * (hours + 24.0 * days));
}

/* Slurm starts the job anywhere once it has waited for so long. */
static bool has_waited(const char *record, const char *wait)
{
	time_t eligible, start;

	return slurm_time(slurm_field(record, "EligibleTime"), &eligible) &&
	       slurm_time(slurm_field(record, "StartTime"), &start) &&
	       difftime(start, eligible) >= duration_read(wait);
}

static void slurm_check(struct watch *w, const struct watched *job,
			const char *record)
{
	const char *segment = slurm_field(record, "SegmentSize");
	const char *switches = slurm_field(record, "Switches");
	char asked[64];
	char *end;
	unsigned long n;

	n = switches ? strtoul(switches, &end, 10) : 0;
	if (n && w->n_leafs && !(*end == '@' && has_waited(record, end + 1))) {
		shares_find(w, job, w->leaf, w->n_leafs);
		snprintf(asked, sizeof(asked), "--switches=%lu", n);
		note(w, job, PROMISE_SWITCHES, w->n_shares <= n, asked,
		     "leaf switch");
	}
	n = segment ? strtoul(segment, NULL, 10) : 0;
	if (n && n <= WEFT_MAX_GPUS && w->n_blocks) {
		shares_find(w, job, w->block, w->n_blocks);
		snprintf(asked, sizeof(asked), "--segment=%lu", n);
		note(w, job, PROMISE_SEGMENT,
		     segments_hold(w, job->n_nodes, (uint32_t)n), asked,
		     "block");
	}
}

/* The parts of a split as shares, whatever their order. */
static bool split_holds(const struct watch *w, const struct weft_spec *spec)
{
	uint32_t part[WEFT_MAX_PARTS];

	if (w->n_shares != spec->n_split)
		return false;
	memcpy(part, spec->split, spec->n_split * sizeof(*part));
	qsort(part, spec->n_split, sizeof(*part), weft_compare_numbers_down);
	return memcmp(part, w->share, spec->n_split * sizeof(*part)) == 0;
}

static void spec_check(struct watch *w, const struct watched *job,
		       const struct weft_spec *spec)
{
	const struct weft_level *levels = w->f->levels;
	uint32_t level = limits_level(w->f);
	char asked[64];

	if (spec->segment > 1 && level_shares(w, job, level) == 0) {
		snprintf(asked, sizeof(asked), "segment=%u", spec->segment);
		note(w, job, PROMISE_SEGMENT,
		     segments_hold(w, job->n_nodes, spec->segment), asked,
		     levels[level].name);
	}
	if (spec->n_split && level_shares(w, job, level) == 0)
		note(w, job, PROMISE_SPLIT, split_holds(w, spec), "split",
		     levels[level].name);
	level = spec->within[0] ? weft_fabric_level(w->f, spec->within)
				: WEFT_NONE;
	if (level != WEFT_NONE && level_shares(w, job, level) == 0) {
		snprintf(asked, sizeof(asked), "within=%.32s", spec->within);
		note(w, job, PROMISE_WITHIN, w->n_shares <= 1, asked,
		     levels[level].name);
	}
}

/* ---- jobs ---- */

/* A job that is on the fabric; NULL: it is not, or no memory. */
static struct watched *job_add(struct watch *w, const char *record,
			       const struct slurm_job *told)
{
	const char *shares = slurm_field(record, "OverSubscribe");
	struct watched *more = weft_realloc(w->jobs, w->n_jobs + (size_t)1,
					    sizeof(*more), NULL);
	struct watched *job;

	if (!more)
		return NULL;
	w->jobs = more;
	job = &more[w->n_jobs];
	memset(job, 0, sizeof(*job));
	snprintf(job->id, sizeof(job->id), "%s", told->id);
	job->n_nodes =
		nodes_read(w->f, slurm_field(record, "NodeList"), &job->nodes);
	job->exclusive = shares && strncmp(shares, "TOPO", 4) == 0;
	if (!job->n_nodes) {
		free(job->nodes);
		return NULL;
	}
	w->n_jobs++;
	return job;
}

static void job_read(struct watch *w, const char *record)
{
	struct slurm_job told;
	struct weft_spec spec;
	const struct watched *job;
	const char *text;

	slurm_job_parse(record, &told);
	job = told.runs && strcmp(told.state, "COMPLETING") != 0
		      ? job_add(w, record, &told)
		      : NULL;
	if (!job)
		return;
	slurm_check(w, job, record);
	text = snapshot_spec(w->snapshot, told.id);
	if (!text && told.has_spec)
		text = told.spec;
	if (text && weft_spec_parse(text, &spec, NULL) == 0)
		spec_check(w, job, &spec);
}

/* No other job has a node in the job's blocks, or under its leaf switches. */
static void exclusive_check(struct watch *w, const struct watched *job)
{
	const uint32_t *of = w->n_blocks ? w->block : w->leaf;
	bool *own = weft_calloc((size_t)w->n_blocks + w->n_leafs + 1,
				sizeof(*own), NULL);
	char asked[96] = "";

	for (uint32_t i = 0; own && i < job->n_nodes; i++)
		if (of[job->nodes[i]] != WEFT_NONE)
			own[of[job->nodes[i]]] = true;
	for (uint32_t j = 0; own && j < w->n_jobs; j++) {
		const struct watched *other = &w->jobs[j];

		for (uint32_t i = 0; other != job && i < other->n_nodes; i++)
			if (of[other->nodes[i]] != WEFT_NONE &&
			    own[of[other->nodes[i]]])
				snprintf(asked, sizeof(asked),
					 "--exclusive=topo beside job %s",
					 other->id);
	}
	shares_find(w, job, of, w->n_blocks ? w->n_blocks : w->n_leafs);
	note(w, job, PROMISE_EXCLUSIVE, !asked[0], asked,
	     w->n_blocks ? "block" : "leaf switch");
	free(own);
}

static void watch_free(struct watch *w)
{
	for (uint32_t j = 0; j < w->n_jobs; j++)
		free(w->jobs[j].nodes);
	free(w->jobs);
	free(w->block);
	free(w->leaf);
	free(w->share);
}

int promises_parse(const struct weft_fabric *f, FILE *jobs, FILE *topology,
		   const struct snapshot *snapshot, struct promises *promises,
		   struct weft_error *err)
{
	struct watch w = {.f = f, .snapshot = snapshot, .to = promises};
	char *line = NULL;
	size_t size = 0;

	memset(promises, 0, sizeof(*promises));
	w.block = weft_calloc(f->n_nodes, sizeof(*w.block), err);
	w.leaf = weft_calloc(f->n_nodes, sizeof(*w.leaf), err);
	w.share = weft_calloc(f->n_nodes, sizeof(*w.share), err);
	if (!w.block || !w.leaf || !w.share) {
		watch_free(&w);
		return -1;
	}
	for (uint32_t i = 0; i < f->n_nodes; i++)
		w.block[i] = w.leaf[i] = WEFT_NONE;
	topology_read(&w, topology);
	while (getline(&line, &size, jobs) > 0)
		job_read(&w, line);
	for (uint32_t j = 0; j < w.n_jobs; j++)
		if (w.jobs[j].exclusive && (w.n_blocks || w.n_leafs))
			exclusive_check(&w, &w.jobs[j]);
	free(line);
	watch_free(&w);
	return 0;
}

void promises_free(struct promises *promises)
{
	free(promises->broken);
	memset(promises, 0, sizeof(*promises));
}

int promises_read(const struct weft_fabric *f, const struct snapshot *snapshot,
		  struct promises *promises, struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner --details show job";
	FILE *jobs = command_open(command, err);
	/* Without a topology plugin there is nothing to show, which is said as
	 * an error. */
	FILE *topology = popen("scontrol show topology 2>/dev/null", "r");
	int rc = -1;

	memset(promises, 0, sizeof(*promises));
	if (jobs)
		rc = promises_parse(f, jobs, topology, snapshot, promises, err);
	if (topology)
		pclose(topology);
	return jobs ? command_close(jobs, command, rc, err) : -1;
}
