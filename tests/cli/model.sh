#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

model() { run model "$@"; }

model
check "no calculator is a usage error" exits 2
model alreduce
check "an unknown calculator is a usage error" exits 2
check "and gets the nearest" err 'did you mean "allreduce"'
model --help
for name in parallelism sequence chunks whatif facts allreduce pipeline conventions; do
	check "--help lists $name" out "  $name"
done

# ---- allreduce ----
sync() { model allreduce --params 7e9 --gpus 8 --link 400Gbps "$@"; }
sync --json
check "allreduce answers" exits 0
check "the schema comes first" schema_first model
check "the name of the model follows" json '.model == "allreduce"'
check "a ring in consistent units" near ring_s 0.49
check "a tree in consistent units" near tree_s 0.56
check "decimal gradients" near gradient_bytes 14e9
check "the link that hides it" near min_bandwidth_bytes_per_s 7e12
check "the wall" json '.wall == true'
check "every difference has its reason" json \
	'(.differs | length > 0) and
	all(.differs[]; (.convention | length > 0) and (.right != .seed))'
sync --json --convention printed
check "the printed ring" near ring_s 0.456348
check "the popular words" json '.printed |
	.all_reduce_s == "456.3ms" and .tree_s == "521.5ms" and
	.overhead == "99.2%" and .efficiency == "0.8%" and
	.gradient_bytes == "13.04 GB" and .compute_s == "3.5 ms" and
	.step_s == "459.8 ms" and
	.min_bandwidth_bytes_per_s == "29802+ Gbps" and
	.recommended_bytes_per_s == "119600G+"'
sync --convention printed
for text in 456.3ms 99.2% 0.8% 521.5ms "13.04 GB" "3.5 ms" "459.8 ms" \
	"29802+ Gbps" 119600G+ "Communication Wall Detected"; do
	check "popular text: $text" out "$text"
done
sync
check "the right text names the printed figure" out "456.3ms (seed_gib)"
check "and says why" out "seed_gib:"
check "an assumed computation is called so" out "assumed"
sync --compute 500ms --overlap 1
check "a hidden sync is no wall" sh -c "! grep -q wall '$work/out'"
sync --json --tokens 4096 --flops 400TFLOPS
check "computation from tokens" near compute_s 0.43008
sync --json --gpus 16 --gpus-per-node 8 --intra 450GB/s
check "inside nodes first" near hierarchical_s 0.0894444
model allreduce --json --model llama3-70B --gpus 8 --link 50GB/s
check "the parameters of a model" json '.gradient_bytes > 139e9'

model allreduce --gpus 8 --link 400Gbps
check "missing parameters are a usage error" exits 2
for bad in "--link 400" "--link 400Gbpz" "--link -1Gbps" "--link nan" \
	"--params 0" "--params x" "--gpus 0" "--overlap 2" "--compute 3" \
	"--compute 0" "--accumulation 0" \
	"--algorithm rings" "--convention wrong" "--tokens 5" extra; do
	# shellcheck disable=SC2086 # an option and its value
	sync $bad
	check "allreduce $bad is a usage error" exits 2
	check "with nothing on stdout" silent out
done
model allreduce --params 7B --gpus 9 --link 400Gbps --gpus-per-node 8 \
	--intra 450GB/s
check "a broken node is an error" exits 1

# ---- pipeline ----
pipe() { model pipeline --stages 4 --microbatches 8 "$@"; }
pipe --json
check "pipeline answers" exits 0
check "pipeline: the schema comes first" schema_first model
check "the bubble under both names" json \
	'(.bubble_of_total - 3/11 | fabs < 1e-9) and .bubble_of_ideal == 0.375'
check "1F1B holds as many micro-batches as stages" near peak_activation_bytes \
	268435456
check "all boundaries count" near transfer_bytes 3221225472
check "the link in decimal bits" near min_link_bytes_per_s 13107200000
check "the fewest micro-batches that reach 80 %" json \
	'.inefficient and .advised_micro_batches == 12 and .advised_stages == 3'
pipe --json --convention printed
check "the printed printed pipeline" json '.printed |
	.min_link_bytes_per_s == "97.66Gbps" and
	.peak_activation_bytes == "512.0MB" and .efficiency == "72.7%" and
	.transfer_bytes == "1.0000 GB" and .bubble_of_total == "27.3%" and
	.compute_s == "81.92 ms" and .activation_bytes == "64.00 MB/batch" and
	.operations == "32 total operations"'
pipe --convention printed
check "the printed advice" out "from 8 to 16 or reducing stages from 4 to 3"
for text in 97.66Gbps 512.0MB 72.7% "1.0000 GB" 27.3% "81.92 ms" \
	"64.00 MB/batch" "32 total operations" "20 layers"; do
	check "popular text: $text" out "$text"
done
pipe --microbatches 16
check "enough micro-batches are no warning" sh -c \
	'! grep -q "efficiency below" "$1"' sh "$work/out"
pipe --json --interleave 2
check "interleaving halves the bubble" json '.bubble_of_ideal == 0.1875'
pipe --json --forward 1ms --backward 2ms
check "a step from its halves" near step_s 0.033
pipe --json --model llama3-70B
check "the shape of a model" json '.layers == 80'
model pipeline --stages 4
check "no micro-batches is a usage error" exits 2
for bad in "--forward 1ms" "--stages 0" "--threshold 1" "--seq 0" \
	"--model llama3-405B --stages 5" extra; do
	# shellcheck disable=SC2086 # an option and its value
	pipe $bad
	check "pipeline $bad is a usage error" exits 2
done
pipe --interleave 2 --microbatches 6
check "an interleaving that does not come out is an error" exits 1

# ---- parallelism ----
axes() {
	model parallelism --model llama3-70B --tp 8 --pp 4 --cp 2 --dp 4 \
		--microbatches 16 --link NDR --intra NVLink4 "$@"
}
axes --json --flops 400TFLOPS
check "parallelism answers" exits 0
check "parallelism: the schema comes first" schema_first model
check "the product of the axes" json '.gpus == 256'
check "each axis is a part" json \
	'has("pipeline") and has("sequence") and has("chunks")'
check "tensor parallelism reduces four times" json '.tp_all_reduces == 4'
check "the parts know the job" json \
	'.pipeline.layers == 80 and (.pipeline.bubble_of_ideal == 3/16)'
axes --json --flops 400TFLOPS --full-recompute
check "six times with recomputation" json '.tp_all_reduces == 6'
axes --json --flops 400TFLOPS --convention printed
check "popular count two" json '.tp_all_reduces == 2'
axes
check "without a speed there are no bars" sh -c '! grep -q "##" "$1"' sh \
	"$work/out"
axes --flops 400TFLOPS
check "with one there are" out "##"
model parallelism --layers 4 --seq 128 --hidden 64 --link 1GB/s --json
check "one GPU needs no parts but its pipeline" json \
	'.gpus == 1 and (has("sequence") or has("chunks") | not)'
model parallelism --stages 4 --microbatches 8 --convention printed
for text in 97.66Gbps 512.0MB 72.7% "1.0000 GB" 27.3% "81.92 ms"; do
	check "without a shape it is the popular one: $text" out "$text"
done
check "which is said" out "the shape is assumed"
axes --pp 3
check "layers that do not divide are a usage error" exits 2

# ---- sequence ----
ring() { model sequence --ways 64 --seq 131072 --hidden 8192 "$@"; }
ring --json --element-bytes 1 --link 400Gbps --flops 400TFLOPS
check "sequence answers" exits 0
check "one block of K and V" near buffer_bytes 33554432
check "two are needed to overlap" near double_buffer_bytes 67108864
check "a double buffer helps" json \
	'.bars.ring_overlapped.exposed_s < .bars.ring_serial.exposed_s'
check "F/B tokens hide a ring" near min_block_tokens 4000
ring --json --element-bytes 1 --link 400Gbps --convention printed
check "the printed 32 MB" json '.printed.buffer_bytes == "32 MB"'
model sequence --ways 2 --seq 2048 --hidden 8192 --link 100GB/s --json
check "milliseconds are milliseconds" near gather_s 0.000671089
model sequence --ways 2 --seq 2048 --hidden 8192 --link 100GB/s --json \
	--convention printed
check "the printed are microseconds" json '.printed.gather_s == "0.67 us"'
model sequence --model llama3-70B --ways 4 --seq 32768 --link NDR --json
check "the widths of a model" json '.hop_bytes == 2 * 8192 * 1024 * 2'
ring
check "sequence without a link is a usage error" exits 2
ring --ways 200000 --link NDR
check "more GPUs than tokens are an error" exits 1

# ---- chunks ----
chunks() { model chunks --gradients 500MB --link 300GB/s "$@"; }
chunks --backward 200ms --step 1ms
check "a step shorter than its backward pass is a usage error" exits 2
chunks --json --backward 200ms
check "chunks answers" exits 0
check "the shortest tail" json '.chunks == 26 and (.best - 25.82 | fabs < 0.01)'
check "all of it is hidden" json '.hidden_share == 1'
chunks --json --backward 200ms --convention printed
check "the printed chunks" json '.printed | .chunks == "16" and
	.chunk_s == "0.21 ms" and .total_s == "3.44 ms" and
	.share_of_backward == "1.72%"'
chunks --json --convention printed
check "what is not known is not printed" json \
	'(.printed | has("share_of_backward") | not) and
	.share_of_backward == null'
for bad in "--chunks 0" "--gpus 0" "--backward 0" "--link 0GB/s"; do
	# shellcheck disable=SC2086 # an option and its value
	chunks $bad
	check "chunks $bad is a usage error" exits 2
done
chunks
check "an assumed start is called so" out "assumed"
model chunks --link 300GB/s
check "no gradient is a usage error" exits 2

# ---- whatif ----
whatif() { model whatif --compute 1s --comm 1s "$@"; }
whatif --json
check "whatif answers" exits 0
check "no term changes nothing" json '.speedup == 1 and .step_s == 2'
whatif --json --set oversubscription=3
check "3:1 halves the throughput" json '.drop == 0.5'
whatif --json --set oversubscription=3 --overlap 1 --comm 300ms
check "unless it is hidden" json '.drop == 0'
whatif --json --gpus 4000 --set launch-gap=5us
check "launch gaps are simultaneous" near launch_gap_s 5e-6
whatif --json --gpus 4000 --set launch-gap=5us --convention printed
check "popular sum: them up" near launch_gap_s 0.02
whatif --json --gpus 1024 --steps 1e6 --set skew=10ms
check "what waiting costs" near lost_gpu_s 10240000
whatif --set rdma=0.8
check "a claim without a source is called so" out "no source known"
model whatif --terms
check "--terms lists them" out "compression"
for bad in "--set rmda=0.5" "--set rdma" "--set rdma=2" \
	"--set rdma=0.1 --set rdma=0.2" "--set skew=5" "--comm 0"; do
	# shellcheck disable=SC2086 # options and their values
	whatif $bad
	check "whatif $bad is a usage error" exits 2
done
whatif --set rmda=0.5
check "an unknown term gets the nearest" err '"rdma"'
whatif --latency 2s
check "more latency than communication is an error" exits 1

# ---- facts ----
model facts --json
check "every fact has a source" json \
	'(.facts | length > 20) and all(.facts[]; .source | length > 0)'
check "links are one direction" json \
	'[.links[] | select(.name == "NVLink4")][0].rate_bytes_per_s == 450e9'
check "checks say what they find" json \
	'all(.checks[]; .finds | length > 0)'
model facts
check "facts as text" out "llama3.gpus"

# ---- conventions ----
model conventions --json
check "every convention has a name and both readings" json \
	'all(.conventions[]; (.name | length > 0) and
	(.seed_does | length > 0) and (.right_does | length > 0))'
model conventions
check "they are listed as text" out seed_gib
model conventions extra
check "conventions take no argument" exits 2
finish
