#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

run synth pod:4 leaf:16 node:32 gpu:8
check "writes a fabric" exits 0
cp "$work/out" "$work/big.yaml"
run fabric --json "$work/big.yaml"
check "counts are nested" json '.nodes == 2048 and .gpus == 16384'
check "levels have nested counts" json \
	'[.levels[] | {(.name): .domains}] | add | .leaf == 64 and .pod == 4'

run synth "pod:2 leaf:2" node:2 gpu:4
check "the description may be one argument or several" exits 0
run synth --rails 8 --profile dgx-b200 --name west spine:2 leaf:2 node:4 gpu:8
check "takes rails, a profile and a name" exits 0
cp "$work/out" "$work/rails.yaml"
run fabric --json "$work/rails.yaml"
check "they reach the fabric" json \
	'.rails == 8 and .profile == "dgx-b200" and .name == "west"'
run synth --routing ecmp leaf:2 node:2 gpu:4
check "takes a routing" exits 0
cp "$work/out" "$work/ecmp.yaml"
run fabric --json "$work/ecmp.yaml"
check "it reaches the fabric" json '.routing == "ecmp" and .flows == 1'
run synth --routing best leaf:2 node:2 gpu:4
check "an unknown routing is a usage error" exits 2
run synth --rails 8 --cables pod:2 leaf:2 node:4 gpu:8
check "can write the cables as well" out \
	'- {from: "n[00-03]", port: mlx5_7, to: leaf0-rail7, rate: 400 Gbps}'
run synth --cables --profile gb200-nvl72 leaf:2 nvlink:2 node:18 gpu:4
check "also of NVLink domains that span nodes" exits 0
run synth --profile gb200-nvl72 leaf:2 nvlink:2 node:18 gpu:4
check "NVLink domains may span nodes" exits 0
cp "$work/out" "$work/nvl.yaml"
run fabric --json --distance 0 71 "$work/nvl.yaml"
check "GPUs of one NVLink domain are one link apart" json '.hops == 1'

"$weft" synth --damage 0.1 --seed 7 leaf:4 node:32 gpu:8 >"$work/a"
"$weft" synth --damage 0.1 --seed 7 leaf:4 node:32 gpu:8 >"$work/b"
"$weft" synth --damage 0.1 --seed 8 leaf:4 node:32 gpu:8 >"$work/c"
check "the same seed gives the same fabric" cmp "$work/a" "$work/b"
# shellcheck disable=SC2317 # called by check
different() { ! cmp -s "$1" "$2"; }
check "another seed another one" different "$work/a" "$work/c"
run fabric --json "$work/a"
check "damage leaves out about that share" json '.nodes >= 110 and .nodes < 128'

run synth --damage 0.1 pod:4 leaf:16 node:32 gpu:8
check "a large one may be damaged, too" exits 0
cp "$work/out" "$work/large.yaml"
run fabric --json "$work/large.yaml"
check "and loads" json '.nodes == 1843'

run synth --profiles
check "profiles are listed" out gb200-nvl72
run synth --profile dgx-h200 leaf:2 node:2 gpu:8
check "an unknown profile is an error" exits 1
run synth leaf:x node:2 gpu:8
check "a count that is none is an error" exits 1
check "the message says in which word" \
	err "weft: fabric description: column 6: "
run synth --prefix nvlink nvlink:2 node:2 gpu:4
check "names that collide are an error, not a broken file" exits 1
check "nothing is written then" silent out
run synth --damage 2 leaf:2 node:2 gpu:8
check "a share above 1 is a usage error" exits 2
check "it names the option" err "--damage: "
run synth --damage=-1 leaf:2 node:2 gpu:8
check "also when written with =" err "--damage: \"-1\" is not"
run synth -rx leaf:2 node:2 gpu:8
check "also a short one" err "-rx: \"x\" is not"
finish
