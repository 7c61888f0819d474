"""Simulation, training, evaluation and export; no robot needs this floor."""
