#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2317 # what check calls
# make install puts the plugins where Slurm looks for them, by rename, and make
# uninstall takes them away.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

if [ ! -e "$WEFT_BUILDDIR/.libs/select_cons_tres_weft.so" ]; then
	echo "skipped: built without the Slurm plugins"
	exit 77
fi

# value NAME: of a variable of the build's Makefile, others in it resolved.
value() {
	# shellcheck disable=SC2016 # make's
	printf 'include Makefile\nprint-value:\n\t@echo $(%s)\n' "$1" |
		make -s -C "$WEFT_BUILDDIR" -f - print-value
}

# Neither is to hear of the make that runs this test.
unset MAKEFLAGS MFLAGS MAKELEVEL
dest=$work/dest
plugins=$dest$(value slurmplugindir)
shadow=$dest$(value pkglibdir)/shadow

in_make() {
	make -s -C "$WEFT_BUILDDIR" "$1" DESTDIR="$dest" >"$work/out" 2>"$work/err"
}

# same BUILT INSTALLED
same() {
	cmp "$WEFT_BUILDDIR/.libs/$1" "$2"
}

no_leftovers() {
	! find "$dest" -name '.*.new' | grep .
}

kept_old() {
	[ "$(cat "$work/mapped")" = old ]
}

nothing_left() {
	! find "$dest" -name '*.so' | grep .
}

# A daemon that runs has the old file open: a second name for it stands in.
mkdir -p "$plugins"
echo old >"$plugins/select_cons_tres_weft.so"
ln "$plugins/select_cons_tres_weft.so" "$work/mapped"

check "make install succeeds" in_make install
for plugin in select_cons_tres_weft weft_spank job_submit_weft; do
	check "$plugin.so is in Slurm's plugin folder" \
		same $plugin.so "$plugins/$plugin.so"
done
check "it is under stock's name in weft's own folder" \
	same select_cons_tres_weft.so "$shadow/select_cons_tres.so"
check "the former file stays as it was for those who have it" kept_old
check "no temporary file is left" no_leftovers
if [ -e /usr/sbin/slurmctld ]; then
	check "Slurm's own plugins are in that folder" \
		test -e "$(value slurmplugindir)/select_cons_tres.so"
fi
check "installing again succeeds" in_make install
check "make uninstall succeeds" in_make uninstall
check "no plugin is left" nothing_left
check "weft's folder stays: some PluginDir may name it" test -d "$shadow"
finish
