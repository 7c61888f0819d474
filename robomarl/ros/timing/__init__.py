"""Clocks and timers of the nodes."""
