"""Vehicles with messages of their own: common parts of all adapters, and a folder for each autopilot."""
