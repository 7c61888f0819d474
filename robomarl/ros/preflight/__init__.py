"""Checks before a team moves: topics, frames, clocks, batteries, space. The checks themselves have no ROS."""
