"""Flight logs of others: read, checked, cut, and compared with the bounds of a vehicle file. No ROS."""
