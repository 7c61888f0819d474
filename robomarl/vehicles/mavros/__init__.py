"""Vehicles with an autopilot behind MAVROS."""
