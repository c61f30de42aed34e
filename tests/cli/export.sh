#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

cat >"$work/f.yaml" <<-END
	weft: fabric/1
	nodes:
	  n[0-7]: 8
	levels:
	  leaf:
	    leaf[0-3]: n[0-7]
	  spine:
	    spine[0-1]: leaf[0-3]
END
run export --to slurm-tree "$work/f.yaml"
check "writes a tree" exits 0
check "with the nodes of a leaf" out 'SwitchName=leaf0 Nodes=n[0-1]'
check "with the switches of a spine" out 'SwitchName=spine1 Switches=leaf[2-3]'
check "with what joins the spines" out 'SwitchName=core Switches=spine[0-1]'
check "tells what is lost" err 'info: not in this format: GPUs per node'
cp "$work/out" "$work/topology.conf"
run import --from slurm-tree "$work/topology.conf"
check "which imports" exits 0
run export -q --to slurm-block "$work/f.yaml"
check "writes blocks" out 'BlockSizes=2,4'
check "quietly, if asked" silent err
run export -q --to slurm-yaml --shape block --level spine "$work/f.yaml"
check "writes YAML" out 'block: "spine1"'
run export -q --to dot "$work/f.yaml"
check "writes a graph" out 'graph fabric {'
run export -q --to json "$work/f.yaml"
check "writes JSON" json '.schema == "weft.export/1" and .gpus == 64 and
	(.domains | length) == 15 and .nodes[7].name == "n7"'
run export --to slurm-yaml --shape ring "$work/f.yaml"
check "a shape that the fabric has not is an error" exits 1
check "that writes nothing" silent out
run export --to slurm-tre "$work/f.yaml"
check "an unknown format is a usage error" exits 2
check "that tells the nearest" err 'did you mean "slurm-tree"'
run export "$work/f.yaml"
check "no format is a usage error" exits 2
golden=${WEFT_SRCDIR:-.}/tests/cli/simgrid
run export --to simgrid --job gpus=4,pp=2,vpp=2,algorithm=ring,model=llama3-8B \
	--nodes 'n[0-1]' --calls "$work/calls" "$golden/fabric.yaml"
check "writes a platform, with rails and no PXN" \
	diff "$golden/platform.xml" "$work/out"
check "and the calls of a job" diff "$golden/calls.csv" "$work/calls"
run export --to simgrid --job gpus=4,model=llama3-8B --nodes 'n[0-2]' \
	--calls "$work/none" "$golden/fabric.yaml"
check "a job on nodes that are not there is an error" exits 1
check "that writes nothing" silent out
check "of the calls, either" test ! -e "$work/none"
run export --to simgrid --job gpus=4,model=llama3-8B "$golden/fabric.yaml"
check "a job without an allocation is a usage error" exits 2
run export --to dot --job gpus=4 --nodes n0 --calls x "$golden/fabric.yaml"
check "and one in another format" exits 2
run export --list
check "lists the formats" out 'slurm-yaml'

# a Slurm that answers from files
mkdir "$work/bin"
cat >"$work/bin/scontrol" <<-END
	#!/bin/sh
	case "\$*" in
	"--oneliner show nodes")
		for i in 0 1 2 3 4 5 6 7; do
			echo "NodeName=n\$i CPUAlloc=0 Gres=gpu:h100:8(S:0-1) State=IDLE"
		done ;;
	"show topology") cat "$work/topology.conf" ;;
	"show topoconf") cat "$work/topoconf" ;;
	*) echo "invalid entity" >&2; exit 1 ;;
	esac
END
chmod +x "$work/bin/scontrol"
PATH=$work/bin:$PATH
export PATH
run import --json --from slurm-live
check "a live Slurm is asked" json '.nodes == 8 and .gpus == 64 and
	.switches == 7 and .levels[-1].domains == 1'
# what 25.05 and later have of a topology.conf
cat >"$work/topoconf" <<-END
	%YAML 1.1
	---
	- topology: default
	  cluster_default: false
	  block: {}
	  flat: false
	  tree: {}
	...
END
run import --json --from slurm-live
check "one that reads topology.conf is asked for that" json '.nodes == 8 and
	.switches == 7'
printf '#!/bin/sh\nexit 1\n' >"$work/bin/scontrol"
run import --from slurm-live
check "one that does not answer is an error" exits 1
check "that says what was asked" err 'scontrol --oneliner show nodes" failed'

finish
