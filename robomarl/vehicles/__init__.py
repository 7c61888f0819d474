"""Vehicles with messages of their own: what all adapters share, and a folder for each autopilot."""
