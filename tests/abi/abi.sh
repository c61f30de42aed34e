#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154,SC2034,SC2317 # of lib.sh, which calls functions
# What programs built with libweft rely on is that of tests/abi/libweft.abi, or
# -version-info has moved.  "abi.sh --renew" writes that file.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

reference=$WEFT_SRCDIR/tests/abi/libweft.abi

skip() {
	echo "skipped: $1"
	exit 77
}
command -v abidw >/dev/null || skip "abigail-tools is missing"
command -v python3 >/dev/null || skip "python3 is missing"
[ "$(uname -m)" = x86_64 ] || skip "the reference is that of x86_64"
library=$(find "$WEFT_BUILDDIR/.libs" -name 'libweft.so.*.*.*' 2>/dev/null)
[ -n "$library" ] || skip "configured without shared libraries"
! grep -q __asan_init "$library" || skip "built with the sanitizer"
readelf -S "$library" | grep -q '\.debug_info' || skip "built without -g"

# The library's own name, which -version-info makes, is the first line.
describe() {
	make -s --no-print-directory -C "$WEFT_BUILDDIR" \
		install-nobase_weftincludeHEADERS DESTDIR="$work/root" >/dev/null &&
		abidw --headers-dir "$work/root" --drop-private-types \
			--exported-interfaces-only --no-show-locs \
			--no-corpus-path --no-comp-dir-path \
			--out-file "$work/library.xml" "$library" || return
	basename "$library"
	find "$work/root" -name '*.h' -exec python3 \
		"$WEFT_SRCDIR/tests/abi/abi.py" "$work/library.xml" {} +
}

# judge FORMER NOW: 0: -version-info says what changed.  The name of a library is
# libweft.so.M.A.R: M moves when something is gone or another, A when something
# is new.
judge() {
	sed 1d "$1" | LC_ALL=C sort >"$work/former"
	sed 1d "$2" | LC_ALL=C sort >"$work/now"
	LC_ALL=C comm -23 "$work/former" "$work/now" | sed 's/^/gone: /' \
		>"$work/gone"
	LC_ALL=C comm -13 "$work/former" "$work/now" | sed 's/^/new: /' \
		>"$work/new"
	cat "$work/gone" "$work/new"
	was=$(sed -n '1s/^libweft\.so\.//p' "$1")
	is=$(sed -n '1s/^libweft\.so\.//p' "$2")
	[ "${was%%.*}" = "${is%%.*}" ] || return 0
	if [ -s "$work/gone" ] || { [ -s "$work/new" ] &&
		[ "${was%.*}" = "${is%.*}" ]; }; then
		echo "the library is libweft.so.$is, as the reference's was $was:" \
			"doc/CONTRIBUTING.md, Release, has what to do"
		return 1
	fi
}

# another FROM TO EXPRESSION: a copy, changed by sed.
another() {
	sed -e "$3" "$1" >"$2"
}

if [ "${1:-}" = --renew ]; then
	describe >"$work/abi" && cp "$work/abi" "$reference"
	exit
fi
describe >"$work/is" 2>"$work/err"
code=$?
: >"$work/out"
check "the library can be described" exits 0
check "its functions and structs are those of the reference" \
	judge "$reference" "$work/is"

# What the judge says of changes.
another "$work/is" "$work/less" '/^function weft_abi_plan:/d'
check "a function that is gone is found" not judge "$work/is" "$work/less"
another "$work/is" "$work/member" \
	's/^struct weft_error +0000 int code/struct weft_error +0000 long code/'
check "so is another member" not judge "$work/is" "$work/member"
check "and a function that is new" not judge "$work/less" "$work/is"
another "$work/is" "$work/minor" '1s/so\.\([0-9]*\)\.0\./so.\1.1./'
check "which a moved age allows" judge "$work/less" "$work/minor"
check "but no loss" not judge "$work/minor" "$work/less"
another "$work/less" "$work/major" '1s/so\.0/so.1/'
check "which another name allows" judge "$work/is" "$work/major"
finish
