100 * (.scattered1.step_s / .block1.step_s - 1)
