"""Checks of `robomarl doctor`: the parts of robomarl's environment that this machine has."""
