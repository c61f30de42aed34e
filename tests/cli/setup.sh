#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weft setup and weft doctor where scontrol and sacct say what files say; the live
# cases try both on a running Slurm.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

FIXTURES=$work/site
cp -r "${WEFT_SRCDIR:-.}/tests/cli/slurm" "$FIXTURES"
chmod -R u+w "$FIXTURES"
rm "$FIXTURES/weft.yaml" "$FIXTURES/fabric.yaml"
SLURM_CONF=$FIXTURES/slurm.conf
PATH=$FIXTURES:$PATH
export FIXTURES SLURM_CONF PATH

run setup --dry-run --json
check "a dry run answers" exits 3
check "json: schema comes first" schema_first setup
check "json: what Slurm is" says slurm "Slurm 22.05.8, select/cons_tres"
check "json: the fabric's shape" says fabric "16 nodes, 128 GPUs"
check "json: what was assumed is told" one assumed true
check "json: each command, and whether it ran" json \
	'[.commands[] | select(.ran) | .command] |
	 any(. == "scontrol --oneliner show nodes")'
check "json: jobs of sacct are replayed" says jobs \
	"3 jobs with GPUs in 7 days: steps of those on several"
check "json: the plugin is not there" one plugin false
check "json: the way in is shown" json \
	'[.commands[] | select(.ran | not) | .command] |
	 any(startswith("sed -i")) and .[-1] == "weft doctor"'
check "nothing is written" test ! -e "$FIXTURES/weft.yaml"
run setup
check "setup answers" exits 3
check "each command is shown" out "$ scontrol --oneliner show nodes"
check "weft only observes" grep -qx 'mode: observe' "$FIXTURES/weft.yaml"
check "the fabric has the cluster's name" grep -q '^name: "lab"' \
	"$FIXTURES/fabric.yaml"
run fabric "$FIXTURES/fabric.yaml"
check "the fabric is one" exits 0
run setup --days 0
check "a second time writes its own files again" out "written: "
echo "mode: place" >>"$FIXTURES/weft.yaml"
run setup --days 0
check "but none that was changed" out "is there already and stays"
run setup --undo
check "undo leaves what was changed" out "was changed since, and stays"
check "and says so in its status" exits 3
check "and removes the rest" test ! -e "$FIXTURES/fabric.yaml"
rm "$FIXTURES/weft.yaml"
run setup --undo
check "what is gone is gone already" out "gone already"
run setup --undo
check "and then there is no record" out "no record of weft setup"

echo "# another's" >"$FIXTURES/fabric.yaml"
echo "# another's" >"$FIXTURES/fabric.setup.yaml"
run setup --days 0
check "where both names are others' no fabric is written" out \
	"are others'; move one away"
check "and no weft.yaml that names one" test ! -e "$FIXTURES/weft.yaml"
rm "$FIXTURES/fabric.yaml" "$FIXTURES/fabric.setup.yaml"

echo '{"schema": "x"}' >"$work/other.json"
run setup --from aws "$work/other.json"
check "a file that is no source is an error" exits 1
check "that names it" err "other.json"
# Without Slurm's commands, which would ask whatever cluster runs here.
PATH=$work/nowhere run setup --into "$work/nowhere"
check "a folder that is not there is an error" exits 1

# ---- the trace alone ----

"$weft" synth --name t leaf:2 node:4 gpu:8 >"$work/t.yaml"
run replay --fabric "$work/t.yaml" --trace "$FIXTURES/sacct.txt" \
	--policy weft --json
check "replay reads what sacct prints" exits 0
check "json: jobs with GPUs that ran, steps aside" json \
	'.jobs == 3 and .skipped.no_gpus == 1 and .skipped.no_duration == 1'
printf 'JobID|Submit|AllocTRES\n1|2026-09-14T08:00:00|gres/gpu=1\n' \
	>"$work/short.txt"
run replay --fabric "$work/t.yaml" --trace "$work/short.txt" --policy weft
check "a column that is missing is an error" exits 1
check "that names what was expected" err "short.txt:1: expected the columns"

# ---- doctor ----

run doctor --json
check "doctor answers" exits 3
check "json: schema comes first" schema_first doctor
check "json: Slurm answers" one slurm true
check "json: weft is not in use" one plugin false
run doctor
check "people are told what to do" out "weft setup says what to do"
PATH=$work/nowhere SLURM_CONF=$work/none.conf run doctor
check "without Slurm the first check says so" out "WRONG slurm"
run doctor x
check "doctor takes no file" exits 2
finish
