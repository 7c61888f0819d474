"""Assumptions of a flying team's safety filter, the plants on which they are measured, and attacks."""
