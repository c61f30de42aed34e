# SPDX-License-Identifier: GPL-3.0-or-later
# checks.awk - what is wrong with the jobs of "scontrol show job -d -o".
#
# First file: lines "FROM TO", seconds in which weft was off.  Prints a line for
# each fault and, last, "jobs N gpus N" of what runs.
#
# Slurm 22.05 itself starts a job without any GPU that was requeued before its
# nodes were up (seen with stock): once there are requeues, and strict is empty,
# such jobs are counted, no fault.

function fault(text) {
	print "JobId=" id " (" job_name "): " text
}

# Value of KEY= among the record's words; the first one counts.
function field(key,   i) {
	for (i = 1; i <= NF; i++)
		if (index($i, key "=") == 1)
			return substr($i, length(key) + 2)
	return ""
}

function seconds(stamp) {
	gsub(/[-T:]/, " ", stamp)
	return mktime(stamp)
}

# "n[001-003,007],m1" into list[1..]; returns their number.
function expand(text, list,   n, depth, i, c, part, open_) {
	n = 0
	part = ""
	for (i = 1; i <= length(text) + 1; i++) {
		c = substr(text, i, 1)
		if (c == "[")
			depth++
		if (c == "]")
			depth--
		if (i > length(text) || c == "," && !depth) {
			n = expand_one(part, list, n)
			part = ""
		} else
			part = part c
	}
	return n
}

function expand_one(text, list, n,   open_, prefix, ranges, k, ends, i, width) {
	open_ = index(text, "[")
	if (!open_) {
		list[++n] = text
		return n
	}
	prefix = substr(text, 1, open_ - 1)
	k = split(substr(text, open_ + 1, length(text) - open_ - 1), ranges, ",")
	for (i = 1; i <= k; i++) {
		split(ranges[i] "-" ranges[i], ends, "-")
		width = length(ends[1])
		for (; ends[1] + 0 <= ends[2] + 0; ends[1]++)
			list[++n] = sprintf("%s%0" width "d", prefix, ends[1])
	}
	return n
}

# Takes GPUs such as "0-2,5" of a node; returns how many.
function take(where, indices,   parts, k, i, ends, gpu, n) {
	k = split(indices, parts, ",")
	for (i = 1; i <= k; i++) {
		split(parts[i] "-" parts[i], ends, "-")
		for (gpu = ends[1] + 0; gpu <= ends[2] + 0; gpu++) {
			n++
			if ((where, gpu) in owner)
				fault("GPU " gpu " of " where " is JobId=" \
					owner[where, gpu] "'s as well")
			owner[where, gpu] = id
		}
	}
	return n
}

# Takes all of the record's GPUs; per_node[NODE] tells how many of each.
function take_all(   i, j, k, list, indices) {
	total = 0
	n_list = 0
	delete per_node
	for (i = 1; i <= NF; i++) {
		if (index($i, "Nodes=") == 1) {
			n_list = expand(substr($i, 7), list)
			for (j = 1; j <= n_list; j++)
				per_node[list[j]] += 0
		} else if ($i ~ /^GRES=gpu/ && n_list) {
			indices = $i
			sub(/.*IDX:/, "", indices)
			sub(/\).*/, "", indices)
			for (j = 1; j <= n_list; j++) {
				k = take(list[j], indices)
				per_node[list[j]] += k
				total += k
			}
		}
	}
}

# The name says what the job must have: "n=2-4:g=8:s=1".
function compare(   parts, k, i, ends, where, n) {
	n = 0
	for (where in per_node)
		n++
	if (!strict && !total && field("Restarts") + 0) {
		n_bare++
		return
	}
	k = split(job_name, parts, ":")
	for (i = 1; i <= k; i++) {
		if (parts[i] ~ /^n=/) {
			split(substr(parts[i], 3), ends, "-")
			if (n < ends[1] + 0 || n > ends[2] + 0)
				fault("is on " n " nodes")
		} else if (parts[i] ~ /^G=/) {
			if (total != substr(parts[i], 3) + 0)
				fault("has " total " GPUs")
		} else if (parts[i] ~ /^g=/) {
			for (where in per_node)
				if (per_node[where] != substr(parts[i], 3) + 0)
					fault("has " per_node[where] " GPUs of " \
						where)
		} else if (parts[i] == "s=1" && !silent())
			fault("weft says nothing of it")
		else if (parts[i] ~ /^w=/ && !is_off() && !/weft: ignored:/)
			compare_limit(substr(parts[i], 3))
	}
}

# All nodes lie in one leaf of 16, or one pod of 64.
function compare_limit(level,   where, size, domain, first) {
	size = level == "leaf" ? 16 : 64
	first = -1
	for (where in per_node) {
		domain = int(substr(where, 2) / size)
		if (first >= 0 && domain != first) {
			fault("is not within one " level)
			return
		}
		first = domain
	}
}

# May the job be without a word of weft?
function silent() {
	return is_off() || $0 ~ / SystemComment=([^=]*\| )?weft: /
}

# Did it start without weft?
function is_off(   started, i) {
	if (without)
		return 1
	started = seconds(field("StartTime"))
	for (i = 1; i <= n_off; i++)
		if (started >= off_from[i] && started <= off_to[i])
			return 1
	return 0
}

FILENAME == ARGV[1] {
	off_from[++n_off] = $1
	off_to[n_off] = $2
	next
}

{
	state = field("JobState")
	if (state != "RUNNING" && state != "CONFIGURING")
		next
	id = field("JobId")
	job_name = field("JobName")
	running++
	take_all()
	compare()
	gpus += total
}

END {
	print "jobs " running + 0 " gpus " gpus + 0 \
		(n_bare ? " (requeued without GPUs: " n_bare ")" : "")
}
