100 * (.dcn.step_s / .hpn.step_s - 1)
