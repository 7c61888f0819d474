"""Kinds of robot teams, and the registry of the installed ones."""
