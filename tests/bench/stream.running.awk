# SPDX-License-Identifier: GPL-3.0-or-later
# stream.running.awk - lines "ID PLANNED NODES GPUS;..." of the jobs that have
# nodes, from "scontrol show job -d -o"; PLANNED: 1 where weft chose them.

{
	id = nodes = list = ""
	for (i = 1; i <= NF; i++) {
		if ($i ~ /^JobId=/)
			id = substr($i, 7)
		else if ($i ~ /^JobState=/ && $i !~ /RUNNING|CONFIGURING/)
			next
		else if ($i ~ /^Nodes=/)
			nodes = substr($i, 7)
		else if ($i ~ /^GRES=gpu/ && nodes != "") {
			gpus = $i
			sub(/.*IDX:/, "", gpus)
			sub(/\).*/, "", gpus)
			list = list (list == "" ? "" : ";") nodes " " gpus
		}
	}
	if (list != "")
		print id "\t" (/nodes=plan/ ? 1 : 0) "\t" list
}
