"""Whose bundles a robot takes: keys, what they sign, and what a robot makes of it."""
