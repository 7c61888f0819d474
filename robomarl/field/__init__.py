"""Work with recorded flights (replay, identification, limits) and simulators behind ROS nodes."""
