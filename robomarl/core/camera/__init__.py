"""Cameras on robots: their geometry, and the picture that networks read. Numpy only."""
