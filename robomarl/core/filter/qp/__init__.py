"""Projection onto the filter's rows."""
