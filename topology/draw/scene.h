/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.h - what a picture shows: a fabric, what becomes of each GPU, figures
 *
 * Plain arrays and words: whoever fills them knows of jobs and traffic, the
 * pictures do not.  All pointers stay the caller's.
 */
#ifndef WEFT_TOPOLOGY_DRAW_SCENE_H
#define WEFT_TOPOLOGY_DRAW_SCENE_H

#include "topology/fabric.h"

/* What a GPU is used for. */
enum weft_use {
	WEFT_USE_FREE,
	WEFT_USE_BUSY,	 /* another job has it */
	WEFT_USE_CLOSED, /* its node takes no job */
	WEFT_USE_JOB,	 /* the job that the picture is about */
	WEFT_N_USES
};
extern const char *const weft_use_names[WEFT_N_USES];

/* One way to colour GPUs: those of one group have one colour. */
struct weft_colouring {
	const char *name;	  /* as an option has it: "tp" */
	const char *noun;	  /* what a group is: "tp group", "stage" */
	bool ordered;		  /* groups have an order: shades, not hues */
	uint32_t n_groups;	  /* the hues repeat where they are more */
	const char *const *names; /* [n_groups], or NULL: numbers from 0 */
	const uint32_t *group;	  /* [n_gpus] or WEFT_NONE */
};

/* One of the figures that sum up the picture. */
struct weft_fact {
	const char *label, *value, *note; /* note "": nothing more to say */
};

#define WEFT_TABLE_COLUMNS 4

/* Rows of numbers to compare, each column in its unit. */
struct weft_table {
	const char *title;
	uint32_t n_rows, n_columns;
	uint32_t main_column; /* the one that decides */
	const char *columns[WEFT_TABLE_COLUMNS];
	const char *units[WEFT_TABLE_COLUMNS];
	const char *const *rows; /* [n_rows] names */
	const double *values;	 /* [n_rows][n_columns], >= 0 */
};

/* Bytes between ranks, rank order from left to right and top to bottom: row
 * sends, column receives.  Cell (i, j) is the sum over ranks i * per_cell and
 * the following per_cell - 1, and likewise j. */
struct weft_heat {
	uint32_t n_ranks, per_cell;
	uint32_t n_cells;  /* a side */
	uint32_t n_layers; /* what the bytes are sent for; they add up */
	const char *const *layers; /* [n_layers] names */
	double *const *bytes;	   /* [n_layers][n_cells * n_cells] */
};

struct weft_scene {
	const struct weft_fabric *fabric;
	const struct weft_node *inside; /* only what is in it; NULL: all */
	const char *title;		/* one line */
	const uint8_t *use;		/* [n_gpus] enum weft_use */
	const uint32_t *rank; /* [n_gpus] or WEFT_NONE; NULL: no job */
	uint32_t n_ranks;
	const uint32_t *owner;	   /* [n_gpus] whose it is, or WEFT_NONE */
	const char *const *owners; /* [n_owners] */
	uint32_t n_owners;
	const struct weft_colouring *colourings;
	uint32_t n_colourings;
	uint32_t chosen; /* the colouring to show; WEFT_NONE: none */
	const struct weft_fact *facts;
	uint32_t n_facts;
	const struct weft_table *tables;
	uint32_t n_tables;
	const struct weft_heat *heat; /* or NULL */
};

/* GPUs by use. */
struct weft_census {
	uint32_t n[WEFT_N_USES];
};
struct weft_census weft_scene_count(const struct weft_scene *scene,
				    uint32_t first_gpu, uint32_t n_gpus);

/* The colour group of a GPU in the chosen colouring; WEFT_NONE: only its use
 * gives it a colour. */
uint32_t weft_scene_group(const struct weft_scene *scene, uint32_t gpu);

/* The job's GPUs by group, as first met; n 0: of more groups than fit, or none.
 */
#define WEFT_TALLY_GROUPS 12
struct weft_tally {
	uint32_t n, group[WEFT_TALLY_GROUPS], count[WEFT_TALLY_GROUPS];
};
void weft_scene_tally(const struct weft_scene *scene, uint32_t first_gpu,
		      uint32_t n_gpus, struct weft_tally *tally);

/* True where two GPUs look alike in a picture. */
bool weft_scene_alike(const struct weft_scene *scene, uint32_t a, uint32_t b);

/* Name of a group, "tp group 3"; written to buffer, which is returned. */
const char *weft_colouring_group(const struct weft_colouring *colouring,
				 uint32_t group, char *buffer, size_t size);

#endif
