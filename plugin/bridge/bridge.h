/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bridge.h - from a request and free GPUs to nodes, and to the sentence that
 * the user sees: no Slurm types
 *
 * Everything here is called with Slurm's job lock held for writing, by one
 * thread at a time.
 */
#ifndef WEFT_PLUGIN_BRIDGE_BRIDGE_H
#define WEFT_PLUGIN_BRIDGE_BRIDGE_H

#include "placement/objective/gain.h"
#include "placement/place.h"
#include "plugin/bridge/files/settings.h"
#include "plugin/bridge/request.h"
#include "plugin/bridge/watchdog.h"

#define WEFT_MAX_BUILT	 64
#define WEFT_TEXT_SIZE	 400 /* the sentence for the user */
#define WEFT_SHOWN_SPEC	 160 /* bytes of a spec inside of it */
#define WEFT_REASON_SIZE 200 /* an escaped message inside of it */

/* A job built from a spec, kept because a pending job asks again and again and
 * the tasks of an array ask alike.  err.code != 0: it cannot be built. */
struct weft_built {
	char *spec;
	uint32_t n_gpus;
	uint64_t used; /* when last, by weft_bridge.clock */
	bool ready;    /* job and err are of this level of detail */
	/* Lowered so that a decision keeps to its time.  WEFT_RINGS: every
	 * collective counts as a ring; WEFT_NO_PAIRS: neither traffic nor a
	 * search, weft_place_first. */
	enum weft_detail detail;
	double retry_s;	       /* in full again from then on, by weft_clock_s */
	enum weft_detail next; /* of the next question */
	struct weft_job job;
	struct weft_plan_cache *plan_cache; /* NULL: too large to be kept */
	struct weft_error err;
};

/* Zero-initialise; settings are the caller's and outlive the bridge. */
struct weft_bridge {
	const struct weft_settings *settings;
	struct weft_built built[WEFT_MAX_BUILT];
	uint64_t clock;
	uint64_t n_edges; /* of all that is kept */
	struct weft_cost_scratch scratch;
	const struct weft_load *load; /* of the links; NULL: none */
	const char *method;	      /* of placing; NULL: the default */
	double place_cpu_s; /* processor time of placing; the caller resets it
			     */
	struct weft_owed compared; /* time that comparisons took, gain.h */
};

void weft_bridge_clear(struct weft_bridge *bridge);

/* The job that `spec` (NULL: one data-parallel group) describes on n_gpus GPUs.
 * Never reads a file: model= is a built-in name or one of the admin's.  Under a
 * deadline, with coarse traffic where there is no time for more.  Valid until
 * the next call; NULL with err. */
const struct weft_job *weft_bridge_job(struct weft_bridge *bridge,
				       const char *spec, uint32_t n_gpus,
				       struct weft_error *err);

/* The same without a bridge, by any thread.  Free with weft_job_free in either
 * case. */
int weft_bridge_build(const struct weft_settings *settings, const char *text,
		      uint32_t n_gpus, enum weft_detail detail,
		      struct weft_job *job, struct weft_error *err);

/* Places the request, laid out as `shape`, on the usable GPUs of o, within
 * budget_s (0: no limit) and the thread's deadline: where there is no time for
 * the best place, with less and less detail (weft_built).  Returns as
 * weft_place does, or -1 with WEFT_ELATE when even the least took too long. */
int weft_bridge_place(struct weft_bridge *bridge,
		      const struct weft_request *request,
		      const struct weft_shape *shape,
		      const struct weft_occupancy *o, double budget_s,
		      struct weft_placement *p, struct weft_error *err);

/* What a job that runs `spec` on where[n_gpus] sends over shared links, in
 * steps as predicted.  parts: empty, the caller frees them in either case.  -1
 * where job or step are not known. */
int weft_bridge_running(struct weft_bridge *bridge, const char *spec,
			const uint32_t *where, uint32_t n_gpus,
			struct weft_load_parts *parts, struct weft_error *err);

/* What became of a job, for the user. */
struct weft_account {
	const char *spec;   /* NULL: none */
	bool planned;	    /* the nodes are weft's choice */
	const char *reason; /* why not; static text or escaped */
	const char *note;   /* more to say; NULL or "": nothing */
	double bound;	    /* of any placement; NAN: not known */
	uint32_t n_partial; /* nodes of which the job has some GPUs only */
	uint32_t n_gpus;    /* where[]: GPUs in rank order; WEFT_NONE inside: */
	uint32_t *where;    /* a GPU that the fabric does not know */
	double decision_s;  /* that the decision took; 0: not known */
	bool show_spec;	    /* Slurm shows it nowhere */
	/* where else it could have gone; NULL: nothing is compared */
	const struct weft_baselines *baselines;
	bool late;	  /* for want of time */
	double compare_s; /* in so long at most */
	/* filled in by weft_bridge_tell; NAN: not known */
	enum weft_metric metric;
	double cost, step_s;
	bool compared;
	struct weft_gain gain; /* where compared */
};

/* "weft: cost=0.0123 bound=0.0119 gap=3% step=2.41s+-3% stock=2.62s gain=8.0%
 * least=2.05s spans 1 pod, 2 leaf; nodes=plan; decided=0.9ms; spec=tp=8" into
 * text; says less where less is known. */
void weft_bridge_tell(struct weft_bridge *bridge, struct weft_account *account,
		      char text[WEFT_TEXT_SIZE]);

/* Removes from a SystemComment, in place, what weft said before; parts of
 * others stay as they are. */
void weft_bridge_strip(char *comment);

/* The error's text for logs and users: bounded, no byte but printable ASCII,
 * and no '|', which separates the parts of a SystemComment. */
void weft_bridge_escape(const struct weft_error *err,
			char text[WEFT_REASON_SIZE]);

#endif
