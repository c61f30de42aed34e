def seconds: .communication_s.dp + .latency_s.dp;
(.shared | seconds) / (.alone | seconds)
