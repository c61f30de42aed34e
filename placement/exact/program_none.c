/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_none.c - instead of program_glpk.c where GLPK is absent */
#include "placement/exact/program.h"

bool program_is_solvable(void)
{
	return false;
}

int program_solve(const struct program *p, const struct program_limits *limits,
		  struct program_answer *answer, struct weft_error *err)
{
	(void)p;
	(void)limits;
	(void)answer;
	return weft_fail(err, WEFT_ENOSYS,
			 "integer programs cannot be solved: weft was built "
			 "without GLPK");
}
