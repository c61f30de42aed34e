# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # compare.sh and twins.sh set and read them
# SPDX-License-Identifier: GPL-3.0-or-later
# changes.sh - jobs that start when others end, or that end others.

# Jobs without limits: what they wait for is the same with weft.
unlimited() {
	without --comment=
	words=("${rest[@]}")
}

# The jobs that run end one by one, until it starts: after the same of them.
compare_later() {
	local name i=0 stock_at='' weft_at='' stock_job weft_job note=
	unlimited
	way=now
	for name in stock weft; do
		use $name
		decide_now "${words[@]}"
		salloc_end KILL
		keep_answer $name
		printf -v "${name}_job" %s "$id"
	done
	if [ "$stock_said$weft_said" != waitswaits ]; then
		both quietly scancel "$stock_job" "$weft_job"
		return
	fi
	for ((i = 0; i < ${#runs[@]} && i < 16; i += 2)); do
		end_pair "${runs[i]}" "${runs[i + 1]}"
		wait_cycles
		[ -z "$stock_at$weft_at" ] || break
	done
	[ -n "$stock_at" ] || [ -z "$weft_at" ] || ! is_found || note=" found"
	echo "later: ${stock_at:+starts}, ${weft_at:+starts}$note" >>"$work/decided"
	[ "$stock_at" = "$weft_at" ] || [ -n "$note" ] ||
		differ later "${words[*]}: stock starts after end" \
			"${stock_at:-none}, weft ${weft_at:-none}" \
			"${stock_there:+, on its nodes $stock_there}"
}

# Stock would start it, had it looked at the nodes on which weft did.
is_found() {
	use weft
	id=$weft_job
	read_record
	keep_answer weft
	use stock
	quietly scancel "$stock_job"
	stock_there=
	same_on_its_nodes
}

end_pair() {
	local entry
	for entry in "$@"; do
		use "${entry% *}"
		quietly scancel "${entry#* }"
	done
}

# Two cycles of the schedulers; four for the one where the other has started it.
wait_cycles() {
	local name n=2 left=yes
	both cycles_begin
	while [ -n "$left" ]; do
		left=
		for name in stock weft; do
			use $name
			local job=${name}_job at=${name}_at
			id=${!job}
			[ -z "${!at}" ] || continue
			read_record
			if [ "$said" != waits ]; then
				printf -v "$at" %s $((i / 2))
				n=4
			elif ! cycles_passed $n $n; then
				left=yes
			fi
		done
		sleep 0.1
	done
}

running() {
	squeue -h -t R,CF -o %A | wc -l
}

# What weft preempts for it is no more than what stock does.
compare_preempt() {
	local name before stock_victims weft_victims note=
	unlimited
	way=preempt
	for name in stock weft; do
		use $name
		before=$(running)
		decide_preempt "${words[@]}"
		keep_answer $name
		printf -v "${name}_victims" %s $((before - $(running)))
		[ "$said" != starts ] || ((${name}_victims++))
		[ -z "$id" ] || quietly scancel "$id"
	done
	[ "$stock_said $weft_said" != "waits starts" ] || ! takes_as_many ||
		note=" found"
	echo "preempt: $stock_said, $weft_said, victims" \
		"$((weft_victims - stock_victims)) more$note" >>"$work/decided"
	[ -n "$note" ] ||
		[[ $stock_said == "$weft_said" && weft_victims -le stock_victims ]] ||
		differ preempt "${words[*]}:" \
			"stock $stock_said, $stock_victims victims" \
			"${stock_there:+, on its nodes $stock_there}," \
			"weft $weft_said, $weft_victims victims"
}

# The victims go in one cycle, the job starts in another.
decide_preempt() {
	decide_queued "$@"
	[ -z "$id" ] || await_longer
}

# Stock, held to weft's nodes, starts it, and ends no fewer jobs for it.  Of a range
# of nodes with --gpus its _enough_nodes is content with fewer than the least number,
# if they weigh the least, and no job is started there; of -N it is not.  At its
# first start alone: the jobs that it ends for a second one are not for this job.
takes_as_many() {
	local before
	use stock
	before=$(running)
	stock_there=
	same_on_its_nodes && [[ $stock_there != *starts*starts* ]] &&
		[ "$weft_victims" -le $((before - $(running))) ]
}
