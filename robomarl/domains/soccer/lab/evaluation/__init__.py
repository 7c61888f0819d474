"""Whole matches: played, counted and drawn."""
