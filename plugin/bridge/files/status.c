/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.c - keeping what others may see of weft */
#include "plugin/bridge/files/status.h"

#include "base/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_status weft_status;

void weft_status_init(struct weft_status *shown)
{
	memset(shown, 0, sizeof(*shown));
	weft_seqlock_init(&shown->nodes, sizeof(struct weft_status_node));
	weft_seqlock_init(&shown->jobs, sizeof(struct weft_status_job));
	weft_seqlock_init(&shown->waits, sizeof(struct weft_status_wait));
	weft_seqlock_init(&shown->recount, sizeof(struct weft_status_recount));
	weft_seqlock_init(&shown->saved, sizeof(struct weft_status_job));
}

void weft_status_free(struct weft_status *shown)
{
	weft_seqlock_free(&shown->nodes);
	weft_seqlock_free(&shown->jobs);
	weft_seqlock_free(&shown->waits);
	weft_seqlock_free(&shown->recount);
	weft_seqlock_free(&shown->saved);
	free(shown->job_ids);
	memset(shown, 0, sizeof(*shown));
}

void weft_status_forget_nodes(struct weft_status *shown)
{
	static const struct weft_status_node none;
	uint32_t n = shown->nodes.n;

	for (uint32_t i = 0; i < n; i++)
		weft_seqlock_write(&shown->nodes, i, &none, NULL);
}

uint64_t weft_status_version(const struct weft_status *shown)
{
	return shown->nodes.n_writes + shown->jobs.n_writes +
	       shown->waits.n_writes + shown->recount.n_writes +
	       shown->n_changes + shown->n_kept + shown->n_lost;
}

void weft_status_node(struct weft_status *shown, uint32_t node,
		      const struct weft_status_node *record)
{
	weft_seqlock_write(&shown->nodes, node, record, NULL);
}

/* ---- jobs ---- */

/* The record of a job, or of none (job_id 0); n where there is no such. */
static uint32_t find_id(const uint32_t *ids, uint32_t n, uint32_t job_id)
{
	uint32_t i = 0;

	while (i < n && ids[i] != job_id)
		i++;
	return i;
}

/* Room for one more job; records are made a chunk at a time as well. */
static bool jobs_grow(struct weft_status *shown)
{
	uint32_t *ids;

	if (shown->n_jobs % WEFT_SEQLOCK_CHUNK)
		return true;
	ids = weft_realloc(shown->job_ids,
			   (size_t)shown->n_jobs + WEFT_SEQLOCK_CHUNK,
			   sizeof(*ids), NULL);
	if (ids)
		shown->job_ids = ids;
	return ids != NULL;
}

static void wait_ended(struct weft_status *shown, uint32_t job_id)
{
	static const struct weft_status_wait none;
	uint32_t i = find_id(shown->wait_ids, WEFT_SHOWN_WAITS, job_id);

	if (i == WEFT_SHOWN_WAITS)
		return;
	shown->wait_ids[i] = 0;
	shown->wait_asked_s[i] = 0;
	weft_seqlock_write(&shown->waits, i, &none, NULL);
}

void weft_status_job(struct weft_status *shown,
		     const struct weft_status_job *record)
{
	uint32_t i = find_id(shown->job_ids, shown->n_jobs, record->job_id);

	wait_ended(shown, record->job_id);
	if (i == shown->n_jobs)
		i = find_id(shown->job_ids, shown->n_jobs, 0);
	if (i == shown->n_jobs && !jobs_grow(shown))
		return;
	if (weft_seqlock_write(&shown->jobs, i, record, NULL) < 0)
		return;
	shown->job_ids[i] = record->job_id;
	if (i == shown->n_jobs)
		shown->n_jobs++;
}

void weft_status_job_ended(struct weft_status *shown, uint32_t job_id)
{
	static const struct weft_status_job none;
	uint32_t i = find_id(shown->job_ids, shown->n_jobs, job_id);

	wait_ended(shown, job_id);
	if (i == shown->n_jobs)
		return;
	shown->job_ids[i] = 0;
	weft_seqlock_write(&shown->jobs, i, &none, NULL);
}

void weft_status_save(struct weft_status *shown,
		      const struct weft_status_job *record)
{
	if (weft_seqlock_write(&shown->saved,
			       (uint32_t)(shown->n_saved % WEFT_SHOWN_SAVED),
			       record, NULL) == 0)
		shown->n_saved++;
}

void weft_status_spec(const char *spec, char text[WEFT_SHOWN_SPEC + 1])
{
	size_t length = spec ? strlen(spec) : 0;

	text[0] = '\0';
	if (length > WEFT_SHOWN_SPEC)
		return;
	for (size_t i = 0; i < length; i++)
		if (spec[i] < 0x20 || spec[i] > 0x7e)
			return;
	snprintf(text, WEFT_SHOWN_SPEC + 1, "%s", spec ? spec : "");
}

void weft_status_nodes(const struct weft_fabric *f, const uint32_t *where,
		       uint32_t n_gpus, char text[WEFT_SHOWN_NODES])
{
	const char **names = weft_calloc(f->n_nodes, sizeof(*names), NULL);
	char *list = NULL;
	uint32_t n = 0;

	text[0] = '\0';
	for (uint32_t r = 0; names && where && r < n_gpus; r++)
		if (where[r] != WEFT_NONE)
			names[f->gpu_node[where[r]]] =
				f->nodes[f->gpu_node[where[r]]].name;
	for (uint32_t i = 0; names && i < f->n_nodes; i++)
		if (names[i])
			names[n++] = names[i];
	if (n)
		list = weft_hostlist_encode(names, n);
	if (list && strlen(list) < WEFT_SHOWN_NODES)
		snprintf(text, WEFT_SHOWN_NODES, "%s", list);
	free(list);
	free(names);
}

void weft_status_said(const char *comment, char said[WEFT_TEXT_SIZE])
{
	static const char own[] = "weft: ", between[] = " | ";
	const char *part = comment, *end;

	said[0] = '\0';
	while (part && strncmp(part, own, strlen(own)) != 0) {
		part = strstr(part, between);
		part = part ? part + strlen(between) : NULL;
	}
	if (!part)
		return;
	end = strstr(part, between);
	snprintf(said, WEFT_TEXT_SIZE, "%.*s",
		 end ? (int)(end - part) : WEFT_TEXT_SIZE, part);
}

/* ---- waiting ---- */

/* The job's own record, else an empty one, else the one not asked about for
 * longest. */
static uint32_t wait_slot(const struct weft_status *shown, uint32_t job_id)
{
	uint32_t i = find_id(shown->wait_ids, WEFT_SHOWN_WAITS, job_id);
	uint32_t oldest = 0;

	if (i < WEFT_SHOWN_WAITS)
		return i;
	for (i = 1; i < WEFT_SHOWN_WAITS; i++)
		if (shown->wait_asked_s[i] < shown->wait_asked_s[oldest])
			oldest = i;
	return oldest;
}

void weft_status_waits(struct weft_status *shown, uint32_t job_id,
		       enum weft_cause cause, const char *reason,
		       const char *spec, int64_t now_s)
{
	struct weft_status_wait record = {
		.job_id = job_id,
		.cause = cause,
		.asked_s = now_s,
	};
	uint32_t i = wait_slot(shown, job_id);

	if (shown->wait_ids[i] != job_id) {
		shown->wait_ids[i] = job_id;
		shown->wait_since_s[i] = now_s;
		shown->wait_n_asked[i] = 0;
	}
	shown->wait_asked_s[i] = now_s;
	record.since_s = shown->wait_since_s[i];
	record.n_asked = ++shown->wait_n_asked[i];
	snprintf(record.reason, sizeof(record.reason), "%s", reason);
	weft_status_spec(spec, record.spec);
	weft_seqlock_write(&shown->waits, i, &record, NULL);
}
