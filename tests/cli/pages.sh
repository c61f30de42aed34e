#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The page of weft draw in a browser: it has what it promises, and hands and keys
# do what they should.  A script behind the page tries them and writes what it
# found into the document, which the browser prints.
browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ]; then
	echo "skipped: no chromium to open the page of weft draw in"
	exit 77
fi
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

# browse FILE: the document after its scripts, in $work/document, and what the
# scripts say of it, the attributes of its root, in $work/out.
browse() {
	timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1500,1000 --virtual-time-budget=4000 \
		--dump-dom "file://$1" >"$work/document" 2>"$work/browser"
	code=$?
	: >"$work/err"
	grep -oE '<html [^>]*>' "$work/document" >"$work/out"
}

# with FILE SCRIPT: the page and a script behind it, as $work/page.html.
with() {
	cat "$1" >"$work/page.html"
	printf '<script>"use strict"; {\n%s\n}</script>\n' "$2" >>"$work/page.html"
	browse "$work/page.html"
}

# has NAME VALUE: attribute data-NAME of the document.
has() { grep -qF "data-$1=\"$2\"" "$work/out"; }
# shellcheck disable=SC2317 # called by check
unbroken() { has ready yes && ! grep -F data-error "$work/out"; }

"$weft" synth --rails 8 --name atlas pod:2 leaf:4 node:8 gpu:8 >"$work/f.yaml"
job=gpus=256,tp=8,pp=4,model=llama3-8B
"$weft" draw "$work/f.yaml" --busy "n[00-02],n09:0-3" --job "$job" \
	-o "$work/job.html"
"$weft" draw "$work/f.yaml" --busy "n[00-02],n09:0-3" --job "$job" --json \
	>"$work/job.json"

browse "$work/job.html"
if [ $code -ne 0 ] && [ ! -s "$work/document" ]; then
	echo "skipped: $browser does not run here: $(tail -n 1 "$work/browser")"
	exit 77
fi
check "the page works without an error" unbroken
check "it counts GPUs as the command does: free, busy, closed, job" \
	has gpus "$(jq -r '.gpus | "\(.free) \(.busy) \(.closed) \(.job)"' \
		"$work/job.json")"
check "it has every group of the job" \
	has colourings "stage tp replica dp pp rank job"
check "at 64 nodes every GPU is a cell" has cells 512
check "of its own" has cell-kind gpu
check "in all domains: 8 leafs, 2 pods, 1 core" has domains 11
check "the heat map has a cell for each pair that talks" \
	has heat "$(jq '[.heat.layers[].cells | . as $c |
		reduce range(0; length; 2) as $i ([0, []];
		[.[0] + $c[$i], .[1] + [.[0] + $c[$i]]]) | .[1][]] | unique |
		length' "$work/job.json")"

# shellcheck disable=SC2016 # a script for the browser
with "$work/job.html" '
const d = document.documentElement.dataset;
const all = (q) => [...document.querySelectorAll(q)];
d.facts = all("#facts dt").length;
d.rows = all("#tables tbody tr").length;
d.title = document.querySelector("h1").textContent.includes("256 GPUs");
d.requests = performance.getEntriesByType("resource").length;
d.unnamed = all("button, select, canvas").filter((e) => !e.textContent &&
	!e.getAttribute("aria-label") && !e.labels?.length).length;
const by = document.getElementById("by");
by.value = [...by.options].find((o) => o.text.startsWith("tp group")).value;
by.dispatchEvent(new Event("change"));
const gpu = all(".cell").find((e) => rank[e.box.index] === 8);
gpu.click();
d.pinned = all(".cell.on").map((e) => rank[e.box.index]).sort((a, b) => a - b)
	.join();
gpu.focus();
gpu.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight",
	bubbles: true}));
d.moved = rank[document.activeElement.box.index];
gpu.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
d.unpinned = all(".cell.on").length;
gpu.dispatchEvent(new MouseEvent("mousemove", {bubbles: true}));
d.tip = document.getElementById("tip").textContent.includes("rank 8\n");
const heat = document.getElementById("heat");
heat.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
heat.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
d.pair = document.getElementById("tip").textContent.split("\n")[0];
const layer = document.getElementById("layer");
layer.value = [...layer.options].find((o) => o.text === "pp").value;
layer.dispatchEvent(new Event("change"));
d.pp = d.heat;
all(".head").find((e) => e.textContent.startsWith("leaf4")).click();
d.inside = d.cells;
d.crumbs = all("#crumbs button").map((e) => e.textContent).join(">");
document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
d.outside = d.cells;
'
check "hands and keys work without an error" unbroken
check "it sums up in seven figures" has facts 7
check "the title says what job" has title true
check "it asks no network for anything" has requests 0
check "every control has a name" has unnamed 0
check "a click on a GPU shows its tp group alone" \
	has pinned "8,9,10,11,12,13,14,15"
check "an arrow goes to the next GPU" has moved 9
check "escape shows all again" has unpinned 0
check "hovering tells the rank" has tip true
check "arrows walk over the heat map" has pair "rank 0 → rank 1"
check "an axis may be looked at alone" has pp \
	"$(jq '[.heat.layers[] | select(.name == "pp")][0].cells | length / 2' \
		"$work/job.json")"
check "a click on a name looks inside" has inside 64
check "it says where one is" has crumbs "atlas&gt;core&gt;pod1&gt;leaf4-rail[0-7]"
check "escape goes out again" has outside 256

# ---- large, small, strange ----
"$weft" synth pod:4 spine:4 leaf:8 node:32 gpu:8 >"$work/big.yaml"
"$weft" draw "$work/big.yaml" --busy "n[0100-0900]" \
	--job gpus=2048,tp=8,pp=8,model=llama3-70B -o "$work/big.html"
browse "$work/big.html"
check "4,096 nodes work" unbroken
check "each is a cell" has cells 4096
check "as a node" has cell-kind node
"$weft" synth node:1 gpu:1 >"$work/one.yaml"
"$weft" draw "$work/one.yaml" -o "$work/one.html"
browse "$work/one.html"
check "one GPU works" unbroken
check "as one cell" has cells 1
cat >"$work/state.yaml" <<'END'
weft: state/1
jobs:
  - {id: "</script><script>document.title=1//", nodes: "n[00-01]"}
  - {id: "<img src=x onerror=document.title=1>", nodes: "n02"}
END
"$weft" draw "$work/f.yaml" --state "$work/state.yaml" -o "$work/state.html"
browse "$work/state.html"
check "hostile names are only names" unbroken
# shellcheck disable=SC2317
kept() { grep -q '<title>atlas: 64 nodes, 512 GPUs</title>' "$work/document"; }
check "and run nothing" kept
cat >"$work/odd.yaml" <<'END'
weft: fabric/1
nodes:
  a[0-1]: 4
  b: 8
  c-name-of-sixty-three-characters-that-somebody-gave-to-a-node-1: 2
nvlink: 2
levels:
  leaf:
    L0: a[0-1]
    L1: b
    L2: c-name-of-sixty-three-characters-that-somebody-gave-to-a-node-1
disjoint: yes
END
"$weft" draw "$work/odd.yaml" --job gpus=8,tp=2 -o "$work/odd.html"
browse "$work/odd.html"
check "disjoint fabrics, pairs and long names work" unbroken
check "with every GPU" has cells 18
finish
