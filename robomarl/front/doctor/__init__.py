"""Checks of `robomarl doctor`: what this machine has of what robomarl uses."""
