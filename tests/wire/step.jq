# SPDX-License-Identifier: GPL-3.0-or-later
# step.jq - what `weft model traffic --json` says of a job, as a step of rank.cc
#
# --arg spec SPEC.  A call names its groups by axes; which ranks these are follows
# from the sizes of the axes and the order of ranks, weft-spec(7).

def keys_of: [splits(",") | split("=") | {(.[0]): .[1]}] | add;
def size($spec; $axis): $spec[$axis] // "1" | tonumber;

# Axes of the dense or expert grid with size and stride, first one fastest; an
# order may leave out those of size 1.
def grid($spec; $expert):
	size($spec; "gpus") as $n |
	(if $expert then
		{tp: size($spec; "etp"), ep: size($spec; "ep"), cp: 1,
		 pp: size($spec; "pp")} |
		.dp = $n / (.tp * .ep * .pp)
	else
		{tp: size($spec; "tp"), cp: size($spec; "cp"), ep: 1,
		 pp: size($spec; "pp")} |
		.dp = $n / (.tp * .cp * .pp)
	end) as $sizes |
	reduce ($spec.order // "tp-cp-ep-dp-pp" | splits("-")) as $axis
		({stride: 1, axes: ($sizes | map_values({size: 1, stride: 1}))};
		 .axes[$axis] = {size: $sizes[$axis], stride: .stride} |
		 .stride *= $sizes[$axis]) |
	.axes;

def coordinate($grid; $axis; $rank):
	($rank / $grid[$axis].stride | floor) % $grid[$axis].size;

# Lists of ranks that differ in the axes of the token alone.
def groups($grid; $n; $token):
	($token | split("-")) as $of |
	[range($n) | {rank: ., key: [. as $rank | $grid | keys_unsorted[] |
		select(. as $axis | $of | index($axis) | not) |
		coordinate($grid; .; $rank)]}] |
	group_by(.key) | map(map(.rank)) | sort;

def stage($call; $grid; $rank):
	coordinate($grid; "pp"; $rank) as $stage |
	$stage >= $call.first_stage and
	$stage < $call.first_stage + $call.stages;

# To the next rank of the group, in a pipeline's backward pass to the one before.
def pairs($call; $grid):
	(if $call.axis == "pp" and $call.phase == "backward" then -1 else 1 end)
		as $hop |
	. as $group | length as $n |
	range($n) | select(stage($call; $grid; $group[.])) |
	"\($group[.])>\($group[(. + $hop + $n) % $n])";

def line($spec):
	. as $call | grid($spec; .expert_grid) as $grid |
	groups($grid; size($spec; "gpus"); .group) |
	if $call.collective == "send_recv" then
		map(pairs($call; $grid))
	elif $call.axis == "pp" then
		map([first, last] | join(","))
	else
		map(select(stage($call; $grid; first)) | map(tostring) | join(","))
	end |
	"\($call.collective) \($call.size_bytes) \($call.count) \(join(" "))";

# Sends of one size and number run at once: those of the forward and of the
# backward pass cross each other in a pipeline (1F1B).
def together:
	map(split(" ")) |
	[.[] | select(.[0] != "send_recv") | join(" ")] +
	([.[] | select(.[0] == "send_recv")] | group_by(.[0:3]) |
		map((.[0][0:3] + (map(.[3:]) | add)) | join(" "))) | .[];

($spec | keys_of) as $spec | .calls | group_by(.axis)[] |
	"axis \(first.axis)", (map(line($spec)) | together)
