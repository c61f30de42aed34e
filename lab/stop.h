/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stop.h - what takes long: a first Ctrl-C ends the search, not the program */
#ifndef WEFT_LAB_STOP_H
#define WEFT_LAB_STOP_H

#include <signal.h>

/* From now on the first SIGINT or SIGTERM sets the flag that is returned, a
 * second one ends the program. */
const volatile sig_atomic_t *stop_on_signal(void);

/* On a terminal's stderr, every second until stop_quiet: how many of `seconds`
 * have passed (0: unknown).  Says nothing about what
 * takes less than two. */
void stop_count(double seconds);
void stop_quiet(void);

#endif
