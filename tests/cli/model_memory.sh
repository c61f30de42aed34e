#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

memory() { run model memory "$@"; }
parts='.weights_bytes + .gradients_bytes + .optimizer_bytes +
	.activations_bytes + .logits_bytes + .context_bytes + .gathered_bytes + .framework_bytes'

gpt='model=gpt3-175B,tp=8,pp=8,dp=2,gbs=64'
memory --job "$gpt" --json
check "memory answers" exits 0
check "the schema comes first" schema_first model
check "the parts add up" json "($parts) / .total_bytes - 1 | fabs < 1e-9"
check "the first stage needs most" json '.stage == 0 and .in_flight == 8'
check "a GPU whose memory is not known is no answer" json \
	'.fits and .share == null and .gpu_bytes == null'
memory --job "$gpt" --json --attention stored
check "stored attention keeps what Korthikanti says" near layer_bytes 358612992
memory --job "$gpt" --json --stage 7
check "a stage can be chosen" json '.stage == 7 and .logits_bytes > 0'
memory --job "$gpt" --json --optimizer-bytes 8
check "another optimizer" json '.optimizer_bytes / .parameters == 8'
memory --job "$gpt" --stage 8
check "a stage that is not there is an error" exits 1

memory --job "$gpt" --memory 80GB --json
check "a job that fits" exits 0
check "and its share" json '.fits and .share < 1 and .gpu_bytes == 80e9'
memory --job "$gpt" --gpu H100 --json
check "what a process gets of a known GPU, not what is sold" json '.gpu_bytes |
	. > 84.7e9 and . < 84.8e9'
memory --job 'model=llama3-70B,tp=8,dp=2' --memory 80GB --json
check "a job that does not fit is a negative answer" exits 3
check "the answer says so" json \
	'(.fits | not) and any(.notes[]; test("does not fit by estimate"))'
check "and what would help, with its gain" json \
	'any(.notes[]; test("^with zero=1 it would need [0-9.]+ GB$"))'
memory --job 'tp=8,dp=2' --memory 80GB
check "the text says so, too" out "does not fit"
check "a model that was not given is named" out "this is llama3-70B"

memory
check "no job is a usage error" exits 2
for bad in "--memory 80" "--memory 0GB" "--attention flash" "--stage x" \
	"--optimizer-bytes 0" "--gpu Z9" extra; do
	# shellcheck disable=SC2086 # an option and its value
	memory --job "$gpt" $bad
	check "memory $bad is a usage error" exits 2
done
memory --job tp=3,gpus=8
check "a wrong job is an error" exits 1
check "that says what is wrong" err "not a multiple of tp*cp*pp"
model_list() { run model --help && out '  memory '; }
check "it is listed" model_list
finish
