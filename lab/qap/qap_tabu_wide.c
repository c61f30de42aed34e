/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_tabu_wide.c - the tabu search on numbers of 64 bits */
#include <stdint.h>

typedef int64_t cell;
#define CELL_MAX  INT64_MAX
#define TABU_KIND qap_tabu_wide
#include "lab/qap/qap_tabu_cell.h"
