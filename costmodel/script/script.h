/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.h - a job spec out of a launch script or a framework's configuration
 *
 * Nothing is executed.  What the script does not say, or says twice, is asked
 * back instead of guessed; what follows from a default is said.
 */
#ifndef WEFT_COSTMODEL_SCRIPT_SCRIPT_H
#define WEFT_COSTMODEL_SCRIPT_SCRIPT_H

#include "costmodel/job/spec.h"

#define WEFT_SCRIPT_KEYS  40
#define WEFT_SCRIPT_TEXTS 16
#define WEFT_SCRIPT_TEXT  240

/* One key of the spec, and who says so. */
struct weft_script_key {
	const char *key;
	char value[128], file[120];
	uint32_t line; /* 0: it follows from others */
};

struct weft_script {
	const char *reader; /* of weft_script_readers; NULL: none fits */
	struct weft_script_key keys[WEFT_SCRIPT_KEYS];
	uint32_t n_keys;
	char assumed[WEFT_SCRIPT_TEXTS][WEFT_SCRIPT_TEXT];
	uint32_t n_assumed;
	/* what must be known and is not: then the spec is no answer */
	char missing[WEFT_SCRIPT_TEXTS][WEFT_SCRIPT_TEXT];
	uint32_t n_missing;
	char spec[WEFT_SPEC_MAX_BYTES + 1];
};

struct weft_script_options {
	/* What Slurm knows of the job, before what the script says; 0: not
	 * known. */
	uint32_t nodes, gpus_per_node, tasks, tasks_per_node;
	/* What the caller gives: "NAME=VALUE" and $1..., each ended by NULL. */
	const char *const *set, *const *arguments;
	bool slurm_decides; /* the spec leaves out how many GPUs there are */
	/* A file that the script names, malloc'ed; NULL: none.  Without it no
	 * file is opened. */
	char *(*load)(void *self, const char *path, size_t *size);
	void *self;
	size_t most_bytes; /* of all texts that are made; 0: 16 MiB */
};

/* The frameworks that are known, ended by a NULL name. */
struct weft_draft;
struct fact;
struct weft_script_reader {
	const char *name, *help;
	bool (*suits)(const struct weft_draft *draft);
	/* whether a fact is about the training; NULL: all are */
	bool (*about)(const struct fact *fact);
	void (*take)(struct weft_draft *draft);
};
extern const struct weft_script_reader weft_script_readers[];

/* text[size] with a NUL behind: a script, a command line, or a configuration,
 * which name (a file's, or "-") ends .yaml, .json or .toml.  0 with *script,
 * also where keys are missing; -1 with err where it cannot be read at all. */
int weft_script_read(const char *text, size_t size, const char *name,
		     const struct weft_script_options *options,
		     struct weft_script *script, struct weft_error *err);

#endif
