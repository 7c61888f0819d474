"""Simulation: scenarios, engines, tasks."""
