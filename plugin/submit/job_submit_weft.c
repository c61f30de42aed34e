/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_submit_weft.c - specs checked before a job is queued, and site defaults
 *
 * JobSubmitPlugins=weft.  What --weft= refuses on the submit host is refused
 * here for comments, for the REST interface and for "scontrol update", too; and
 * what only the fabric knows for all.  Slurm calls with its job lock held for
 * reading, and later releases let several threads in at once: they take turns
 * here.  A turn has one deadline, as a question of the scheduler's has, and
 * touches no file: a thread looks at those, which no call ever waits for.
 */
#include "plugin/bridge/files/worker.h"
#include "plugin/bridge/launch/infer.h"
#include "plugin/bridge/launch/release.h"
#include "plugin/bridge/launch/spec_text.h"
#include "plugin/bridge/launch/submission.h"
#include "plugin/bridge/watchdog.h"
#include "plugin/slurm/compat.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#define SETTINGS_FILE "weft.yaml"

/* A changed file is noticed within this time. */
#define LOOK_S 1.0

/* Files with a mistake are read again after so long: which of those that
 * weft.yaml names has changed by then is not known. */
#define RETRY_S 10.0

/* Slurm starts, and waits for the first look. */
#define READ_LIMIT_S 0.5

/* Slurm's own limit of the texts that are read here. */
#define MAX_TEXT 1024

/* A refusal's code; the words are in err_msg. */
#define REFUSED ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE

const char plugin_name[] = "weft: specs checked at submission";
const char plugin_type[] = "job_submit/weft";

/* Slurm refuses a plugin of another micro release than its own, since structs
 * may differ, and ends where JobSubmitPlugins names one that it refuses: an
 * upgrade of Slurm alone would keep slurmctld from starting.  Hence this plugin
 * says to be for the release that runs, and then looks at no struct of Slurm's:
 * each call returns before it does.  The select plugin needs nothing of the
 * kind: behind a refused one Slurm finds its own. */
uint32_t plugin_version = SLURM_VERSION_NUMBER;
static bool foreign;

extern int init(void);
extern WEFT_FINI_TYPE fini(void);
extern int job_submit(job_desc_msg_t *desc, uint32_t uid, char **err_msg);
extern int job_modify WEFT_JOB_MODIFY_PARAMS;

/* A file as it was when it was read. */
struct stamp {
	ino_t inode;
	off_t size;
	struct timespec changed;
};

/* What a check needs, made of the files. */
struct rules_read {
	struct weft_settings *settings;
	struct weft_desk desk;
};

/* Looks at the files, which may take for ever: a worker's. */
struct clerk {
	char *path, *fabric_path; /* NULL: no fabric is known */
	struct stamp yaml, fabric;
	bool read;		     /* the stamps are of a try, good or not */
	bool knows;		     /* a try was good */
	double retry_s;		     /* when the last one was not; 0: it was */
	char said[WEFT_REASON_SIZE]; /* what was wrong with it */
	struct rules_read *_Atomic news; /* read, and not taken yet */
};

static struct {
	struct rules_read *rules; /* NULL: nothing is checked */
	struct clerk *clerk;
	struct weft_worker *worker;
	double budget_s, granted_s, entered_s; /* of the turn; 0: no limit */
} office;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void rules_free(struct rules_read *rules)
{
	if (!rules)
		return;
	weft_desk_close(&rules->desk);
	weft_settings_free(rules->settings);
	free(rules);
}

/* ---- the clerk ---- */

static void stamp_take(const char *path, struct stamp *stamp)
{
	struct stat about;

	memset(stamp, 0, sizeof(*stamp));
	if (!path || stat(path, &about) < 0)
		return;
	stamp->inode = about.st_ino;
	stamp->size = about.st_size;
	stamp->changed = about.st_mtim;
}

static bool stamp_same(const struct stamp *a, const struct stamp *b)
{
	return a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Slurm's locks are held for reading, at the least. */
static bool lacks_nodes(const struct weft_fabric *f)
{
	for (int i = 0; i < node_record_count; i++) {
		const node_record_t *node = node_record_table_ptr[i];

		if (node && node->name && node->gres &&
		    strstr(node->gres, "gpu") &&
		    weft_fabric_node(f, node->name) == WEFT_NONE)
			return true;
	}
	return false;
}

static struct rules_read *rules_load(const char *path, struct weft_error *err)
{
	struct rules_read *rules = weft_calloc(1, sizeof(*rules), err);

	if (!rules)
		return NULL;
	rules->settings = weft_settings_load(path, err);
	if (rules->settings &&
	    weft_desk_open(&rules->desk, rules->settings, err) == 0) {
		rules->desk.lacks_nodes = lacks_nodes;
		return rules;
	}
	rules_free(rules);
	return NULL;
}

/* Files with a mistake leave in force what was read before.  The log reports
 * the same mistake once. */
static void clerk_fail(struct clerk *clerk, const struct weft_worker *worker,
		       const struct weft_error *err)
{
	char text[WEFT_REASON_SIZE];

	clerk->retry_s = weft_clock_s() + RETRY_S;
	weft_bridge_escape(err, text);
	if (weft_worker_left(worker) || strcmp(text, clerk->said) == 0)
		return;
	memcpy(clerk->said, text, sizeof(text));
	error("weft: job_submit: %s: %s",
	      clerk->knows ? "keeping what was read before"
			   : "no spec is checked",
	      text);
}

static void clerk_read(struct clerk *clerk, const struct weft_worker *worker)
{
	struct weft_error err = {0};
	struct rules_read *rules = rules_load(clerk->path, &err);

	if (!rules) {
		clerk_fail(clerk, worker, &err);
		return;
	}
	clerk->knows = true;
	clerk->retry_s = 0;
	clerk->said[0] = '\0';
	free(clerk->fabric_path);
	clerk->fabric_path =
		rules->settings->fabric_path
			? weft_strdup(rules->settings->fabric_path, NULL)
			: NULL;
	rules_free(atomic_exchange(&clerk->news, rules));
}

static bool clerk_retries(const struct clerk *clerk)
{
	return clerk->retry_s > 0 && weft_clock_s() >= clerk->retry_s;
}

/* Two calls of stat in most cases. */
static bool clerk_look(void *self, const struct weft_worker *worker)
{
	struct clerk *clerk = self;
	struct stamp yaml, fabric;

	stamp_take(clerk->path, &yaml);
	stamp_take(clerk->fabric_path, &fabric);
	if (clerk->read && !clerk_retries(clerk) &&
	    stamp_same(&yaml, &clerk->yaml) &&
	    stamp_same(&fabric, &clerk->fabric))
		return true;
	clerk_read(clerk, worker);
	clerk->read = true;
	/* As they were before: what changed meanwhile is read again, and so is
	 * a fabric whose name was not known. */
	clerk->yaml = yaml;
	clerk->fabric = fabric;
	return true;
}

static void clerk_free(void *self)
{
	struct clerk *clerk = self;

	rules_free(clerk->news);
	free(clerk->path);
	free(clerk->fabric_path);
	free(clerk);
}

/* ---- the office ---- */

static struct clerk *clerk_make(struct weft_error *err)
{
	static char name[] = SETTINGS_FILE;
	struct clerk *clerk = weft_calloc(1, sizeof(*clerk), err);
	char *path = get_extra_conf_path(name);

	if (clerk)
		clerk->path = weft_strdup(path, err);
	xfree(path);
	if (clerk && clerk->path)
		return clerk;
	free(clerk);
	return NULL;
}

static void office_open(void)
{
	struct weft_error err = {0};
	struct weft_work work = {
		.name = "weft-clerk",
		.period_s = LOOK_S,
		.round = clerk_look,
		.release = clerk_free,
	};

	work.self = office.clerk = clerk_make(&err);
	if (office.clerk)
		office.worker = weft_worker_start(&work, &err);
	if (office.worker) {
		weft_worker_wait(office.worker, READ_LIMIT_S);
		return;
	}
	error("weft: job_submit: no spec is checked: %s", err.text);
	if (office.clerk)
		clerk_free(office.clerk);
	office.clerk = NULL;
}

static void office_close(void)
{
	weft_worker_leave(office.worker);
	rules_free(office.rules);
	memset(&office, 0, sizeof(office));
}

/* Takes over what the clerk has read; never waits. */
static void office_refresh(void)
{
	struct rules_read *news;

	if (!office.clerk || !office.clerk->news)
		return;
	news = atomic_exchange(&office.clerk->news, NULL);
	if (!news)
		return;
	rules_free(office.rules);
	office.rules = news;
}

/* Takes over what was read, and begins a turn. */
static void office_enter(uint32_t uid)
{
	pthread_mutex_lock(&turn);
	office_refresh();
	office.budget_s = office.rules ? office.rules->settings->budget_s : 0;
	if (!(office.budget_s > 0))
		return;
	office.entered_s = weft_worked_s();
	office.granted_s = weft_grant_s(office.budget_s, uid, weft_clock_s());
	weft_deadline_set(office.entered_s + office.granted_s);
}

static void office_leave(uint32_t uid)
{
	if (office.budget_s > 0) {
		weft_deadline_set(0);
		weft_grant_charge(office.budget_s, office.granted_s, uid,
				  weft_worked_s() - office.entered_s,
				  weft_clock_s());
	}
	pthread_mutex_unlock(&turn);
}

/* When the file is loaded, before Slurm looks at it. */
static void __attribute__((constructor)) release_heed(void)
{
	uint32_t release = weft_release_running();

	foreign = release && release != plugin_version;
	if (foreign)
		plugin_version = release;
}

extern int init(void)
{
	if (foreign)
		error("weft: job_submit: built for Slurm " SLURM_VERSION_STRING
		      ", which this is not: specs are not checked");
	else
		office_open();
	return SLURM_SUCCESS;
}

extern WEFT_FINI_TYPE fini(void)
{
	office_close();
	return WEFT_FINI_RESULT;
}

/* Where the job may run, "a,b": in Slurm's default where its user names none;
 * NULL: not known.  Slurm's locks are held for reading, at the least. */
static const char *partitions_of(const job_desc_msg_t *desc)
{
	if (desc->partition && desc->partition[0])
		return desc->partition;
	return default_part_loc ? default_part_loc->name : NULL;
}

/* Whether weft acts on the job in each of the partitions, "a,b", that it may
 * run in.  What else the user leaves to Slurm is not known yet: a site that
 * tells jobs apart by it has them checked when they are placed. */
static bool acts_on(const char *partitions, struct weft_owner owner)
{
	char one[WEFT_NAME_IN_RULES + 1];
	bool acts;

	if (!office.rules)
		return false;
	if (!partitions || !partitions[0])
		return weft_settings_place(office.rules->settings, &owner);
	owner.partition = one;
	do {
		size_t length = strcspn(partitions, ",");

		/* A name that is too long is in no list. */
		snprintf(one, sizeof(one), "%.*s", (int)length, partitions);
		acts = weft_settings_place(office.rules->settings, &owner);
		partitions += length;
		partitions += *partitions ? 1 : 0;
	} while (acts && *partitions);
	return acts;
}

/* ---- what is asked for ---- */

static uint32_t value32(uint32_t value)
{
	return value == NO_VAL || value == INFINITE ? 0 : value;
}

static uint32_t value16(uint16_t value)
{
	return value == NO_VAL16 || value == INFINITE16 ? 0 : value;
}

static void request_read(const job_desc_msg_t *desc,
			 struct weft_request *request)
{
	memset(request, 0, sizeof(*request));
	request->min_nodes = value32(desc->min_nodes);
	request->max_nodes = value32(desc->max_nodes);
	request->n_tasks = value32(desc->num_tasks);
	request->tasks_per_node = value16(desc->ntasks_per_node);
	request->gpus_per_node = weft_submission_gpus(desc->tres_per_node);
	request->gpus_per_task = weft_submission_gpus(desc->tres_per_task);
	request->gpus_per_job = weft_submission_gpus(desc->tres_per_job);
}

/* What an update leaves as it is, as the job has it; a job keeps its size once
 * it runs, and its spec is then of no more consequence. */
static void request_inherit(const job_record_t *job,
			    struct weft_request *request)
{
	if (!request->min_nodes && !request->max_nodes && job->details) {
		request->min_nodes = value32(job->details->min_nodes);
		request->max_nodes = value32(WEFT_MOST_NODES(job));
	}
	if (!request->n_tasks && job->details)
		request->n_tasks = value32(job->details->num_tasks);
	if (!request->gpus_per_node)
		request->gpus_per_node =
			weft_submission_gpus(job->tres_per_node);
	if (!request->gpus_per_task)
		request->gpus_per_task =
			weft_submission_gpus(job->tres_per_task);
	if (!request->gpus_per_job)
		request->gpus_per_job = weft_submission_gpus(job->tres_per_job);
}

static int request_check(struct weft_request *request, struct weft_error *err)
{
	weft_submission_complete(request);
	return office.rules ? weft_desk_check(&office.rules->desk, request, err)
			    : 0;
}

static int refuse(const struct weft_error *err, char **err_msg)
{
	char text[WEFT_REASON_SIZE];

	weft_bridge_escape(err, text);
	/* Another plugin may have a word for the user as well. */
	if (err_msg)
		xstrfmtcat(*err_msg, "%sweft: %s", *err_msg ? "\n" : "", text);
	else
		verbose("weft: refused: %s", text);
	return REFUSED;
}

/* ---- defaults ---- */

/* In the comment, where the user sees it and may change it, unless the user
 * wrote one or Slurm would refuse it for its length. */
static void spec_give(job_desc_msg_t *desc, const char *spec)
{
	if ((!desc->comment || !desc->comment[0]) &&
	    strlen(WEFT_COMMENT_PREFIX) + strlen(spec) <= MAX_TEXT) {
		xfree(desc->comment);
		desc->comment =
			xstrdup_printf("%s%s", WEFT_COMMENT_PREFIX, spec);
		return;
	}
	xrecalloc(desc->spank_job_env, desc->spank_job_env_size + 1,
		  sizeof(*desc->spank_job_env));
	desc->spank_job_env[desc->spank_job_env_size++] =
		xstrdup_printf("%s=%s", WEFT_SPEC_VARIABLE, spec);
}

/* The spec that the job's script amounts to, where the site asks for it; one
 * that does not suit the job is none. */
static bool infer_apply(job_desc_msg_t *desc, struct weft_request *request)
{
	char spec[WEFT_SPEC_MAX_BYTES + 1];

	if (!office.rules->settings->infer || !desc->script ||
	    weft_infer(desc->script, request, spec) < 0)
		return false;
	request->spec = spec;
	if (request_check(request, NULL) < 0)
		return false;
	spec_give(desc, spec);
	return true;
}

/* A default that does not suit the job is none. */
static void default_apply(job_desc_msg_t *desc, struct weft_request *request)
{
	const char *spec;

	if (!office.rules || !(request->gpus_per_node ||
			       request->gpus_per_task || request->gpus_per_job))
		return;
	if (infer_apply(desc, request))
		return;
	spec = weft_defaults_find(&office.rules->settings->defaults,
				  partitions_of(desc));
	if (!spec)
		return;
	request->spec = spec;
	if (request_check(request, NULL) == 0)
		spec_give(desc, spec);
}

/* Slurm looks at lengths after this call, and refuses what is longer. */
static bool is_overlong(const job_desc_msg_t *desc)
{
	const char *const texts[] = {
		desc->partition,    desc->qos,		 desc->account,
		desc->comment,	    desc->tres_per_node, desc->tres_per_task,
		desc->tres_per_job,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] && strnlen(texts[i], MAX_TEXT + 1) > MAX_TEXT)
			return true;
	return false;
}

static int submission_check(job_desc_msg_t *desc, char **err_msg)
{
	struct weft_request request;
	struct weft_error err = {0};
	const char *spec;
	bool wanted = !is_overlong(desc) &&
		      weft_spec_text_find(desc->spank_job_env,
					  desc->spank_job_env_size,
					  desc->comment, &spec);

	if (!wanted || !acts_on(partitions_of(desc),
				(struct weft_owner){.qos = desc->qos,
						    .account = desc->account}))
		return SLURM_SUCCESS;
	request_read(desc, &request);
	if (!spec) {
		default_apply(desc, &request);
		return SLURM_SUCCESS;
	}
	request.spec = spec;
	return request_check(&request, &err) < 0 ? refuse(&err, err_msg)
						 : SLURM_SUCCESS;
}

/* The spec that a change of the comment gives the job; NULL: none, as where the
 * job has another from elsewhere, which goes before it. */
static const char *changed_spec(const job_desc_msg_t *desc,
				const job_record_t *job)
{
	const char *spec;

	if (!desc->comment || is_overlong(desc) ||
	    !weft_spec_text_find(job->spank_job_env, job->spank_job_env_size,
				 NULL, &spec) ||
	    spec)
		return NULL;
	return weft_spec_text_find(NULL, 0, desc->comment, &spec) ? spec : NULL;
}

/* Only a change of the spec's own text is looked at. */
static int change_check(const job_desc_msg_t *desc, const job_record_t *job,
			char **err_msg)
{
	struct weft_request request;
	struct weft_error err = {0};
	struct weft_owner owner = {0};
	const char *spec = changed_spec(desc, job);

	if (!spec)
		return SLURM_SUCCESS;
	owner.qos = job->qos_ptr ? job->qos_ptr->name : NULL;
	owner.account = job->account;
	if (!acts_on(desc->partition ? desc->partition : job->partition, owner))
		return SLURM_SUCCESS;
	request_read(desc, &request);
	if (IS_JOB_PENDING(job))
		request_inherit(job, &request);
	request.spec = spec;
	return request_check(&request, &err) < 0 ? refuse(&err, err_msg)
						 : SLURM_SUCCESS;
}

/* ---- Slurm's calls ---- */

extern int job_submit(job_desc_msg_t *desc, uint32_t uid, char **err_msg)
{
	int rc;

	if (foreign)
		return SLURM_SUCCESS;
	office_enter(uid);
	rc = submission_check(desc, err_msg);
	office_leave(uid);
	return rc;
}

extern int job_modify WEFT_JOB_MODIFY_PARAMS
{
	int rc;

	if (foreign)
		return SLURM_SUCCESS;
	office_enter(uid);
	rc = change_check(desc, job, WEFT_JOB_MODIFY_MESSAGE);
	office_leave(uid);
	return rc;
}
