"""Counts of episodes."""
