#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"
unset NO_COLOR COLUMNS
LC_ALL=C
export LC_ALL

"$weft" synth --rails 8 --name alpha pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
"$weft" synth pod:4 spine:4 leaf:8 node:32 gpu:8 >"$work/big.yaml"
job=gpus=64,tp=8,pp=2,model=llama3-8B
"$weft" plan --json --fabric "$work/f.yaml" --busy n00,n05:0-3 --job "$job" \
	>"$work/plan.json"

# ---- text ----
run draw "$work/f.yaml" --busy n00,n05:0-3
check "draws a fabric without a job" exits 0
check "text is the default" out "alpha: 16 nodes, 128 GPUs"
check "busy GPUs are marked, one by one" out "n05 ####...."
# shellcheck disable=SC2317 # called by check
escapes() { grep -q "$(printf '\033')" "$work/out"; }
# shellcheck disable=SC2317
no_escapes() { ! escapes; }
check "no colour where the output is no terminal" no_escapes
run draw "$work/f.yaml" --busy n00 --color always
check "unless it is asked for" escapes
WEFT_FABRIC=$work/f.yaml run draw
check "the fabric may come from the environment" exits 0
run draw "$work/f.yaml" --job-file "$work/plan.json" --busy n00,n05:0-3
check "draws a plan" exits 0
check "says what the job is" out "$job"
gzip -k "$work/plan.json"
run draw "$work/f.yaml" --job-file "$work/plan.json.gz"
check "of a packed plan, too" out "$job"
check "and what it spans" out "Spans"
check "stages are what it colours by" out "a stage 0"
run draw "$work/f.yaml" --job-file "$work/plan.json" --color-by tp
check "or what is asked for" out "a tp group 0"
run draw "$work/big.yaml" --busy "n[0100-0900]"
check "draws 4,096 nodes" exits 0
# shellcheck disable=SC2317
short() { [ "$(wc -l <"$work/out")" -lt 120 ]; }
check "on a page or two" short
"$weft" draw "$work/big.yaml" -o "$work/big.svg"
check "a picture of them names each leaf" \
	[ "$(grep -c '>leaf[0-9]*<' "$work/big.svg")" = 128 ]
check "alike domains are told once" out "the same"
run draw "$work/f.yaml" --width 50
# shellcheck disable=SC2317
narrow() { ! grep -qE '^ .{50}' "$work/out"; }
check "keeps to the width asked for" narrow

# ---- one node ----
cat >"$work/mixed.yaml" <<'EOF'
weft: fabric/1
name: mixed
rails: 2
nodes:
  a[0-3]: {gpus: 8, kind: v100, nvlink: [6, 2]}
rack:
  r1: a[0-3]
levels:
  leaf:
    p[0-1]: a[0-3]
switches:
  stor0: {network: storage}
cables:
  - {from: "a[0-3]", to: p0, port: mlx5_0, rate: 200 Gbps, rail: 0}
  - {from: "a[0-3]", to: p1, port: mlx5_1, rate: 200 Gbps, rail: 1, state: down}
  - {from: "a[0-3]", to: stor0, port: mlx5_2, n: 2, rate: 100 Gbps}
EOF
run draw "$work/mixed.yaml" --inside a2 --busy a2:5
check "looks into a node" out "Node a2, v100, rack r1, 8 GPUs: 7 free, 1 busy"
check "its NVLink domains are apart" out "NVLink domain of 6 GPUs"
check "a GPU has its port, cable and switch" \
	out "rail 0  mlx5_0 200 Gb/s -> p0"
check "a cable that is down says so" out "mlx5_1 200 Gb/s -> p1 (down)"
check "ports of other networks are apart" \
	out "mlx5_2  2 x 100 Gb/s -> stor0, network storage"
run draw "$work/mixed.yaml" --inside a2 --json
check "a port says which GPUs use it" json \
	'[.inside.ports[] | select(.rail == 1)][0] |
	 .gpus == [4, 5, 6, 7] and .up == false'
run draw "$work/mixed.yaml" --inside a2 -o "$work/node.svg"
check "as a picture" grep -q '<path class="cut"' "$work/node.svg"
run draw "$work/mixed.yaml" --inside a2 -o "$work/node.html"
check "as a page" grep -q '>mlx5_2<' "$work/node.html"
run draw "$work/mixed.yaml" --inside a2 -o "$work/node.dot"
check "as a graph" grep -q '"switch p0"' "$work/node.dot"
run draw "$work/f.yaml" --job-file "$work/plan.json" --inside n01
check "without cables the rails are those of the levels" \
	out "rail 7  -> leaf0-rail[0-7]"
run draw "$work/mixed.yaml" --inside a9
check "an unknown node tells the nearest" err 'the nearest of the fabric is "a0"'

# ---- placing at once ----
run draw "$work/f.yaml" --job "$job" --busy n00,n05:0-3 --json
check "places a job that has no plan" exits 0
check "schema comes first" schema_first draw
check "as the plan does" json \
	".ranks == 64 and .gpus.job == 64 and .gpus.busy == 12"
jq '.rank' "$work/out" >"$work/a"
run draw "$work/f.yaml" --job-file "$work/plan.json" --busy n00,n05:0-3 --json
jq '.rank' "$work/out" >"$work/b"
check "on the same GPUs" cmp "$work/a" "$work/b"
check "GPUs add up" json '.gpus | add == 128'
check "offers every group the job has" json \
	'[.colourings[].name] == ["stage","tp","replica","dp","pp","rank","job"]'
check "every rank is in one tp group of 8" json \
	'[.colourings[] | select(.name == "tp")][0].groups == 8'
check "traffic has a cell for each pair" json \
	'.heat.ranks == 64 and .heat.cells == 64 and .heat.per_cell == 1'
check "its layers add up to the bytes of the table" json '
	([.heat.layers[].cells | [range(1; length; 2) as $i | .[$i]] | add // 0]
		| add) as $cells |
	([.tables[0] | .values[3, 7, 11]] | add) as $table |
	($cells / $table - 1) | fabs < 1e-4'
check "cost by axis adds up to cost by level" json '
	def total($t): .tables[$t] as $x | ($x.columns | length) as $n |
		[range(0; $x.rows | length) | $x.values[. * $n + $x.main]] | add;
	(total(0) / total(1) - 1) | fabs < 1e-4'
run draw "$work/big.yaml" --job gpus=1024,tp=8,pp=4,model=llama3-70B --json
check "more ranks than cells are taken together" json \
	'.heat.per_cell == 4 and .heat.cells == 256'
# ---- the verdict ----
run draw "$work/f.yaml" --job gpus=8,tp=8,model=llama3-8B --json
check "the verdict comes first" json '.facts[0] |
	.label == "Verdict" and .value == "as good as can be"'
"$weft" synth --profile roce-llama3 pod:2 leaf:2 node:4 gpu:8 >"$work/thin.yaml"
run draw "$work/thin.yaml" --job gpus=32,tp=8,dp=4,zero=3,model=llama3-8B \
	--busy "n[01-03],n[05-07],n[09-11],n[13-15]" --json
check "beside others: how much slower than without them" json \
	'.facts[0].value | test("^[0-9.]+ % slower than on an empty cluster$")'
run draw "$work/thin.yaml" --job gpus=32,tp=8,dp=4 \
	--busy "n[01-03],n[05-07],n[09-11],n[13-15]" --json
check "without a named model no step is predicted" json \
	'(.facts[] | select(.label == "Predicted step") | .value) ==
	"not predicted" and ([.tables[].title] |
	any(. == "Predicted step by part") | not)'
check "and none in the verdict" json '.facts[0].value |
	test("dearer than on an empty cluster$")'
run draw "$work/f.yaml" --job gpus=128,pp=16,tp=8,model=llama3-70B --format svg
# shellcheck disable=SC2317
stages() {
	[ "$(grep -o '>stage [0-9]*</text>' "$work/out" | sort -u | wc -l)" -eq 16 ]
}
check "the legend names all of 16 stages" stages
run draw "$work/f.yaml" --job "$job,seq=2097152" --json
check "the step has its range, and what no published run is like" json '
	(.facts | map({(.label): .}) | add) as $f |
	($f["Predicted step"].value | test("s \\(.* to .*\\)$")) and
	($f.Unseen.note | test("2097152 tokens"))'
run draw "$work/f.yaml" --job "$job" --json
check "nothing where there were such runs" json \
	'[.facts[] | select(.label == "Unseen")] == []'
run draw "$work/f.yaml" --job gpus=1024,tp=8
check "a job that does not fit: exit 3" exits 3
check "and the fabric is drawn all the same, with the reason" out "No placement"

# ---- jobs that run ----
cat >"$work/state.yaml" <<'END'
weft: state/1
down: [n15]
jobs:
  - {id: "4711", nodes: "n[00-01]", job: "tp=8"}
  - {id: "<b>&\"</script>", gpus: "n02:0-3"}
END
run draw "$work/f.yaml" --state "$work/state.yaml" --json
check "running jobs are told apart" json \
	'.gpus.busy == 20 and .gpus.closed == 8 and .colourings[0].name == "job"'
run draw "$work/f.yaml" --state "$work/state.yaml" --format html
# shellcheck disable=SC2317
scripts() { [ "$(grep -c '</script>' "$work/out")" -eq 2 ]; }
check "names cannot break out of the page" scripts

# ---- files ----
for format in svg dot html json text; do
	run draw "$work/f.yaml" --job-file "$work/plan.json" --format $format \
		-o "$work/picture"
	check "writes $format to a file" exits 0
	check "and nothing else" silent out
	check "the file is not empty" test -s "$work/picture"
done
run draw "$work/f.yaml" -o "$work/picture.svg"
check "the format follows from the file's name" grep -q '<svg' \
	"$work/picture.svg"
if command -v xmllint >/dev/null; then
	check "SVG is XML" xmllint --noout "$work/picture.svg"
	check "that of a node, too" xmllint --noout "$work/node.svg"
fi
"$weft" draw "$work/f.yaml" --format dot >"$work/picture.dot"
if command -v dot >/dev/null; then
	check "graphviz takes the graph" dot -Tcanon -o "$work/canon" \
		"$work/picture.dot"
fi
"$weft" draw "$work/big.yaml" --job gpus=2048,tp=8,pp=8,model=llama3-70B \
	--format html -o "$work/big.html"
# shellcheck disable=SC2317
small() { [ "$(wc -c <"$work/big.html")" -lt 3000000 ]; }
check "the page of 4,096 nodes is below 3 MB" small

# ---- plans of others ----
jq 'del(.job)' "$work/plan.json" >"$work/nameless.json"
run draw "$work/f.yaml" --job-file "$work/nameless.json" --json
check "a plan that does not say what the job is: ranks alone" json \
	'[.colourings[].name] == ["rank","job"] and .heat == null'
run draw "$work/f.yaml" --job-file "$work/nameless.json" --job "$job" --json
check "unless --job does" json '.heat.ranks == 64'
run draw "$work/f.yaml" --job-file "$work/plan.json" --job gpus=32,tp=8
check "a job of another size is an error" err "64 ranks, but the job has 32"
check "exit 1" exits 1
echo '{"ranks": 3}' >"$work/bad.json"
run draw "$work/f.yaml" --job-file "$work/bad.json"
check "what is no plan is an error" err "expected an array \"ranks\""
echo '{' >"$work/bad.json"
run draw "$work/f.yaml" --job-file "$work/bad.json"
check "what is no JSON is one with a line" err "bad.json:"
run draw "$work/f.yaml" --job-file /nonexistent
check "as is a plan that is not there" exits 1
echo '{"ranks": [{"rank": 0, "node": "n99", "gpu": 0}]}' >"$work/bad.json"
run draw "$work/f.yaml" --job-file "$work/bad.json"
check "and a node that the fabric does not have" err "n99"

# ---- options ----
run draw "$work/f.yaml" --color-by pp
check "groups of a job need a job" err "is for a job"
run draw "$work/f.yaml" --job gpus=8,tp=8 --color-by pp
check "which must have them" err "one rank along the axis"
run draw "$work/f.yaml" --job gpus=8,tp=8 --color-by tpp
check "unknown ones are told the nearest" err 'did you mean "tp"'
run draw "$work/f.yaml" --format sgv
check "an unknown format is a usage error" exits 2
check "that tells the nearest" err 'did you mean "svg"'
run draw "$work/f.yaml" "$work/f.yaml"
check "two fabrics are a usage error" exits 2
run draw
check "none, too" exits 2
run draw --formats
check "formats are listed" out html
run draw "$work/f.yaml" -o "$work/none/x.svg"
check "a folder that is not there is an error" exits 1
finish
