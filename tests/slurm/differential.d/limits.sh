# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # compare.sh and twins.sh set and read them
# SPDX-License-Identifier: GPL-3.0-or-later
# limits.sh - limits of a spec, by brute force
#
# Stock is asked about every set of nodes that meets the limit.

# Sets limit and its value, e.g. within and leaf.
has_limit() {
	[[ " ${words[*]} " =~ ' --comment='[^\ ]*(within|segment|split)=([a-z0-9+]+) ]] || return
	limit=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}
	[ "$limit$value" != segment1 ]
}

# Requests for which weft(8) says that it refuses limits.
is_unwatched() {
	[[ " ${words[*]} " =~ --gres=gpu:a100:.,|\[f.\* ]]
}

# The nodes of each domain of a level, one domain a line.
domains() {
	case $1 in
	node) lines 'fabric nodes' | sed 's/:.*//' ;;
	core) lines 'fabric nodes' | sed 's/:.*//' | xargs ;;
	leaf) lines 'fabric leaf' | sed 's/.*: //' | tr , ' ' ;;
	pod) lines 'fabric pod' | sed 's/.*: //' | while read -r members; do
		for leaf in ${members//,/ }; do
			lines 'fabric leaf' | sed -n "s/^$leaf: //p"
		done | tr ',\n' '  '
		echo
	done ;;
	segment)
		# the innermost of which one holds several nodes
		local level
		for level in leaf pod core; do
			! domains $level | grep -q '[^ ] [^ ]' || break
		done
		domains $level
		;;
	esac
}

all_nodes() {
	lines slurm | sed -n 's/^NodeName=\([^ ]*\) .*/\1/p'
}

# Is one set inside another?  Words.
is_inside() {
	local node
	for node in $1; do
		[[ " $2 " == *" $node "* ]] || return 1
	done
}

# On the nodes that weft gave.
limit_holds() {
	local nodes domain
	[ "$WEFT_MODE" != stock ] && has_limit || return 0
	# Weft leaves jobs without GPUs alone.
	[[ " ${words[*]} " =~ \ --(gpus|gres=gpu) && $weft_record != *"weft: ignored"* ]] && [ "$way" != test ] || return 0
	nodes=$(scontrol show hostnames "$weft_nodes" | xargs)
	if [ "$limit" != within ]; then
		are_parted "$nodes"
		return
	fi
	while read -r domain; do
		is_inside "$nodes" "$domain" && return
	done < <(domains "$value")
	return 1
}

# are_parted NODES: so many in each domain as split= says; of segments all but one
# are whole, so what is left over in the domains lies in one of them.
are_parted() {
	local counts count inside=0 over=0
	counts=$(while read -r domain; do
		comm -12 <(tr ' ' '\n' <<<"$1" | sort) \
			<(tr ' ' '\n' <<<"$domain" | sort) | grep -c .
	done < <(domains segment) | grep -v '^0$' | sort)
	for count in $counts; do
		inside=$((inside + count))
		[ "$limit" = split ] || over=$((over + (count % value > 0)))
	done
	[ "$inside" = "$(wc -w <<<"$1")" ] || return
	if [ "$limit" = split ]; then
		[ "$counts" = "$(tr + '\n' <<<"$value" | sort)" ]
	else
		[ $over -le $((inside % value > 0)) ]
	fi
}

rank() {
	case $1 in
	starts) echo 3 ;;
	waits) echo 2 ;;
	held) echo 1 ;;
	*) echo 0 ;;
	esac
}

# The best that stock says of any set of nodes that meets the limit is what weft
# says.
limit_explains() {
	local best=refused set
	has_limit || return
	if [ "$weft_said" = refused ] || [ "$weft_said" = held ]; then
		is_unwatched && return
	fi
	while read -r set; do
		use stock
		ask_about "$set"
		[ "$said" != waits ] || { has_gpus "$set" && has_cpus "$set"; } ||
			said=refused
		if [ "$said" = waits ] && is_held_by_limit; then
			refused_without_qos "$set" || said=waits
		fi
		[ "$said" != held ] || ! waits_in_one "$set" || said=waits
		[ "$(rank "$said")" -le "$(rank "$best")" ] || best=$said
		[ "$best" != starts ] || break
	done < <("sets_$limit")
	kind+=,$best-on-some
	[ "$best" != "$weft_said" ] || return 0
	# "Never" need not be said: to be counted, no fault.
	case "$best $weft_said $stock_said" in
	'refused waits'* | 'held waits held')
		note=" for ever"
		return
		;;
	esac
	[ "$best $weft_said" = "refused held" ] && weft_refuses_without_qos &&
		note=" for ever"
}

# Of a list of partitions Slurm holds a job for ever that one of them can never run,
# and another one can.
waits_in_one() {
	local partition list words=("${words[@]}")
	[[ " ${words[*]} " =~ ' -p '([a-z]*,[^ ]*) ]] || return
	list=${BASH_REMATCH[1]}
	without -p
	for partition in ${list//,/ }; do
		words=("${rest[@]}" -p "$partition")
		ask_about "$1"
		[ "$said" != waits ] || return 0
		without -p
	done
	said=held
	return 1
}

# Stock tests a QOS before it looks for nodes that the job never has.
refused_without_qos() {
	local words=("${words[@]/#--qos=*/--qos=normal}")
	ask_about "$1"
	[ "$said" = refused ]
}

# Slurm looks at the QOS after the nodes, too: whether it says "never" then, or
# holds the job first, depends on what of the job was computed on the way.
weft_refuses_without_qos() {
	[[ " ${words[*]} " == *' --qos='* ]] || return
	use weft
	decide "$way" "${words[@]/#--qos=*/--qos=normal}"
	[ "$said" = refused ]
}

# Stock lets a job wait for nodes that never have its GPUs where the nodes are
# reserved, the GPUs are asked for in all, or a QOS has it wait.
has_gpus() {
	local low=1 high=12 each=0 in_all=0 type=
	[[ " ${words[*]} " =~ ' -N'([0-9]+)(-([0-9]+))? ]] &&
		low=${BASH_REMATCH[1]} high=${BASH_REMATCH[3]:-$low}
	[[ " ${words[*]} " =~ ' --'(gpus-per-node=|gres=gpu:)([a-z0-9]+:)?([0-9]+) ]] &&
		each=${BASH_REMATCH[3]} type=${BASH_REMATCH[2]}
	[[ " ${words[*]} " =~ ' --gpus='([a-z0-9]+:)?([0-9]+) ]] &&
		in_all=${BASH_REMATCH[2]} type=${BASH_REMATCH[1]}
	gpus_of_nodes "${type%:}" | sort -k 2,2nr |
		awk -v set=" $1 " -v low="$low" -v high="$high" \
			-v each="$each" -v in_all="$in_all" '
		index(set, " " $1 " ") && $2 && $2 >= each && n < high {
			n++
			sum += $2
		}
		END { exit n < low || sum < in_all }'
}

# Nor do reserved nodes have to have its CPUs.
has_cpus() {
	local tasks=1 each=1
	[[ " ${words[*]} " =~ \ (-n|--ntasks=)([0-9]+)\  ]] &&
		tasks=${BASH_REMATCH[2]}
	[[ " ${words[*]} " =~ \ -c([0-9]+)\  ]] && each=${BASH_REMATCH[1]}
	[[ " ${words[*]} " == *' -O '* ]] ||
		lines slurm | awk -v set=" $1 " -v need=$((tasks * each)) '
		/^NodeName=/ && index(set, " " substr($1, 10) " ") {
			cpus = 1
			for (i = 2; i <= NF; i++)
				if ($i ~ /^(Sockets|CoresPerSocket|ThreadsPerCore)=/)
					cpus *= substr($i, index($i, "=") + 1)
			sum += cpus
		}
		END { exit sum < need }'
}

# gpus_of_nodes TYPE: each node, and how many it has of that type, or of any.
gpus_of_nodes() {
	lines slurm | awk -v type="$1" '
	/^NodeName=/ && match($0, / Gres=[^ ]*/) {
		name = substr($1, 10)
		n = split(substr($0, RSTART + 6, RLENGTH - 6), gres, ",")
		sum = 0
		for (i = 1; i <= n; i++) {
			k = split(gres[i], part, ":")
			if (!type || k == 2 || part[2] == type)
				sum += part[k]
		}
		print name, sum
	}'
}

# within: stock chooses in the domain.  segment, split: exactly these nodes.
ask_about() {
	if [ "$limit" != within ]; then
		without '-N*' -w --comment=
		decide "$way" "${rest[@]}" -w "${1// /,}" -N "$(wc -w <<<"$1")"
		# 24.11 may take others for --contiguous, and the commands fewer for
		# fewer tasks.
		[ "$said" != starts ] || is_on "$1" || said=refused
		# more nodes than its partition has
		[ "$said $text" != "waits PartitionConfig" ] || said=refused
	else
		without --comment=
		ask_on "$1"
	fi
}

# is_on NODES: all of them, and no others.
is_on() {
	field NodeList
	[ "$(scontrol show hostnames "$REPLY" | sort | xargs)" = \
		"$(tr ' ' '\n' <<<"$1" | sort | xargs)" ]
}

sets_within() {
	domains "$value"
}

sets_split() {
	sets_parted $((value)) $((value))
}

# As many nodes as the job may have; without -N as stock takes, weft-slurm(8), of which
# --test-only tells for a later start, too.
sets_segment() {
	local low=1 high=12
	if [[ " ${words[*]} " =~ ' -N'([0-9]+)(-([0-9]+))? ]]; then
		low=${BASH_REMATCH[1]} high=${BASH_REMATCH[3]:-$low}
	elif [[ $stock_nodes == n* ]]; then
		low=$(scontrol show hostnames "$stock_nodes" | wc -l)
		high=$low
	fi
	sets_parted "$low" "$high"
}

# sets_parted LOW HIGH: sets of so many nodes that meet the limit, required ones
# among them.
sets_parted() {
	local need=
	[[ " ${words[*]} " =~ ' -w '([^ ]+) ]] && need=${BASH_REMATCH[1]}
	domains segment | awk -v low="$1" -v high="$2" -v value="$value" \
		-v is_split="${limit#segment}" -v need="$need" '
	function meets(count, n,   i, over, have) {
		for (i in count) {
			over += count[i] % value > 0
			have[count[i]]++
		}
		if (!is_split)
			return over <= (n % value > 0)
		for (i in want)
			if (have[i] != want[i])
				return 0
		return 1
	}
	function set_of(mask,   i, n, text, count) {
		delete count
		for (i = 0; i < n_nodes; i++)
			if (int(mask / 2 ^ i) % 2) {
				n++
				text = text (text ? " " : "") node[i]
				count[leaf[i]]++
			} else if (i in needed)
				return ""
		return n >= low && n <= high && meets(count, n) ? text : ""
	}
	BEGIN {
		n_nodes = 0
		for (i = split(value, part, "+"); i > 0; i--)
			want[part[i]]++
	}
	{
		for (i = 1; i <= NF; i++) {
			if (index("," need ",", "," $i ","))
				needed[n_nodes]
			leaf[n_nodes] = NR
			node[n_nodes++] = $i
		}
	}
	END {
		for (mask = 1; mask < 2 ^ n_nodes; mask++)
			if ((text = set_of(mask)) != "")
				print text
	}'
}
