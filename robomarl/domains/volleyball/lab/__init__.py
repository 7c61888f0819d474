"""Simulation, training and evaluation of drones that play volleyball."""
