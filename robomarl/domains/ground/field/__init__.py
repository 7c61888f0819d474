"""Simulator node of ground teams."""
