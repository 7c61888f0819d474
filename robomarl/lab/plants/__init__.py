"""Conditions under which vehicles are measured, and the simulated plants that they fly on."""
