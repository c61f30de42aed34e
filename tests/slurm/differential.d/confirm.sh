# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # differential sets and calls them
# SPDX-License-Identifier: GPL-3.0-or-later
# confirm.sh - is a difference there again, is it weft's, and what is the shortest
# case that has it?

SHORTENED=6 # cases that are made short

# With --seconds or --short, so much longer: what is left then counts as it is.
CONFIRM_SECONDS_MOST=420

is_late() {
	[ $SECONDS -ge $((SECONDS_MOST + CONFIRM_SECONDS_MOST)) ]
}

# What the workers found, one by one; sets confirmed.
confirm_all() {
	local seed number kind text shown=' '
	confirmed=0
	[ -s "$folder/found" ] || return
	work=$folder/again
	mkdir -p "$work"
	twins_create || return
	while read -r seed number kind text <&4; do
		draw "$seed" >"$work/whole"
		set_strict "$seed"
		if [ "$number" = 0 ]; then
			# a slurmctld that did not start
			echo "# ---- seed $seed: $kind"
			if has_difference "$work/whole" "$kind"; then
				confirmed=$((confirmed + 1))
			else
				echo "#      not there again"
			fi
			continue
		fi
		awk -v keep="$number" 'NR == keep || !/^(try|last) /' \
			"$work/whole" >"$work/single"
		confirm "$seed" "$number" "$kind"
	done 4< <(sort -n "$folder/found")
	twins_destroy
}

confirm() {
	local case=$work/single
	echo "# ---- seed $1, line $2: $3"
	if is_late; then
		confirmed=$((confirmed + 1))
		echo "#      not tried again: no time is left"
		return
	fi
	if ! has_difference "$case" "$3"; then
		case=$work/whole
		if ! has_difference "$case" "$3"; then
			echo "#      not there again"
			return
		fi
	fi
	if stock_has_it "$case" "$3"; then
		echo "#      stock differs from itself as well"
		return
	fi
	confirmed=$((confirmed + 1))
	if [ "$case" = "$work/whole" ]; then
		echo "#      only after the jobs before it: --draw $1"
		return
	fi
	[[ $shown != *" $3 "* ]] && [ "$(wc -w <<<"$shown")" -lt $SHORTENED ] ||
		return
	shown+="$3 "
	shorten "$3"
}

# has_difference FILE KIND
has_difference() {
	run_case "$1"
	grep -qF " $2 " "$work/differ"
}

# Among hosts of its own kind; what is not initialised or a matter of time may be
# so now and then.
# shellcheck disable=SC2034 # twins.sh's
stock_has_it() {
	local mode=$WEFT_MODE i found=1
	WEFT_MODE=stock
	for ((i = 0; i < 3 && found == 1; i++)); do
		run_case "$1"
		[ ! -s "$work/differ" ] || found=0
	done
	WEFT_MODE=$mode
	return $found
}

# The state's lines and the job's words go as long as it stays, and there is time.
shorten() {
	drop_lines "$1"
	drop_words "$1"
	has_difference "$work/single" "$1"
	sed 's/^/#      /' "$work/single"
	sed 's/^[0-9]* /#      => /' "$work/differ"
}

# The last first.
drop_lines() {
	local number
	for ((number = $(wc -l <"$work/single"); number > 0; number--)); do
		sed -n "${number}p" "$work/single" |
			grep -qE '^(run|node|reserve) ' || continue
		! is_late || return
		sed "${number}d" "$work/single" >"$work/fewer"
		! has_difference "$work/fewer" "$1" ||
			cp "$work/fewer" "$work/single"
	done
}

# Options, with the word that goes with one.
drop_words() {
	local words at=2 gone
	while read -ra words < <(grep -E '^(try|last) ' "$work/single") &&
		[ $at -lt ${#words[@]} ] && ! is_late; do
		gone=1
		[[ ! ${words[at]} =~ ^-[wxtpB]$ ]] || gone=2
		{
			grep -vE '^(try|last) ' "$work/single"
			echo "${words[*]:0:at} ${words[*]:at + gone}"
		} >"$work/fewer"
		if has_difference "$work/fewer" "$1"; then
			cp "$work/fewer" "$work/single"
		else
			at=$((at + gone))
		fi
	done
}
