"""Figures of a vehicle from flight logs of others: thrust, drag, attitude loop, battery, prediction. No ROS."""
