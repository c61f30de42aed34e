/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.c - writing the snapshot file */
#include "config.h" /* PACKAGE_VERSION */

#include "plugin/bridge/files/snapshot.h"

#include "base/bitset.h"
#include "base/trusted.h"
#include "placement/objective/objective.h"
#include "plugin/bridge/files/invariants.h"
#include "plugin/bridge/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A job that Slurm has not tried to start for so long was cancelled, or is
 * held: it is no longer shown as waiting. */
#define WAIT_FORGOTTEN_S 900

/* ---- values ---- */

static void put_string(FILE *file, const char *key, const char *text)
{
	fprintf(file, "\"%s\": \"", key);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(file, "\\u%04x", *c);
		else
			fputc(*c, file);
	}
	fputc('"', file);
}

/* What is not known has no key. */
static void put_known(FILE *file, const char *key, double value)
{
	if (isfinite(value))
		fprintf(file, ", \"%s\": %.9g", key, value);
}

/* "0-3,7" */
static void put_mask(FILE *file, const char *key, uint64_t mask)
{
	const char *before = "";

	fprintf(file, "\"%s\": \"", key);
	while (mask) {
		uint32_t first = (uint32_t)__builtin_ctzll(mask);
		uint64_t rest = ~(mask >> first);
		uint32_t n = rest ? (uint32_t)__builtin_ctzll(rest) : 64;

		fprintf(file, n > 1 ? "%s%u-%u" : "%s%u", before, first,
			first + n - 1);
		before = ",";
		mask &= ~(weft_mask_first(n) << first);
	}
	fputc('"', file);
}

static const char *cause_code(uint32_t cause)
{
	return cause < WEFT_N_CAUSES && weft_cause_codes[cause]
		       ? weft_cause_codes[cause]
		       : "unknown";
}

/* ---- parts ---- */

static void put_head(const struct weft_status *shown,
		     const struct weft_fabric *f, double now_s, FILE *file)
{
	fputs("{\"schema\": \"weft.state/1\",\n", file);
	put_string(file, "version", PACKAGE_VERSION);
	fprintf(file, ",\n\"written_s\": %.3f,\n\"since_s\": %" PRId64 ",\n",
		now_s, shown->since_s);
	fprintf(file, "\"generation\": %" PRIu64 ",\n", shown->generation);
	fputs("\"fabric\": {", file);
	if (f) {
		put_string(file, "name", f->name);
		fprintf(file, ", \"nodes\": %u, \"gpus\": %u", f->n_nodes,
			f->n_gpus);
	}
	fputs("},\n", file);
}

static void put_decisions(const struct weft_counters *counters, FILE *file)
{
	double limit_s = WEFT_FIRST_BUCKET_S;
	const char *before = "";

	fputs("\"decisions\": {", file);
	for (uint32_t c = 0; c < WEFT_N_CAUSES; c++) {
		if (!weft_cause_codes[c])
			continue;
		fprintf(file, "%s\"%s\": %" PRIu64, before, weft_cause_codes[c],
			counters->by_cause[c]);
		before = ", ";
	}
	fputs("},\n\"planning\": {\"sum_s\": ", file);
	fprintf(file, "%.9g, \"cut\": %" PRIu64 ", \"up_to\": [",
		(double)counters->planning_ns / 1e9, weft_rations.n_cut);
	for (uint32_t k = 0; k < WEFT_N_TIME_BUCKETS; k++, limit_s *= 2) {
		fprintf(file, "%s{\"n\": %" PRIu64, k ? ", " : "",
			counters->by_time[k]);
		if (k + 1 < WEFT_N_TIME_BUCKETS)
			fprintf(file, ", \"s\": %g", limit_s);
		fputc('}', file);
	}
	fputs("]},\n", file);
}

static void put_nodes(const struct weft_status *shown,
		      const struct weft_fabric *f, FILE *file)
{
	uint32_t n = f ? f->n_nodes : 0;
	const char *before = "";

	fputs("\"nodes\": [", file);
	for (uint32_t i = 0; i < n; i++) {
		struct weft_status_node node;

		if (!weft_seqlock_read(&shown->nodes, i, &node) || !node.paired)
			continue;
		fprintf(file, "%s\n{", before);
		put_string(file, "name", f->nodes[i].name);
		fputs(", ", file);
		put_mask(file, "gpus", node.gpus);
		fputs(", ", file);
		put_mask(file, "gpus_free", node.gpus_free);
		fprintf(file,
			", \"cpus\": %u, \"cpus_used\": %u, "
			"\"memory_mb\": %" PRIu64
			", \"memory_used_mb\": %" PRIu64 "}",
			node.cpus, node.cpus_used, node.memory_mb,
			node.memory_used_mb);
		before = ",";
	}
	fputs("],\n", file);
}

/* As in weft-plan(1). */
static void put_gain(const struct weft_gain *g, FILE *file)
{
	const char *what = weft_gain_bases[g->basis];
	const struct {
		const char *whose;
		double value_s;
	} seconds[] = {
		{"", g->here_s},
		{"stock_", g->stock_s},
		{"spread_", g->spread_s},
		{"best_", g->best_s},
	};
	char key[64];

	fputs(", \"gain\": {", file);
	put_string(file, "basis", what);
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		snprintf(key, sizeof(key), "%s%s_s", seconds[i].whose, what);
		put_known(file, key, seconds[i].value_s);
	}
	fputs(", ", file);
	put_string(file, "best_is", g->best_is_bound ? "bound" : "found");
	put_known(file, "nominal_s", g->nominal_s);
	put_known(file, "bound_s", g->bound_s);
	put_known(file, "gain", g->gain);
	put_known(file, "share",
		  g->basis == WEFT_GAIN_STEP ? 1 : WEFT_ASSUMED_SHARE);
	put_known(file, "low_s", g->low_s);
	put_known(file, "high_s", g->high_s);
	fprintf(file, ", \"matters\": %s, \"late\": %s}",
		g->matters ? "true" : "false", g->late ? "true" : "false");
}

/* What is empty has no key. */
static void put_text(FILE *file, const char *key, const char *text)
{
	if (!text[0])
		return;
	fputs(", ", file);
	put_string(file, key, text);
}

void weft_snapshot_job(const struct weft_status_job *job, FILE *file)
{
	fprintf(file, "{\"job\": %u, ", job->job_id);
	if (job->end_s) {
		fprintf(file,
			"\"start_s\": %" PRId64 ", \"end_s\": %" PRId64 "}",
			job->start_s, job->end_s);
		return;
	}
	put_string(file, "cause", cause_code(job->cause));
	fprintf(file,
		", \"planned\": %s, \"start_s\": %" PRId64
		", \"nodes\": %u, \"gpus\": %u",
		job->cause == WEFT_CAUSE_NARROWED ? "true" : "false",
		job->start_s, job->n_nodes, job->n_gpus);
	if (isfinite(job->cost) && job->metric < WEFT_N_METRICS) {
		fputs(", ", file);
		put_string(file, "metric", weft_metric_names[job->metric]);
	}
	put_known(file, "cost", job->cost);
	put_known(file, "bound", job->bound);
	put_known(file, "step_s", job->step_s);
	put_known(file, "decision_s", job->decision_s);
	if (job->compared)
		put_gain(&job->gain, file);
	fputs(", ", file);
	put_string(file, "reason", job->reason);
	fputs(", ", file);
	put_string(file, "said", job->said);
	put_text(file, "spec", job->spec);
	put_text(file, "on", job->on);
	put_text(file, "plan", job->plan);
	fputc('}', file);
}

static void put_jobs(const struct weft_status *shown, FILE *file)
{
	uint32_t n = shown->jobs.n;
	const char *before = "\n";

	fputs("\"jobs\": [", file);
	for (uint32_t i = 0; i < n; i++) {
		struct weft_status_job job;

		if (!weft_seqlock_read(&shown->jobs, i, &job) || !job.job_id)
			continue;
		fputs(before, file);
		weft_snapshot_job(&job, file);
		before = ",\n";
	}
	fputs("],\n", file);
}

static void put_waits(const struct weft_status *shown, double now_s, FILE *file)
{
	uint32_t n = shown->waits.n;
	const char *before = "\n";

	fputs("\"waiting\": [", file);
	for (uint32_t i = 0; i < n; i++) {
		struct weft_status_wait wait;

		if (!weft_seqlock_read(&shown->waits, i, &wait) ||
		    !wait.job_id ||
		    now_s - (double)wait.asked_s > WAIT_FORGOTTEN_S)
			continue;
		fprintf(file, "%s{\"job\": %u, ", before, wait.job_id);
		put_string(file, "cause", cause_code(wait.cause));
		fprintf(file,
			", \"since_s\": %" PRId64 ", \"asked_s\": %" PRId64
			", \"asked\": %u, ",
			wait.since_s, wait.asked_s, wait.n_asked);
		put_string(file, "reason", wait.reason);
		put_text(file, "spec", wait.spec);
		fputc('}', file);
		before = ",\n";
	}
	fputs("],\n", file);
}

/* Those that happened. */
static void put_troubles(const struct weft_status *shown,
			 const struct weft_invariants *complaints, FILE *file)
{
	const char *before = "";

	if (shown->health_s)
		fprintf(file,
			"\"health\": {\"read_s\": %" PRId64
			", \"slow_nodes\": %u},\n",
			shown->health_s, shown->n_slow_nodes);
	fprintf(file, "\"contending_jobs\": %u,\n", shown->n_loads);
	fprintf(file,
		"\"records\": {\"written\": %" PRIu64 ", \"lost\": %" PRIu64
		"},\n",
		shown->n_kept - shown->n_lost, shown->n_lost);
	put_string(file, "effort", weft_effort_names[weft_watchdog.effort]);
	fputs(",\n\"troubles\": {", file);
	for (uint32_t t = 0; t < WEFT_N_TROUBLES; t++) {
		uint64_t n = complaints->n[t];

		if (!n)
			continue;
		fprintf(file, "%s\"%s\": %" PRIu64, before,
			weft_trouble_codes[t], n);
		before = ", ";
	}
	fputs("},\n", file);
}

static void put_recount(const struct weft_status *shown, FILE *file)
{
	struct weft_status_recount last;

	if (!weft_seqlock_read(&shown->recount, 0, &last) || !last.at_s) {
		fputs("\"recount\": null", file);
		return;
	}
	fprintf(file,
		"\"recount\": {\"at_s\": %" PRId64 ", \"counts\": %u, "
		"\"nodes\": %u, \"jobs\": %u, \"cpus_differ\": %u, "
		"\"memory_differ\": %u, \"gpus_differ\": %u, "
		"\"gpus_given_twice\": %u}",
		last.at_s, last.n_counts, last.n_nodes, last.n_jobs,
		last.n_cpus, last.n_memory, last.n_gpus, last.n_twice);
}

int weft_snapshot_write(const struct weft_status *shown,
			const struct weft_fabric *f,
			const struct weft_counters *counters, double now_s,
			FILE *file)
{
	put_head(shown, f, now_s, file);
	put_decisions(counters, file);
	put_nodes(shown, f, file);
	put_jobs(shown, file);
	put_waits(shown, now_s, file);
	put_troubles(shown, &weft_invariants, file);
	put_recount(shown, file);
	fputs("}\n", file);
	return ferror(file) ? -1 : 0;
}

/* ---- the file ---- */

/* A new file beside the final one, or -1: never one that another process has
 * put there, or a link. */
static int open_new(const char *path, mode_t mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd >= 0 && fchmod(fd, mode) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int weft_write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

static bool is_wanted(const struct weft_snapshot_place *place)
{
	return !place->worker || !weft_worker_left(place->worker);
}

/* By system calls alone: at its end a process writes out what its streams hold,
 * and would wait for a file system that does not answer. */
static int text_save(const struct weft_snapshot_place *place, const char *text,
		     size_t size, struct weft_error *err)
{
	size_t room = strlen(place->path) + sizeof(".new");
	char *beside = weft_calloc(room, 1, err);
	bool kept = false;
	int fd, rc = -1;

	if (!beside)
		return -1;
	snprintf(beside, room, "%s.new", place->path);
	fd = open_new(beside, place->is_private ? 0600 : 0644);
	if (fd >= 0) {
		rc = weft_write_all(fd, text, size);
		if (close(fd) < 0)
			rc = -1;
		kept = rc == 0 && is_wanted(place);
		if (kept)
			rc = rename(beside, place->path);
	}
	if (rc < 0)
		weft_fail_at(err, WEFT_EIO, place->path, 0, 0,
			     "cannot be written: %s", strerror(errno));
	/* half a file on a full disk is of no use */
	if (fd >= 0 && (rc < 0 || !kept))
		unlink(beside);
	free(beside);
	return rc;
}

/* What was written while all might read it, in case nothing can be written. */
static void close_to_others(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_mode & 077)
		fchmod(fd, 0600);
	close(fd);
}

int weft_snapshot_save(const struct weft_status *shown,
		       const struct weft_fabric *f,
		       const struct weft_counters *counters, double now_s,
		       const struct weft_snapshot_place *place,
		       struct weft_error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory;
	int rc = 0;

	if (weft_trusted_folder(place->path, geteuid(), err) < 0)
		return -1;
	if (place->is_private)
		close_to_others(place->path);
	memory = open_memstream(&text, &size);
	if (!memory)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	weft_snapshot_write(shown, f, counters, now_s, memory);
	if (fclose(memory) != 0)
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	/* Nodes of two fabrics may be mixed in an abandoned snapshot. */
	if (rc == 0 && is_wanted(place))
		rc = text_save(place, text, size, err);
	free(text);
	return rc;
}
