"""What is done with flights: replay, identification, limits, and simulators behind ROS nodes."""
