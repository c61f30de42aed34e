/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_tabu_narrow.c - the tabu search on numbers of 32 bits */
#include <stdint.h>

typedef int32_t cell;
#define CELL_MAX  INT32_MAX
#define TABU_KIND qap_tabu_narrow
#include "lab/qap/qap_tabu_cell.h"
