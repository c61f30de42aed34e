/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.c - reports as a page of HTML */
#include "cli/page.h"

#include <stdio.h>

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta "
	"charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, "
	"initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	"'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	":root { --paper: #fff; --sheet: #f6f7f9; --ink: #1b1f24; --dim: "
	"#59626d; --line: #c3c9d1; --error: #b3261e; --warning: #8a5a00; "
	"--info: #1f4e9c; }\n"
	"@media (prefers-color-scheme: dark) { :root { --paper: #14171b; "
	"--sheet: #1c2025; --ink: #e6e9ed; --dim: #a3abb5; --line: #4a515a; "
	"--error: #ff8a80; --warning: #f0b429; --info: #8ab4f8; } }\n"
	".map > svg { max-width: 100%; height: auto; } "
	"body { margin: 0 auto; padding: 16px 20px 40px; max-width: 1400px; "
	"background: var(--paper); color: var(--ink); font: 14px/1.4 "
	"system-ui, sans-serif; }\n"
	"h1 { font-size: 21px; } h2 { font-size: 15px; margin: 24px 0 8px; }\n"
	"table { border-collapse: collapse; width: 100%; }\n"
	"td, th { text-align: left; vertical-align: top; padding: 6px 10px; "
	"border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }\n"
	"th { color: var(--dim); font-weight: 600; }\n"
	".error { color: var(--error); } .warning { color: var(--warning); } "
	".info { color: var(--info); } .dim { color: var(--dim); }\n"
	"</style>\n";

void page_text(const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", stdout);
			break;
		case '<':
			fputs("&lt;", stdout);
			break;
		case '>':
			fputs("&gt;", stdout);
			break;
		case '"':
			fputs("&quot;", stdout);
			break;
		default:
			putchar(*text);
		}
}

void page_open(const char *command, const char *name)
{
	fputs(head, stdout);
	printf("<title>%s", command);
	page_text(name);
	fputs("</title>\n</head>\n<body>\n", stdout);
}

void page_close(void)
{
	puts("</body>\n</html>");
}
