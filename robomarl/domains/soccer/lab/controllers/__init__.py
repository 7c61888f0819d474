"""Scripted policies, to compare trained ones with."""

SCRIPTS = {"chaser": ("attacker",), "keeper": ("attacker", "keeper")}
"""Scripted teams of robot soccer, and the roles that each needs."""
