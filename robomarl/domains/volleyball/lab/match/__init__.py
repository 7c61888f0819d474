"""Matches of two teams: scenario, rules, world, engines and evaluation."""
