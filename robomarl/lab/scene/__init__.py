"""Scenes: a scenario as solids and robots, and each of its moments, for viewers. No drawing here."""
