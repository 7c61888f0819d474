"""Simulation of recorded flights from their states with their commands, and parameter fits to them."""
