"""robomarl itself on robots: wheels, set-up, the unit that starts a node."""
