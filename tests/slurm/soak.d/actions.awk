# SPDX-License-Identifier: GPL-3.0-or-later
# actions.awk - what a soak does, one action a line, from its seed alone.
#
# awk -v seed=1 -v jobs=20000 -v nodes=256 -v every=500 -f actions.awk
#
# An action that needs a job which is there when it comes ("cancel 3") leaves
# the choice to soak.  "submit NAME ARGS": the name says what the job must get,
# for checks.awk: n=MIN-MAX nodes, g= GPUs of each, G= GPUs in all, s=1 for a job
# weft has to say something about, w=LEVEL for one that must be within one.
# \ooo in a word stands for a byte.

function pick(list,   words, n) {
	n = split(list, words, " ")
	return words[int(rand() * n) + 1]
}

function chance(p) {
	return rand() < p
}

function node(i) {
	return sprintf("n%03d", i)
}

function some_node() {
	return node(int(rand() * nodes))
}

# A run of nodes that starts at random.
function some_nodes(length_,   first) {
	first = int(rand() * (nodes - length_))
	return sprintf("n[%03d-%03d]", first, first + length_ - 1)
}

# ---- specs ----

function malformed() {
	return pick("tp=0 bogus=1 tp=3,pp= within=galaxy gpus=7,tp=2 tp=8,tp=8 " \
		"wait=never segment=0 \\033[31mred tp=9999999999999 ,,,= " \
		"model=/etc/shadow traffic=/dev/zero metric=miles order=tp-tp " \
		"tp=\\377\\376 %s%n%d nodes=9-3 spread=jam split=0+0 " long)
}

# A good one for a job of n GPUs; 0: the total is open.
function well_formed(n, whole,   spec, tp) {
	tp = whole ? pick("1 2 4 8 8 8") : pick("1 1 2")
	if (n && n % tp)
		tp = 1
	spec = "tp=" tp
	if (n && chance(0.5) && n % (2 * tp) == 0)
		spec = spec ",pp=2"
	if (n && tp == 1 && chance(0.2))
		spec = spec ",ep=" (n % 4 == 0 ? 4 : 1)
	if (chance(0.2))
		spec = spec ",model=" pick("llama3-8B llama3-70B")
	if (chance(0.15))
		spec = spec ",metric=" pick("hops latency time")
	if (chance(0.15)) {
		limit = pick("leaf leaf pod")
		spec = spec ",within=" limit
	} else if (chance(0.1))
		spec = spec ",prefer=" pick("leaf pod")
	if (chance(0.1))
		spec = spec ",wait=" pick("2s 5s 1m")
	if (whole && chance(0.1))
		spec = spec ",segment=" pick("1 2 4")
	if (chance(0.1))
		spec = spec ",spread=" pick("pack balance")
	return spec
}

# The words that give a job of n GPUs its spec; sets told and limit.
function asked(n, whole) {
	told = 1
	limit = ""
	if (chance(0.08))
		return " --comment=weft:" malformed()
	if (chance(0.05)) {
		told = 0
		return " --comment=weft:off"
	}
	if (chance(0.15))
		return ""
	return " --comment=weft:" well_formed(n, whole)
}

# ---- requests ----

# Each sets name and returns the words of sbatch.
function whole_nodes(   n) {
	n = pick("1 1 1 1 2 2 2 3 4 4 6 8 8 12 16 32")
	name = "n=" n "-" n ":g=8"
	return "-N" n " --gpus-per-node=8" asked(8 * n, 1)
}

function part_nodes(   n, g) {
	n = pick("1 1 1 2 3 4")
	g = pick("1 1 2 2 3 4 4 5 6 7")
	name = "n=" n "-" n ":g=" g
	return "-N" n " --gpus-per-node=" g asked(n * g, 0)
}

function in_all(   n) {
	n = pick("1 2 3 4 7 8 9 12 16 24 32 64")
	name = "G=" n
	return "--gpus=" n asked(n, 0)
}

function per_task(   tasks, g) {
	tasks = pick("1 2 4 8 16")
	g = pick("1 2 4")
	name = "G=" tasks * g
	return "-n" tasks " --gpus-per-task=" g asked(tasks * g, 0)
}

function range(   low, high, spec) {
	low = pick("1 2 4")
	high = low * pick("2 3 4")
	name = "n=" low "-" high ":g=8"
	spec = asked(0, 1)
	if (spec && chance(0.5))
		spec = spec ",nodes=" low "-" high
	return "-N" low "-" high " --gpus-per-node=8" spec
}

function exclusive(   n) {
	n = pick("1 1 2 3")
	name = "n=" n "-" n
	return "-N" n " --exclusive --gpus-per-node=" pick("2 4 8") asked(0, 0)
}

# On nodes that others are on, too, Slurm 22.05 itself gives such a job GPUs that
# they have.
function per_socket(   n) {
	n = pick("1 2")
	name = "n=" n "-" n
	return "-N" n " --exclusive --sockets-per-node=2 --gpus-per-socket=2" asked(0, 0)
}

function no_gpus(   n) {
	n = pick("1 1 2 4")
	told = 0
	limit = ""
	name = "n=" n "-" n ":g=0"
	return "-N" n " -c" pick("1 4 16")
}

function request(   x) {
	x = rand()
	if (x < 0.35)
		return whole_nodes()
	if (x < 0.60)
		return part_nodes()
	if (x < 0.72)
		return in_all()
	if (x < 0.82)
		return per_task()
	if (x < 0.89)
		return range()
	if (x < 0.94)
		return exclusive()
	if (x < 0.97)
		return per_socket()
	return no_gpus()
}

# What may go with any request; at most a few at once.
function extras(   words) {
	words = ""
	if (chance(0.15))
		words = words " --mem=" pick("500 4000 64000 200000")
	else if (chance(0.05))
		words = words " --mem-per-gpu=" pick("1000 8000")
	if (chance(0.05))
		words = words " -x " some_nodes(pick("1 8 64"))
	if (chance(0.03))
		words = words " --contiguous"
	if (chance(0.03))
		words = words " --switches=1@" pick("0 1")
	if (chance(0.2))
		words = words " -t " pick("1 2 10 60")
	if (chance(0.06))
		words = words " -p " pick("urgent half")
	if (chance(0.03))
		words = words " --begin=now+" pick("2 5 10")
	if (chance(0.05))
		words = words " --nice=" pick("10 1000 -100")
	if (chance(0.04))
		words = words " --dependency=" pick("after afterany afternotok") \
			":@last"
	if (chance(0.02))
		words = words " -H"
	return words
}

# The name of the request made last.
function full_name() {
	return name ":s=" told (limit ? ":w=" limit : "")
}

# Prints one submission; returns how many jobs it makes.
function submit(   words, k, first) {
	words = request()
	if (name ~ /^n=1-1/ && chance(0.1))
		words = words " -w " some_node()
	if (chance(0.03)) {
		first = full_name()
		k = request()
		print "submit " first keep " " words " : -J " full_name() \
			keep " " k
		return 2
	}
	words = words extras() keep
	if (reserved && chance(0.3))
		words = words " --reservation=" reserved
	name = full_name()
	if (chance(0.15)) {
		k = 2 + int(rand() * 19)
		print "submit " name " --array=0-" k - 1 " " words
		return k
	}
	print "submit " name " " words
	return 1
}

# ---- what else happens ----

function trouble_of_jobs() {
	print pick("cancel requeue hold prio suspend") " " pick("1 2 5")
	if (chance(0.5))
		print "release\nresume"
}

function trouble_of_nodes() {
	if (n_bad < 12 && chance(0.6)) {
		bad[++n_bad] = some_node()
		print "node " pick("drain down fail") " " bad[n_bad]
	} else if (n_bad)
		print "node resume " bad[n_bad--]
}

function trouble_of_admins(   x) {
	x = rand()
	if (x < 0.25)
		print "reconfigure"
	else if (x < 0.35)
		print "health " pick("ill ill broken well") " " some_nodes(3)
	else if (x < 0.5)
		print "partition " pick("main half urgent") " down"
	else if (x < 0.65) {
		if (reserved)
			print "unreserve " reserved
		reserved = reserved ? "" : "r" ++n_reserved
		if (reserved)
			print "reserve " reserved " " some_nodes(pick("2 4 8"))
	} else if (x < 0.8)
		print "fabric " pick("rates rename remove broken missing good")
	else
		print "settings " pick("broken missing off ignore good")
	unmended = 1
}

BEGIN {
	srand(seed)
	long = "tp=1,"
	while (length(long) < 1500)
		long = long "x"
	share = 0.4
	keep = " --no-requeue"
	for (block = 1; made < jobs; block++) {
		if (keep && made >= jobs / 2) {
			keep = ""
			print "requeues"
		}
		for (until = made + 40; made < until && made < jobs;)
			made += submit()
		if (block % 10 == 0)
			share = pick("0.25 0.4 0.5 0.7 0.9 1")
		print "rouse\nsettle"
		print "end " share
		if (unmended && chance(0.5)) {
			unmended = 0
			print "mend"
		}
		trouble_of_jobs()
		if (chance(0.4))
			trouble_of_nodes()
		if (chance(0.25))
			trouble_of_admins()
		print "thin 300"
		# The last third lives on, for its memory to be measured.
		if (made < jobs * 2 / 3 && made >= killed + jobs_a_life) {
			killed = made
			print "kill " (chance(0.2) ? "now" : "mended")
		}
		if (made >= checked + every) {
			checked = made
			print "checkpoint " made
		}
	}
}
