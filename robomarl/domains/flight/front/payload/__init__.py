"""Plots and page of a flight with a payload."""
