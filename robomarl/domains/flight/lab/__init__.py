"""Simulation, training and evaluation of flying teams."""
