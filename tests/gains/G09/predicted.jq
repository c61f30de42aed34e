# A step of 250 s trains on four batches of 512, and passes all of them forward
# twice for their probabilities (policy and reference), with half the all-to-alls
# of a batch each.  Generation has none.
100 * 4 * (1 + 2 / 2) * (.two.step_s - .one.step_s) / 250
