#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

cat >"$work/f.yaml" <<'EOF'
weft: fabric/1
name: alpha
profile: dgx-h100-superpod
nodes:
  n[00-15]: 8
levels:
  leaf:
    L[0-3]: n[00-15]
  pod:
    P[0-1]: L[0-3]
EOF

run fabric "$work/f.yaml"
check "prints the shape" out "alpha: 16 nodes, 128 GPUs"
check "prints each level" out "leaf"
run fabric --json "$work/f.yaml"
check "json: schema comes first" schema_first fabric
check "json: nodes and gpus" json '.nodes == 16 and .gpus == 128'
check "json: levels" json '.levels[1] == .levels[1] and
	([.levels[] | {(.name): .domains}] | add
	 | .nvlink == 16 and .leaf == 4 and .pod == 2)'

distance() { run fabric --json --distance "$1" "$2" "$work/f.yaml"; }
distance n00:0 n00:7
check "same node: one NVLink hop" json '.hops == 1'
distance n00:0 n03:0
check "same leaf: two links" json '.hops == 2'
check "same leaf: latency of the profile" json '.latency_us > 2 and .latency_us < 4'
check "same leaf: time of the profile" json \
	'(1 / .seconds_per_byte) > 46e9 and (1 / .seconds_per_byte) < 47e9'
distance n00:0 n04:0
check "same pod: four links" json '.hops == 4'
distance n00:0 n15:7
check "across pods: six links" json '.hops == 6'
distance n00:3 n00:3
check "the same GPU: nothing" json '.hops == 0 and .seconds_per_byte == 0'
distance n00 127
check "a node alone is its GPU 0, a number counts over all" json '.hops == 6'
run fabric --distance n00:0 n04:0 "$work/f.yaml"
check "text: distance" out "n00:0 to n04:0: 4 hops"
distance n99:0 n00:0
check "an unknown node is an error" exits 1
distance n00:8 n00:0
check "an unknown GPU is an error" exits 1
run fabric "$work/f.yaml" --distance n00:0
check "one GPU alone is a usage error" exits 2

run fabric --json "$work/f.yaml"
check "json: routing of the profile" json \
	'.routing == "adaptive" and .flows == 1 and .levels[1].shares == null'
sed 's/dgx-h100-superpod/roce-llama3/' "$work/f.yaml" >"$work/hashed.yaml"
cat >>"$work/hashed.yaml" <<'EOF'
links:
  leaf: {shares: {1MiB: 0.25, 1GiB: 1}}
EOF
run fabric "$work/hashed.yaml"
check "text: hashed routing" out "ecmp routing of 16 flows"
check "text: shares" out "shares of 2 sizes"
run fabric --json "$work/hashed.yaml"
check "json: hashed routing" json '.routing == "ecmp" and .flows == 16'
check "json: shares" json '.levels[1].shares == [[1048576, 0.25],
	[1073741824, 1]]'

printf 'weft: fabric/1\nnodes:\n  n0: 1\n' >"$work/unnamed.yaml"
run fabric "$work/unnamed.yaml"
check "a fabric without a name" grep -q "^1 node, 1 GPU," "$work/out"

cp "${WEFT_SRCDIR:-.}/contrib/fabrics/cabled-dual-plane.yaml" "$work/c.yaml"
run fabric "$work/c.yaml"
check "kinds of node are counted" out "12 of h100, 4 of h200"
check "switches are counted by tier and network" \
	out "14 switches: 8 of tier 1, 4 of tier 2; 2 of network storage"
check "cables that are down are told" out "80 cables, 1 of them down"
run fabric --json "$work/c.yaml"
check "json: switches and cables" json '.switches.total == 14 and
	.switches.by_network.storage == 2 and .cables.down == 1'
check "json: the real oversubscription of leafs" json '.uplinks[1] |
	.level == "leaf" and .oversubscription.median == 2 and
	(.oversubscription.max * 3 - 8 | fabs) < 1e-9'
check "json: the port that is narrow" json '.uplinks[0].oversubscription |
	.median < 1.0001 and .max > 1.59'
run fabric --json "$work/f.yaml"
check "json: no cables, no word of them" json \
	'has("switches") or has("cables") or has("uplinks") | not'
cat >"$work/ring.yaml" <<'EOT'
weft: fabric/1
nodes:
  n[0-5]: 8
levels:
  leaf:
    L[0-5]: n[0-5]
links:
  core: {hops: 3}
shapes:
  core: ring
EOT
run fabric --distance n0 n3 "$work/ring.yaml"
check "a ring is told" out "  ring"
check "steps of a ring are further links" out "n0 to n3: 5 hops"
run fabric --json "$work/ring.yaml"
check "json: shape" json '.levels[-1].shape == "ring"'

WEFT_FABRIC=$work/f.yaml
export WEFT_FABRIC
run fabric
check "the file may come from WEFT_FABRIC" exits 0

sed 's/leaf:/laef/' "$work/f.yaml" >"$work/bad.yaml"
run fabric --json "$work/bad.yaml"
check "a broken file is an error" exits 1
check "the message has line and column" \
	grep -qE "^weft: $work/bad.yaml:[0-9]+:[0-9]+: " "$work/err"
check "nothing but the error on stdout" json 'keys == ["error", "schema"]'
finish
