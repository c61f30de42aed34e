# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# compare.sh - one job on both twins, and what may differ.
#
# What each said is kept in stock_* and weft_*.  limits.sh has what a limit of the
# spec allows.

# shellcheck disable=SC2154 # twins.sh sets said, text, record and id
keep_answer() {
	declare -g "$1_said=$said" "$1_text=$text" "$1_record=$record"
	field NodeList
	declare -g "$1_nodes=$REPLY"
	read_numbers
	declare -g "$1_numbers=$numbers"
	read_overlap
	declare -g "$1_overlap=$overlap"
}

# Sets overlap: nodes of which jobs of the state have cores that this one has, too.
read_overlap() {
	overlap=
	[[ $record == *CPU_IDs=* ]] &&
		lines slurm | grep -qE 'OverSubscribe=(YES|FORCE)' || return
	scontrol_ask 'show jobs'
	overlap=$(grep -E 'JobState=(RUNNING|CONFIGURING) ' <<<"$told" |
		grep -f <(printf '^%s \n' "${runs[@]/#$twin /JobId=}") |
		cores_of_jobs | sort -u |
		comm -12 - <(cores_of_jobs <<<"$record" | sort -u) |
		cut -d ' ' -f 1 | uniq | xargs)
}

# Lines "NODE CPU" of the records that are read.
cores_of_jobs() {
	local nodes ids node cpu
	grep -o ' Nodes=[^ ]* CPU_IDs=[^ ]*' | while read -r nodes ids; do
		for node in $(scontrol show hostnames "${nodes#*=}"); do
			for cpu in $(tr , ' ' <<<"${ids#*=}"); do
				seq -f "$node %g" "${cpu%-*}" "${cpu#*-}"
			done
		done
	done
}

# What the accounts have of it, component by component.  Slurm computes the bill of a
# component when it first starts, and keeps it where that start is taken back because
# another component has to wait (calc_job_billable_tres).
read_numbers() {
	local key whole=$record
	numbers=
	while read -r record; do
		for key in NumNodes NumCPUs TRES AllocTRES; do
			field $key
			! is_heterogeneous ||
				REPLY=$(sed -E 's/billing=[0-9]+,?//' <<<"$REPLY")
			numbers+="$key=$REPLY "
		done
		field JOB_GRES
		count_gpus "$REPLY"
	done <<<"$whole"
	record=$whole
}

# Of whichever types, where the job names none.
count_gpus() {
	local part sum=0
	if [[ " ${words[*]} " == *:?100:* ]]; then
		numbers+="GPUs=$1"
		return
	fi
	for part in ${1//,/ }; do
		[[ ! $part =~ :([0-9]+)$ ]] || sum=$((sum + BASH_REMATCH[1]))
	done
	numbers+="GPUs=$sum"
}

ask_both() {
	local name
	if [ "$way" = queued ]; then
		both_queued
		return
	fi
	for name in stock weft; do
		use $name
		decide "$way" "${words[@]}"
		keep_answer $name
	done
}

# Their schedulers wake up in the same second.
both_queued() {
	local name ids=() texts=()
	for name in stock weft; do
		use $name
		queue "${words[@]}"
		ids+=("$id") texts+=("$text")
	done
	for name in stock weft; do
		use $name
		id=${ids[0]} text=${texts[0]} said=refused record=
		ids=("${ids[@]:1}") texts=("${texts[@]:1}")
		await_scheduler
		keep_answer $name
		[ -z "$id" ] || quietly scancel "${id%_*}"
	done
}

# compare WAY WORDS: what stays different is a fault.
compare() {
	local way=$1 words kind i note=
	read -ra words <<<"$2"
	case $way in
	later | preempt)
		level_states && "compare_$way"
		return
		;;
	esac
	for ((i = 0; i < 3; i++)); do
		ask_both
		judge
		[ -n "$kind" ] || break
		note=" again"
		both forget_counts
		level_states || return
		sleep 1
	done
	[ "$way" = test ] || untouched=
	echo "$way: $stock_said, $weft_said$note${kind:+, $kind}" >>"$work/decided"
	[ -z "$kind" ] || differ "$kind" "$(answers)"
	[ -z "$case_file" ] || echo "# $line: $(answers)" >>"$work/decided"
}

# What both said.
answers() {
	echo "$way ${words[*]}: stock" \
		"$stock_said ($stock_text; $stock_nodes; $stock_numbers)" \
		"${stock_there:+, on its nodes $stock_there}," \
		"weft $weft_said ($weft_text; $weft_nodes; $weft_numbers)"
}

# With --contiguous, are weft's nodes a row?
keeps_row() {
	local at
	[[ " ${words[*]} " == *' --contiguous '* ]] || return 0
	mapfile -t at < <(scontrol show hostnames "$weft_nodes" | tr -d n | sort -n)
	[ $((at[-1] - at[0])) = $((${#at[@]} - 1)) ]
}

# Stock writes into the weight of each node it looks at how many of its GPUs are
# close to cores, and goes by that for later jobs without GPUs as well: it looks at
# all nodes, weft at those of its plan.  Any allocation starts from the nodes' own
# weights.
forget_counts() {
	decide now -N1
}

# Sets kind, empty where all is as it should be.
judge() {
	kind='' stock_there=''
	if [ "$stock_said" != "$weft_said" ]; then
		kind=$stock_said-$weft_said
		! limit_explains || kind=
		! is_refused_in_earnest || kind='' note=" refused in earnest"
		# Stock would, had it looked at these nodes.
		[ "$weft_said" != starts ] || ! keeps_row ||
			! { same_on_its_nodes || is_refused_for_mincpus; } ||
			kind='' note=" found"
	elif [ "$weft_said" = starts ]; then
		limit_holds || kind=limit
		# sbatch --test-only tells no more than CPUs, and as roughly.
		[ "$stock_numbers" = "$weft_numbers" ] || [ "$way" = test ] ||
			same_on_its_nodes || kind=accounting
		is_as_light || note=" heavier"
		shares_needlessly || return 0
		note=" shares"
		[ -z "$strict" ] || kind=sharing
	elif [ "$weft_said" = waits ] && [ "$stock_text" != "$weft_text" ] &&
		[[ $weft_text != weft* ]] && ! has_limit; then
		note=" otherwise"
	fi
}

# Weft's nodes have no cores to spare, where stock's have.  What stock makes of cores
# (MaxCPUsPerNode, say) weft knows in part: to be counted, and a fault in the cases
# that are kept.  A limit, or nodes that the user wants more of, may need it.
shares_needlessly() {
	[ -n "$weft_overlap" ] && [ -z "$stock_overlap" ] && ! has_limit &&
		! asks_for_nodes
}

# Stock of 24.11 never starts a job with --mincpus and --gpus that may have several
# nodes: of each it counts one CPU (_cpus_to_use).  Weft asks for exactly as many
# nodes as it has chosen, which no command does without another number of CPUs.
is_refused_for_mincpus() {
	[[ $stock_said == refused && " ${words[*]} " == *' --mincpus='* &&
		" ${words[*]} " == *' --gpus='* && " ${words[*]} " != *' -N'* ]]
}

# Of a job that Slurm refuses when it comes in earnest --test-only foretells now
# one thing, now another: a start on more nodes than -N allows, or on fewer CPUs than
# --mincpus asks for.  There is nothing to compare with.
is_refused_in_earnest() {
	local name
	[ "$way" = test ] || return
	for name in stock weft; do
		use $name
		submit "${words[@]}"
		[[ $text =~ ^[0-9]+$ ]] || continue
		quietly scancel "$text"
		return 1
	done
}

# Where weft is not told how the ranks talk, as many nodes of its choice are no
# heavier than stock's, which goes by weights that it wrote down a while ago: to be
# counted, no fault.
is_as_light() {
	local stock_weight weft_weight
	[ "$way" = test ] && [ -n "$untouched" ] || return 0
	[[ " ${words[*]} " != *" --comment="* ]] || return 0
	[ "$stock_nodes" != "$weft_nodes" ] || return 0
	stock_weight=$(weigh "$stock_nodes")
	weft_weight=$(weigh "$weft_nodes")
	[ "${stock_weight% *}" != "${weft_weight% *}" ] ||
		[ "${weft_weight#* }" -le "${stock_weight#* }" ]
}

# How many nodes, and what they weigh.
weigh() {
	local node n=0 sum=0
	for node in $(scontrol show hostnames "$1"); do
		n=$((n + 1))
		sum=$((sum + weight_of[node]))
	done
	echo "$n $sum"
}

# ======== accounting ========

# words without those options: "without -x -N" leaves rest.
without() {
	local word skip=
	rest=()
	for word in "${words[@]}"; do
		if [ -n "$skip" ]; then
			skip=
			continue
		fi
		case " $* " in
		*" $word "*) skip=yes ;;
		*" ${word%%=*}= "*) ;;
		*" ${word:0:2}* "*) ;;
		*) rest+=("$word") ;;
		esac
	done
}

# Stock, held to the nodes of weft's choice, gives the job the same: where it may
# choose none but these, has to take as many of them, or these by name.
same_on_its_nodes() {
	local nodes n words=("${words[@]}") partition=${weft_record#* Partition=}
	[ -n "$weft_nodes" ] || return
	if is_heterogeneous; then
		same_components
		return
	fi
	# Of several the one where weft's job starts: nodes of a partition where a
	# job has to wait the main scheduler takes for no other in the same cycle.
	if [ "$partition" != "$weft_record" ]; then
		without -p
		words=("${rest[@]}" -p "${partition%% *}")
	fi
	nodes=$(scontrol show hostnames "$weft_nodes" | xargs)
	n=$(wc -w <<<"$nodes")
	use stock
	without --comment= --contiguous= --switches=
	ask_on "$nodes"
	same_numbers && return
	same_each && return
	same_in_all && return
	# Fewer tasks than nodes the commands mend; these follow from the GPUs.
	[[ " ${words[*]} " != *' --ntasks-per-gpu='* ]] ||
		without '-n*' --comment= --contiguous= --switches=
	rest+=(-N "$n")
	ask_on "$nodes"
	same_numbers && return
	# Of nodes by name none is preferred; of too few that are, the commands refuse
	# all.
	without -w -x '-N*' --comment= --contiguous= --switches= --spread-job= \
		--prefer=
	! is_range_alone || rest+=(-n "$n")
	decide "$way" "${rest[@]}" -w "$weft_nodes" -N "$n"
	same_numbers && return
	# Of a range the CPUs are those of the least number.
	without -w -x --comment= --contiguous= --switches= --spread-job=
	decide "$way" "${rest[@]}" -w "$weft_nodes"
	same_numbers && return
	[ "$way" != test ] || return
	! is_range || { ask_evenly "$nodes" && same_numbers && return; }
	ask_held "$nodes" && same_numbers && return
	ask_held "$nodes" "ReqNodeList=$weft_nodes" && same_numbers && return
	# The user asks weft for a number of nodes within -N that stock gives to no
	# such job by itself, as with CR_Pack_Nodes.
	asks_for_nodes && [ "$said" != starts ]
}

# Of a range stock's _eval_nodes_topo goes from one weight to the next until the
# nodes are the least number, and then to no other; nodes that are down have one
# weight, beyond all that are up (_build_node_list).  So it takes all that it may of
# nodes that are down, and only the least number where the jobs before have powered
# some up.  Weft takes all that it may: CPUs of a range on these nodes stock tells
# where they are up and weigh the same, and by no -N.
ask_evenly() {
	local node
	both power_up "$(tr ' ' '\n' <<<"$1" | sort)"
	compare_states || return
	for node in $1; do
		both set_weight "$node" 1
	done
	use stock
	without --comment= --contiguous= --switches=
	ask_on "$1"
	for node in $1; do
		both set_weight "$node"
	done
	use stock
}

# Nodes that stock finds unfit when the job comes in, and takes when it is to start:
# with enforce-binding and MaxCPUsPerNode, for one.  The job comes in with all nodes
# to choose from, held, and these alone are left then.  A second argument is what else
# changes while it is held: of a range the commands make other numbers of tasks where
# -N or -w says how many nodes it will be.
ask_held() {
	without --comment= --contiguous= --switches=
	queue --hold "${rest[@]}"
	[ -n "$id" ] || return
	leave_out "$1"
	quietly scontrol update "JobId=$id" "ExcNodeList=${rest[-1]}" ${2+"$2"}
	quietly scontrol release "$id"
	await_scheduler
	quietly scancel "${id%_*}"
}

is_range() {
	[[ " ${words[*]} " =~ \ -N[0-9]+-[0-9]+\  ]]
}

# A range of nodes without tasks has one on each node; where a number is given in
# its place, the commands multiply it by --cores-per-socket and the like.
is_range_alone() {
	is_range && [[ ! " ${words[*]} " =~ \ -(n|-ntasks) ]]
}

is_heterogeneous() {
	[[ " ${words[*]} " == *' : '* ]]
}

# Each component in its partition, held to its nodes as a whole job is: where it may
# choose none but these, or these by name.
same_components() {
	use stock
	components_by no_others || components_by by_name
}

components_by() {
	local word all=() lists partitions i=0 whole=("${words[@]}" :)
	local words=()
	mapfile -t lists < <(sed -n 's/.* NodeList=\([^ ]*\) .*/\1/p' <<<"$weft_record")
	mapfile -t partitions < <(sed -n 's/.* Partition=\([^ ]*\) .*/\1/p' <<<"$weft_record")
	for word in "${whole[@]}"; do
		if [ "$word" != : ]; then
			words+=("$word")
			continue
		fi
		[ ${#all[@]} = 0 ] || all+=(:)
		"$1" "${lists[i]}"
		all+=("${rest[@]}" -p "${partitions[i]}")
		i=$((i + 1)) words=()
	done
	decide "$way" "${all[@]}"
	words=("${whole[@]}") # by which read_numbers counts
	same_numbers || same_each_component
}

# As same_each, of those that are not the same.
same_each_component() {
	local i each stock_parts weft_parts
	[ "$said" = starts ] && is_range_alone || return
	mapfile -t stock_parts <<<"${numbers//NumNodes=/$'\n'NumNodes=}"
	mapfile -t weft_parts <<<"${weft_numbers//NumNodes=/$'\n'NumNodes=}"
	[ ${#stock_parts[@]} = ${#weft_parts[@]} ] || return
	for ((i = 1; i < ${#weft_parts[@]}; i++)); do
		[ "${stock_parts[i]}" != "${weft_parts[i]}" ] || continue
		each=$(numbers_each "${weft_parts[i]}")
		[ -n "$each" ] &&
			[ "$each" = "$(numbers_each "${stock_parts[i]}")" ] ||
			return
	done
}

# words without what chooses nodes, and nodes in their place, into rest.
no_others() {
	without -p --comment= --contiguous= --switches=
	leave_out "$(scontrol show hostnames "$1" | xargs)"
}

by_name() {
	without -w -x -p '-N*' --comment= --contiguous= --switches= --spread-job= \
		--prefer=
	rest+=(-w "$1" -N "$(scontrol show hostnames "$1" | wc -l)")
}

same_numbers() {
	read_numbers
	stock_there+="$said $numbers, "
	[ "$said" = starts ] && [ "$numbers" = "$weft_numbers" ]
}

# Of a range without a number of tasks stock may take fewer of these nodes; each
# gives the same.
same_each() {
	local stock_each weft_each
	[ "$said" = starts ] && is_range &&
		[[ ! " ${words[*]} " =~ \ -(n|-ntasks=) ]] || return
	stock_each=$(numbers_each "$numbers")
	weft_each=$(numbers_each "$weft_numbers")
	[ -n "$weft_each" ] && [ "$stock_each" = "$weft_each" ]
}

# Weft is asked for nodes that the job does not have to have.
asks_for_nodes() {
	[[ " ${words[*]} " =~ ' --comment=weft:'([^ ]*,)?(nodes|spread|split)= ]]
}

# The user asks weft for more nodes than the job has to have, or wants it spread.
# Tasks by GPU stock parts by the least number of nodes (_select_cores: no ranges of
# nodes then), which is that of the job with weft and another with -N, where they
# have to part evenly: as many CPUs and GPUs in all as stock gives the job on fewer
# of these nodes.
same_in_all() {
	local in_all
	asks_for_nodes &&
		[[ " ${words[*]} " == *' --ntasks-per-gpu='* && $said = starts ]] ||
		return
	in_all=$(numbers_in_all "$numbers") &&
		[ "$in_all" = "$(numbers_in_all "$weft_numbers")" ]
}

numbers_in_all() {
	[[ $1 =~ \ NumCPUs=([0-9]+)\ .*\ GPUs=(.*)$ ]] &&
		echo "${BASH_REMATCH[@]:1}"
}

# CPUs and GPUs of one node; nothing where they do not divide.
numbers_each() {
	local nodes cpus gpus
	[[ $1 =~ NumNodes=([0-9]+)\ NumCPUs=([0-9]+)\ .*\ GPUs=([0-9]+)$ ]] || return
	nodes=${BASH_REMATCH[1]} cpus=${BASH_REMATCH[2]} gpus=${BASH_REMATCH[3]}
	[ $((cpus % nodes + gpus % nodes)) = 0 ] || return
	echo $((cpus / nodes)) $((gpus / nodes))
}

# The words in rest, on no other nodes than these.
ask_on() {
	local rest=("${rest[@]}")
	leave_out "$1"
	decide "$way" "${rest[@]}"
}

# Into rest: no other nodes than these.
leave_out() {
	local node i others=
	for node in $(all_nodes); do
		[[ " $1 " == *" $node "* ]] || others+=,$node
	done
	for ((i = 0; i + 1 < ${#rest[@]}; i++)); do
		[ "${rest[i]}" != -x ] || others+=,${rest[i + 1]}
	done
	others=${others#,}
	# The last one counts.
	[ -z "$others" ] || rest+=(-x "$others")
}
