/* SPDX-License-Identifier: GPL-3.0-or-later */
/* select_weft.c - the symbols that Slurm looks up in a select plugin
 *
 * Everything is stock select/cons_tres' work; weft only proposes nodes to it
 * (narrow.c) and watches jobs come and go (nodes.c).  Installed under its own
 * name (SelectType=select/cons_tres_weft) or under stock's, from a folder that
 * precedes stock's in PluginDir.
 */
#include "plugin/affinity.h"
#include "plugin/engine.h"
#include "plugin/jobs_load.h"
#include "plugin/limits/ever.h"
#include "plugin/narrow.h"
#include "plugin/publish.h"
#include "plugin/slurm/stock.h"

const char plugin_name[] =
	"weft: topology-aware choice of nodes over cons_tres";
const char plugin_type[] = "select/cons_tres_weft";
uint32_t plugin_id = WEFT_NAMED_PLUGIN_ID;
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

#define OP(result, name, params, args) extern result select_p_##name params;
#define HOOK			       OP
#include "plugin/weft_ops.def"
#undef HOOK
#undef OP

extern int init(void);
extern WEFT_FINI_TYPE fini(void);

extern int init(void)
{
	bool shadow;

	if (weft_stock_load(&shadow) != SLURM_SUCCESS)
		return SLURM_ERROR;
	if (shadow)
		plugin_id = SELECT_PLUGIN_CONS_TRES;
	return SLURM_SUCCESS;
}

extern WEFT_FINI_TYPE fini(void)
{
	weft_narrow_summary();
	weft_publish_forget();
	weft_engine_unload();
	weft_stock_unload();
	return WEFT_FINI_RESULT;
}

/* What weft has no business with. */
#define OP(result, name, params, args)                                         \
	extern result select_p_##name params                                   \
	{                                                                      \
		return weft_stock.name args;                                   \
	}
#define HOOK(result, name, params, args)
#include "plugin/weft_ops.def"
#undef HOOK
#undef OP

/* ---- hooks ---- */

/* Slurm has read its configuration, at start or at "scontrol reconfigure"; only
 * the plugin that SelectType names gets it. */
extern int select_p_node_init(void)
{
	int rc = weft_stock.node_init();

	weft_narrow_summary();
	weft_publish_forget();
	weft_engine_load();
	return rc;
}

/* Partitions or nodes have changed. */
extern int select_p_reconfigure(void)
{
	int rc = weft_stock.reconfigure();

	weft_engine_pair();
	weft_engine_settle();
	weft_ever_changed();
	return rc;
}

extern int select_p_job_test WEFT_JOB_TEST_PARAMS
{
	const struct weft_job_test test = WEFT_JOB_TEST_INIT;
	int rc;

	/* One without a number is not a job's but a reservation's question. */
	if (job->job_id && weft_engine_look())
		weft_publish_forget();
	weft_engine_enter(job->user_id);
	rc = weft_narrow(&test);
	weft_engine_leave(job->user_id);
	return rc;
}

extern int select_p_job_begin(job_record_t *job)
{
	weft_publish_begun(job);
	weft_narrow_begun(job->job_id);
	weft_narrow_begun(job->array_job_id);
	return weft_stock.job_begin(job);
}

/* Only here, soon after job_begin, does stock fix which GPUs the job gets; also
 * called for all jobs when Slurm has read its configuration. */
extern int select_p_select_nodeinfo_set(job_record_t *job)
{
	int rc = weft_stock.select_nodeinfo_set(job);

	weft_engine_follow(job, weft_nodes_hold_of(job));
	weft_engine_verify(job, weft_nodes_hold_of(job));
	weft_publish_started(job);
	return rc;
}

/* Everything else that moves resources: stock first, then it is read what the
 * job has now. */
extern int select_p_job_expand(job_record_t *from, job_record_t *to)
{
	int rc = weft_stock.job_expand(from, to);

	weft_jobs_load_ended(from);
	weft_jobs_load_ended(to);
	weft_engine_follow(from, weft_nodes_hold_of(from));
	weft_engine_follow(to, weft_nodes_hold_of(to));
	return rc;
}

extern int select_p_job_resized(job_record_t *job, node_record_t *node)
{
	int rc = weft_stock.job_resized(job, node);

	weft_jobs_load_ended(job);
	weft_engine_follow(job, weft_nodes_hold_of(job));
	return rc;
}

extern int select_p_job_fini(job_record_t *job)
{
	int rc = weft_stock.job_fini(job);

	weft_affinity_remember(job);
	weft_publish_ended(job);
	weft_engine_follow(job, WEFT_HOLDS_NOTHING);
	return rc;
}

/* The job's state changes only after these two calls.  Without indf_susp it is
 * gang scheduling's doing, and nothing is let go. */
extern int select_p_job_suspend(job_record_t *job, bool indf_susp)
{
	int rc = weft_stock.job_suspend(job, indf_susp);

	if (indf_susp && rc == SLURM_SUCCESS) {
		weft_engine_follow(job, WEFT_HOLDS_NO_CPUS);
		weft_engine_verify(job, WEFT_HOLDS_NO_CPUS);
	}
	return rc;
}

extern int select_p_job_resume(job_record_t *job, bool indf_susp)
{
	int rc = weft_stock.job_resume(job, indf_susp);

	if (indf_susp && rc == SLURM_SUCCESS) {
		weft_engine_follow(job, WEFT_HOLDS_ALL);
		weft_engine_verify(job, WEFT_HOLDS_ALL);
	}
	return rc;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
extern void select_p_job_mem_reduce(job_record_t *job)
{
	weft_stock.job_mem_reduce(job);
	weft_engine_follow(job, weft_nodes_hold_of(job));
}
#endif
