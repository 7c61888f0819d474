"""Plots and page of a match."""
