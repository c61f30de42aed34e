# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# prepare.sh - packages, a copy of the source and a build: sourced by demo and
# check, which must leave source tree and system as they were.

WEFT_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# prepare_seconds SINCE: time since SINCE ($EPOCHREALTIME) as "12.3".
prepare_seconds() {
	local us=$((${EPOCHREALTIME//[.,]/} - ${1//[.,]/}))
	printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

# prepare_step TEXT LOG COMMAND...: one line while it runs, its time after; on
# failure the end of LOG.
prepare_step() {
	local text=$1 log=$2 since=$EPOCHREALTIME
	shift 2
	printf '  %-58s ' "$text"
	if "$@" >"$log" 2>&1 </dev/null; then
		printf '%8s s\n' "$(prepare_seconds "$since")"
	else
		printf '%10s\n\n' failed
		tail -n 40 "$log" | sed 's/^/    /'
		return 1
	fi
}

# Packages of the groups given that are not installed, one a line.
prepare_missing() {
	local package group
	while read -r package group; do
		[[ " $* " == *" $group "* ]] || continue
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || echo "$package"
	done < <(grep -v '^#' "$WEFT_TOP/contrib/packages")
}

# prepare_packages LOG GROUP...: installs what is missing, quietly.
prepare_packages() {
	local log=$1 missing
	shift
	mapfile -t missing < <(prepare_missing "$@")
	[ ${#missing[@]} = 0 ] && return
	if ! command -v apt-get >/dev/null; then
		echo "needed, and no apt-get to install it: ${missing[*]}" >&2
		return 1
	fi
	prepare_step "installing ${#missing[@]} packages" "$log" \
		prepare_install "${missing[@]}"
}

# Daemons of fresh packages (munge, slurmctld, slurmd) would start at once; the
# lab brings its own, so the usual way to forbid it holds while they install.
prepare_install() {
	local policy=/usr/sbin/policy-rc.d made="" failed=0
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		made=$policy
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q
	apt-get install -q -y --no-install-recommends "$@" || failed=1
	[ -z "$made" ] || rm -f "$made"
	return $failed
}

# prepare_copy DIR: the source as DIR/src, with times kept so that a build on a
# former copy goes on from there.  The reference folder that lies beside a
# checkout, if any, lies beside the copy as well.
prepare_copy() {
	local src=$1/src git
	mkdir -p "$src"
	git=(git -c "safe.directory=$WEFT_TOP" -C "$WEFT_TOP")
	if "${git[@]}" rev-parse --git-dir >/dev/null 2>&1; then
		"${git[@]}" ls-files -coz --exclude-standard
	else
		(cd "$WEFT_TOP" && find . -name .git -prune -o \
			\( -type f -o -type l \) -print0)
	fi | tar -C "$WEFT_TOP" --null -T - --ignore-failed-read -cf - |
		tar -C "$src" -xf -
	if [ -d "$WEFT_TOP/../shared" ]; then
		ln -sfn "$(cd "$WEFT_TOP/../shared" && pwd)" "$1/shared"
	fi
	[ -r "$src/configure.ac" ]
}

# prepare_bootstrap DIR: configure and its kin in the copy.
prepare_bootstrap() {
	cd "$1/src" || return 1
	# What an earlier copy left, make itself brings up to date.
	if [ ! -x configure ] || [ ! -e Makefile.in ]; then
		autoreconf -fi
	fi
}

# prepare_configure DIR NAME CONFIGURE_ARGS...: configures in DIR/NAME.
prepare_configure() {
	local dir=$1/$2 src=$1/src
	shift 2
	mkdir -p "$dir" && cd "$dir" || return 1
	if [ ! -x config.status ] || [ "$src/configure" -nt config.status ]; then
		"$src/configure" -q "$@"
	fi
}

# prepare_make DIR NAME TARGET...: builds in DIR/NAME.
prepare_make() {
	local dir=$1/$2
	shift 2
	make -s -C "$dir" -j"$(nproc)" "$@"
}
