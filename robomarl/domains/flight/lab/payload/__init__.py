"""Simulation and controllers of flying teams that carry a load on cables."""
