"""What simulates it behind ROS nodes, and learns from its flights: a team that plays soccer."""
