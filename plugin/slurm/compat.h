/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compat.h - what differs between the releases of Slurm that weft is built for
 *
 * No other file looks at SLURM_VERSION_NUMBER, except weft_ops.def, which lists
 * the select interface of each release.  What needs code rather than names is
 * in compat_<first release>.c.
 */
#ifndef WEFT_PLUGIN_SLURM_COMPAT_H
#define WEFT_PLUGIN_SLURM_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"

#include "src/common/bitstring.h"
#include "src/common/list.h"
#include "src/common/plugin.h"
#include "src/slurmctld/slurmctld.h"
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
#include "src/common/gres.h"
#include "src/common/select.h"
#else
#include "src/common/job_features.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/select.h"
#endif

/* Names that later releases have. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
typedef struct xlist list_t;
typedef struct job_details job_details_t;
#endif
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
#define CONF_FLAG_ASRU CTL_CONF_ASRU
#endif
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
#define SELECT_MEMORY CR_MEMORY
#endif

/* Whether a job takes only certain numbers of nodes, as --nodes=2,8 lists them.
 */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define WEFT_HAS_NODE_COUNTS(details) ((void)(details), false)
#else
#define WEFT_HAS_NODE_COUNTS(details) ((details)->job_size_bitmap != NULL)
#endif

/* Resources that advanced reservations keep from a job, and, from 24.11 on, the
 * frame of a will-run question: both only forwarded or asked through
 * weft_compat_excluded_cores() and its like. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
typedef bitstr_t weft_excluded;
#else
typedef resv_exc_t weft_excluded;
#endif
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define WEFT_WILL_RUN_PARAM
#define WEFT_WILL_RUN_ARG
#define WEFT_WILL_RUN_MEMBER
#define WEFT_WILL_RUN_OF(test)
#define WEFT_WILL_RUN_START(test) ((void)(test), (time_t)0)
#else
#define WEFT_WILL_RUN_PARAM    , will_run_data_t *will_run
#define WEFT_WILL_RUN_ARG      , .will_run = will_run
#define WEFT_WILL_RUN_MEMBER   will_run_data_t *will_run;
#define WEFT_WILL_RUN_OF(test) , (test)->will_run
#define WEFT_WILL_RUN_START(test)                                              \
	((test)->will_run ? (test)->will_run->start : 0)
#endif

/* The plugin's number.  As "cons_tres" it is stock's own.  Under a name of its
 * own it must be unique up to 24.11, where 22.05 to 23.11 let only known
 * numbers have reservations of cores; later releases ask for stock's. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
#define WEFT_NAMED_PLUGIN_ID SELECT_PLUGIN_CRAY_CONS_TRES
#elif SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0)
#define WEFT_NAMED_PLUGIN_ID 210
#else
#define WEFT_NAMED_PLUGIN_ID SELECT_PLUGIN_CONS_TRES
#endif

/* A select plugin's fini() returns nothing from 26.05 on. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
#define WEFT_FINI_TYPE	 int
#define WEFT_FINI_RESULT SLURM_SUCCESS
#else
#define WEFT_FINI_TYPE void
#define WEFT_FINI_RESULT
#endif

/* plugin_load_from_file() wants to know from 25.11.1 on whether to complain of
 * a file that is not there. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 1)
#define WEFT_LOAD_ARGS(handle, path) (handle, path)
#else
#define WEFT_LOAD_ARGS(handle, path) (handle, path, true)
#endif

/* A job_submit plugin is given a place for its message about an update from
 * 23.02 on. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
#define WEFT_JOB_MODIFY_PARAMS                                                 \
	(job_desc_msg_t * desc, job_record_t * job, uint32_t uid)
#define WEFT_JOB_MODIFY_MESSAGE NULL
#else
#define WEFT_JOB_MODIFY_PARAMS                                                 \
	(job_desc_msg_t * desc, job_record_t * job, uint32_t uid,              \
	 char **err_msg)
#define WEFT_JOB_MODIFY_MESSAGE err_msg
#endif

/* The order of a job's nodes, where its resources have one: 26.05 on. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
#define WEFT_NODE_RANKS(resources) ((void)(resources), NULL)
#else
#define WEFT_NODE_RANKS(resources)                                             \
	((resources) ? &(resources)->node_ranks : NULL)
#endif

/* The most nodes that the user asks for, 0: any number.  Where the user says
 * nothing, the record has the number of tasks from 26.05 on. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
#define WEFT_MOST_NODES(job) ((job)->details->max_nodes)
#else
#define WEFT_MOST_NODES(job)                                                   \
	((job)->bit_flags & JOB_IMPLICIT_MAX_NODES                             \
		 ? 0                                                           \
		 : (job)->details->max_nodes)
#endif

/* Reads the type that a plugin file says it is, without loading it; an error
 * where the file is for another release. */
int weft_compat_peek(const char *path, char *type, size_t size);

/* The user, or an exclusive partition, wants nodes for this job alone. */
bool weft_compat_whole_nodes(const job_details_t *details);

/* Has Slurm itself lay the job's ranks node by node in this order: first[k] for
 * the job's k-th node in the node table, smaller comes earlier.  False where
 * this release cannot. */
bool weft_compat_rank_nodes(job_record_t *job, const uint32_t *first,
			    uint32_t n);

/* Cores of the node that reservations keep from the job; whether core number
 * `core` of it is one; and GPUs (bit k: GPU k), of which 22.05 to 23.02 know
 * none. */
uint32_t weft_compat_excluded_cores(weft_excluded *excluded, int node);
bool weft_compat_excludes_core(weft_excluded *excluded, int node, int core);
uint64_t weft_compat_excluded_gpus(weft_excluded *excluded, uint32_t node);

#endif
