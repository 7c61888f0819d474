"""Evaluation of a flying team: counts and figures over its flights."""
