#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2317 # what check calls
# configure takes the source of exactly the installed Slurm and no other.  The
# installed one is pretended here: a slurmctld that says its release.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

configure=$(cd "$WEFT_SRCDIR" && pwd)/configure
if [ ! -x "$configure" ]; then
	echo "skipped: there is no configure in the source folder"
	exit 77
fi

# source_of MAJOR MINOR MICRO: as much of a source tree as configure looks at.
source_of() {
	mkdir -p "$work/tree/src/slurmctld"
	printf '  Name:\tslurm\n  Major:\t%s\n  Minor:\t%s\n  Micro:\t%s\n' \
		"$1" "$2" "$3" >"$work/tree/META"
}

# installed RELEASE
installed() {
	mkdir -p "$work/bin"
	printf '#!/bin/sh\necho slurm-wlm %s\n' "$1" >"$work/bin/slurmctld"
	chmod 755 "$work/bin/slurmctld"
}

# configured ARG...: as run, of configure.  What is not about Slurm is taken from
# one run to the next.
configured() {
	(cd "$work" && PATH=$work/bin:$PATH "$configure" -q -C --without-glpk \
		"$@") >"$work/out" 2>"$work/err"
	code=$?
}

said() {
	grep -q -- "$1" "$work/out" "$work/err"
}

version_is() {
	grep -qx "#define SLURM_VERSION_NUMBER $1" \
		"$work/slurm-stub/slurm/slurm_version.h"
}

source_of 24 11 4
installed 24.11.5
configured --with-slurm-src="$work/tree"
check "another micro release is refused" test "$code" != 0
check "the refusal names the source's release" said "is Slurm 24.11.4"
check "the refusal names the installed release" said "Slurm 24.11.5 is installed"

configured --with-slurm-src="$work/tree" --disable-slurm-version-check
check "the check can be switched off" test "$code" = 0
check "the version that is built in is the source's" version_is 0x180b04

source_of 23 02 8
installed 23.02.8
configured --with-slurm-src="$work/tree" \
	--with-slurm-plugindir="$work/plugins"
check "the same release is taken" test "$code" = 0
check "a leading zero is no octal number" version_is 0x170208
check "the plugin folder is the one given" \
	grep -qx "slurmplugindir = $work/plugins" "$work/Makefile"

rm -r "$work/tree/src"
configured --with-slurm-src="$work/tree"
check "a folder that is no source is refused" said "not an unpacked Slurm"
configured --with-slurm
check "--with-slurm alone asks for the source" said "needs --with-slurm-src"
finish
