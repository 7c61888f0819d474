"""Simulator nodes of soccer teams, and a simulated SSL league."""
