/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_text.h - times as logs write them */
#ifndef WEFT_LAB_REPLAY_TIME_TEXT_H
#define WEFT_LAB_REPLAY_TIME_TEXT_H

/* Reads a plain number; "2017-10-03 10:30:41", with "T" between or a fraction
 * behind, with "Z", "+01" or "+01:00" or as UTC, in seconds since 1970;
 * "10:41", "27:10:41" or Slurm's "1-03:10:41" in seconds.  -1: none of these.
 */
int time_text_read(const char *text, double *value);

#endif
