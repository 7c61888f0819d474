"""Scripted policies, to compare trained ones with."""
