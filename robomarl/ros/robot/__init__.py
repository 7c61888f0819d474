"""One robot's computation from messages to its command. No ROS here."""
