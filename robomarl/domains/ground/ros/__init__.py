"""What ground robots are told, as ROS messages."""
