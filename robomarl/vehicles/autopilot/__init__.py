"""What vehicles with an autopilot (PX4, ArduPilot) share, whatever wire carries their messages."""
