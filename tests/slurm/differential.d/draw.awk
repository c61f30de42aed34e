# SPDX-License-Identifier: GPL-3.0-or-later
# draw.awk - a random cluster, what is taken of it, and jobs to try on it, from a
# seed alone.
#
# awk -v seed=1 -v tries=40 -f draw.awk
#
# Lines "set NAME=VALUE" of the lab; "slurm", "gres", "switch" and "fabric" with a
# line of that file; then the state, in order: "run ARGS" a job of so many words of
# salloc, "node ARGS" and "reserve ARGS" words of scontrol; then "try WAY ARGS",
# one job, where WAY is how it comes: now (salloc), queued (sbatch) or test
# (sbatch --test-only); and "last WAY ARGS", after which the state is another:
# later (until the jobs that run are ended one by one) or preempt.

function pick(list,   words, n) {
	n = split(list, words, " ")
	return words[int(rand() * n) + 1]
}

function chance(p) {
	return rand() < p
}

function below(n) {
	return int(rand() * n)
}

function node(i) {
	return sprintf("n%0" length(n_nodes) "d", i)
}

# Each of the nodes with probability p, but at least one.
function some(p,   i, list) {
	for (i = 0; i < n_nodes; i++)
		if (chance(p))
			list = list "," node(i)
	return list ? substr(list, 2) : node(below(n_nodes))
}

function few(k,   list, i, at) {
	at = below(n_nodes)
	for (i = 0; i < k && i < n_nodes; i++)
		list = list "," node((at + i) % n_nodes)
	return substr(list, 2)
}

# ======== the cluster ========

function draw_kinds(   k) {
	n_kinds = pick("1 1 2 2 3")
	for (k = 0; k < n_kinds; k++) {
		sockets[k] = pick("1 2 2")
		cores[k] = pick("4 8 8 16")
		threads[k] = pick("1 1 2")
		memory[k] = pick("8000 64000 256000")
		weight[k] = pick("1 1 1 5 50")
		gpus[k] = pick("gpu:8 gpu:8 gpu:8 gpu:4 gpu:2 gpu:a100:8 " \
			"gpu:a100:4,gpu:h100:4 gpu:a100:2,gpu:h100:2 " \
			"gpu:h100:4" (k ? " - -" : ""))
		any_type = any_type || gpus[k] ~ /:.*:/
		bound[k] = sockets[k] == 2 && chance(0.4)
		features[k] = pick("fa fb fa,fb fc")
	}
}

# GPUs of a node of kind k, of one type or in all.
function gpus_of(k, type,   words, n, i, parts, m, sum) {
	n = split(gpus[k], words, ",")
	for (i = 1; i <= n; i++) {
		m = split(words[i], parts, ":")
		if (m > 1 && (type == "" || m == 3 && parts[2] == type))
			sum += parts[m]
	}
	return sum + 0
}

function print_node(i,   k, f) {
	k = kind[i]
	f = features[k]
	if (chance(0.15))
		f = f ",fx"
	printf "slurm NodeName=%s NodeHostname=localhost NodeAddr=127.0.0.1 " \
		"Port=9 Sockets=%d CoresPerSocket=%d ThreadsPerCore=%d " \
		"RealMemory=%d Weight=%d Feature=%s%s State=CLOUD\n", node(i),
		sockets[k], cores[k], threads[k], memory[k],
		chance(0.1) ? weight[k] * 3 : weight[k], f,
		gpus[k] == "-" ? "" : " Gres=" gpus[k]
	print_gres(i, k)
}

# The cores of the first socket, or of the second.
function cores_of(k, first) {
	if (first)
		return " Cores=0-" cores[k] - 1
	return " Cores=" cores[k] "-" 2 * cores[k] - 1
}

# GPUs in order, the first half bound to the first socket.
function print_gres(i, k,   words, n, w, parts, m, count, at, half, cut) {
	n = split(gpus[k], words, ",")
	half = bound[k] ? gpus_of(k) / 2 : 0
	for (w = 1; w <= n && gpus[k] != "-"; w++) {
		m = split(words[w], parts, ":")
		for (count = parts[m]; count > 0; count -= cut) {
			cut = at < half && at + count > half ? half - at : count
			printf "gres NodeName=%s Name=gpu%s File=@dev/gpu[%d-%d]%s\n",
				node(i), m == 3 ? " Type=" parts[2] : "", at,
				at + cut - 1, bound[k] ? cores_of(k, at < half) : ""
			at += cut
		}
	}
}

# Where there is preemption only a job of the last line may, or the states would
# drift apart.
function print_partitions(   share) {
	share = pick("NO NO NO NO YES:2 FORCE:2 EXCLUSIVE")
	if (preempts)
		share = "NO"
	print "slurm PartitionName=main Nodes=ALL Default=YES " \
		"MaxTime=INFINITE PriorityTier=10 OverSubscribe=" share \
		(chance(0.1) ? " MaxNodes=" 2 + below(3) : "") \
		(chance(0.1) ? " LLN=YES" : "") \
		(chance(0.1) ? " MaxCPUsPerNode=" pick("4 8") : "") \
		(chance(0.1) ? " DefCpuPerGPU=" pick("1 2") : "") \
		(chance(0.1) ? " DefMemPerGPU=" pick("100 1000") : "")
	print "slurm PartitionName=part Nodes=" some(0.5) \
		" PriorityTier=" (preempts ? 10 : pick("10 20")) (chance(0.2) ? " MinNodes=2" : "")
	print "slurm PartitionName=high Nodes=ALL PriorityTier=50 " \
		"PreemptMode=OFF"
}

# Nodes that share a leaf switch, leafs that share a pod; a node without GPUs is
# no part of weft's fabric.
function print_networks(   i, leaf, pod, n_leafs, members, list, pods) {
	n_leafs = int((n_nodes + per_leaf - 1) / per_leaf)
	for (i = 0; i < n_nodes; i++) {
		leaf = int(i / per_leaf)
		list[leaf] = list[leaf] "," node(i)
		if (!gpus_of(kind[i]))
			continue
		print "fabric nodes " node(i) ": " gpus_of(kind[i])
		members[leaf] = members[leaf] "," node(i)
	}
	for (leaf = 0; leaf < n_leafs; leaf++) {
		print "switch SwitchName=leaf" leaf " Nodes=" \
			substr(list[leaf], 2)
		if (!members[leaf])
			continue
		print "fabric leaf leaf" leaf ": " substr(members[leaf], 2)
		pods[int(leaf / 2)] = pods[int(leaf / 2)] ",leaf" leaf
	}
	for (pod = 0; pod * 2 < n_leafs; pod++) {
		print "switch SwitchName=pod" pod " Switches=leaf" pod * 2 \
			(pod * 2 + 1 < n_leafs ? ",leaf" pod * 2 + 1 : "")
		list["pods"] = list["pods"] ",pod" pod
		if (pods[pod])
			print "fabric pod pod" pod ": " substr(pods[pod], 2)
	}
	if (pod > 1)
		print "switch SwitchName=core Switches=" substr(list["pods"], 2)
}

function draw_select(   what) {
	what = pick("CR_Core_Memory CR_Core_Memory CR_Core_Memory " \
		"CR_CPU_Memory CR_Core CR_CPU CR_Socket_Memory")
	if (chance(0.3))
		what = what "," pick("CR_LLN CR_Pack_Nodes " \
			"CR_CORE_DEFAULT_DIST_BLOCK" \
			(what ~ /CPU/ ? "" : " CR_ONE_TASK_PER_CORE"))
	print "set select=" what
}

function draw_cluster(   i, mixed, has_gpus) {
	n_nodes = pick("4 5 6 8 8 10 12")
	per_leaf = pick("2 2 3 4")
	preempts = chance(0.3)
	has_qos = chance(0.5)
	print "set LAB_ACCOUNTS=" (has_qos ? "slurmdbd" : "none")
	by_qos = preempts && has_qos && chance(0.5)
	print "set LAB_NODES=" n_nodes
	print "set LAB_TOPOLOGY=" pick("tree tree flat")
	draw_select()
	if (preempts)
		print "slurm PreemptType=preempt/" \
			(by_qos ? "qos" : "partition_prio") "\n" \
			"slurm PreemptMode=CANCEL"
	print "slurm " pick("DefMemPerCPU=100 DefMemPerCPU=100 DefMemPerNode=1000")
	draw_kinds()
	mixed = chance(0.5)
	for (i = 0; i < n_nodes; i++) {
		kind[i] = mixed ? below(n_kinds) : int(i * n_kinds / n_nodes)
		has_gpus = has_gpus || gpus[kind[i]] != "-"
		# A fabric has GPUs; those of the first kind.
		if (i == n_nodes - 1 && !has_gpus)
			kind[i] = 0
		print_node(i)
	}
	print_partitions()
	print_networks()
}

# ======== what is taken of it ========

# A job on nodes that are named, so that both Slurms give it the same.
function running(   at, k, words, g) {
	at = below(n_nodes)
	k = kind[at]
	words = "-N1 -w " node(at) " -t " pick("5 10 60 1000")
	if (has_qos && chance(0.3))
		words = words " --qos=" pick("few thin group group user cores")
	if (chance(0.15))
		return words " --exclusive"
	words = words " -c" pick("1 1 2 4") " --mem=" pick("100 500 2000")
	if (gpus[k] == "-" || chance(0.15))
		return words " -n" pick("1 2 4")
	g = pick("1 1 2 3 4 6")
	if (gpus[k] ~ /:.*:/ && chance(0.5))
		return words " --gpus-per-node=" \
			(gpus_of(k, "a100") && chance(0.6) ? "a100" : "h100") \
			":" (g > 2 ? 2 : g)
	return words " --gpus-per-node=" g
}

function reservation(   words) {
	words = "ReservationName=r" ++n_reserved " users=root,daemon duration=" \
		pick("30 120") " starttime=" pick("now now now+20minutes") \
		" flags=ignore_jobs"
	if (chance(0.35))
		return words ",part_nodes partition=main nodes=" few(1) \
			" corecnt=" pick("1 2 4")
	# From 23.11 on.
	if (has_qos && chance(0.4))
		return words (chance(0.5) \
			? " partition=main nodecnt=" pick("1 1 2") " TRESPerNode=" \
			: " nodes=" few(pick("1 2")) " TRES=") \
			"gres/gpu=" pick("1 2 2 4")
	return words " nodes=" few(pick("1 1 2 3"))
}

function draw_state(   i, n, most) {
	if (chance(0.35))
		print "node NodeName=" some(0.2) " State=" \
			pick("DRAIN DRAIN DOWN POWER_UP POWER_UP") " Reason=test"
	if (chance(0.25))
		print "node NodeName=" some(0.3) " State=POWER_UP"
	n = int(n_nodes * pick("0 0.5 1 1 1.5 2.5"))
	for (i = 0; i < n; i++)
		print "run " running()
	for (most = pick("0 0 0 1 1 2"); n_reserved < most;)
		print "reserve " reservation()
}

# ======== jobs to try ========

function typed(g) {
	if (chance(any_type ? 0.3 : 0.03))
		return pick("a100 h100") ":" g
	return g
}

# How many nodes and tasks.
function size(   n) {
	n = pick("1 1 1 2 2 2 3 3 4 4 5 6")
	if (n > n_nodes && chance(0.9))
		n = 1
	n_wanted = n
	if (chance(0.45))
		return "-N" n
	if (chance(0.2))
		return "-N" n "-" n + pick("1 2 4")
	if (chance(0.3))
		return "-N" n " --ntasks-per-node=" pick("1 2 4 8")
	if (chance(0.4))
		return "-N" n " -n" n * pick("1 2 4")
	n_wanted = 0
	return "-n" pick("1 2 3 4 6 8 12 16")
}

function gpus_asked(   x, g) {
	x = rand()
	g = pick("1 1 1 2 2 2 2 3 4 4 4 5 6 8 8")
	if (x < 0.40)
		return " --gpus-per-node=" typed(g)
	if (x < 0.52)
		return " --gpus=" typed(g * pick("1 1 2 3"))
	if (x < 0.60)
		return " --gpus-per-task=" typed(pick("1 1 2 4"))
	if (x < 0.66)
		return " --gpus-per-socket=" typed(pick("1 2")) \
			" --sockets-per-node=" pick("1 2")
	if (x < 0.74)
		return " --gres=gpu:" typed(g)
	if (x < (any_type ? 0.78 : 0.745))
		return " --gres=gpu:a100:" pick("1 2") ",gpu:h100:" pick("1 2")
	if (x < 0.82)
		return " --gpus=" g * pick("1 2") " --ntasks-per-gpu=" pick("1 2")
	if (x < 0.85)
		return " --gpus-per-node=" g " --gpus=" g * (n_wanted ? n_wanted : 2)
	if (x < 0.92)
		return " --gpus-per-node=" g " --cpus-per-gpu=" pick("1 1 2 3 4")
	return ""
}

function memory_asked(   x) {
	x = rand()
	if (x < 0.25)
		return " --mem=" pick("0 100 100 1000 1000 6000 30000")
	if (x < 0.35)
		return " --mem-per-cpu=" pick("10 10 500 2000")
	if (x < 0.42)
		return " --mem-per-gpu=" pick("100 100 1000 10000")
	return ""
}

# What else may be said of the nodes; each rarely.
function wishes(   words) {
	if (chance(0.07))
		words = words " -w " few(pick("1 1 2"))
	if (chance(0.10))
		words = words " -x " some(pick("0.1 0.3 0.6"))
	if (chance(0.07))
		words = words " --contiguous"
	if (chance(0.07))
		words = words " --switches=" pick("1 1 2 1@0 1@0 1@1 2@0")
	if (chance(0.10))
		words = words " " pick("--exclusive --exclusive=user -s")
	if (chance(0.12))
		words = words " --constraint=" pick("fa fb fa|fb fa|fc fx fa&fb " \
			"fa|fb|fc [fa|fb] [fa*1&fb*1] [fa*2]")
	if (chance(0.06))
		words = words " --prefer=" pick("fa fb fx fa&fb")
	if (chance(0.05))
		words = words " --spread-job"
	if (chance(0.04))
		words = words " --use-min-nodes"
	return words
}

# What may be said of sockets, cores and threads.
function binding(   words) {
	if (chance(0.15))
		words = words " -c" pick("1 2 2 3 4 8")
	if (chance(0.05))
		words = words " -B " pick("1 2 1:4 2:2 *:*:1 2:*:2")
	if (chance(0.05))
		words = words " --threads-per-core=" pick("1 1 2")
	if (chance(0.04))
		words = words " --hint=nomultithread"
	if (chance(0.04))
		words = words " --ntasks-per-core=" pick("1 2")
	if (chance(0.04))
		words = words " --ntasks-per-socket=" pick("1 2 4")
	if (chance(0.04))
		words = words " --sockets-per-node=" pick("1 2")
	if (chance(0.04))
		words = words " --cores-per-socket=" pick("4 8 16")
	if (chance(0.04))
		words = words " --mincpus=" pick("2 4 8 16")
	if (chance(0.05))
		words = words " --gres-flags=" \
			pick("enforce-binding enforce-binding disable-binding")
	if (chance(0.03))
		words = words " -O"
	return words
}

function schedule(   words) {
	if (chance(0.12))
		words = words " -p " pick("part part main,part part,main")
	if (chance(0.25))
		words = words " -t " pick("1 5 15 30 600")
	if (has_qos && chance(0.35))
		words = words " --qos=" pick("few cores denied thin group user " \
			"large short normal")
	if (n_reserved && chance(0.25))
		words = words " --reservation=r" 1 + below(n_reserved)
	if (chance(0.01))
		words = words " --begin=now+1hour"
	if (chance(0.01))
		words = words " --deadline=now+" pick("10minutes 2days")
	if (chance(0.02))
		words = words " --time-min=1 -t 600"
	if (chance(0.01))
		words = words " --dependency=singleton"
	if (chance(0.02))
		words = words " --nice=" pick("10 1000")
	return words
}

# A split of as many nodes as the job has, where that is known.
function parted(   what) {
	what = pick("segment=1 segment=2 segment=2 segment=3 split= split= split=")
	if (what != "split=")
		return what
	return what pick(n_wanted == 1 ? "1" : n_wanted == 2 ? "1+1 1+1 2" : \
		n_wanted == 3 ? "2+1 2+1 1+1+1 3" : n_wanted == 4 ? "2+2 3+1 2+1+1" : \
		n_wanted == 5 ? "3+2 2+2+1" : n_wanted == 6 ? "3+3 2+2+2 4+2" : \
		"1+1 2+1 2+2 3+1")
}

# What weft is told: mostly nothing.
function spec(   s) {
	if (chance(0.55))
		return ""
	if (chance(0.1))
		return " --comment=weft:" pick("off tp=3,pp=5 bogus=1 nodes=2")
	# Any number of GPUs suits a job that has a limit.
	if (chance(0.5))
		s = "tp=1,within=" pick("leaf leaf pod node core")
	else if (n_nodes <= 8 && chance(0.2))
		s = "tp=1," parted()
	else
		s = "tp=" pick("1 1 1 2 4") \
			(chance(0.3) ? ",prefer=" pick("leaf pod") : "")
	if (chance(0.1))
		s = s ",spread=" pick("balance failure-domain")
	return " --comment=weft:" s
}

function request(   words) {
	words = size() gpus_asked() memory_asked() binding() wishes() schedule() \
		spec()
	gsub(/ +/, " ", words)
	return words
}

# Components, without limits.
function heterogeneous(   words, i, n, one) {
	n = pick("2 2 2 3")
	for (i = 0; i < n; i++) {
		one = size() gpus_asked() memory_asked() binding() wishes() schedule()
		words = words (i ? " : " : "") one \
			(chance(0.3) ? " --comment=weft:tp=" pick("1 1 2") : "")
	}
	gsub(/ +/, " ", words)
	return words
}

BEGIN {
	srand(seed)
	for (i = 0; i < 20; i++)
		rand()
	draw_cluster()
	draw_state()
	# The first ones leave the power states as they are.
	for (i = 0; i < tries; i++) {
		if (i >= tries / 4 && chance(0.06)) {
			print "try queued " heterogeneous()
			continue
		}
		way = i < tries / 4 ? "test" : pick("now now now test queued")
		print "try " way " " request() \
			(way == "queued" && chance(0.1) ? " --array=0-3%1" : "")
	}
	if (preempts && chance(0.8))
		print "last preempt " (by_qos ? "" : "-p high ") request() \
			(by_qos ? " --qos=urgent" : "")
	else if (chance(0.5))
		print "last later " request()
}
