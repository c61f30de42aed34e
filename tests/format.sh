#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every C file is formatted as .clang-format says.
cd "${WEFT_SRCDIR:-.}" || exit 1
if ! command -v clang-format >/dev/null; then
	echo "skipped: clang-format is not installed"
	exit 77
fi
find base topology costmodel placement plugin cli lab tests -name '*.[ch]' \
	-exec clang-format --dry-run -Werror {} +
