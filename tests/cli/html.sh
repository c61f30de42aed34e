#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The manual as HTML: every page, with references between them.
# shellcheck disable=SC2154,SC2034 # of lib.sh
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

for tool in mandoc cmark-gfm scdoc; do
	command -v "$tool" >/dev/null || {
		echo "skipped: $tool is not installed"
		exit 77
	}
done
mkdir "$work/man"
for page in "$WEFT_SRCDIR"/doc/man/*.scd; do
	name=$(basename "$page" .scd)
	scdoc <"$page" >"$work/man/$name"
done
"$WEFT_SRCDIR/doc/html" "$WEFT_SRCDIR" "$work/html" "$work"/man/* -- \
	README.md CHANGELOG.md doc/ARCHITECTURE.md >"$work/out" 2>"$work/err"
code=$?
check "the manual becomes HTML" exits 0
check "the index leads to every page" sh -c '
	for page in "$1"/man/*; do
		grep -q "href=\"$(basename "$page").html\"" "$1/html/index.html" ||
			exit 1
	done' - "$work"
check "a reference leads to its page" \
	grep -q 'href="weft-spec.7.html"' "$work/html/weft-plan.1.html"
check "tables stay tables" grep -q '<table' "$work/html/ARCHITECTURE.html"
mandoc -T lint -W error "$work"/man/* >"$work/out" 2>"$work/err"
code=$?
check "no page has an error of its language" exits 0
finish
