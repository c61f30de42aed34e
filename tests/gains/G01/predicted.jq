100 * (.packed.step_s / .planned.step_s - 1)
