"""Simulation, training and evaluation of soccer teams."""
