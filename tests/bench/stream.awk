# SPDX-License-Identifier: GPL-3.0-or-later
# stream.awk - a stream of training jobs, one a line: SUBMIT_S DURATION_S NODES
# GPUS_PER_NODE SPEC.
#
# awk -v seed=1 -v jobs=2000 -v gpus=1024 -v busy=0.85 -v mean_s=8 [-v fit_all=1] \
#	-f stream.awk
#
# Sizes as public traces of training clusters have them: many jobs within a node,
# a tail of large ones that holds most of the GPU time; every third job of several
# nodes is one of experts.  Durations are lognormal, arrivals uniform over the time
# in which the cluster is busy to the share asked for.  With fit_all, every layout fits
# in GPUs of 80 GB by weft's estimate; without, many do not.

function normal() {
	return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
}

# Kinds: weight, nodes, GPUs of each, spec.
function kinds_any() {
	return "8 1 1 model=llama3-8B" \
		";8 1 2 tp=2,model=llama3-8B" \
		";12 1 4 tp=4,model=llama3-8B" \
		";12 1 8 zero=3,model=llama3-8B" \
		";10 1 8 tp=8,model=llama3-70B" \
		";8 2 8 zero=3,model=llama3-8B" \
		";8 2 8 tp=8,pp=2,model=llama3-70B" \
		";3 3 8 tp=8,model=llama3-70B" \
		";6 4 8 zero=3,model=llama3-8B" \
		";8 4 8 tp=8,pp=2,model=llama3-70B" \
		";3 6 8 tp=8,pp=2,model=llama3-70B" \
		";6 8 8 tp=8,pp=4,model=llama3-70B" \
		";4 16 8 tp=8,pp=4,model=llama3-70B" \
		";2 16 8 tp=8,pp=8,model=llama3-405B" \
		";2 32 8 tp=8,pp=4,zero=1,model=llama3-70B" \
		";1 64 8 tp=8,pp=8,zero=1,model=gpt3-175B"
}

function kinds_fit() {
	return "8 1 1 model=gpt-1.7B" \
		";8 1 2 tp=2,model=gpt-3.6B" \
		";12 1 4 tp=4,model=llama3-8B" \
		";12 1 8 zero=3,model=llama3-8B" \
		";10 1 8 tp=8,zero=1,model=megatron-22B" \
		";8 2 8 zero=3,model=llama3-8B" \
		";8 2 8 tp=8,pp=2,zero=1,model=gpt-39.1B" \
		";3 3 8 tp=8,zero=1,model=megatron-22B" \
		";6 4 8 zero=3,model=llama3-8B" \
		";8 4 8 tp=8,pp=4,zero=1,model=llama3-70B" \
		";3 6 8 tp=8,pp=2,zero=1,model=gpt-39.1B" \
		";6 8 8 tp=8,pp=4,model=llama3-70B" \
		";4 16 8 tp=8,pp=4,model=llama3-70B" \
		";2 16 8 tp=8,pp=8,zero=1,recompute=full,model=gpt3-175B" \
		";2 32 8 tp=8,pp=4,zero=1,model=llama3-70B" \
		";1 64 8 tp=8,pp=8,zero=1,model=gpt3-175B"
}

# The greatest power of two up to limit that divides n.
function fit(limit, n) {
	while (n % limit)
		limit /= 2
	return limit
}

function experts_fit(nodes) {
	if (nodes > 32)
		return "tp=4,pp=16,ep=16,zero=1,model=deepseek-v3"
	if (nodes > 16)
		return "tp=2,pp=8,ep=16,zero=1,recompute=full,model=deepseek-v3"
	if (nodes > 8)
		return "tp=4,pp=4,ep=8,zero=1,model=mixtral-8x22B"
	return (nodes % 3 ? "tp=2,pp=2,ep=8" : "pp=2,ep=4,recompute=full") \
		",zero=1,model=mixtral-8x7B"
}

# As tests/bench/replay has them.
function experts(nodes) {
	if (fit_all)
		return experts_fit(nodes)
	if (nodes > 16)
		return "pp=8,ep=" fit(32, nodes) ",zero=1,model=deepseek-v3"
	return "tp=8,ep=" fit(8, nodes) ",zero=1,model=grok1-314B"
}

BEGIN {
	srand(seed)
	n = split(fit_all ? kinds_fit() : kinds_any(), kinds, ";")
	for (i = 1; i <= n; i++) {
		split(kinds[i], words, " ")
		sum += words[1]
		upto[i] = sum
	}
	for (j = 1; j <= jobs; j++) {
		x = rand() * sum
		for (i = 1; x >= upto[i];)
			i++
		split(kinds[i], words, " ")
		sigma = 0.6
		d = mean_s * exp(sigma * normal() - sigma * sigma / 2)
		d = d < 2 ? 2 : d
		work += d * words[2] * words[3]
		if (words[2] > 1 && n_large++ % 3 == 2)
			words[4] = experts(words[2])
		what[j] = sprintf("%.1f %d %d %s", d, words[2], words[3],
			words[4])
	}
	for (j = 1; j <= jobs; j++)
		printf "%.2f %s\n", rand() * work / (gpus * busy), what[j]
}
