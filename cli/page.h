/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.h - reports as a page of HTML on standard output: one file without
 * scripts, for light and for dark paper
 */
#ifndef WEFT_CLI_PAGE_H
#define WEFT_CLI_PAGE_H

/* Up to <body>; the title is that of a command and of what it is about. */
void page_open(const char *command, const char *name);
/* Text as HTML has it. */
void page_text(const char *text);
void page_close(void);

#endif
