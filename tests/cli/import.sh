#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

cat >"$work/clique.csv" <<-END
	n0: 8a5e-11, 1
	n1: 8a5e-11, 1
	n2,8a5e-11,2
	n3,8a5e-11,2
	n3,8a5e-11,2,what
	n4, [N/A], [N/A]
END
run import --from gpu-fabric "$work/clique.csv"
check "writes a fabric" exits 0
check "tells the line it could not use" err 'clique.csv:5: warning: not three fields'
cp "$work/out" "$work/f.yaml"
run fabric --json --distance n0:0 n1:0 "$work/f.yaml"
check "hosts of a clique share NVLink" json '.nodes == 5 and .hops == 1'
run fabric --json --distance n1:0 n2:0 "$work/f.yaml"
check "others do not" json '.hops > 1'

run import --json --gpus-per-node 4 --name "a b" --from gpu-fabric "$work/clique.csv"
check "answers in JSON" json '.schema == "weft.import/1" and .gpus == 20
	and .hosts == 5 and .counts.warning == 1 and (.fabric | length) > 50'

run import --output "$work/new.yaml" --from gpu-fabric "$work/clique.csv"
check "writes to a file" exits 0
run fabric "$work/new.yaml"
check "which loads" exits 0

echo old >"$work/old.yaml"
run import --output "$work/old.yaml" --from gpu-fabric /dev/null
check "an input without a host is an error" exits 1
check "and the old file stays" grep -qx old "$work/old.yaml"

printf 'n0,one,1\n' >"$work/a.csv"
printf 'n0,two,1\n' >"$work/b.csv"
run import --json --from gpu-fabric "$work/a.csv" "$work/b.csv"
check "two sources that differ are told" json \
	'.findings | any(.code == "conflict" and .where == "n0")'

cat >"$work/topology.conf" <<-END
	SwitchName=leaf0 Nodes=n0,n1
	SwitchName=leaf1 Nodes=n2,n3
	SwitchName=spine Switches=leaf[0-1]
END
run import --json --gpus-per-node 4 --from slurm-tree "$work/topology.conf" \
	--from gpu-fabric "$work/clique.csv"
check "each --from is the format of the files behind it" json \
	'[.sources[].format] == ["slurm-tree", "gpu-fabric"] and .switches == 3'

# As kept by Windows, of a job under mpirun --tag-output, in colours.
plain=${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover/fattree-2x3.txt
{
	printf '\357\273\277'
	sed 's/^/[1,0]<stdout>:/; s/4xHDR/\x1b[1m4xHDR\x1b[0m/; s/$/\r/' "$plain"
} | gzip >"$work/foreign.gz"
run import --json "$plain"
jq 'del(.sources, .fabric)' "$work/out" >"$work/plain.json"
run import --json "$work/foreign.gz"
check "marks, tags, colours and gzip change nothing" json \
	'.hosts == 6 and .cables == 10'
check "at all" test "$(jq -S 'del(.sources, .fabric)' "$work/out")" = \
	"$(jq -S . "$work/plain.json")"

# GPU 0 is next to mlx5_1, GPU 1 to mlx5_0, and so on.
tr ',' '\t' >"$work/matrix.txt" <<-END
	,GPU0,GPU1,GPU2,GPU3,mlx5_0,mlx5_1,mlx5_2,mlx5_3,CPU Affinity,NUMA Affinity
	GPU0,X,NV6,NV6,NV6,NODE,PIX,SYS,SYS,0-31,0
	GPU1,NV6,X,NV6,NV6,PIX,NODE,SYS,SYS,0-31,0
	GPU2,NV6,NV6,X,NV6,SYS,SYS,NODE,PIX,32-63,1
	GPU3,NV6,NV6,NV6,X,SYS,SYS,PIX,NODE,32-63,1
END
run import --from nvidia-smi "$work/matrix.txt" --from ibnetdiscover \
	"${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover/rails-2x4x4.txt"
check "rails are those of the GPUs that adapters are next to" out \
	'port: "mlx5_0", rail: 1, to: "su0-leaf0"'
check "and leafs stand in their order" out \
	'su0-leaf1,su0-leaf[0,3],su0-leaf2: gpu[00-03]'

run import --from gpu-fabrc x
check "an unknown format is a usage error" exits 2
check "that tells the nearest" err 'did you mean "gpu-fabric"'
run import --from gpu-fabric
check "no file is a usage error" exits 2
run import --formats
check "lists the formats" exits 0

# what scontrol show nodes prints where all nodes are in a cloud, and off
echo "No nodes in the system" >"$work/nodes.txt"
run import --from slurm-nodes "$work/nodes.txt"
check "hidden nodes are an error" exits 1
check "which has the way to see them" err "PrivateData=cloud"
echo "NodeName=g01 Gres=gpu:8 State=IDLE" >"$work/nodes.txt"
run import --from slurm-nodes "$work/nodes.txt" --from ibnetdiscover \
	"${WEFT_SRCDIR:-.}/tests/import/ibnetdiscover/adapter-missing.txt"
check "sources that share no host are an error" exits 1
check "with a host of either" err "such as g01, are behind no switch, and those that are, such as gpu00"

finish
