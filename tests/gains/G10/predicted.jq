def seconds: .communication_s.dp + .latency_s.dp;
(.alternating | seconds) / (.blocks | seconds)
