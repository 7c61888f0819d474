"""Simulators with vehicles that are commanded over their own protocol, as the autopilots of real vehicles are."""
