"""Common parts of vehicles with an autopilot (PX4, ArduPilot), for any wire that carries their messages."""
