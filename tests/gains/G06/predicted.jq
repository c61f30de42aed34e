# 2 (n - 1) / n of the size over the time: the ratio of bus rates.
def rate: (.communication_s.dp + .loss_s.dp + .latency_s.dp) as $s |
	2 * (.gpus - 1) / .gpus / $s;
(.one | rate) / (.twenty | rate)
