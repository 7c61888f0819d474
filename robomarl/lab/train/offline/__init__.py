"""Learning from a data set of `robomarl dataset`, without a simulator."""
