/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate_link.h - what fitted collectives say of the links below them */
#ifndef WEFT_LAB_CALIBRATE_CALIBRATE_LINK_H
#define WEFT_LAB_CALIBRATE_CALIBRATE_LINK_H

#include "lab/calibrate/calibrate.h"

/* Fills links of a calibration whose entries are fitted. */
void calibrate_links(struct weft_calibration *calibration);

#endif
