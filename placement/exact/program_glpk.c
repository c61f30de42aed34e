/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_glpk.c - solving an integer program with GLPK
 *
 * GLPK ends the process on misuse and when memory runs out, unless its error
 * hook does not return; hence the jump.  After it GLPK's environment, which is
 * the thread's own, is of no use and thrown away; it is thrown away in any
 * case, because its memory limit outlasts a call.
 */
#include "base/clock.h"
#include "placement/exact/program.h"

#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#define MEMORY_MB  1024
#define PROGRESS_S 1.0

struct solving {
	jmp_buf broken;
	const struct program *p;
	const struct program_limits *limits;
	struct program_answer *answer;
	glp_prob *prob;
	double bound;  /* of the best open branch */
	double told_s; /* when progress was last reported */
};

bool program_is_solvable(void)
{
	return true;
}

static void on_error(void *info)
{
	struct solving *s = info;

	longjmp(s->broken, 1);
}

/* GLPK prints some things whatever it was told. */
static int on_text(void *info, const char *text)
{
	(void)info;
	(void)text;
	return 1;
}

/* Milliseconds left; 0 when none are. */
static int time_left_ms(const struct effort *e)
{
	double left_ms;

	if (!e)
		return INT_MAX;
	if (e->stop && *e->stop)
		return 0;
	if (e->deadline_s <= 0)
		return INT_MAX;
	left_ms = (e->deadline_s - weft_budget_clock_s()) * 1e3;
	if (left_ms < 1)
		return 0;
	return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static void on_branch(glp_tree *tree, void *info)
{
	struct solving *s = info;
	int best = glp_ios_best_node(tree);

	if (best)
		s->bound = fmax(s->bound, glp_ios_node_bound(tree, best));
	if (time_left_ms(s->limits->effort) == 0)
		glp_ios_terminate(tree);
	if (s->limits->progress &&
	    weft_budget_clock_s() >= s->told_s + PROGRESS_S) {
		s->told_s = weft_budget_clock_s();
		s->limits->progress(s->limits->listener, s->bound);
	}
}

static int limits_kind(double low, double high)
{
	if (low == high)
		return GLP_FX;
	if (isfinite(low))
		return isfinite(high) ? GLP_DB : GLP_LO;
	return isfinite(high) ? GLP_UP : GLP_FR;
}

static void load_columns(struct solving *s)
{
	const struct program *p = s->p;

	glp_add_cols(s->prob, (int)p->n_columns);
	for (uint32_t c = 0; c < p->n_columns; c++) {
		const struct program_column *column = &p->column[c];
		int j = (int)c + 1;

		glp_set_col_bnds(s->prob, j,
				 limits_kind(column->low, column->high),
				 column->low, column->high);
		glp_set_obj_coef(s->prob, j, column->cost);
		if (column->whole)
			glp_set_col_kind(s->prob, j, GLP_IV);
	}
}

static void load_row(struct solving *s, uint32_t row, int *index, double *value)
{
	const struct program *p = s->p;
	const struct program_row *r = &p->row[row];
	uint32_t end = row + 1 < p->n_rows ? r[1].first : p->n_entries;
	int n = 0;

	for (uint32_t e = r->first; e < end; e++) {
		index[++n] = (int)p->entry[e].column + 1;
		value[n] = p->entry[e].value;
	}
	glp_set_mat_row(s->prob, (int)row + 1, n, index, value);
	glp_set_row_bnds(s->prob, (int)row + 1, limits_kind(r->low, r->high),
			 r->low, r->high);
}

/* Every row of the program, and one that keeps the cost below the cutoff. */
static void load(struct solving *s, int *index, double *value)
{
	const struct program *p = s->p;
	int n = 0;

	glp_set_obj_dir(s->prob, GLP_MIN);
	load_columns(s);
	glp_add_rows(s->prob, (int)p->n_rows + 1);
	for (uint32_t i = 0; i < p->n_rows; i++)
		load_row(s, i, index, value);
	for (uint32_t c = 0; c < p->n_columns; c++) {
		if (p->column[c].cost == 0)
			continue;
		index[++n] = (int)c + 1;
		value[n] = p->column[c].cost;
	}
	if (!isfinite(s->limits->cutoff))
		n = 0;
	glp_set_mat_row(s->prob, (int)p->n_rows + 1, n, index, value);
	glp_set_row_bnds(s->prob, (int)p->n_rows + 1, n ? GLP_UP : GLP_FR, 0,
			 s->limits->cutoff);
}

/* The relaxation: GLP_OPT, GLP_NOFEAS, or 0 when stopped before. */
static int solve_relaxed(struct solving *s)
{
	glp_smcp parameters;
	int rc;

	glp_init_smcp(&parameters);
	parameters.msg_lev = GLP_MSG_OFF;
	parameters.tm_lim = time_left_ms(s->limits->effort);
	parameters.presolve = GLP_ON;
	rc = parameters.tm_lim ? glp_simplex(s->prob, &parameters) : GLP_ETMLIM;
	if (rc == GLP_ENOPFS)
		return GLP_NOFEAS;
	if (rc)
		return 0;
	return glp_get_status(s->prob) == GLP_OPT      ? GLP_OPT
	       : glp_get_status(s->prob) == GLP_NOFEAS ? GLP_NOFEAS
						       : 0;
}

static int solve_whole(struct solving *s)
{
	glp_iocp parameters;

	glp_init_iocp(&parameters);
	parameters.msg_lev = GLP_MSG_OFF;
	parameters.tm_lim = time_left_ms(s->limits->effort);
	parameters.cb_func = on_branch;
	parameters.cb_info = s;
	parameters.br_tech = GLP_BR_DTH;
	parameters.bt_tech = GLP_BT_BLB;
	parameters.mir_cuts = parameters.gmi_cuts = GLP_ON;
	parameters.cov_cuts = parameters.clq_cuts = GLP_ON;
	return parameters.tm_lim ? glp_intopt(s->prob, &parameters)
				 : GLP_ETMLIM;
}

static void read_answer(struct solving *s, int rc)
{
	struct program_answer *a = s->answer;
	int status = glp_mip_status(s->prob);

	if (rc == 0 && status == GLP_NOFEAS) {
		a->status = PROGRAM_INFEASIBLE;
		a->bound = s->limits->cutoff;
		return;
	}
	a->status = rc == 0 && status == GLP_OPT ? PROGRAM_OPTIMAL
						 : PROGRAM_STOPPED;
	a->bound = s->bound;
	if (status != GLP_OPT && status != GLP_FEAS)
		return;
	a->found = true;
	a->value = glp_mip_obj_val(s->prob);
	if (a->status == PROGRAM_OPTIMAL)
		a->bound = a->value;
	for (uint32_t c = 0; a->x && c < s->p->n_columns; c++)
		a->x[c] = glp_mip_col_val(s->prob, (int)c + 1);
}

static void solve(struct solving *s, int *index, double *value)
{
	int rc;

	glp_term_hook(on_text, NULL);
	glp_error_hook(on_error, s);
	glp_mem_limit(
		(int)(s->limits->memory_mb ? s->limits->memory_mb : MEMORY_MB));
	s->prob = glp_create_prob();
	load(s, index, value);
	s->answer->status = PROGRAM_STOPPED;
	rc = solve_relaxed(s);
	if (rc == GLP_NOFEAS) {
		s->answer->status = PROGRAM_INFEASIBLE;
		s->answer->bound = s->limits->cutoff;
	}
	if (rc != GLP_OPT)
		return;
	s->bound = glp_get_obj_val(s->prob);
	rc = solve_whole(s);
	read_answer(s, rc);
}

int program_solve(const struct program *p, const struct program_limits *limits,
		  struct program_answer *answer, struct weft_error *err)
{
	struct solving s = {.p = p,
			    .limits = limits,
			    .answer = answer,
			    .bound = (double)-INFINITY,
			    .told_s = weft_budget_clock_s()};
	size_t n = (size_t)p->n_columns + 1;
	int *index = weft_calloc(n, sizeof(*index), err);
	double *value = weft_calloc(n, sizeof(*value), err);
	int rc = -1;

	answer->found = false;
	answer->bound = (double)-INFINITY;
	if (!index || !value || program_check(p, err))
		goto out;
	if (!p->n_columns) {
		weft_fail(err, WEFT_EINVAL, "an integer program of nothing");
		goto out;
	}
	if (setjmp(s.broken)) {
		weft_fail(err, WEFT_ENOMEM,
			  "the integer program solver broke down or needs "
			  "more than %u MB",
			  limits->memory_mb ? limits->memory_mb : MEMORY_MB);
	} else {
		solve(&s, index, value);
		rc = 0;
	}
	glp_error_hook(NULL, NULL);
	glp_free_env();
out:
	free(index);
	free(value);
	return rc;
}
