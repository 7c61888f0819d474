"""Perception of a player that has a camera alone: things found in a picture, and their tracks over time."""
