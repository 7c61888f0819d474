"""Simulator nodes of flying teams, and models that are learned from their flights."""
