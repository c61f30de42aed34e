def seconds: .communication_s.ep + .loss_s.ep + .latency_s.ep;
100 * ((.rails | seconds) / (.any | seconds) - 1)
