"""Flights that others have logged: read, checked, cut, and compared with what a vehicle file declares. No ROS."""
