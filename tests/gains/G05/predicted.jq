.all.step_s / .node.step_s
