/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.h - what scripts and configurations say, word by word
 *
 * A fact is a name and a value as they are written, and where.  Names are
 * folded (spec_words.h); those of configuration files are paths with dots.
 */
#ifndef WEFT_COSTMODEL_SCRIPT_FACTS_H
#define WEFT_COSTMODEL_SCRIPT_FACTS_H

#include "base/arena.h"
#include "costmodel/script/marked.h"

/* Who says it; of two that say different things the later one holds. */
enum fact_scope {
	FACT_BATCH,    /* #SBATCH lines, or what Slurm knows of the job */
	FACT_STEP,     /* srun, mpirun */
	FACT_FILE,     /* a configuration file */
	FACT_LAUNCHER, /* torchrun, deepspeed, accelerate */
	FACT_PROGRAM,  /* the program's own arguments */
};

struct fact {
	const char *name, *value; /* without marks */
	const char *file;
	uint32_t line;
	enum fact_scope scope;
	bool assumed, unknown;
};

struct facts {
	struct fact *of;
	size_t n, room;
	struct weft_arena arena;
	struct weft_error *err;
	bool failed;
};

/* Adds one; value with marks.  Failures stay in facts->failed. */
void facts_add(struct facts *facts, enum fact_scope scope, const char *name,
	       const struct marked *value, const char *file);
void facts_add_text(struct facts *facts, enum fact_scope scope,
		    const char *name, const char *value, const char *file,
		    uint32_t line);
/* Drops the facts that keep() does not name. */
void facts_keep(struct facts *facts, bool (*keep)(const struct fact *fact));
void facts_free(struct facts *facts);

/* The part of a path behind its last dot. */
const char *fact_leaf(const struct fact *fact);

/* The fact that holds of those whose path, or the end of it behind a dot, is
 * name; NULL: none. */
const struct fact *facts_find(const struct facts *facts, const char *name);
/* The same of one scope alone. */
const struct fact *facts_find_in(const struct facts *facts,
				 enum fact_scope scope, const char *name);
/* Its whole number, or 0 where it is none, or unknown. */
uint32_t fact_number(const struct fact *fact);
/* "true", "True", "on", "1", or a flag alone. */
bool fact_is_on(const struct fact *fact);

/* Configuration files as facts.  -1 with err where it is none.  tree.c reads
 * YAML, and JSON as YAML; toml.c TOML. */
int facts_read_tree(struct facts *facts, const char *text, size_t size,
		    const char *file, struct weft_error *err);
int facts_read_toml(struct facts *facts, const char *text, size_t size,
		    const char *file, struct weft_error *err);

#endif
