"""`robomarl view`: a scenario, a policy, a training run, a recording or a running fleet in 3-D, in the browser."""
