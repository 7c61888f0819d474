"""Flights counted: what an evaluation of a flying team says."""
