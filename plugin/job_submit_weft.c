/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_submit_weft.c - specs checked before a job is queued, and site defaults
 *
 * JobSubmitPlugins=weft.  What --weft= refuses on the submit host is refused
 * here for comments, for the REST interface and for "scontrol update", too; and
 * what only the fabric knows for all.  Slurm calls with its job lock held and
 * one call at a time (a mutex of its own): hence static data without a lock,
 * and files read only when they have changed.
 */
#include "plugin/bridge/spec_text.h"
#include "plugin/bridge/submission.h"
#include "plugin/compat.h"

#include <string.h>
#include <sys/stat.h>

#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#define SETTINGS_FILE "weft.yaml"

/* A refusal's code; the words are in err_msg. */
#define REFUSED ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE

const char plugin_name[] = "weft: specs checked at submission";
const char plugin_type[] = "job_submit/weft";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

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

static struct {
	struct weft_settings *settings; /* NULL: the grammar alone */
	struct weft_desk desk;
	struct stamp yaml, fabric;
	bool read; /* the stamps are of a try, good or not */
} office;

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

static void office_close(void)
{
	weft_desk_close(&office.desk);
	weft_settings_free(office.settings);
	office.settings = NULL;
}

/* Files with a mistake leave in force what was read before. */
static void office_read(const char *path)
{
	struct weft_error err = {0};
	struct weft_settings *settings = weft_settings_load(path, &err);
	struct weft_desk desk = {0};
	char text[WEFT_REASON_SIZE];

	if (!settings || weft_desk_open(&desk, settings, &err) < 0) {
		weft_bridge_escape(&err, text);
		error("weft: job_submit: %s: %s",
		      office.settings ? "keeping what was read before"
				      : "only the grammar is checked",
		      text);
		weft_desk_close(&desk);
		weft_settings_free(settings);
		return;
	}
	office_close();
	office.settings = settings;
	office.desk = desk;
}

/* Two calls of stat in most cases. */
static void office_open(void)
{
	static char name[] = SETTINGS_FILE;
	char *path = get_extra_conf_path(name);
	struct stamp yaml, fabric;

	stamp_take(path, &yaml);
	stamp_take(office.settings ? office.settings->fabric_path : NULL,
		   &fabric);
	if (!office.read || !stamp_same(&yaml, &office.yaml) ||
	    !stamp_same(&fabric, &office.fabric)) {
		office_read(path);
		office.read = true;
		office.yaml = yaml;
		stamp_take(office.settings ? office.settings->fabric_path
					   : NULL,
			   &office.fabric);
	}
	xfree(path);
}

extern int init(void)
{
	return SLURM_SUCCESS;
}

extern WEFT_FINI_TYPE fini(void)
{
	office_close();
	memset(&office, 0, sizeof(office));
	return WEFT_FINI_RESULT;
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
		request->max_nodes = value32(job->details->max_nodes);
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
	return weft_desk_check(&office.desk, request, err);
}

static int refuse(const struct weft_error *err, char **err_msg)
{
	char text[WEFT_REASON_SIZE];

	weft_bridge_escape(err, text);
	if (err_msg && !*err_msg)
		*err_msg = xstrdup_printf("weft: %s", text);
	else
		verbose("weft: refused: %s", text);
	return REFUSED;
}

/* ---- defaults ---- */

/* In the comment, where the user sees it and may change it, unless the user
 * wrote one. */
static void spec_give(job_desc_msg_t *desc, const char *spec)
{
	if (!desc->comment || !desc->comment[0]) {
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

/* A default that does not suit the job is none. */
static void default_apply(job_desc_msg_t *desc, struct weft_request *request)
{
	const char *spec;

	if (!office.settings ||
	    !(request->gpus_per_node || request->gpus_per_task ||
	      request->gpus_per_job))
		return;
	spec = weft_defaults_find(&office.settings->defaults, desc->partition);
	if (!spec)
		return;
	request->spec = spec;
	if (request_check(request, NULL) == 0)
		spec_give(desc, spec);
}

/* ---- Slurm's calls ---- */

extern int job_submit(job_desc_msg_t *desc, uint32_t uid, char **err_msg)
{
	struct weft_request request;
	struct weft_error err = {0};
	const char *spec;
	bool wanted = weft_spec_text_find(desc->spank_job_env,
					  desc->spank_job_env_size,
					  desc->comment, &spec);

	(void)uid;
	office_open();
	if (!wanted || (office.settings && !office.settings->enabled))
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

/* Only a change of the spec's own text is looked at. */
extern int job_modify WEFT_JOB_MODIFY_PARAMS
{
	struct weft_request request;
	struct weft_error err = {0};
	const char *spec;

	(void)uid;
	if (!desc->comment ||
	    !weft_spec_text_find(job->spank_job_env, job->spank_job_env_size,
				 desc->comment, &spec) ||
	    !spec)
		return SLURM_SUCCESS;
	office_open();
	if (office.settings && !office.settings->enabled)
		return SLURM_SUCCESS;
	request_read(desc, &request);
	if (IS_JOB_PENDING(job))
		request_inherit(job, &request);
	request.spec = spec;
	return request_check(&request, &err) < 0
		       ? refuse(&err, WEFT_JOB_MODIFY_MESSAGE)
		       : SLURM_SUCCESS;
}
