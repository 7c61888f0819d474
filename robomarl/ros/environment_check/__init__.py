"""The environment that a shell left for ROS, looked at before ROS reads it. No ROS here."""
