#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

# Two pairs that talk, on two nodes: apart in their own order.
printf '4 3 1\n3 10 2 1\n4 10 1 1\n1 10\n2 10\n' >"$work/g"
printf 'dist 1 5\nnode 2\nnode 2\n' >"$work/t"
map() { run map --graph "$work/g" --arch "$work/t" "$@"; }

map --budget 0.05
check "keeps to a budget" exits 0
map --json --work 1000000
check "maps a graph" exits 0
check "json: schema comes first" schema_first map
check "json: what the contract promises" json '
	has("n") and has("cost") and has("bound") and has("assignment")
	and has("elapsed_s") and has("gap") and has("method")'
check "finds the optimum" json '.cost == 25 and .n == 4 and .slots == 4'
check "pairs share a node" json '.assignment | map(. / 2 | floor) |
	.[0] == .[2] and .[1] == .[3] and .[0] != .[1]'
check "every slot is used once" json '.assignment | sort == [range(4)]'
check "the floor is every byte at the least distance" json \
	'.floor == 21 and .network_cost == 4'
check "the natural order is priced beside it" json '.natural_cost == 101'
check "the bound is a bound" json '.bound <= .cost and .bound >= .floor'
check "the gap follows from it" json \
	'((.cost - .bound) / .cost - .gap) | fabs < 1e-9'
map --json --work 1000000 --bound full
check "a full bound is one, too" json '.bound <= 25 and .bound >= 21'
map --json --work 1000000 --bound none
check "no bound, no gap" json \
	'.bound == null and .gap == null and .network_gap == null'
map --json --work 100000 --seed 3
cp "$work/out" "$work/first"
map --json --work 100000 --seed 3
check "same work and seed, same answer" [ \
	"$(jq -c .assignment "$work/first")" = "$(jq -c .assignment "$work/out")" ]
map --work 1000000
check "text: the cost" out "cost                          25"
check "text: what is above the floor" out "above the floor                4"
map --work 1000000 --list
check "--list has every vertex" [ "$(grep -c '^[0-3] [0-3]$' "$work/out")" = 4 ]
map --work 1000000 --threads 2 --json
check "two threads find it, too" json '.cost == 25'

map --json --work 0
check "no work: the natural order is priced" json \
	'.cost == 101 and .assignment == [0,1,2,3]'
echo '3 1 2 0' >"$work/a"
map --json --work 0 --assignment "$work/a"
check "no work: the assignment given is priced" json \
	'.cost == 25 and .given_cost == 25 and .assignment == [3,1,2,0]'
printf '4 0\n1 3 2 4\n' >"$work/sln"
map --json --work 0 --assignment "$work/sln"
check "a solution of QAPLIB counts from 1" json '.assignment == [0,2,1,3]'
map --json --work 1 --assignment "$work/a"
check "never worse than what is given" json '.cost == 25'
echo '3 1 2 4' >"$work/a"
map --assignment "$work/a" --work 0
check "a slot that is none is an error" exits 1
check "said where it is" err "weft: $work/a:1:7: expected a place from 0 to 3"

printf '2 1 1\n2 3\n1 3\n' >"$work/g"
printf 'dist 1 5 9\nrail 2\nnode 7 1\nnode 8 2\nnode 7 1\n' >"$work/t"
map --json --work 1000000
check "spare slots are left" json \
	'.slots == 4 and .cost == 3 and (.assignment | sort == [1,2])'
printf '1 0' >"$work/a"
map --json --work 0 --assignment "$work/a"
check "rails count between nodes" json '.cost == 3 * 9'
printf '2 0' >"$work/a"
map --json --work 0 --assignment "$work/a"
check "other rails cost more" json '.cost == 3 * 11'
printf '0 3' >"$work/a"
map --json --work 0 --assignment "$work/a"
check "nodes of a domain may be listed apart" json '.cost == 3 * 5'

printf '2 1 1\n2 9007199254740991\n1 9007199254740991\n' >"$work/g"
printf 'dist 0 1\nnode 1\nnode 1\n' >"$work/t"
map --json --work 0
check "whole costs are printed as they are" out '"cost": 9007199254740991,'
printf '2 1 1\n2 0.25\n1 0.25\n' >"$work/g"
map --json --work 0
check "others as decimals" json '.cost == 0.25'
printf '3 0\n\n\n\n' >"$work/g"
printf 'dist 0 1\nnode 2\nnode 2\n' >"$work/t"
map --json --work 1000000
check "a graph without edges costs nothing" json \
	'.cost == 0 and .gap == 0 and (.assignment | unique | length == 3)'
printf '1 0\n\n' >"$work/g"
map --json --work 1000000
check "one vertex has a place" json '.n == 1 and .cost == 0'

printf '5 0\n\n\n\n\n\n' >"$work/g"
map
check "too few slots are an error" exits 1
check "it names both" err "4 slots are too few for the 5 vertices"
printf '2 1\n2\n\n' >"$work/g"
map
check "a graph that is none is an error" err "weft: $work/g:"

printf '3\n\n0 5 1\n5 0 1\n1 1 0\n\n0 9 1\n9 0 9\n1 9 0\n' >"$work/q"
run map --json --qap "$work/q" --work 1000000
check "solves a QAP" exits 0
check "json: schema comes first, again" schema_first map
check "at its optimum" json '.cost == 46 and .n == 3 and .assignment[2] == 1'
check "with a bound" json '.bound <= 46 and .gap >= 0'
check "and no floor" json '.floor == null and .network_cost == null'
run map --qap "$work/q" --work 1000000
check "text: the size" out "3 facilities and locations"
echo '2 1 0' >"$work/a"
run map --json --qap "$work/q" --work 0 --assignment "$work/a"
check "an assignment is priced" json '.cost == 2 * (5 * 9 + 1 + 9)'
run map --json --qap "$work/q" --work 0
check "so is the natural order" json '.cost == 2 * (5 * 9 + 1 + 9)'
echo '8 9' >>"$work/q"
run map --json --qap "$work/q" --work 1000000
check "what follows the matrices is not used" json '.cost == 46'
check "and said" err "2 numbers after the two matrices are not used"
sed 5q "$work/q" >"$work/short"
run map --qap "$work/short"
check "a problem cut short is an error" exits 1

awk 'BEGIN { srand(3); n = 60; print n
	for (m = 0; m < 2; m++) for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++)
			printf "%d ", m ? (i - j) ^ 2 : int(10 * rand())
		print "" } }' >"$work/q"
"$weft" map --json --qap "$work/q" --budget 60 --bound none >"$work/out" \
	2>"$work/err" &
pid=$!
sleep 1
kill -INT $pid
wait $pid
code=$?
check "an interrupt takes the best so far" exits 0
check "and says so" json '.interrupted and .elapsed_s < 50 and
	.cost <= .natural_cost and (.assignment | sort == [range(60)])'

run map
check "no problem is a usage error" exits 2
run map --graph "$work/g"
check "a graph alone is a usage error" exits 2
run map --qap "$work/q" --arch "$work/t"
check "a QAP has no arch" exits 2
run map --qap "$work/q" --bound some
check "an unknown bound is a usage error" exits 2
check "it names those there are" err "fast, none or full"
run map --qap "$work/absent"
check "a missing file is an error" exits 1
check "it is named" err "weft: $work/absent: No such file"

data=${WEFT_SRCDIR:-.}/../shared/data/mapping
if [ -d "$data" ]; then
	for name in p02-llama70b-512-frag p08-gpt20b-288of296 p10-dsv3-1024-perm
	do
		awk -F, -v n=$name 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$1 == n { print $at["floor"], $at["natural"] }' \
			"$data/reference.csv" >"$work/known"
		read -r floor natural <"$work/known"
		run map --json --graph "$data/$name.graph" \
			--arch "$data/$name.arch" --work 0
		check "$name: the price of the natural order" \
			json ".floor == $floor and .cost == $natural"
	done
else
	echo "# skipped: no ../shared/data/mapping"
fi

# Numbers below 0: costs, too, and nothing is a share of them.
awk 'BEGIN { n = 8; x = 1; print n
	for (i = 0; i < 2 * n; i++)
		for (j = 0; j < n; j++) {
			x = (x * 1103 + 331) % 10007
			print x % 19 - 9
		} }' >"$work/q"
run map --json --qap "$work/q" --work 1
check "a cost below 0 has a bound, but no gap" json \
	'.cost < 0 and .bound < .cost and .gap == null'
run map --qap "$work/q" --work 1
lacks() { ! out "$1"; }
check "nor is one printed" lacks "gap"
printf '2\n0 -1\n-1 0\n0 3\n3 0\n' >"$work/q"
run map --json --qap "$work/q"
check "unless it is the optimum" json '.cost == -6 and .gap == 0'

finish
