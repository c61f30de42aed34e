100 * (1 - .small.step_s / .large.step_s)
