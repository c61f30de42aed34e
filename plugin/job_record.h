/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_record.h - what a job record asks for, as weft sees it */
#ifndef WEFT_PLUGIN_JOB_RECORD_H
#define WEFT_PLUGIN_JOB_RECORD_H

#include "plugin/bridge/request.h"
#include "plugin/bridge/rules.h"
#include "plugin/slurm/stock.h"

/* The user's spec: from --weft= (SPANK), else from --comment=weft:..., else, of
 * a job that is only observed, the site's for its partition.  *spec is NULL
 * where there is none, and points into the job record or the settings.  false:
 * the user wants weft to leave the job alone ("off"). */
bool weft_job_record_spec(const job_record_t *job, const char **spec);

/* The partition that is asked about: job->partition may name several.  NULL:
 * not known. */
const char *weft_job_record_partition(const job_record_t *job);

/* Whose the job is, in the partition that it is looked at in. */
struct weft_owner weft_job_record_owner(const job_record_t *job);

/* An srun outside of any job asked for it: its one step is laid out before weft
 * could tell it an order. */
bool weft_job_record_alone(const job_record_t *job);

/* Reads the test's job into *request, spec aside.  Returns false for jobs that
 * ask for no GPUs.  *unclear: why weft cannot tell what would suit the job
 * (static text), else NULL. */
bool weft_job_record_read(const struct weft_job_test *test,
			  struct weft_request *request, const char **unclear);

/* The features that Slurm asks for now, preferred ones or others, of the whole
 * job: while backfill asks for a part of it, feature_list_use has that of the
 * part, without its number of nodes.  NULL: none. */
list_t *weft_job_record_features(const job_details_t *details);

/* Whether numbers of nodes by feature are among them: then Slurm asks for one
 * after the other. */
bool weft_job_record_in_parts(const job_details_t *details);

/* The same, of which Slurm has written down what nodes have them: after a
 * restart that may be still to come. */
list_t *weft_job_record_features_known(const job_details_t *details);

/* Features in parentheses, up to the count behind them; else one.
 * Zero-initialise. */
struct weft_feature_group {
	bitstr_t *nodes; /* with the features so far; NULL: none yet */
	int op;		 /* by which the next feature is joined to them */
};

/* Joins the next feature of a list.  true: the group ends with it; nodes is the
 * caller's then, to be freed and set to NULL. */
bool weft_job_record_join(struct weft_feature_group *group,
			  const job_feature_t *feature);

/* The least number of nodes of the whole job, n at least: while Slurm asks for
 * a part of it, the details of the job have that of the part. */
uint32_t weft_job_record_least_nodes(const struct weft_job_test *test,
				     uint32_t n);

/* Nodes of the partition that take jobs, but for those that are not for this
 * one: a part's candidates tell nothing of the others.  Caller: bit_free. */
bitstr_t *weft_job_record_could_have(const struct weft_job_test *test);

/* The nodes that the job must have: those that it has found by feature so far,
 * and those that the user names, which Slurm keeps back until then.  Caller:
 * bit_free. */
bitstr_t *weft_job_record_required(const struct weft_job_test *test);

#endif
