"""Flights of the field in the simulator: flown again from the same states with the same commands, and fitted."""
