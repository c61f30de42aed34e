/* SPDX-License-Identifier: GPL-3.0-or-later */
/* publish.h - what weft tells a starting job: the sentence in its SystemComment
 * and the order of its ranks
 */
#ifndef WEFT_PLUGIN_PUBLISH_H
#define WEFT_PLUGIN_PUBLISH_H

#include "plugin/bridge/decision.h"
#include "plugin/slurm/stock.h"

/* The answer to the last question; takes over decision->where. */
void weft_publish_decided(struct weft_decision *decision);

/* The job that was asked about last starts. */
void weft_publish_begun(const job_record_t *job);

/* The job that has just begun, if it is this one, has its GPUs: tells it what
 * weft did. */
void weft_publish_started(job_record_t *job);

/* A job gives its GPUs back. */
void weft_publish_ended(const job_record_t *job);

/* Slurm or weft is about to go, or numbers nodes anew. */
void weft_publish_forget(void);

#endif
