# 2 (n - 1) / n of the size over the time is the bus rate.
def rate: (.communication_s.dp + .loss_s.dp + .latency_s.dp) as $s |
	2 * (.gpus - 1) / .gpus / $s;
100 * (1 - (.two | rate) / (.one | rate))
