# SPDX-License-Identifier: GPL-3.0-or-later
# lost.awk - which submitted jobs Slurm knows nothing of any more.
#
# awk -f lost.awk SUBMITTED QUEUE COMPLETED: lines "ID", "ID het" or "ID array N";
# lines "ID[_TASK|+OFFSET]", those that were cancelled among them; the log of
# jobcomp/filetxt.

# Number after KEY= among the words, or "".
function number(key,   i) {
	for (i = 1; i <= NF; i++)
		if (index($i, key "=") == 1)
			return substr($i, length(key) + 2)
	return ""
}

FILENAME == ARGV[1] {
	ids[++n_ids] = $1
	kind[$1] = $2
	n_tasks[$1] = $3
	next
}

FILENAME == ARGV[2] {
	known[$1] = 1
	ended[$1] = 1
	next
}

# An array that is cancelled as it waits ends as one, whatever its last task's
# number; tasks that ran have a record each.
{
	known[number("JobId")] = 1
	array = number("ArrayJobId")
	if (array != "") {
		task = number("ArrayTaskId")
		known[array "_" task] = 1
		if (task + 0 >= 4294967294 || task !~ /^[0-9]+$/)
			ended[array] = 1
	}
	het = number("HetJobId")
	if (het != "")
		known[het "+" number("HetJobOffset")] = 1
}

END {
	for (i = 1; i <= n_ids; i++) {
		id = ids[i]
		if (kind[id] == "array") {
			for (t = 0; t < n_tasks[id] && !ended[id]; t++)
				if (!((id "_" t) in known))
					print "JobId=" id "_" t " is lost"
		} else if (kind[id] == "het") {
			if (!((id "+0") in known))
				print "JobId=" id "+0 is lost"
			if (!((id "+1") in known))
				print "JobId=" id "+1 is lost"
		} else if (!(id in known))
			print "JobId=" id " is lost"
	}
}
