#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

"$weft" synth --cables 'spine:2 leaf:4 node:4 gpu:8' >"$work/was.yaml"
sed 's/^  n\[00-31\]: 8/  n[00-06,08-31]: 8\n  n07: 7/' "$work/was.yaml" \
	>"$work/now.yaml"

run audit "$work/was.yaml"
check "what is right passes" exits 0
check "and is said to be" out 'nothing wrong was found'
check "with its oversubscription" out 'non-blocking: yes, 1.00:1 at leaf'

run audit "$work/now.yaml"
check "a lost GPU fails" exits 3
check "summary names it first" sh -c \
	"head -1 '$work/out' | grep -q '^1 error: n07 has 7 GPUs; its siblings have 8$'"
check "code and place" out 'error n07: has 7 GPUs; its siblings have 8 [gpus-short]'
check "and what to do" out 'Look for the failed GPU'

run audit --json "$work/now.yaml" --against "fabric:$work/was.yaml"
check "json: schema comes first" schema_first audit
check "json: drift is told" json '.findings | any(.code == "drift-gpus" and
	.where == "n07" and .severity == "error")'
check "json: counts" json '.counts.error == 2 and .counts.warning == 0'
check "json: oversubscription by tier" json '.oversubscription | length == 2 and
	.[0].level == "leaf" and .[0].median == 1 and .[0].measured_in == "rate"'
check "json: no occupancy, no fragmentation" json '.fragmentation == null'

# ---- what many places have in common is one line ----

sed 's/^  n\[00-31\]: 8/  n[00-06,08-10,12-31]: 8\n  n[07,11]: 7/' \
	"$work/was.yaml" >"$work/two.yaml"
run audit "$work/two.yaml"
check "equal findings are one line" out 'error n[07,11] (2): has 7 GPUs'

# ---- severities ----

printf 'SwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]\n' >"$work/t.conf"
run audit --from slurm-tree "$work/t.conf" --gpus-per-node 8
check "a note is no failure" exits 0
run audit --fail-on info --from slurm-tree "$work/t.conf" --gpus-per-node 8
check "unless it is asked for" exits 3
run audit --fail-on grave "$work/was.yaml"
check "an unknown severity is a usage error" exits 2

printf 'SwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-6],n9\nSwitchName=t Switches=s[1-2]\n' \
	>"$work/new.conf"
printf 'SwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]\nSwitchName=t Switches=s[1-2]\n' \
	>"$work/old.conf"
run audit --from slurm-tree "$work/old.conf" --against "slurm-tree:$work/new.conf"
check "a renamed host fails" exits 3
check "and is one finding" out '1 error: n7 is now called n9'
printf 'SwitchName=a Nodes=n[0-2]\nSwitchName=b Nodes=n[3-7]\nSwitchName=t Switches=a,b\n' \
	>"$work/new.conf"
run audit --from slurm-tree "$work/old.conf" --against "slurm-tree:$work/new.conf"
check "a node on another leaf is told, whatever the leafs are called" \
	out '1 error: n3 is attached to b;'

# ---- occupancy ----

cat >"$work/state.yaml" <<-END
	weft: state/1
	jobs:
	  - {id: 11, nodes: "n[00-02]"}
	  - {id: 12, gpus: "n03:0-3"}
	  - {id: 13, nodes: "n[04-05,08-09,12-13,16-17,20-21,24-25,28-29]"}
END
run audit --json --state "$work/state.yaml" "$work/was.yaml"
check "json: what would free a leaf" json '.fragmentation.levels[] |
	select(.name == "leaf") | .domains_free == 0 and .largest_fit_gpus == 16
	and .cheapest_to_free.domain == "leaf0"
	and .cheapest_to_free.jobs == ["11", "12"]
	and .cheapest_to_free.gpus == 28'
check "json: jobs of a size that fit" json '.fragmentation.levels[] |
	select(.name == "leaf") | .fits["16"] == 7 and .fits["32"] == 0'
check "json: it is fragmented" json '.findings | any(.code == "fragmented")'
run audit --state "$work/state.yaml" "$work/was.yaml"
check "which fails nobody" exits 0
check "and is said to people" out 'leaf0: job 11, 12, 28 GPUs'

# ---- measured ----

echo a,b,bandwidth >"$work/pairs.csv"
for a in 0 1 2 3 4 5 6 7; do
	for b in 0 1 2 3 4 5 6 7; do
		[ "$a" -ge "$b" ] && continue
		rate=46
		[ "$a" = 3 ] || [ "$b" = 3 ] && rate=20
		echo "n0$a,n0$b,$rate"
	done
done >>"$work/pairs.csv"
run audit --json --measured "$work/pairs.csv" "$work/was.yaml"
check "a slow node is named first" json '.findings[0] |
	.code == "node-slow" and .where == "n03"'

# ---- inventory ----

for n in 0 1 2 3 4 5 6 7; do
	echo "n0$n,mtu,9000"
	echo "n0$n:mlx5_0,xmit_wait,100"
done >"$work/inventory.csv"
echo "n05,mtu,1500" >>"$work/inventory.csv"
run audit --json --inventory "$work/inventory.csv" "$work/was.yaml"
check "the odd one out of an inventory is named first" json '.findings[0] |
	.code == "mtu-odd" and .where == "n05" and .line == 17'
check "which is grave" exits 3
run audit --inventory "$work/none.csv" "$work/was.yaml"
check "an inventory that is not there" exits 1

# ---- hosts that are there for others ----

captures=${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover
run audit --json --from ibnetdiscover "$captures/services-on-management-leafs.txt"
check "management leafs, and spines that have cables to them, are not judged" \
	json '.counts.error == 0 and .counts.warning == 0'
run audit --json --from ibnetdiscover "$captures/two-of-three-are-no-majority.txt"
check "two of three are no majority" json \
	'[.findings[] | select(.severity != "info")] == []'

# ---- what a person reads first ----

awk '/^Switch/ { sw = $0 } !(/^\[/ && ((sw ~ /su0-leaf1:/ && /spine/) ||
	(sw ~ /spine/ && /su0-leaf1:/)))' "$captures/rails-2x4x4.txt" >"$work/orphan.txt"
run audit --json --from ibnetdiscover "$work/orphan.txt"
check "a leaf that is cut off is told once" json \
	'[.findings[] | select(.code == "leaf-orphan")] | length == 1'
run audit --json --from ibnetdiscover "$captures/rails-2x4x4.txt" \
	--against "ibnetdiscover:$work/orphan.txt"
check "also beside the drift" json \
	'[.findings[] | select(.where == "su0-leaf1")] | length == 1'
run audit --json --from ibnetdiscover "$captures/rail-swapped.txt" \
	--against "ibnetdiscover:$captures/rails-2x4x4.txt"
check "what has changed comes first" json '.findings[0].code | startswith("drift-")'
run audit --json --from ibnetdiscover "$captures/rail-swapped.txt"
check "which is not all there is" json '.findings[0].code == "rail-swapped"'

{
	echo a,b,bandwidth
	for a in 0 1 2 3 4 5 6 7 8 9; do echo "nobody,n$a,40"; done
} >"$work/pairs.csv"
run audit "$work/was.yaml" --measured "$work/pairs.csv"
check "findings without a place are counted, not listed" out \
	'no node nobody (10 times)'
mkdir "$work/nothing"
run audit "$work/was.yaml" --measured "$work/nothing"
check "an empty folder is an error" exits 1
check "which is named" err 'no file in this folder'

# ---- wrong use ----

run audit
check "without a file" exits 2
run audit "$work/was.yaml" "$work/now.yaml"
check "two fabrics" exits 2
run audit "$work/none.yaml"
check "a file that is not there" exits 1
run audit "$work/was.yaml" --against "nonsense:$work/was.yaml"
check "an unknown format is an error" exits 1
check "which names what there is" err 'known are ibnetdiscover'

# ---- what is accepted ----

captures=${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover
swapped=$captures/rail-swapped.txt
run audit --json --from ibnetdiscover "$swapped"
check "a swapped rail is an error" exits 3
cp "$work/out" "$work/base.json"
place=$(jq -r '.findings[] | select(.code == "rail-swapped") | .where' \
	"$work/base.json" | head -n 1)
run audit --json --from ibnetdiscover "$swapped" --baseline "$work/base.json"
check "against its own baseline nothing is new" exits 0
check "json: what is known is told apart" json \
	'.counts.error == 0 and (.accepted | map(.code) | index("rail-swapped"))'
run audit --from ibnetdiscover "$swapped" --baseline "$work/base.json"
check "people are told how many" out " more are accepted"
jq '(.findings[] | select(.code == "rail-swapped") | .text) = "less"' \
	"$work/base.json" >"$work/less.json"
run audit --json --from ibnetdiscover "$swapped" --baseline "$work/less.json"
check "what says something else than before is told again" exits 3
run audit --json --from ibnetdiscover "$swapped" --accept "rail-swapped:$place"
check "one finding is accepted for ever" json \
	'[.findings[] | select(.code == "rail-swapped")] | length == 0'
run audit --json --from ibnetdiscover "$swapped" \
	--accept "rail-swapped:*:2999-12-31"
check "or until a day, by a pattern" json '.counts.error == 0'
run audit --json --from ibnetdiscover "$swapped" \
	--accept "rail-swapped:*:2001-01-31"
check "after that day it is one again" exits 3
check "and the waiver is told" json \
	'.findings[] | select(.code == "waiver-idle") |
	 .text | test("was until 2001-01-31")'
run audit --from ibnetdiscover "$swapped" --accept "leaf-orphan:nowhere"
check "so is one that meets nothing" out "meets no finding any more"
run audit --from ibnetdiscover "$swapped" --accept "rail-swaped:x"
check "an unknown code is a usage error" exits 2
check "with the nearest" err 'did you mean "rail-swapped"'
echo '[]' >"$work/no.json"
run audit --from ibnetdiscover "$swapped" --baseline "$work/no.json"
check "a file that is no answer is an error" exits 1
check "which says what was expected" err 'expected what "weft audit --json"'
run audit "$work/was.yaml" --against "$work/now.yaml"
check "a fabric file needs no format" exits 3
check "what has changed comes first" sh -c "sed -n '/^error\\|^warning/p' \
	'$work/out' | head -n 1 | grep -q drift-"
rows=${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover/dragonfly-rows-and-columns.txt
run audit "$rows"
check "nor does what another program wrote" exits 0
check "audit reports a cable missing in a group of a dragonfly" out \
	"g2r1--g2r3: 1 cable fewer than between the other pairs"
run audit "$rows" "$work/was.yaml"
check "a fabric file beside it is one too many" exits 2
leaf=${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover/management-leaf-on-two-spines.txt
run audit "$leaf"
check "a leaf of management hosts is no sibling of GPU nodes' leafs" not \
	out "mgmt-leaf"
check "audit reports a host without a rail once" out "1 error, 2 notes: dgx-a-02:mlx5_3"
check "no line has 200 characters" awk 'length($0) >= 200 { exit 1 }' "$work/out"
run audit --html --from ibnetdiscover "$swapped"
check "a page answers as the text does" exits 3
check "that is one" out "<!doctype html>"
check "with the finding and its remedy" out "Exchange the two cables"
check "without scripts or anything from elsewhere" not \
	grep -qiE '<script|https?:' "$work/out"

# ---- the manual has every code ----

page=${WEFT_SRCDIR:-.}/doc/man/weft-audit.1.scd
undocumented() {
	sed -n 's/^KIND([A-Z_0-9]*, "\([a-z-]*\)".*/\1/p' \
		"${WEFT_SRCDIR:-.}/topology/inventory/finding_kinds.def" |
		while read -r kind; do
			grep -q "^\*$kind\* (\|, \*$kind\* (" "$page" || echo "$kind"
		done
}
check "every code of a finding is explained in weft-audit(1)" test -z \
	"$(undocumented | tee "$work/err")"

finish
