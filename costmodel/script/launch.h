/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.h - commands that start a training, as facts */
#ifndef WEFT_COSTMODEL_SCRIPT_LAUNCH_H
#define WEFT_COSTMODEL_SCRIPT_LAUNCH_H

#include "costmodel/script/facts.h"
#include "costmodel/script/shell.h"

enum launcher {
	LAUNCHER_NONE,
	LAUNCHER_TORCHRUN,
	LAUNCHER_DEEPSPEED,
	LAUNCHER_ACCELERATE,
	LAUNCHER_MPI,
};

/* One command that starts something. */
struct launch {
	struct facts facts;
	enum launcher launcher;
	bool step;	    /* by srun or mpirun */
	char program[128];  /* "pretrain_gpt.py", "torchtitan.train" */
	uint32_t line;	    /* of the program */
	uint32_t open_line; /* of arguments that nothing says; 0: none */
	enum shell_mode mode;
};

struct launches {
	struct launch *of;
	size_t n;
	const char *file;
	/* a command that starts the processes of its ranks itself; its line */
	char hidden[24];
	uint32_t hidden_line;
	struct weft_error *err;
};

/* Takes a command of the shell; one that starts nothing is passed over. */
void launch_take(struct launches *launches, struct shell *shell,
		 struct marked_list *words, enum shell_mode mode);
void launches_free(struct launches *launches);

/* Options of srun and sbatch, "--nodes=4" and "-N 4", as facts. */
void launch_slurm_options(struct facts *facts, enum fact_scope scope,
			  struct marked *words, size_t n, const char *file);

#endif
