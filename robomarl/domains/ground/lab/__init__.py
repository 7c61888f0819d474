"""Simulation, training and evaluation of ground teams."""
