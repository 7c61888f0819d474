"""Recorded flights: replay, comparison, reports."""
