"""Engines: how bodies move through the sub-steps of one decision. `fast`, `mujoco` and `mjx`."""
