"""Policies that nobody trained."""
