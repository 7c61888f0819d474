"""Scenario sections, features and control laws that robots of flying teams import."""
