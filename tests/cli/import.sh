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

run import --from gpu-fabrc x
check "an unknown format is a usage error" exits 2
check "that tells the nearest" err 'did you mean "gpu-fabric"'
run import --from gpu-fabric
check "no file is a usage error" exits 2
run import --formats
check "lists the formats" exits 0

finish
