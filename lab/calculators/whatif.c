/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whatif.c - terms of a step, each off unless asked for */
#include "lab/calculators/whatif.h"

#include "base/suggest.h"

#include <math.h>
#include <stddef.h>

const struct weft_whatif_terms weft_whatif_off = WEFT_WHATIF_OFF;

#define AT(member) offsetof(struct weft_whatif_terms, member)

const struct weft_whatif_term weft_whatif_rows[] = {
	{"compression", "factor",
	 "by which gradients shrink; count the indices of sparse ones",
	 AT(compression), 1, 1e6, 2, 1000, ""},
	{"accumulation", "micro-batches", "computed per sync", AT(accumulation),
	 1, 1e6, 8, 8, "arithmetic: R/k"},
	{"sync-every", "steps", "per sync (local SGD)", AT(sync_every), 1, 1e6,
	 0, 0, "arithmetic: T_comm/K"},
	{"oversubscription", "factor",
	 "of the fat tree where the sync crosses it", AT(oversubscription), 1,
	 1e3, 3, 3, "arithmetic: (1+r)/(1+3r) of the throughput for 3:1"},
	{"rdma", "share", "of communication that RDMA saves against TCP",
	 AT(rdma), 0, 0.999, 0, 0.8, ""},
	{"link-share", "share", "of the link's rate that is reached",
	 AT(link_share), 0.001, 1, 0.6, 0.8, ""},
	{"in-network", "factor", "by which reduction in switches is faster",
	 AT(in_network), 1, 100, 0, 0,
	 "measured 1.30 (8 H100) and 1.25 (NVL72): stas00/ml-engineering "
	 "network"},
	{"small-messages", "factor",
	 "by which latency shrinks (symmetric memory)", AT(small_messages), 1,
	 100, 1, 9, ""},
	{"priority", "share", "that a high-priority stream saves", AT(priority),
	 0, 0.999, 0.25, 0.25, ""},
	{"launch-gap", "s", "idle before each collective", AT(launch_gap_s), 0,
	 1, 3e-6, 8e-6, ""},
	{"contention", "s", "added to each chunk by kernels on the same SMs",
	 AT(contention_s), 0, 1, 5e-6, 10e-6, ""},
	{"skew", "s", "lateness of the slowest rank, per collective",
	 AT(skew_s), 0, 1e3, 5e-6, 10e-6, ""},
	{"barrier", "s", "cost of one before each collective", AT(barrier_s), 0,
	 1, 2e-6, 4e-6, ""},
	{"straggler", "share", "of throughput lost to the slowest rank",
	 AT(straggler), 0, 0.999, 0.1, 0.2, ""},
};
const uint32_t weft_n_whatif_rows =
	sizeof(weft_whatif_rows) / sizeof(weft_whatif_rows[0]);

const struct weft_whatif_term *weft_whatif_find(const char *name)
{
	return WEFT_ROW(name, weft_whatif_rows, weft_n_whatif_rows);
}

static int job_check(const struct weft_whatif_job *job, struct weft_error *err)
{
	if (!(job->compute_s > 0) || !(job->comm_s >= 0))
		return weft_fail(err, WEFT_EINVAL,
				 "computation must take time, communication "
				 "not less than none");
	if (!(job->latency_s >= 0 && job->latency_s <= job->comm_s))
		return weft_fail(err, WEFT_EINVAL,
				 "latency is a part of the communication");
	if (!(job->overlap >= 0 && job->overlap <= 1))
		return weft_fail(err, WEFT_EINVAL,
				 "overlap is a share from 0 to 1");
	for (uint32_t i = 0; i < weft_n_whatif_rows; i++) {
		const struct weft_whatif_term *row = &weft_whatif_rows[i];
		double value =
			*(const double *)(const void *)((const char *)&job
								->terms +
							row->offset);

		if (!(value >= row->min && value <= row->max))
			return weft_fail(err, WEFT_EINVAL,
					 "%s is %g, expected %g to %g",
					 row->name, value, row->min, row->max);
	}
	return 0;
}

static uint32_t or_one(uint32_t n)
{
	return n ? n : 1;
}

/* One sync after every term, bandwidth and latency parts apart. */
static double sync_s(const struct weft_whatif_job *job)
{
	const struct weft_whatif_terms *t = &job->terms;
	double collectives = or_one(job->collectives);
	double moving_s = (job->comm_s - job->latency_s) / t->compression *
			  t->oversubscription / t->link_share / t->in_network;
	double each_s = t->launch_gap_s + t->skew_s + t->barrier_s +
			t->contention_s * or_one(job->chunks);

	return (moving_s + job->latency_s / t->small_messages) * (1 - t->rdma) *
		       (1 - t->priority) +
	       collectives * each_s;
}

int weft_whatif(const struct weft_whatif_job *job,
		enum weft_convention convention, struct weft_whatif *whatif,
		struct weft_error *err)
{
	const struct weft_whatif_terms *t = &job->terms;
	struct weft_whatif *w = whatif;

	*w = (struct weft_whatif){0};
	if (job_check(job, err))
		return -1;
	w->base_s = job->compute_s + job->comm_s -
		    job->overlap * fmin(job->compute_s, job->comm_s);
	w->comm_s = sync_s(job) / t->accumulation / t->sync_every;
	/* The step is the union of both, less their intersection. */
	w->overlap_s = job->overlap * fmin(job->compute_s, w->comm_s);
	w->exposed_s = w->comm_s - w->overlap_s;
	w->step_s = (job->compute_s + w->exposed_s) / (1 - t->straggler);
	w->ratio = w->comm_s / job->compute_s;
	w->overhead = w->exposed_s / w->step_s;
	w->speedup = w->base_s / w->step_s;
	w->drop = 1 - w->speedup;
	w->launch_gap_s = t->launch_gap_s * or_one(job->collectives);
	if (convention == WEFT_SEED)
		w->launch_gap_s *= or_one(job->n_gpus);
	w->lost_gpu_s = (w->step_s - w->base_s) * or_one(job->n_gpus) *
			(job->steps > 0 ? job->steps : 1);
	return 0;
}
