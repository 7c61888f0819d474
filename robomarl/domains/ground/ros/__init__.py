"""Floor data of ground robots, as ROS messages."""
