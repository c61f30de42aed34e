/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lab.h - the commands of weft-lab, which weft runs by name */
#ifndef WEFT_LAB_LAB_H
#define WEFT_LAB_LAB_H

int cmd_advise(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_model(int argc, char **argv);
int cmd_replay(int argc, char **argv);

#endif
